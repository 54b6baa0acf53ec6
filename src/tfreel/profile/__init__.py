"""Profiles: files in, what is in them out, and whether it is what it should be."""

from tfreel.profile.explain import Explanation, FeatureExplanation, explain
from tfreel.profile.figures import Bytes, Common, CommonBytes, Histogram, Images, Numbers
from tfreel.profile.statistics import FeatureStatistics, Statistics
from tfreel.profile.survey import stats

__all__ = [
    "Bytes",
    "Common",
    "CommonBytes",
    "Explanation",
    "FeatureExplanation",
    "FeatureStatistics",
    "Histogram",
    "Images",
    "Numbers",
    "Statistics",
    "explain",
    "stats",
]
