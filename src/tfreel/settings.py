"""What the environment says: names of variables in, numbers out."""

from __future__ import annotations

import os

_MOST_BYTES = 2**63 - 1


def number(name: str) -> int | None:
    """The whole number in a variable; None if it is not set, or empty.

    Raises:
        ValueError: It is no whole number.
    """
    text = os.environ.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number, not {text!r}") from None


def byte_count(name: str, default: int) -> int:
    """The number of bytes in a variable; `default` if it is not set, or empty.

    Raises:
        ValueError: It is no whole number, or below 0.
    """
    count = number(name)
    if count is not None and count < 0:
        raise ValueError(f"{name} must be at least 0, not {count}")
    return default if count is None else min(count, _MOST_BYTES)
