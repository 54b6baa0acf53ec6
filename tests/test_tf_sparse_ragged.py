"""Ragged and sparse tensors: as promises, as text, and what cannot be told by comparing with TensorFlow."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from tf_ragged_expressions import OF_TENSORS, values_of
from tfreel import tf
from tfreel.tf.graphs.ragged_rows import NestedRows, RaggedRows, SparseRows, VarLenRows, ragged_of
from tfreel.tf.graphs.rows import concatenated, taken_apart


def told(value: Any) -> Any:
    """A result as plain values."""
    if isinstance(value, (list, tuple)):
        return [told(each) for each in value]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", told(value.flat_values), told(value.nested_row_splits)]
    if isinstance(value, tf.SparseTensor):
        return ["sparse", told([value.indices, value.values, value.dense_shape])]
    return [value.dtype.name, list(value.shape), np.asarray(value).tolist()]


@pytest.mark.parametrize("expression", OF_TENSORS)
def test_an_expression_is_the_same_in_a_traced_function(expression: str) -> None:
    values = values_of(tf)
    now = eval(expression, {"tf": tf, **values})
    traced: list[Any] = []

    def function(given: dict[str, Any]) -> Any:
        found = eval(expression, {"tf": tf, **given})
        traced.append(found)
        return found

    dataset = tf.data.Dataset.from_tensors(values).map(function)
    (later,) = dataset
    assert told(later) == told(now)
    assert len(traced) == 1, "it was called with real values"


@pytest.mark.parametrize("expression", OF_TENSORS)
def test_what_is_known_before_agrees_with_what_comes(expression: str) -> None:
    dataset = tf.data.Dataset.from_tensors(values_of(tf))
    dataset = dataset.map(lambda given: eval(expression, {"tf": tf, **given}))
    (found,) = dataset
    specs = dataset.element_spec
    pairs = zip(specs, found, strict=True) if isinstance(specs, tuple) else [(specs, found)]
    for spec, value in pairs:
        assert spec.dtype == value.dtype
        assert spec.shape.is_compatible_with(value.shape)
        if isinstance(value, tf.RaggedTensor):
            assert spec.ragged_rank == value.ragged_rank
            assert spec.row_splits_dtype == value.row_splits.dtype


def test_long_tensors_are_told_in_short() -> None:
    assert repr(tf.ragged.constant([[1.5], [], [2, 3]])) == "<tf.RaggedTensor [[1.5], [], [2.0, 3.0]]>"
    long = repr(tf.ragged.constant([[i] for i in range(1000)]))
    assert long == "<tf.RaggedTensor [[0], [1], [2], ..., [997], [998], [999]]>"
    wide = repr(tf.ragged.constant([list(range(1000))]))
    assert wide == "<tf.RaggedTensor [[0, 1, 2, ..., 997, 998, 999]]>"


def test_they_pickle() -> None:
    for value in values_of(tf).values():
        assert told(pickle.loads(pickle.dumps(value))) == told(value)


def test_what_would_be_read_past_the_end_is_always_refused() -> None:
    for splits in ([0, 2, 9], [0, 3, 1, 3], [-1, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.RaggedTensor.from_row_splits([1, 2, 3], splits, validate=False)


def test_positions_in_a_shape_too_large_for_numbers_are_told_apart() -> None:
    huge = [1 << 40, 1 << 40]
    sparse = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], huge)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.to_dense(tf.SparseTensor([[0, 1 << 41]], [1], huge))
    assert tf.sparse.reorder(sparse).values.numpy().tolist() == [2, 1]


def test_a_promise_has_no_rows_to_go_through() -> None:
    seen: list[int] = []

    def function(row: Any) -> Any:
        seen.append(1)
        return tf.stack([tf.size(each) for each in row])

    dataset = tf.data.Dataset.from_tensors(tf.ragged.constant([[1, 2], [], [3]])).map(function)
    assert [each.tolist() for each in dataset.as_numpy_iterator()] == [[2, 0, 1]]
    assert len(seen) > 1  # it was called again, with real values


def columns() -> list[Any]:
    """A column of each kind, all of three rows."""
    values = values_of(tf)
    ragged, rows = values["r"].value(), values["rows"].value()
    return [
        RaggedRows(ragged_of(ragged)),
        NestedRows(ragged_of(ragged)),
        NestedRows(ragged_of(rows)),
        VarLenRows(ragged_of(ragged)),
        SparseRows.of(values["s"].value()),
    ]


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value.dtype.name, value.tolist()


@pytest.mark.parametrize("column", columns())
def test_columns_behind_each_other_have_all_rows(column: Any) -> None:
    both = concatenated([column.part(1, 3), column.part(0, 1), column])
    assert [plain(both.row(i)) for i in range(6)] == [plain(column.row(i)) for i in (1, 2, 0, 0, 1, 2)]


@pytest.mark.parametrize("column", columns()[1:])
def test_what_is_joined_is_taken_apart_again(column: Any) -> None:
    apart = taken_apart(column.take(np.array([2, 0, 1])).joined())
    assert [plain(apart.row(i))[1:2] for i in range(3)] == [plain(column.row(i))[1:2] for i in (2, 0, 1)]


def test_arrays_of_different_lengths_are_not_joined() -> None:
    column = columns()[0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes"):
        column.joined()
    assert column.part(2, 3).joined().tolist() == [[3]]
    assert column.part(0, 0).joined().shape == (0, 0)
