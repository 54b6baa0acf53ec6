"""What users give to the methods of a dataset, checked where they give it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import wraps
from numbers import Integral
from typing import Any, TypeVar, cast

import numpy as np

Method = TypeVar("Method", bound=Callable[..., Any])


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


def seed_in(value: Any) -> int:
    """A seed, which is never drawn by chance: or ranks and restarted runs would not agree.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is negative.
    """
    if value is None:
        raise TypeError(
            "seed must be a whole number, not None: none is ever drawn, so that all ranks and all later runs"
            " have the same order; without seed= it is 0"
        )
    return whole("seed", value, 0)


def options_by_name(count: int, advice: str) -> Callable[[Method], Method]:
    """Makes a function refuse more than `count` arguments by position, in words that help.

    Args:
        count: How many it takes, `self` included.
        advice: What to write instead.
    """

    def decorate(function: Method) -> Method:
        @wraps(function)
        def checked(*args: Any, **options: Any) -> Any:
            if len(args) > count:
                raise TypeError(f"{function.__name__}() takes its options by name: {advice}")
            return function(*args, **options)

        return cast("Method", checked)

    return decorate


def no_seed_in_order(function: Method) -> Method:
    """Makes a function refuse seed= beside shuffle=False, even if it is the seed that it has without."""

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        if "seed" in options and not options.get("shuffle", True):
            raise ValueError("shuffle=False keeps the order, in which seed= has no say: give one of them")
        return function(*args, **options)

    return cast("Method", checked)


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
