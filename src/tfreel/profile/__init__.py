"""Profiles: files in, what is in them out, and whether it is what it should be."""

from tfreel.profile.changes import Change, Difference, FeatureChange
from tfreel.profile.comparing import Drift
from tfreel.profile.diff import diff
from tfreel.profile.drift import DriftReport, drift
from tfreel.profile.explain import Explanation, FeatureExplanation, explain
from tfreel.profile.figures import Bytes, Common, CommonBytes, Histogram, Images, Numbers
from tfreel.profile.fingerprint import Fingerprint, fingerprint
from tfreel.profile.infer_schema import infer_schema
from tfreel.profile.leaks import leaks
from tfreel.profile.rules import FeatureRules
from tfreel.profile.schema import Schema
from tfreel.profile.statistics import FeatureStatistics, Statistics
from tfreel.profile.survey import stats
from tfreel.profile.tallies import CounterExample
from tfreel.profile.twins import Leak, Leaks, Member, Overlap
from tfreel.profile.validate import Problem, ValidationReport, validate

__all__ = [
    "Bytes",
    "Change",
    "Common",
    "CommonBytes",
    "CounterExample",
    "Difference",
    "Drift",
    "DriftReport",
    "Explanation",
    "FeatureChange",
    "FeatureExplanation",
    "FeatureRules",
    "FeatureStatistics",
    "Fingerprint",
    "Histogram",
    "Images",
    "Leak",
    "Leaks",
    "Member",
    "Numbers",
    "Overlap",
    "Problem",
    "Schema",
    "Statistics",
    "ValidationReport",
    "diff",
    "drift",
    "explain",
    "fingerprint",
    "infer_schema",
    "leaks",
    "stats",
    "validate",
]
