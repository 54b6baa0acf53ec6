"""What operations do with whole columns is what they do with each row, and what is told of shapes holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tf_expressions import COLUMNS, MAPPED
from tfreel import tf


def _dataset(rows: list[Any]) -> Any:
    if isinstance(rows[0], bytes) or len({row.shape for row in rows}) == 1:
        return tf.data.Dataset.from_tensor_slices(rows if isinstance(rows[0], bytes) else np.stack(rows))
    shape = [None, *rows[0].shape[1:]]
    return tf.data.Dataset.from_generator(lambda: rows, output_signature=tf.TensorSpec(shape, rows[0].dtype))


def _value(expression: str, x: Any) -> Any:
    return eval(expression, {"tf": tf, "np": np, "x": x})


def _leaves(value: Any) -> list[Any]:
    return [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(value)]


def _one_by_one(expression: str, rows: list[Any]) -> Any:
    try:
        return [_leaves(_value(expression, tf.constant(row))) for row in rows]
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return error


def _all_at_once(expression: str, rows: list[Any]) -> Any:
    try:
        dataset = _dataset(rows).map(lambda x: _value(expression, x))
        return [_leaves(element) for element in dataset], tf.nest.flatten(dataset.element_spec)
    except Exception as error:  # noqa: BLE001
        return error


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("expression", MAPPED)
def test_many_rows_at_once_are_as_each_alone(expression: str, kind: str) -> None:
    wanted = _one_by_one(expression, COLUMNS[kind])
    found = _all_at_once(expression, COLUMNS[kind])
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"no error where each row raises {wanted!r}"
        assert type(found) is type(wanted), f"{found!r} where each row raises {wanted!r}"
        return
    if isinstance(found, Exception):
        raise found
    elements, specs = found
    for element, row in zip(elements, wanted, strict=True):
        for theirs, ours, spec in zip(row, element, specs, strict=True):
            _same(ours, theirs)
            assert spec.dtype == theirs.dtype
            assert spec.shape.is_compatible_with(theirs.shape), f"{spec} for {theirs}"


def _same(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype
    if isinstance(wanted, tf.RaggedTensor):
        assert found.to_list() == wanted.to_list()
        return
    assert found.shape == wanted.shape
    ours, theirs = np.asarray(found), np.asarray(wanted)
    assert ours.tolist() == theirs.tolist() if ours.dtype == object else ours.tobytes() == theirs.tobytes()
