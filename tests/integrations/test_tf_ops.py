"""The operations of `tfreel.tf` against TensorFlow's: one expression, two libraries, one result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tf_expressions import BYTES, CLOSE, CONTROL, EXACT, TEXT
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
        if close:
            np.testing.assert_allclose(values, theirs, rtol=2e-6, atol=1e-7)
        else:
            np.testing.assert_array_equal(values, theirs)


@pytest.mark.parametrize("expression", [*EXACT, *TEXT, *BYTES, *CONTROL])
def test_an_expression_gives_what_tensorflow_gives(expression: str) -> None:
    _same(_run(ours, expression), _run(tensorflow, expression), close=False)


@pytest.mark.parametrize("expression", CLOSE)
def test_an_expression_gives_nearly_what_tensorflow_gives(expression: str) -> None:
    _same(_run(ours, expression), _run(tensorflow, expression), close=True)
