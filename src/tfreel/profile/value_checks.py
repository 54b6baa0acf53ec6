"""Rules for values: a column of one feature in, the values that break its rules out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.errors import TfreelError
from tfreel.images.decode import decode
from tfreel.inference.content import NAMES
from tfreel.profile.rules import Bounds, FeatureRules

Places: TypeAlias = npt.NDArray[np.intp]

_LONGEST_SHOWN = 60
_KINDS = tuple(NAMES)  # as the core counts them
_VALUE_RULES = (
    "range",
    "nan",
    "inf",
    "allowed",
    "contents",
    "value_bytes",
    "width",
    "height",
)


class Broken(NamedTuple):
    """The values that break one rule: their positions among all values, and what the first ones are."""

    rule: str
    places: Places
    found: Callable[[int], str]


def looks_at_values(rules: FeatureRules, *, masks: bool) -> bool:
    """Whether there is a rule for values."""
    wanted = [rule for rule in _VALUE_RULES if getattr(rules, rule) not in (None, True)]
    return bool(wanted) or (masks and rules.mask_ids is not None)


def broken_rules(values: Any, rules: FeatureRules, *, masks: bool) -> Iterator[Broken]:
    """The rules that some of these values break."""
    if isinstance(values, BytesColumn):
        yield from _bytes(values, rules, masks=masks)
    else:
        yield from _numbers(values, rules)


def _numbers(values: npt.NDArray[Any], rules: FeatureRules) -> Iterator[Broken]:
    def found(i: int) -> str:
        return str(values[i])

    if rules.range is not None:
        least, most = rules.range
        outside = np.zeros(len(values), np.bool_)
        if least is not None:
            outside |= values < least
        if most is not None:
            outside |= values > most
        yield Broken("range", np.flatnonzero(outside), found)
    if values.dtype.kind == "f":
        if rules.nan is False:
            yield Broken("nan", np.flatnonzero(np.isnan(values)), found)
        if rules.inf is False:
            yield Broken("inf", np.flatnonzero(np.isinf(values)), found)
    if rules.allowed is not None:
        allowed = np.array([value for value in rules.allowed if isinstance(value, int)], values.dtype)
        yield Broken("allowed", np.flatnonzero(~np.isin(values, allowed)), found)


def _bytes(values: BytesColumn, rules: FeatureRules, *, masks: bool) -> Iterator[Broken]:
    if rules.value_bytes is not None:
        sizes = np.diff(values.offsets)
        yield Broken("value_bytes", _outside(sizes, rules.value_bytes), lambda i: f"{sizes[i]:,} bytes")
    if rules.allowed is not None:
        yield from _allowed(values.to_list(), rules.allowed)
    if rules.contents or rules.width or rules.height:
        yield from _contents(values, rules)
    if masks and rules.mask_ids is not None:
        yield from _masks(values, set(rules.mask_ids))


def _outside(numbers: npt.NDArray[Any], bounds: Bounds) -> Places:
    least, most = bounds
    outside = np.zeros(len(numbers), np.bool_)
    if least is not None:
        outside |= numbers < least
    if most is not None:
        outside |= numbers > most
    return np.flatnonzero(outside)


def _allowed(values: Sequence[bytes], allowed: tuple[int | str, ...]) -> Iterator[Broken]:
    known = {str(value).encode("utf-8", "surrogateescape") for value in allowed}
    if known.issuperset(values):  # mostly
        return
    places = [i for i, value in enumerate(values) if value not in known]
    yield Broken("allowed", np.array(places, np.intp), lambda i: shown(values[i]))


def shown(value: bytes) -> str:
    """A value in a few words: text as text, other bytes as what they are."""
    kind, width, height = _core.content_of(value)
    if _KINDS[kind] == "text":
        text = repr(value.decode())
        return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 2] + "…'"
    size = f" {width}×{height}" if width and height else ""
    return f"{NAMES[_KINDS[kind]]}{size}, {len(value):,} bytes"


def _contents(values: BytesColumn, rules: FeatureRules) -> Iterator[Broken]:
    kinds, widths, heights = _core.contents_of(values.data, values.offsets)

    def found(i: int) -> str:
        return shown(_value(values, i))

    if rules.contents is not None:
        known = np.zeros(len(_KINDS), np.bool_)
        known[[_KINDS.index(kind) for kind in rules.contents]] = True
        yield Broken("contents", np.flatnonzero(~known[kinds]), found)
    # What says no size is no image, and that is for `contents` to refuse.
    sized = np.flatnonzero(widths)
    for rule, sides, bounds in (("width", widths, rules.width), ("height", heights, rules.height)):
        if bounds is not None:
            yield Broken(rule, sized[_outside(sides[sized], bounds)], found)


def _masks(values: BytesColumn, allowed: set[int]) -> Iterator[Broken]:
    wrong: dict[int, str] = {}
    for i in range(values.size):
        try:
            strange = set(np.unique(decode(_value(values, i), "labels")).tolist()) - allowed
        except (TfreelError, ValueError) as error:
            wrong[i] = str(error)
            continue
        if strange:
            ids = sorted(strange)
            wrong[i] = f"id{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids[:10]))}" + (
                ", …" if len(ids) > 10 else ""
            )
    yield Broken("mask_ids", np.array(list(wrong), np.intp), wrong.__getitem__)


def _value(values: BytesColumn, i: int) -> bytes:
    return values.data[values.offsets[i] : values.offsets[i + 1]].tobytes()


def rows_of_values(column: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """All values of a column, and where those of each row begin and end; also of feature lists."""
    if not isinstance(column, Ragged):  # the same number in every row
        rows, size = column.shape
        offsets = np.arange(rows + 1, dtype=np.int64) * size
        return BytesColumn(column.data, column.offsets) if isinstance(
            column, BytesColumn
        ) else column.ravel(), offsets
    if isinstance(column.values, Ragged):
        return column.values.values, column.values.offsets[column.offsets]
    return column.values, column.offsets
