"""Profiles: files in, what is in them out. Statistics of every feature, and pages that show them."""

from tfreel.profile.figures import Bytes, Common, CommonBytes, Histogram, Images, Numbers
from tfreel.profile.statistics import FeatureStatistics, Statistics
from tfreel.profile.survey import stats

__all__ = [
    "Bytes",
    "Common",
    "CommonBytes",
    "FeatureStatistics",
    "Histogram",
    "Images",
    "Numbers",
    "Statistics",
    "stats",
]
