"""Plain values, and ways to change one of them somewhere inside."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NUMBERS = st.integers(-(1 << 70), 1 << 70) | st.sampled_from([-1, 0, 1, 2**31, 2**63, 10**400]) | st.floats()
TEXTS = st.text(max_size=8) | st.sampled_from(
    ["../../x", "/etc/passwd", "a\0b", "nan", "\ud800", "=1+1", "x" * 5000]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
PLACES = st.floats(0, 1, exclude_max=True)


def ways_in(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values inside of one, and to itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(deeper for key, part in inner for deeper in ways_in(part, (*way, key)))]


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """The value, with another one at the end of this way."""
    if not way:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(value[way[0]], way[1:], new)
    return copy


def without(value: Any, way: tuple[Any, ...]) -> Any:
    """The value, without what is at the end of this way."""
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(way) == 1:
        del copy[way[0]]
    else:
        copy[way[0]] = without(value[way[0]], way[1:])
    return copy


def changed(value: Any, place: float, new: Any, *, remove: bool) -> Any:
    """The value with one thing in it replaced or removed."""
    ways = ways_in(value)[1:]
    way = ways[int(place * len(ways))]
    return without(value, way) if remove else replaced(value, way, new)


def changes_of(value: Any) -> st.SearchStrategy[Any]:
    """The value with one or two things in it replaced or removed."""
    once = st.builds(
        lambda place, new, remove: changed(value, place, new, remove=remove), PLACES, ANYTHING, st.booleans()
    )
    return once | ANYTHING
