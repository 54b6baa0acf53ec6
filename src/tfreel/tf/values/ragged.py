"""`tf.RaggedTensor`: rows that differ in length, perhaps of rows themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tfreel.tf.ops import ragged_made as made
from tfreel.tf.ops import ragged_parts as parts
from tfreel.tf.ops.ragged_math import arithmetic
from tfreel.tf.ops.ragged_picks import as_arguments, picked
from tfreel.tf.values.dtypes import DType
from tfreel.tf.values.handles import Array, Handle, NotTracedError, RaggedValue, stands_for
from tfreel.tf.values.shapes import TensorShape
from tfreel.tf.values.specs import RaggedTensorSpec, spec_of


@stands_for(RaggedValue)
class RaggedTensor(Handle):
    """Rows of any length. They are made by `tf.ragged.constant` and by methods such as `from_row_lengths`.

    Example:
        >>> rows = tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
        >>> rows
        <tf.RaggedTensor [[1, 2], [], [3]]>
        >>> rows.to_tensor(-1).numpy().tolist()
        [[1, 2], [-1, -1], [3, -1]]
    """

    __slots__ = ()

    is_ragged = True

    __array_priority__ = 100  # NumPy's operators leave the work to ours

    from_row_splits = staticmethod(made.from_row_splits)
    from_row_lengths = staticmethod(made.from_row_lengths)
    from_row_starts = staticmethod(made.from_row_starts)
    from_row_limits = staticmethod(made.from_row_limits)
    from_value_rowids = staticmethod(made.from_value_rowids)
    from_uniform_row_length = staticmethod(made.from_uniform_row_length)
    from_nested_row_splits = staticmethod(made.from_nested_row_splits)
    from_nested_row_lengths = staticmethod(made.from_nested_row_lengths)
    from_tensor = staticmethod(made.from_tensor)
    from_sparse = staticmethod(made.from_sparse)

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ValueError("make ragged tensors with tf.ragged.constant or RaggedTensor.from_row_lengths")

    @property
    def _spec(self) -> RaggedTensorSpec:
        found: Any = spec_of(self._held) if self._source is None else self._source.spec
        spec: RaggedTensorSpec = found
        return spec

    @property
    def shape(self) -> TensorShape:
        """The shape: None for the lengths of rows."""
        return self._spec.shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._spec.dtype

    @property
    def ragged_rank(self) -> int:
        """How many levels of rows there are."""
        return self._spec.ragged_rank

    @property
    def uniform_row_length(self) -> None:
        """Always None: that all rows are of one length is not kept."""

    def get_shape(self) -> TensorShape:
        """The shape: None for the lengths of rows."""
        return self.shape

    @property
    def values(self) -> Any:
        """The values of all rows, which may be rows themselves."""
        return parts.values(self)

    @property
    def flat_values(self) -> Any:
        """The values below all rows."""
        return parts.flat_values(self)

    @property
    def row_splits(self) -> Any:
        """Where each row begins, and at last where the last one ends."""
        return parts.row_splits(self)

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all levels, the outermost first."""
        return tuple(each.row_splits for each in self._levels())

    def nested_row_lengths(self, name: Any = None) -> tuple[Any, ...]:
        """The row lengths of all levels, the outermost first."""
        return tuple(each.row_lengths() for each in self._levels())

    def nested_value_rowids(self, name: Any = None) -> tuple[Any, ...]:
        """The row of each value, of all levels."""
        return tuple(each.value_rowids() for each in self._levels())

    def _levels(self) -> Iterator[RaggedTensor]:
        level: Any = self
        while isinstance(level, RaggedTensor):
            yield level
            level = level.values

    def row_starts(self, name: Any = None) -> Any:
        """Where each row begins."""
        return parts.row_starts(self)

    def row_limits(self, name: Any = None) -> Any:
        """Where each row ends."""
        return parts.row_limits(self)

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """How long each row is; of a deeper axis, each row in the rows."""
        if axis == 0:
            return self.nrows()
        return parts.row_lengths(self) if axis == 1 else self.with_values(self.values.row_lengths(axis - 1))

    def value_rowids(self, name: Any = None) -> Any:
        """The row of each value."""
        return parts.value_rowids(self)

    def nrows(self, out_type: Any = None, name: Any = None) -> Any:
        """How many rows there are."""
        return parts.nrows(self, out_type)

    def bounding_shape(self, axis: Any = None, name: Any = None, out_type: Any = None) -> Any:
        """The shape of the smallest tensor that holds all rows, or one size of it."""
        shape = parts.bounding_shape(self, out_type)
        return shape if axis is None else shape[axis]

    def with_values(self, new_values: Any) -> Any:
        """Other values in the same rows."""
        return parts.with_values(self, new_values)

    def with_flat_values(self, new_values: Any) -> Any:
        """Other values below all rows."""
        return parts.with_flat_values(self, new_values)

    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """The rows padded with a default to one length, or to a shape."""
        return parts.to_tensor(self, default_value, shape)

    def to_sparse(self, name: Any = None) -> Any:
        """The values at their rows and their positions in them."""
        return parts.to_sparse(self)

    def to_list(self) -> list[Any]:
        """The rows as lists of plain values."""
        return parts.as_list(self.value())

    def numpy(self) -> Array:
        """The rows as one array if they are of one length, else as an array of arrays."""
        return parts.as_numpy(self.value())

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value in a run of the given session, or of a new one."""
        from tfreel.tf.first.session import Session

        return (session or Session()).run(self, feed_dict=feed_dict)

    def __getitem__(self, key: Any) -> Any:
        return picked(self, *as_arguments(key))

    def __iter__(self) -> Iterator[Any]:
        if self._source is not None:
            raise NotTracedError("the rows of a ragged tensor")
        return (self[i] for i in range(len(self._held.row_splits) - 1))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __reduce__(self) -> Any:
        return RaggedTensor.of, (self.value(),)

    def __repr__(self) -> str:
        if self._source is not None:
            return f"tf.RaggedTensor(shape={self.shape}, dtype={self.dtype.name})"
        return f"<tf.RaggedTensor {_shown(self._held)}>"


for _name, _method in arithmetic().items():
    setattr(RaggedTensor, _name, _method)


def _shown(value: Any) -> str:
    """Rows as text; of many, the first and the last."""
    if isinstance(value, RaggedValue):
        bounds = value.row_splits.tolist()
        rows = [parts.taken(value.values, slice(a, b)) for a, b in pairwise(bounds)]
    elif value.ndim:
        rows = list(value)
    else:
        return str(value)
    most = _MOST_ROWS if isinstance(value, RaggedValue) else _MOST_VALUES
    shown = [_text(each) for each in (rows if len(rows) <= most else [*rows[:3], None, *rows[-3:]])]
    return "[" + ", ".join(shown) + "]"


_MOST_ROWS, _MOST_VALUES = 20, 100


def _text(row: Any) -> str:
    if row is None:
        return "..."
    return _shown(row) if isinstance(row, (RaggedValue, np.ndarray)) else str(row)
