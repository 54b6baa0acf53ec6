"""Packing: anything in, a data set of TFRecords out, label-safe and crash-safe."""

from tfreel.packing.report import PackReport
from tfreel.packing.run import pack

__all__ = ["PackReport", "pack"]
