"""Messages of tensors, whole and broken, read as TensorFlow reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfreel import tf
from tfreel.tf.ops.tensor_messages import TensorProto
from tfreel.tf.values.dtypes import ALL

tensorflow = pytest.importorskip("tensorflow")

SMALL = st.integers(-(2**31), 2**31 - 1)
VALUES = {
    "float_val": st.floats(width=32),
    "double_val": st.floats(),
    "int_val": SMALL,
    "string_val": st.binary(max_size=4),
    "scomplex_val": st.floats(width=32),
    "int64_val": st.integers(-(2**63), 2**63 - 1),
    "bool_val": st.booleans(),
    "dcomplex_val": st.floats(),
    "half_val": st.integers(0, 2**16 - 1),
    "uint32_val": st.integers(0, 2**32 - 1),
    "uint64_val": st.integers(0, 2**64 - 1),
}


@st.composite
def messages(draw: Any) -> tuple[Any, bytes]:
    dtype = draw(st.sampled_from(ALL))
    fields = draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=2, unique=True))
    message = TensorProto(dtype=dtype.as_datatype_enum)
    for size in draw(st.lists(st.integers(-1, 4), max_size=3)):
        message.tensor_shape.dim.add(size=size)
    for field in fields:
        getattr(message, field).extend(draw(st.lists(VALUES[field], max_size=6)))
    if draw(st.booleans()):
        size = max(0, dtype.size * draw(st.integers(0, 4)) + draw(st.sampled_from([0, 0, 0, 1])))
        message.tensor_content = draw(st.binary(min_size=size, max_size=size))
    return dtype, message.SerializeToString()


def _read(module: Any, record: bytes, dtype: str) -> Any:
    try:
        return np.asarray(module.io.parse_tensor(record, getattr(module, dtype)))
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return type(error).__name__


@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages())
def test_a_message_is_read_as_tensorflow_reads_it(drawn: tuple[Any, bytes]) -> None:
    dtype, record = drawn
    _same(_read(tf, record, dtype.name), _read(tensorflow, record, dtype.name))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages(), st.data())
def test_a_broken_message_is_refused_where_tensorflow_refuses_it(drawn: tuple[Any, bytes], data: Any) -> None:
    dtype, record = drawn
    at = data.draw(st.integers(0, len(record)))
    broken = record[:at] + data.draw(st.binary(max_size=3)) + record[at + data.draw(st.integers(0, 3)) :]
    _same(_read(tf, broken, dtype.name), _read(tensorflow, broken, dtype.name))


def _same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, str) or isinstance(found, str):
        assert type(found) is type(wanted), f"{found!r} where TensorFlow gives {wanted!r}"
        assert found == wanted
        return
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tolist() == wanted.tolist() if found.dtype == object else found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    "value", [5, 1.5, [1, 2], [[1.5]], "a", ["a", "b"], True, [], 2j, np.float16(2), np.int64(3)]
)
def test_a_message_is_made_as_tensorflow_makes_it(value: Any) -> None:
    assert (
        tf.make_tensor_proto(value).SerializeToString()
        == tensorflow.make_tensor_proto(value).SerializeToString()
    )
