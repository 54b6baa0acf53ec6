"""Arrow's arrays as they are: values and lists that may be null, before they become columns.

A layout can be joined with others of its type, give some of its rows, and become a column. Where rows are
null it becomes a `Ragged` in which these are absent: rows of no or one value, if the type itself has no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.arrow import Tensor
from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.strings import I64, U8, BytesColumn

# A flag for each row that is not null; None where none is.
Valid: TypeAlias = npt.NDArray[np.bool_] | None


class Layout(Protocol):
    """What all layouts can do."""

    @property
    def valid(self) -> Valid: ...

    def __len__(self) -> int: ...

    def with_valid(self, valid: Valid) -> Layout:
        """The same rows with other nulls."""

    def take(self, rows: I64) -> Layout:
        """The given rows; blank ones, if there are none to take from."""

    def dense(self) -> Flat | Ragged:
        """The column, if no row is null."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number in each row, or a time."""

    values: npt.NDArray[Any]
    valid: Valid = None

    def __len__(self) -> int:
        return len(self.values)

    def with_valid(self, valid: Valid) -> Numbers:
        return replace(self, valid=valid)

    def take(self, rows: I64) -> Numbers:
        return Numbers(_picked(self.values, rows), _picked_valid(self.valid, rows))

    def dense(self) -> npt.NDArray[Any]:
        return self.values


@dataclass(frozen=True, slots=True)
class Strings:
    """Bytes or text in each row."""

    data: U8
    offsets: I64
    valid: Valid = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def with_valid(self, valid: Valid) -> Strings:
        return replace(self, valid=valid)

    def take(self, rows: I64) -> Strings:
        if not len(self):  # a dictionary without entries, behind a column of nulls
            return Strings(self.data[:0], np.zeros(len(rows) + 1, np.int64), _picked_valid(self.valid, rows))
        data, offsets = _core.take_bytes(self.data, self.offsets, rows)
        return Strings(data, offsets, _picked_valid(self.valid, rows))

    def dense(self) -> BytesColumn:
        return BytesColumn(self.data, self.offsets)


@dataclass(frozen=True, slots=True)
class Lists:
    """Any number of values in each row."""

    child: Layout
    offsets: I64
    valid: Valid = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def with_valid(self, valid: Valid) -> Lists:
        return replace(self, valid=valid)

    def take(self, rows: I64) -> Lists:
        offsets, places = _gathered(self.offsets, rows)
        return Lists(self.child.take(places), offsets, _picked_valid(self.valid, rows))

    def dense(self) -> Ragged:
        return Ragged(to_column(self.child), self.offsets)


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same number of values in each row, that may form a tensor."""

    child: Layout
    count: int
    size: int
    tensor: Tensor | None = None
    valid: Valid = None

    def __len__(self) -> int:
        return self.count

    def with_valid(self, valid: Valid) -> Fixed:
        return replace(self, valid=valid)

    def take(self, rows: I64) -> Fixed:
        places = (rows[:, None] * self.size + np.arange(self.size)).ravel()
        return replace(
            self, child=self.child.take(places), count=len(rows), valid=_picked_valid(self.valid, rows)
        )

    def dense(self) -> Flat | Ragged:
        values = to_column(self.child)
        if isinstance(values, Ragged):
            return Ragged(values, np.arange(self.count + 1, dtype=np.int64) * self.size)
        if isinstance(values, BytesColumn):
            shape = (self.count, self.size, *values.shape[1:])
            return BytesColumn(values.data, values.offsets, shape)
        if self.tensor is None:
            return values.reshape(self.count, self.size, *values.shape[1:])
        order = [0, *(i + 1 for i in self.tensor.permutation)]
        rows = values.reshape(self.count, *self.tensor.shape, *values.shape[1:])
        return rows.transpose(*order, *range(len(order), rows.ndim))


def to_column(layout: Layout) -> Flat | Ragged:
    """The column that a layout becomes."""
    valid = layout.valid
    if valid is None or valid.all():
        return layout.dense()
    if isinstance(layout, Numbers) and layout.values.dtype.kind in "mM":
        # NumPy has a word of its own for a time that is none.
        return np.where(valid, layout.values, np.array("NaT", layout.values.dtype))
    column = _without_nulls(layout, valid).dense()
    places = offsets_of(valid)
    if isinstance(column, Ragged):
        return Ragged(column.values, column.offsets[places], present=valid)
    return Ragged(column, places, present=valid)


def _without_nulls(layout: Layout, valid: npt.NDArray[np.bool_]) -> Layout:
    if isinstance(layout, (Strings, Lists)) and not np.diff(layout.offsets)[~valid].any():
        # Null rows without content, as most are: the others lie one behind the other without them.
        offsets = np.append(layout.offsets[:-1][valid], layout.offsets[-1])
        return replace(layout, offsets=offsets, valid=None)
    return layout.take(np.flatnonzero(valid)).with_valid(None)


AnyLayout = TypeVar("AnyLayout", bound=Layout)


def join(pieces: Sequence[Layout]) -> Layout:
    """The rows of all pieces, which are of one type."""
    if len(pieces) == 1:
        return pieces[0]
    valid = _joined_valid(pieces)
    if numbers := _all_of(Numbers, pieces):
        return Numbers(np.concatenate([piece.values for piece in numbers]), valid)
    if strings := _all_of(Strings, pieces):
        data = np.concatenate([piece.data for piece in strings])
        return Strings(data, _joined_offsets([piece.offsets for piece in strings]), valid)
    if lists := _all_of(Lists, pieces):
        child = join([piece.child for piece in lists])
        return Lists(child, _joined_offsets([piece.offsets for piece in lists]), valid)
    fixed = _all_of(Fixed, pieces)
    child = join([piece.child for piece in fixed])
    return replace(fixed[0], child=child, count=sum(map(len, fixed)), valid=valid)


def _all_of(kind: type[AnyLayout], pieces: Sequence[Layout]) -> list[AnyLayout]:
    return [piece for piece in pieces if isinstance(piece, kind)]


def _joined_valid(pieces: Sequence[Layout]) -> Valid:
    if all(piece.valid is None for piece in pieces):
        return None
    return np.concatenate(
        [np.ones(len(piece), np.bool_) if piece.valid is None else piece.valid for piece in pieces]
    )


def _joined_offsets(offsets: Sequence[I64]) -> I64:
    """Offsets that begin at 0, made to go on where those before them end."""
    return offsets_of(np.concatenate([np.diff(piece) for piece in offsets]))


def offsets_of(lengths: npt.NDArray[Any]) -> I64:
    """Where rows of these lengths begin, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def places_of(begins: I64, lengths: I64, offsets: I64) -> I64:
    """The positions of all values of rows that begin at `begins`; `offsets` are those of `lengths`."""
    return np.repeat(begins - offsets[:-1], lengths) + np.arange(int(offsets[-1]))


def _gathered(offsets: I64, rows: I64) -> tuple[I64, I64]:
    """The offsets of the given rows, and the positions of their values."""
    lengths = _picked(np.diff(offsets), rows)
    gathered = offsets_of(lengths)
    return gathered, places_of(_picked(offsets[:-1], rows), lengths, gathered)


def _picked(values: npt.NDArray[Any], rows: I64) -> npt.NDArray[Any]:
    # A dictionary without entries stands behind a column of nulls only.
    return values[rows] if len(values) else np.zeros(len(rows), values.dtype)


def _picked_valid(valid: Valid, rows: I64) -> Valid:
    return None if valid is None else _picked(valid, rows)
