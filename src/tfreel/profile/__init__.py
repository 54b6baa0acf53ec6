"""Profiles: files in, what is in them out, and whether it is what it should be."""

from tfreel.profile.changes import Change, Difference, FeatureChange
from tfreel.profile.diff import diff
from tfreel.profile.explain import Explanation, FeatureExplanation, explain
from tfreel.profile.figures import Bytes, Common, CommonBytes, Histogram, Images, Numbers
from tfreel.profile.fingerprint import Fingerprint, fingerprint
from tfreel.profile.leaks import leaks
from tfreel.profile.statistics import FeatureStatistics, Statistics
from tfreel.profile.survey import stats
from tfreel.profile.twins import Leak, Leaks, Member, Overlap

__all__ = [
    "Bytes",
    "Change",
    "Common",
    "CommonBytes",
    "Difference",
    "Explanation",
    "FeatureChange",
    "FeatureExplanation",
    "FeatureStatistics",
    "Fingerprint",
    "Histogram",
    "Images",
    "Leak",
    "Leaks",
    "Member",
    "Numbers",
    "Overlap",
    "Statistics",
    "diff",
    "explain",
    "fingerprint",
    "leaks",
    "stats",
]
