"""Profiles: what is in the data, and whether it is what it should be."""

from tfreel.profile.explain import Explanation, FeatureExplanation, explain

__all__ = [
    "Explanation",
    "FeatureExplanation",
    "explain",
]
