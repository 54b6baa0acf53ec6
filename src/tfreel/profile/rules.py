"""Rules for one feature: what its values may be, as values, as JSON and in words."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from tfreel.features.kinds import DTYPES, DType
from tfreel.inference.content import NAMES

# The least and the most; None where there is no limit.
Bounds: TypeAlias = tuple[int | None, int | None]
Range: TypeAlias = tuple[float | None, float | None]

_MOST_SHOWN = 8
_MOST_DIMENSIONS = 254


@dataclass(frozen=True, slots=True)
class FeatureRules:
    """What is asked of one feature. Whatever is None is not checked.

    Attributes:
        kind: ``"int64"``, ``"float32"`` or ``"bytes"``.
        presence: The least share of records that have it: 1 for all of them.
        min_present: The least number of records that have it.
        shape: Of its values in every record that has it (of feature lists: in every step).
        count: How many values it has there, where that is no shape.
        steps: How many steps a feature list has.
        range: The least and the greatest number.
        nan: Whether numbers may be NaN.
        inf: Whether they may be infinite.
        allowed: The values that it may have: whole numbers, or texts.
        allowed_share: The least share of values that must be among them; 1 if not given.
        contents: What bytes may be: ``"jpeg"``, ``"png"``, ``"text"``, …
        value_bytes: How many bytes a value has.
        width: Of images, in pixels, by their headers.
        height: Of images.
        mask_ids: The class ids that the pixels of a mask may have.
        drift: How far values may be from those of other data: the greatest difference of a share, of numbers
            that of their distribution functions.
        divergence: The same as Jensen-Shannon divergence, from 0 to 1.

    Example:
        >>> rules = tfreel.profile.FeatureRules(kind="int64", presence=1.0, range=(0, 9))
        >>> rules.to_json()
        {'kind': 'int64', 'presence': 1.0, 'range': [0, 9]}
    """

    kind: DType | None = None
    presence: float | None = None
    min_present: int | None = None
    shape: tuple[int, ...] | None = None
    count: Bounds | None = None
    steps: Bounds | None = None
    range: Range | None = None
    nan: bool | None = None
    inf: bool | None = None
    allowed: tuple[int | str, ...] | None = None
    allowed_share: float | None = None
    contents: tuple[str, ...] | None = None
    value_bytes: Bounds | None = None
    width: Bounds | None = None
    height: Bounds | None = None
    mask_ids: tuple[int, ...] | None = None
    drift: float | None = None
    divergence: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.to_json().items():
            try:
                object.__setattr__(self, name, _READERS[name](_of_python(value)))
            except ValueError as error:
                raise ValueError(f"{name} must be {error}, not {_shown(value)}") from None
        implied = self._implied_kind()
        if self.kind is None and implied is not None:
            object.__setattr__(self, "kind", implied)
        if self.shape is not None and self.count is not None:
            raise ValueError("shape and count say the same: keep one of them")
        if self.kind is None and (self.range is not None or False in (self.nan, self.inf)):
            raise ValueError('a rule for numbers needs a kind: "int64" or "float32"')
        if implied is not None and self.kind != implied:
            raise ValueError(f"there are rules for {implied} values, but the kind is {self.kind}")
        if self.kind == "bytes" and self.range is not None:
            raise ValueError("there is a range, but the kind is bytes")

    def _implied_kind(self) -> DType | None:
        """The kind that values must be of for these rules to make sense; None if any will do."""
        texts = {isinstance(value, str) for value in self.allowed or ()}
        if len(texts) == 2:
            raise ValueError("allowed are texts or numbers, not both")
        of_bytes = (self.contents, self.value_bytes, self.width, self.height, self.mask_ids)
        if True in texts or any(rule is not None for rule in of_bytes):
            return "bytes"
        return "int64" if texts and self.kind != "float32" else None

    @property
    def counts(self) -> Bounds | None:
        """How many values it has, by its shape or its count."""
        if self.shape is None:
            return self.count
        return math.prod(self.shape), math.prod(self.shape)

    def to_json(self) -> dict[str, Any]:
        """The rules that there are, of plain values."""
        found = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                found[each.name] = list(value) if isinstance(value, tuple) else value
        return found


def rules_from_json(name: str, found: object) -> FeatureRules:
    """The rules that were written so.

    Raises:
        ValueError: They are none; says which, and why.
    """
    where = f"rules of {name!r}"
    if not isinstance(found, Mapping):
        raise ValueError(f"{where}: expected an object, not {_shown(found)}")  # noqa: TRY004 - of a file
    for key in found:
        if key not in _READERS:
            near = difflib.get_close_matches(str(key)[:100], _READERS, n=1)
            hint = f" — did you mean {near[0]!r}?" if near else f"; known are {', '.join(_READERS)}"
            raise ValueError(f"{where}: there is no rule {str(key)[:100]!r}{hint}")
    try:
        return FeatureRules(**found)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _of_python(value: Any) -> Any:
    """Numbers of NumPy as those of Python, in lists too."""
    if isinstance(value, list):
        return [_of_python(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63


def _is_number(value: object) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _kind(value: object) -> str:
    if value not in DTYPES:
        raise ValueError(f"one of {', '.join(DTYPES)}")
    return str(value)


def _share(value: object) -> float:
    if not _is_number(value) or not 0 <= value <= 1:  # type: ignore[operator]
        raise ValueError("a number from 0 to 1")
    return float(value)  # type: ignore[arg-type]


def _number_of(value: object) -> int:
    if not _is_int(value) or value < 0:  # type: ignore[operator]
        raise ValueError("a whole number that is not negative")
    return int(value)  # type: ignore[call-overload, no-any-return]


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")  # noqa: TRY004 - of a file, not of a program
    return value


def _shape(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > _MOST_DIMENSIONS:
        raise ValueError("a list of sizes")
    sizes = tuple(_number_of(size) for size in value)
    if math.prod(sizes) >= 1 << 31:
        raise ValueError("a shape that an example can hold")
    return sizes


def _pair(value: object, is_one: Callable[[object], bool], what: str) -> tuple[Any, Any]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(one is None or is_one(one) for one in value)
        or (None not in value and value[0] > value[1])
    ):
        raise ValueError(f"[least, most], {what} or null")
    return value[0], value[1]


def _bounds(value: object) -> Bounds:
    return _pair(value, lambda one: _is_int(one) and one >= 0, "whole numbers")  # type: ignore[operator]


def _range(value: object) -> Range:
    return _pair(value, _is_number, "numbers")


def _allowed(value: object) -> tuple[int | str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) or _is_int(one) for one in value):
        raise ValueError("a list of texts or whole numbers")
    return tuple(value)


def _contents(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one in NAMES for one in value):
        raise ValueError(f"a list of some of {', '.join(NAMES)}")
    return tuple(value)


def _ids(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(_is_int(one) for one in value):
        raise ValueError("a list of whole numbers")
    return tuple(value)


_READERS: dict[str, Callable[[object], Any]] = {
    "kind": _kind,
    "presence": _share,
    "min_present": _number_of,
    "shape": _shape,
    "count": _bounds,
    "steps": _bounds,
    "range": _range,
    "nan": _truth,
    "inf": _truth,
    "allowed": _allowed,
    "allowed_share": _share,
    "contents": _contents,
    "value_bytes": _bounds,
    "width": _bounds,
    "height": _bounds,
    "mask_ids": _ids,
    "drift": _share,
    "divergence": _share,
}


def between(bounds: Range) -> str:
    """``0…9``, ``at least 3``, ``5``."""
    least, most = bounds
    if least is None or most is None:
        return f"at least {least}" if most is None else f"at most {most}"
    return f"{least}" if least == most else f"{least}…{most}"


def listed(values: tuple[Any, ...]) -> str:
    """The values, or the first of them."""
    more = f", … ({len(values):,} in all)" if len(values) > _MOST_SHOWN else ""
    return ", ".join(map(str, values[:_MOST_SHOWN])) + more
