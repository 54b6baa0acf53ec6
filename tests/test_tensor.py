"""Arrays with their shape and dtype: three features out, the same array back."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfreel

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4), (2, 0, 3)])
def test_arrays_come_back_as_they_were(dtype: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape, dtype=int)) % 2).astype(dtype).reshape(shape)
    found = tfreel.decode(tfreel.encode({"x": tfreel.tensor(array), "label": 7}))
    assert list(found) == ["label", "x"]
    assert isinstance(found["x"], np.ndarray)
    assert (found["x"].dtype, found["x"].shape) == (array.dtype, shape)
    np.testing.assert_array_equal(found["x"], array)
    assert found["x"].flags.writeable


def test_what_is_stored_is_what_tensorflow_reads_by_decode_raw() -> None:
    image = np.arange(24, dtype=np.uint16).reshape(2, 3, 4)
    found = tfreel.decode(tfreel.encode({"image": tfreel.tensor(image)}), tensors=False)
    assert found["image"] == [image.astype("<u2").tobytes()]
    assert found["image/dtype"] == [b"uint16"]
    np.testing.assert_array_equal(found["image/shape"], [2, 3, 4])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=">i4").reshape(3, 4),
        np.arange(12).reshape(3, 4).T,
        np.arange(12)[::-2],
        np.asfortranarray(np.ones((2, 3), np.float32)),
        [[1, 2], [3, 4]],
        2.5,
    ],
    ids=str,
)
def test_arrays_of_any_layout_and_byte_order_are_stored_alike(array: Any) -> None:
    found = tfreel.decode(tfreel.encode({"x": tfreel.tensor(array)}))["x"]
    np.testing.assert_array_equal(found, np.asarray(array), strict=False)  # type: ignore[arg-type]
    assert isinstance(found, np.ndarray)
    assert found.dtype.isnative


def test_bfloat16_comes_back_if_its_package_is_there() -> None:
    array = np.array([[0.5, 1.5]], ml_dtypes.bfloat16)
    found = tfreel.decode(tfreel.encode({"x": tfreel.tensor(array)}))["x"]
    assert isinstance(found, np.ndarray)
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("array", [["a"], [b"a"], [object()], [np.datetime64(1, "s")], np.zeros(1, "i4,i4")])
def test_only_booleans_and_numbers_make_a_tensor(array: Any) -> None:
    with pytest.raises(TypeError, match="booleans or numbers"):
        tfreel.tensor(array)


@pytest.mark.parametrize("taken", ["x/shape", "x/dtype"])
@pytest.mark.parametrize("value", [1, None, tfreel.tensor([1])])
def test_a_name_that_is_taken_is_an_error(taken: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{taken}.*'x'"):
        tfreel.encode({"x": tfreel.tensor([1]), taken: value})


def test_a_tensor_needs_a_proper_name_too() -> None:
    with pytest.raises(TypeError, match="names of features must be str"):
        tfreel.encode({b"x": tfreel.tensor([1])})  # type: ignore[dict-item]


def test_names_between_a_tensor_and_its_helpers_are_sorted_in() -> None:
    record = tfreel.encode({"x": tfreel.tensor([1]), "x/e": 1, "x-": 2, "y": tfreel.tensor([2])})
    assert list(tfreel.decode(record, tensors=False)) == [
        *("x", "x-", "x/dtype", "x/e", "x/shape"),
        *("y", "y/dtype", "y/shape"),
    ]
    assert list(tfreel.decode(record)) == ["x", "x-", "x/e", "y"]


def test_tensors_have_their_place_in_a_context_but_not_in_lists() -> None:
    record = tfreel.encode_sequence({"x": tfreel.tensor([[1, 2]])}, {"rows": [[1]]})
    context, _ = tfreel.decode_sequence(record)
    np.testing.assert_array_equal(context["x"], [[1, 2]])  # type: ignore[arg-type]
    assert len(tfreel.decode_sequence(record, tensors=False)[0]) == 3
    with pytest.raises(TypeError, match="tensor"):
        tfreel.encode_sequence({}, {"rows": [tfreel.tensor([1])]})


NO_TENSORS = {
    "bytes of another number": {"x": b"abc", "x/dtype": b"uint8", "x/shape": [2, 2]},
    "negative lengths": {"x": b"abcd", "x/dtype": b"uint8", "x/shape": [-2, -2]},
    "lengths that overflow": {"x": b"", "x/dtype": b"uint8", "x/shape": [2**32, 2**32]},
    "no values and lengths beyond counting": {"x": b"", "x/dtype": b"float64", "x/shape": [0, 2**62, 2**62]},
    "more dimensions than arrays have": {"x": b"a", "x/dtype": b"uint8", "x/shape": [1] * 70},
    "an unknown dtype": {"x": b"abcd", "x/dtype": b"object", "x/shape": [4]},
    "a dtype that runs code": {"x": b"abcd", "x/dtype": b"O,O", "x/shape": [4]},
    "a dtype by its letter": {"x": b"abcd", "x/dtype": b"B", "x/shape": [4]},
    "two dtypes": {"x": b"abcd", "x/dtype": [b"uint8", b"uint8"], "x/shape": [4]},
    "two values": {"x": [b"ab", b"cd"], "x/dtype": b"uint8", "x/shape": [4]},
    "no dtype": {"x": b"abcd", "x/shape": [4]},
    "no values": {"x/dtype": b"uint8", "x/shape": [4]},
    "values that are no bytes": {"x": [1, 2], "x/dtype": b"uint8", "x/shape": [2]},
    "a shape of floats": {"x": b"ab", "x/dtype": b"uint8", "x/shape": [2.0]},
    "a shape of text": {"x": b"ab", "x/dtype": b"uint8", "x/shape": "2"},
    "booleans that are neither": {"x": b"\0\1\2", "x/dtype": b"bool", "x/shape": [3]},
}


@pytest.mark.parametrize("case", NO_TENSORS)
def test_features_that_only_look_like_a_tensor_are_left_as_they_are(case: str) -> None:
    record = tfreel.encode(NO_TENSORS[case])
    found, plain = tfreel.decode(record), tfreel.decode(record, tensors=False)
    assert list(found) == list(plain)
    assert all(np.array_equal(found[name], plain[name]) for name in plain)  # type: ignore[arg-type]


def test_a_tensor_named_like_the_helper_of_another_is_found() -> None:
    record = tfreel.encode({"x/shape": tfreel.tensor([1, 2]), "y": 1})
    np.testing.assert_array_equal(tfreel.decode(record)["x/shape"], [1, 2])  # type: ignore[arg-type]


@given(
    hnp.arrays(
        st.one_of(
            hnp.boolean_dtypes(),
            hnp.integer_dtypes(endianness="?"),
            hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
        ),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0),
    )
)
def test_decoding_gives_back_any_array(array: np.ndarray[Any, Any]) -> None:
    found = tfreel.decode(tfreel.encode({"x": tfreel.tensor(array)}))["x"]
    assert isinstance(found, np.ndarray)
    assert (found.shape, found.dtype) == (array.shape, array.dtype.newbyteorder("="))
    np.testing.assert_array_equal(found, array)
