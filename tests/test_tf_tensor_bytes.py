"""Serialized tensors: what is written comes back, and bytes that tell no tensor are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

from tfreel import tf
from tfreel.tf.ops.tensor_messages import TensorProto

KINDS = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16", "?"]


@given(
    st.sampled_from(KINDS).flatmap(
        lambda kind: drawn.arrays(kind, drawn.array_shapes(min_dims=0, min_side=0))
    )
)
def test_any_array_comes_back(array: Any) -> None:
    written = tf.io.serialize_tensor(array)
    found = tf.io.parse_tensor(written, array.dtype).numpy()
    assert np.asarray(found).tobytes() == array.tobytes()
    assert np.shape(found) == array.shape
    assert tf.make_ndarray(tf.make_tensor_proto(array)).tobytes() == array.tobytes()


@given(st.lists(st.binary(max_size=9), max_size=5))
def test_any_strings_come_back(strings: list[bytes]) -> None:
    found = tf.io.parse_tensor(tf.io.serialize_tensor(np.array(strings, object)), tf.string)
    assert found.numpy().tolist() == strings


@given(st.binary(max_size=60))
def test_any_bytes_are_a_tensor_or_refused(data: bytes) -> None:
    try:
        found = tf.io.parse_tensor(data, tf.int32)
    except tf.errors.InvalidArgumentError:
        return
    assert found.dtype == tf.int32


def _message(sizes: list[int], dtype: int = 3, **values: Any) -> bytes:
    message = TensorProto(dtype=dtype, **values)
    for size in sizes:
        message.tensor_shape.dim.add(size=size)
    written: bytes = message.SerializeToString()
    return written


@pytest.mark.parametrize(
    "record",
    [
        _message([2**62, 2**62], int_val=[1]),
        _message([2**40], int_val=[1]),
        _message([-1], int_val=[1]),
        _message([2], tensor_content=b"\1\0\0\0"),
        _message([2], dtype=7, tensor_content=b"ab"),
        _message([2], dtype=10, tensor_content=b"\1\2"),
        _message([2], dtype=99, int_val=[1, 2]),
        _message([2], dtype=0, int_val=[1, 2]),
    ],
)
def test_a_claim_that_does_not_hold_is_refused(record: bytes) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(record, tf.int32)


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (_message([3], int_val=[7]), [7, 7, 7]),
        (_message([3], int_val=[7, 8]), [7, 8, 8]),
        (_message([3]), [0, 0, 0]),
        (_message([2], int_val=[7, 8, 9]), [7, 8]),
        (_message([], int_val=[7]), 7),
    ],
)
def test_missing_values_are_the_last_one_again(record: bytes, wanted: Any) -> None:
    assert np.asarray(tf.io.parse_tensor(record, tf.int32)).tolist() == wanted


def test_a_tensor_of_no_values_may_have_any_sizes() -> None:
    assert tf.io.parse_tensor(_message([2**40, 0]), tf.int32).shape == [2**40, 0]


def test_a_pixel_string_is_decoded_with_its_shape() -> None:
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    found = tf.reshape(tf.io.decode_raw(pixels.tobytes(), tf.uint8), [2, 2, 3])
    assert found.numpy().tolist() == pixels.tolist()


def test_a_wrong_size_of_raw_values_names_the_numbers() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="length 7 that is not a multiple of 4"):
        tf.io.decode_raw(b"1234567", tf.float32)


def test_unsigned_numbers_of_four_bytes_tell_the_way() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"decode as int32 and tf\.bitcast it"):
        tf.io.decode_raw(b"1234", tf.uint32)
