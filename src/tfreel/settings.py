"""What the environment says: names of variables in, numbers out. And how much memory there is."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache

_MOST_BYTES = 2**63 - 1
_LIMITS_OF_CONTAINERS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


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


@cache
def memory_bytes() -> int:
    """The memory of this machine, or of the container that we are in."""
    known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _LIMITS_OF_CONTAINERS:
        with suppress(OSError, ValueError), open(path, encoding="ascii") as file:  # or it says "max"
            known.append(int(file.read()))
    return min(known)
