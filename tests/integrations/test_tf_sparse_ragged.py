"""Ragged and sparse tensors of `tfreel.tf` against TensorFlow's: one expression in two libraries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tf_ragged_expressions import OF_TENSORS, WITH_VALUES, values_of
from tfreel import tf as ours

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    theirs: Any = pytest.importorskip("tensorflow")


def evaluate(tf: Any, expression: str) -> Any:
    try:
        return eval(expression, {"tf": tf, "np": np, **values_of(tf)})
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return error


def plain(tf: Any, value: Any) -> Any:
    """A result as plain values; of an error, its class."""
    if isinstance(value, Exception):
        return type(value).__name__
    if isinstance(value, tf.RaggedTensor):
        parts = [value.flat_values, *value.nested_row_splits]
        return ["ragged", *(plain(tf, part) for part in parts), list(value.shape[:1])]
    if isinstance(value, tf.SparseTensor):
        return ["sparse", *(plain(tf, part) for part in (value.indices, value.values, value.dense_shape))]
    if isinstance(value, tf.Tensor):
        return [
            value.dtype.name,
            list(value.shape),
            value.numpy().tolist() if value.shape.rank else value.numpy(),
        ]
    if isinstance(value, np.ndarray):
        rows = [plain(tf, each) for each in value] if value.dtype == object else value.tolist()
        return ["array", str(value.dtype), list(value.shape), rows]
    if isinstance(value, (list, tuple)):
        return [plain(tf, each) for each in value]
    return repr(value)


@pytest.mark.parametrize("expression", [*OF_TENSORS, *WITH_VALUES])
def test_an_expression_gives_what_tensorflow_gives(expression: str) -> None:
    assert plain(ours, evaluate(ours, expression)) == plain(theirs, evaluate(theirs, expression))
