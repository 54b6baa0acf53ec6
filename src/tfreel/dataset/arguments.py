"""What users give to the methods of a dataset, checked where they give it."""

from __future__ import annotations

import operator
from numbers import Integral
from typing import Any

import numpy as np


def whole(name: str, value: Any, least: int | None = None, *, hint: str = "") -> int:
    """A whole number of Python, out of one of anybody's: states are JSON, which knows no others.

    Args:
        name: What the method calls it.
        value: What was given. A bool is no number here.
        least: The smallest that makes sense.
        hint: What to do instead of giving a smaller one.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is too small.
    """
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if least is not None and number < least:
        advice = f"; {hint}" if hint else ""
        raise ValueError(f"{name} must be at least {least}, not {number}{advice}")
    return number


def whole_or_none(name: str, value: Any, least: int | None = None, *, hint: str = "") -> int | None:
    """The same where nothing need be given."""
    return None if value is None else whole(name, value, least, hint=hint)


def plain(number: Any) -> int | float:
    """Any number as JSON can hold it; what it can hold stays as it is, or plans would get other names."""
    if isinstance(number, (int, float)):
        return number
    return int(number) if isinstance(number, Integral) else float(number)


def require_callable(name: str, value: Any) -> None:
    """Makes sure that it can be called.

    Raises:
        TypeError: It cannot.
    """
    if not callable(value):
        raise TypeError(f"{name} must be callable, not {value!r}")
