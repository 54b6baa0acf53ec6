"""Profiles: files in, what is in them out, and whether it is what it should be."""

from tfreel.profile.comparing import Difference
from tfreel.profile.drift import DriftReport, drift
from tfreel.profile.explain import Explanation, FeatureExplanation, explain
from tfreel.profile.figures import Bytes, Common, CommonBytes, Histogram, Images, Numbers
from tfreel.profile.infer_schema import infer_schema
from tfreel.profile.rules import FeatureRules
from tfreel.profile.schema import Schema
from tfreel.profile.statistics import FeatureStatistics, Statistics
from tfreel.profile.survey import stats
from tfreel.profile.tallies import CounterExample
from tfreel.profile.validate import Problem, ValidationReport, validate

__all__ = [
    "Bytes",
    "Common",
    "CommonBytes",
    "CounterExample",
    "Difference",
    "DriftReport",
    "Explanation",
    "FeatureExplanation",
    "FeatureRules",
    "FeatureStatistics",
    "Histogram",
    "Images",
    "Numbers",
    "Problem",
    "Schema",
    "Statistics",
    "ValidationReport",
    "drift",
    "explain",
    "infer_schema",
    "stats",
    "validate",
]
