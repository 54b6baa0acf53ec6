"""Heights and widths: what is asked for, and what that is for an image."""

from __future__ import annotations

from typing import TypeAlias

Size: TypeAlias = tuple[int, int]  # height, width


def checked_size(size: int | tuple[int, int]) -> int | Size:
    """The size, if it is one.

    Raises:
        TypeError: It is not an int or two of them.
        ValueError: It is not positive.
    """
    sides = (size,) if isinstance(size, int) else tuple(size)
    if len(sides) > 2 or not all(isinstance(side, int) for side in sides):
        raise TypeError(f"a size is (height, width), or the length of the shorter side, not {size!r}")
    if min(sides) < 1:
        raise ValueError(f"a size must be positive, not {size!r}")
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def target(size: int | Size, height: int, width: int) -> Size:
    """The size that an image of this height and width gets; a single number is for its shorter side."""
    if not isinstance(size, int):
        return size
    short = min(height, width)
    return max(1, round(height * size / short)), max(1, round(width * size / short))
