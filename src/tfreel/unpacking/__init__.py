"""Unpacking: records in, ordinary files out. One file of this room for each kind of output."""

from tfreel.unpacking.report import UnpackReport
from tfreel.unpacking.run import unpack

__all__ = ["UnpackReport", "unpack"]
