"""Inference: files that somebody else wrote in, the features to read them with out."""

from tfreel.inference.features import InferredFeatures, infer_features
from tfreel.inference.profile import FeatureProfile

__all__ = ["FeatureProfile", "InferredFeatures", "infer_features"]
