"""Expressions in writing, for those who have conditions of their own kind: names and values."""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGEST = 1 << 63
_LARGEST_FLOAT = 3e38  # where there is no need to think of infinity


def name_in_words(name: str) -> str | None:
    """A feature, as an expression names it; None if it cannot."""
    return None if "`" in name else f"`{name}`"


def value_in_words(value: Any, dtype: str) -> str | None:
    """A value to compare a feature of this dtype with; None if it would not mean the same there."""
    if isinstance(value, bool):
        return None
    if dtype == "int64":
        return str(int(value)) if isinstance(value, int) and -_LARGEST <= value < _LARGEST else None
    if dtype == "float32":
        return _float_in_words(value) if isinstance(value, (int, float)) else None
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return None
    if not isinstance(value, str):
        return None
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _float_in_words(value: float) -> str | None:
    """Only what is a float32: what lies between two of them, one side compares as it is, the other rounds."""
    exact = abs(value) < _LARGEST_FLOAT and float(np.float32(value)) == value
    return repr(float(value)) if exact else None
