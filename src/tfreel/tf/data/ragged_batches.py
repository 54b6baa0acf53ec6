"""Batches of elements of different shapes: rows of different lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.graphs.rows import Column
from tfreel.tf.values import nest
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, RaggedValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec


def ragged_specs(specs: Any, first: int | None, row_splits_dtype: Any) -> Any:
    """The specs of batches of elements of these specs."""
    return nest.mapped(lambda spec: _ragged_spec(spec, first, row_splits_dtype), specs)


def _ragged_spec(spec: Any, first: int | None, row_splits_dtype: Any) -> Any:
    if not _is_uneven(spec):
        return TensorSpec([first, *spec.shape], spec.dtype)
    depth = _depth(spec.shape.as_list())
    return RaggedTensorSpec([first, *spec.shape], spec.dtype, depth, row_splits_dtype)


def _is_uneven(spec: Any) -> bool:
    return isinstance(spec, TensorSpec) and spec.shape.rank is not None and None in spec.shape.as_list()


def _depth(sizes: list[int | None]) -> int:
    """How many levels of rows there are: down to the last size that is not known."""
    return max(i for i, size in enumerate(sizes) if size is None) + 1


def ragged(column: Column, spec: Any, row_splits_dtype: Any) -> Any:
    """The rows of a column as one ragged value; as one array if nothing about their shape is open."""
    rows = [column.row(i) for i in range(len(column))]
    if not isinstance(rows[0], np.ndarray) or not rows[0].ndim:
        return column.joined()
    if spec is not None and not _is_uneven(spec):
        return column.joined()
    depth = 1 if spec is None else _depth(spec.shape.as_list())
    return _of_rows(rows, depth, as_dtype(row_splits_dtype).numpy)


def _of_rows(rows: list[Array], depth: int, splits_dtype: Any) -> RaggedValue:
    splits = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(splits_dtype)
    if depth == 1:
        return RaggedValue(np.concatenate(rows), splits)
    inner = [part for row in rows for part in row]
    if inner:
        return RaggedValue(_of_rows(inner, depth - 1, splits_dtype), splits)
    empty = np.zeros(1, splits_dtype)
    values: Any = np.zeros((0, *rows[0].shape[depth:]), rows[0].dtype)
    for _ in range(depth - 1):
        values = RaggedValue(values, empty)
    return RaggedValue(values, splits)
