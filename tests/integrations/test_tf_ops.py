"""The operations of `tfreel.tf` against TensorFlow's: one expression, two libraries, one result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tf_expressions import BYTES, CLOSE, COLUMNS, CONTROL, EXACT, MAPPED, TEXT
from tfreel import tf as ours

tensorflow = pytest.importorskip("tensorflow")


def _run(tf: Any, expression: str) -> Any:
    try:
        return eval(expression, {"tf": tf, "np": np, "nan": np.nan, "inf": np.inf})
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return error


def _same(found: Any, wanted: Any, *, close: bool) -> None:
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"{found!r} where TensorFlow raises {wanted!r}"
        assert type(found).__name__ == type(wanted).__name__, f"{found!r} for {wanted!r}"
    elif isinstance(found, Exception):
        raise found
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for ours_, theirs in zip(found, wanted, strict=True):
            _same(ours_, theirs, close=close)
    elif isinstance(wanted, tensorflow.RaggedTensor):
        _same(found.flat_values, wanted.flat_values, close=close)
        assert [each.numpy().tolist() for each in found.nested_row_splits] == [
            each.numpy().tolist() for each in wanted.nested_row_splits
        ]
    elif not hasattr(wanted, "numpy"):
        assert str(found) == str(wanted)
    else:
        assert found.dtype.name == wanted.dtype.name
        assert found.shape.as_list() == wanted.shape.as_list()
        values, theirs = found.numpy(), wanted.numpy()
        assert type(values) is type(theirs)
        if close and wanted.dtype.name != "string":
            np.testing.assert_allclose(values, theirs, rtol=2e-6, atol=1e-7)
        else:
            np.testing.assert_array_equal(values, theirs)


@pytest.mark.parametrize("expression", [*EXACT, *TEXT, *BYTES, *CONTROL])
def test_an_expression_gives_what_tensorflow_gives(expression: str) -> None:
    _same(_run(ours, expression), _run(tensorflow, expression), close=False)


@pytest.mark.parametrize("expression", CLOSE)
def test_an_expression_gives_nearly_what_tensorflow_gives(expression: str) -> None:
    _same(_run(ours, expression), _run(tensorflow, expression), close=True)


def _mapped(tf: Any, expression: str, rows: list[Any]) -> Any:
    def function(x: Any) -> Any:
        return eval(expression, {"tf": tf, "np": np, "x": x})

    try:
        if isinstance(rows[0], bytes) or len({row.shape for row in rows}) == 1:
            dataset = tf.data.Dataset.from_tensor_slices(
                rows if isinstance(rows[0], bytes) else np.stack(rows)
            )
        else:
            spec = tf.TensorSpec([None, *rows[0].shape[1:]], rows[0].dtype)
            dataset = tf.data.Dataset.from_generator(lambda: rows, output_signature=spec)
        dataset = dataset.map(function)
        return [tf.nest.flatten(element) for element in dataset], tf.nest.flatten(dataset.element_spec)
    except Exception as error:  # noqa: BLE001
        return error


@pytest.mark.parametrize(
    "kind", ["whole numbers", "vectors", "pictures", "vectors of many lengths", "strings of one length"]
)
@pytest.mark.parametrize("expression", MAPPED)
def test_a_mapped_function_gives_what_tensorflow_gives(expression: str, kind: str) -> None:
    wanted = _mapped(tensorflow, expression, COLUMNS[kind])
    found = _mapped(ours, expression, COLUMNS[kind])
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), f"no error where TensorFlow raises {wanted!r}"
        return
    if isinstance(found, Exception):
        raise found
    for element, theirs in zip(found[0], wanted[0], strict=True):
        _same(element, theirs, close=True)
    for spec, theirs in zip(found[1], wanted[1], strict=True):
        assert spec.dtype.name == theirs.dtype.name
        assert theirs.shape.is_compatible_with(spec.shape.as_list() if spec.shape.rank is not None else None)
