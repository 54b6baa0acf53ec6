"""Padding: elements of different sizes made as large as the largest of their batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.data.batch_specs import with_first
from tfreel.tf.errors import DataLossError
from tfreel.tf.graphs.ragged_rows import RaggedRows, plain
from tfreel.tf.graphs.rows import Column, Dense
from tfreel.tf.values import nest
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, Handle
from tfreel.tf.values.shapes import Sizes, TensorShape, TensorSpec


class Padding:
    """To which shapes elements are padded, and with what.

    Args:
        shapes: For each leaf, a shape in which unknown sizes are those of the largest; None if all are
        unknown.
        values: For each leaf, what is put in; None for zero and the empty string.
    """

    def __init__(self, shapes: list[TensorShape] | None, values: list[Any] | None) -> None:
        self._shapes = shapes
        self._values = values

    @classmethod
    def of(cls, specs: Any, shapes: Any, values: Any) -> Padding:
        """As `padded_batch` takes it, for elements of these specs.

        Raises:
            ValueError: A shape has another rank than the elements.
            TypeError: A value is of another dtype than the elements.
        """
        leaves = None if specs is None else nest.flatten(specs)
        known = None if shapes is None else _shapes(specs, shapes)
        if known and leaves:
            for shape, spec in zip(known, leaves, strict=True):
                if None not in (shape.rank, spec.shape.rank) and shape.rank != spec.shape.rank:
                    raise ValueError(
                        f"The padded shape {shape} is not compatible with the shape {spec.shape} of elements"
                    )
        return cls(known, None if values is None else _values(specs, leaves, values))

    def up_to(self, size: int, specs: Any) -> Padding:
        """The same, with this size where that of the largest was meant, for elements of these specs."""
        shapes = self._shapes or [leaf.shape for leaf in nest.flatten(specs)]
        known = [TensorShape([size if each is None else each for each in shape]) for shape in shapes]
        return Padding(known, self._values)

    def specs(self, specs: Any, first: int | None) -> Any:
        """The specs of batches of elements of these specs."""
        leaves = nest.flatten(specs)
        shapes = self._shapes or [leaf.shape for leaf in leaves]
        padded = [
            with_first(TensorSpec(_known(shape, leaf.shape), leaf.dtype), first)
            for shape, leaf in zip(shapes, leaves, strict=True)
        ]
        return nest.pack(specs, padded)

    def stacked(self, leaf: int, column: Column) -> Array:
        """The rows of a column in one array, padded.

        Raises:
            DataLossError: One is larger than the shape to which it should be padded.
        """
        made = self._at_once(leaf, column)
        if made is not None:
            return made
        rows = [column.row(i) for i in range(len(column))]
        shape = self._target(leaf, [row.shape for row in rows])
        made = np.full((len(rows), *shape), self._value(leaf, rows[0]), rows[0].dtype)
        for i, row in enumerate(rows):
            if any(size > most for size, most in zip(row.shape, shape, strict=True)):
                raise DataLossError(
                    "Attempted to pad to a smaller size than the input element:"
                    f" {list(row.shape)} does not fit into {list(shape)}"
                )
            place: tuple[Any, ...] = (i, *(slice(size) for size in row.shape))
            made[place] = row[()]  # a scalar: NumPy would put an array of bytes into the array
        return made

    def _at_once(self, leaf: int, column: Column) -> Array | None:
        """The same for rows that are one array already, or differ in their first size alone; else None."""
        if isinstance(column, Dense):
            inner = column.array.shape[1:]
            return column.array if self._target(leaf, [inner]) == inner else None
        if type(column) is not RaggedRows:
            return None
        lengths, flat = column.ragged.lengths, plain(column.ragged.trimmed().flat_values)
        shape = self._target(leaf, [(int(lengths.max(initial=0)), *flat.shape[1:])])
        if shape[1:] != flat.shape[1:] or (lengths > shape[0]).any():
            return None
        made = np.full((len(lengths), *shape), self._value(leaf, flat), flat.dtype)
        made[np.arange(shape[0]) < lengths[:, np.newaxis]] = flat
        return made

    def _target(self, leaf: int, found: list[tuple[int, ...]]) -> tuple[int, ...]:
        largest = tuple(map(max, *found)) if len(found) > 1 else found[0]
        wanted = self._shapes[leaf].sizes if self._shapes else None
        if wanted is None:
            return largest
        return tuple(most if size is None else size for size, most in zip(wanted, largest, strict=True))

    def _value(self, leaf: int, row: Array) -> Any:
        value = None if self._values is None else self._values[leaf]
        if value is not None:
            return value
        return b"" if row.dtype == object else row.dtype.type(0)


def _known(shape: TensorShape, of_elements: TensorShape) -> Sizes | None:
    return of_elements.sizes if shape.sizes is None else shape.sizes


def _shapes(specs: Any, shapes: Any) -> list[TensorShape]:
    if specs is not None and nest.is_nested(specs):
        return [_shape(each) for each in nest.flatten_as(specs, nest_lists(shapes, specs))]
    return [_shape(shapes)]


def nest_lists(shapes: Any, specs: Any) -> Any:
    """Shapes in the structure of the elements: a tuple of elements takes a list or tuple of shapes."""
    return tuple(shapes) if isinstance(specs, tuple) and isinstance(shapes, list) else shapes


def _shape(given: Any) -> TensorShape:
    if isinstance(given, Handle):
        given = given.value()
    if isinstance(given, np.ndarray):
        given = given.tolist()
    return TensorShape(given)


def _values(specs: Any, leaves: list[Any] | None, values: Any) -> list[Any]:
    nested = specs is not None and nest.is_nested(specs)
    given = nest.flatten_as(specs, values) if nested and nest.is_nested(values) else None
    if given is None:
        given = [values] * (len(leaves) if leaves else 1)
    return [_value(each, leaf) for each, leaf in zip(given, leaves or [None] * len(given), strict=True)]


def _value(given: Any, leaf: Any) -> Any:
    if given is None:
        return None
    made = array(given)
    if leaf is not None and as_dtype(made.dtype) != leaf.dtype:
        raise TypeError(
            f"Mismatched type between padding value ({as_dtype(made.dtype).name}) and the elements"
            f" ({leaf.dtype.name}); tf.constant({given!r}, tf.{leaf.dtype.name}) is of the right one"
        )
    return made.item()
