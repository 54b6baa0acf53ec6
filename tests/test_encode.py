"""Rows become Examples: the bytes are protobuf's, the rules are those of docs/examples.md."""

from __future__ import annotations

import collections
import enum
import gc
import itertools
import re
import threading
import types
from typing import Any

import hypothesis.extra.numpy as hnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfreel

from messages_oracle import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)


def ints(*values: int) -> Any:
    return Feature(int64_list=Int64List(value=values))


def floats(*values: float) -> Any:
    return Feature(float_list=FloatList(value=values))


def texts(*values: bytes) -> Any:
    return Feature(bytes_list=BytesList(value=values))


def serialized(**features: Any) -> bytes:
    message = Example(features=Features(feature=features))
    return message.SerializeToString(deterministic=True)  # type: ignore[no-any-return]


# Values -----------------------------------------------------------------------------------------------------


class Color(enum.IntEnum):
    RED = 5


class Text(str):
    pass


KINDS = {
    "int": (7, ints(7)),
    "zero": (0, ints(0)),
    "negative int": (-1, ints(-1)),
    "smallest int64": (-(2**63), ints(-(2**63))),
    "largest int64": (2**63 - 1, ints(2**63 - 1)),
    "bool": (True, ints(1)),
    "enum": (Color.RED, ints(5)),
    "float": (0.1, floats(0.1)),
    "infinity": (float("-inf"), floats(float("-inf"))),
    "nan": (float("nan"), floats(float("nan"))),
    "largest that rounds to a finite float32": (
        3.4028235677973362e38,
        floats(float(np.finfo(np.float32).max)),
    ),
    "str": ("grüße ☃ \U0001f409", texts("grüße ☃ \U0001f409".encode())),
    "subclass of str": (Text("a"), texts(b"a")),
    "empty str": ("", texts(b"")),
    "bytes": (b"\0\xff", texts(b"\0\xff")),
    "long bytes": (b"x" * 5000, texts(b"x" * 5000)),
    "bytearray": (bytearray(b"ab"), texts(b"ab")),
    "memoryview": (memoryview(b"abcd")[1:3], texts(b"bc")),
    "memoryview with gaps": (memoryview(b"abcd")[::2], texts(b"ac")),
    "np.int8": (np.int8(-3), ints(-3)),
    "np.uint64": (np.uint64(2**63 - 1), ints(2**63 - 1)),
    "np.bool_": (np.bool_(True), ints(1)),
    "np.float16": (np.float16(0.5), floats(0.5)),
    "np.float32": (np.float32(0.1), floats(np.float32(0.1))),
    "np.float64": (np.float64(0.1), floats(0.1)),
    "np.longdouble": (np.longdouble(0.5), floats(0.5)),
    "np.str_": (np.str_("é"), texts("é".encode())),
    "np.bytes_": (np.bytes_(b"e"), texts(b"e")),
    "np.datetime64": (np.datetime64("1970-01-02"), ints(86_400_000_000_000)),
    "np.timedelta64": (np.timedelta64(-3, "us"), ints(-3000)),
    "list": ([1, 2, 3], ints(1, 2, 3)),
    "tuple": ((0.5, 1.5), floats(0.5, 1.5)),
    "bools and ints": ([True, 2, np.bool_(False), np.int16(9)], ints(1, 2, 0, 9)),
    "floats of all sizes": ([0.5, np.float32(1.5), np.float64(2.5)], floats(0.5, 1.5, 2.5)),
    "str and bytes": (["a", b"b", bytearray(b"c"), np.str_("d")], texts(b"a", b"b", b"c", b"d")),
    "nested lists": ([[1, (2, 3)], [], [[4]]], ints(1, 2, 3, 4)),
    "list of arrays": ([np.array([1, 2]), np.array([[3], [4]]), 5], ints(1, 2, 3, 4, 5)),
    "empty int array": (np.array([], np.int32), ints()),
    "empty float array": (np.zeros((0, 3)), floats()),
    "empty bytes array": (np.array([], np.bytes_), texts()),
    "empty str array": (np.array([], np.str_), texts()),
    "list of an empty array": ([np.array([], np.int64)], ints()),
    "0-d array": (np.array(7), ints(7)),
    "str array": (np.array([["a", "bé"]]), texts(b"a", "bé".encode())),
    "bytes array": (np.array([b"a", b"b\0c"]), texts(b"a", b"b\0c")),
    "object array": (np.array(["a", b"b"], object), texts(b"a", b"b")),
    "datetime array": (np.array(["1970-01-01", "1969-12-31"], "M8[D]"), ints(0, -86_400_000_000_000)),
    "float16 array": (np.array([0.5, np.inf], np.float16), floats(0.5, float("inf"))),
    "longdouble array": (np.array([0.5, np.inf], np.longdouble), floats(0.5, float("inf"))),
    "array in Fortran order": (np.array([[1, 2], [3, 4]], order="F"), ints(1, 2, 3, 4)),
    "array with gaps": (np.arange(10)[::-3], ints(9, 6, 3, 0)),
    "float array with gaps": (np.arange(4, dtype=np.float32)[::2], floats(0, 2)),
    "big-endian array": (np.array([1, -2], ">i2"), ints(1, -2)),
    "big-endian floats": (np.array([0.5, 2], ">f4"), floats(0.5, 2)),
    "read-only array": (np.frombuffer(b"\1\2", np.uint8), ints(1, 2)),
    "matrix": (np.asarray([[1, 2]]).view(type("Sub", (np.ndarray,), {})), ints(1, 2)),
}


@pytest.mark.parametrize("case", KINDS)
def test_values_become_what_protobuf_writes(case: str) -> None:
    value, feature = KINDS[case]
    assert tfreel.encode({"x": value}) == serialized(x=feature)


@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q"])
def test_integers_of_every_dtype_become_int64(dtype: str) -> None:
    assert tfreel.encode({"x": np.array([0, 1], dtype)}) == serialized(x=ints(0, 1))


def test_arrays_not_on_their_boundaries_are_read_all_the_same() -> None:
    packed = np.zeros(3, np.dtype([("a", "u1"), ("b", "<i8")]))
    packed["b"] = [1, 2, 3]
    assert tfreel.encode({"x": packed["b"]}) == serialized(x=ints(1, 2, 3))
    shifted = np.frombuffer(b"\0" + np.array([1, 2]).tobytes(), np.int64, offset=1)
    assert tfreel.encode({"x": shifted}) == serialized(x=ints(1, 2))


def test_bfloat16_becomes_float_if_its_package_is_there() -> None:
    array = np.array([0.5, 1.5], ml_dtypes.bfloat16)
    assert tfreel.encode({"x": array, "y": array[0]}) == serialized(x=floats(0.5, 1.5), y=floats(0.5))


# Rows -------------------------------------------------------------------------------------------------------


def test_an_empty_row_is_what_protobuf_writes_for_no_features() -> None:
    assert tfreel.encode({}) == serialized() == b"\n\x00"


def test_none_stands_for_no_feature() -> None:
    assert tfreel.encode({"a": None, "b": 1, "c": None}) == tfreel.encode({"b": 1})


def test_the_order_of_keys_does_not_matter() -> None:
    row = {"b": 1, "a": 2.5, "": "x", "é": 3, "Z": 4}
    assert tfreel.encode(row) == tfreel.encode(dict(reversed(row.items()))) == tfreel.encode(row)


def test_keys_are_sorted_by_their_bytes_even_if_one_begins_another() -> None:
    assert list(tfreel.decode(tfreel.encode({"ab": 1, "\U0001f409": 2, "\uffff": 3, "a": 4, "a/b": 5}))) == [
        "a",
        "a/b",
        "ab",
        "\uffff",
        "\U0001f409",
    ]


@pytest.mark.parametrize(
    "kind", [collections.OrderedDict, types.MappingProxyType, collections.UserDict, collections.ChainMap]
)
def test_any_mapping_is_a_row(kind: Any) -> None:
    assert tfreel.encode(kind({"b": 1, "a": "x"})) == serialized(b=ints(1), a=texts(b"x"))


def test_rows_of_changing_keys_do_not_disturb_each_other() -> None:
    rows = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, {"a": 1, "c": 2}, {}, {"a": 1, "b": 2, "c": 3}] * 2
    assert [tfreel.encode(row) for row in rows] == [
        serialized(**{name: ints(value) for name, value in row.items()}) for row in rows
    ]


def test_keys_that_are_equal_but_other_objects_are_the_same_keys() -> None:
    for i in range(3):
        assert tfreel.encode({"".join(["some", "key"]): i, Text("b"): i}) == serialized(
            somekey=ints(i), b=ints(i)
        )


@pytest.mark.parametrize("length", [0, 50, 100, 101, 110, 127, 128, 129, 20000])
@pytest.mark.parametrize("value", [1, -1, 0.5, "x", "y" * 120, b"z" * 40])
def test_names_and_values_of_every_length_are_framed_right(length: int, value: Any) -> None:
    kind = ints if isinstance(value, int) else floats if isinstance(value, float) else texts
    stored = value.encode() if isinstance(value, str) else value
    name = "k" * length
    assert tfreel.encode({name: value}) == serialized(**{name: kind(stored)})


# What is refused --------------------------------------------------------------------------------------------

CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)

REFUSED = {
    "ints and floats": ([1, 0.5], TypeError, "int64 and float.*all as float"),
    "arrays of ints and floats": ([np.array([1]), np.array([0.5])], TypeError, "mixes int64 and float"),
    "numbers and text": ([1, "a"], TypeError, "mixes int64 and bytes"),
    "mixed object array": (np.array([b"a", 0.5], object), TypeError, "mixes bytes and float"),
    "empty list": ([], TypeError, r"np.array\(\[\], np.int64\)"),
    "empty nested list": ([[], ()], TypeError, r"np.array\(\[\]"),
    "empty object array": (np.array([], object), TypeError, r"np.array\(\[\]"),
    "None in a list": ([1, None], TypeError, "None among values"),
    "set": ({1}, TypeError, "type set"),
    "dict": ({"a": 1}, TypeError, "type dict"),
    "generator": ((i for i in (1, 2)), TypeError, "type generator"),
    "range": (range(3), TypeError, "type range"),
    "object": (object(), TypeError, "type object"),
    "complex": (1j, TypeError, "type complex"),
    "complex scalar": (np.complex64(1), TypeError, "complex64"),
    "complex array": (np.array([1j]), TypeError, "complex128"),
    "structured array": (np.zeros(1, "i4,i4"), TypeError, "dtype"),
    "void": (np.void(b"ab"), TypeError, "dtype"),
    "masked array": (np.ma.masked_array([1, 2], [True, False]), TypeError, "filled"),
    "memoryview of numbers": (memoryview(np.array([1.5])), TypeError, "np.asarray"),
    "tensor in a list": ([tfreel.tensor([1])], TypeError, "tensor"),
    "months": (np.timedelta64(1, "M"), TypeError, "nanoseconds"),
    "duration without a unit": (np.array([1]).view("m8"), TypeError, "nanoseconds"),
    "int above int64": (2**63, ValueError, "9223372036854775808 does not fit int64"),
    "int below int64": ([0, -(2**63) - 1], ValueError, "-9223372036854775809 does not fit int64"),
    "int of thousands of digits": (1 << 50_000, ValueError, "50001 bits does not fit int64"),
    "uint64 above int64": (np.uint64(2**63), ValueError, "9223372036854775808"),
    "uint64 array above int64": (np.array([1, 2**64 - 1], np.uint64), ValueError, "18446744073709551615"),
    "float above float32": (3.5e38, ValueError, r"3.5e\+38 does not fit float32"),
    "float that rounds to infinity": (3.4028235677973366e38, ValueError, "float32"),
    "float in a list": ([0.5, -1e300], ValueError, r"-1e\+300"),
    "float64 array": (np.array([0.5, 1e39]), ValueError, r"1e\+39"),
    "longdouble": (np.longdouble("1e400"), ValueError, r"1e\+400 does not fit"),
    "longdouble array": (np.array([1, np.longdouble("-1e39")]), ValueError, "float32"),
    "lone surrogate": ("a\ud800", ValueError, "surrogates"),
    "lone surrogate in an array": (np.array(["a\ud800"]), ValueError, "surrogates"),
    "NaT": (np.datetime64("NaT", "s"), ValueError, "NaT"),
    "NaT in an array": (np.array([1, "NaT"], "m8[s]"), ValueError, "NaT"),
    "time out of range": (np.datetime64("3000-01-01"), ValueError, "nanoseconds"),
    "time too fine": (np.timedelta64(1, "ps"), ValueError, "nanoseconds"),
    "list that holds itself": (CIRCLE, RecursionError, "values of a feature"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_feature_is_refused_by_name(case: str) -> None:
    value, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message) as caught:
        tfreel.encode({"fine": 1, "the name": value})
    assert kind is RecursionError or "'the name'" in str(caught.value)


@pytest.mark.parametrize("key", [b"bytes", 1, None, ("a",)])
def test_names_must_be_text(key: object) -> None:
    with pytest.raises(TypeError, match=re.escape(repr(key))):
        tfreel.encode({"a": 1, key: 1})  # type: ignore[dict-item]


def test_a_name_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ud800.*Unicode"):
        tfreel.encode({"a\ud800": 1})


@pytest.mark.parametrize("row", [None, 1, b"bytes", [("a", 1)], "text"])
def test_what_is_not_a_mapping_is_no_row(row: Any) -> None:
    with pytest.raises(TypeError, match="mapping"):
        tfreel.encode(row)
    with pytest.raises(TypeError, match="mapping"):
        tfreel.encode_sequence({}, row)


def test_a_refused_row_leaves_nothing_behind() -> None:
    for bad in ({"a": 1, "b": [1, 0.5]}, {b"a": 1}, {"a": "x", "b": object()}):
        with pytest.raises(TypeError):
            tfreel.encode(bad)  # type: ignore[arg-type]
        assert tfreel.encode({"a": 1, "b": 2}) == serialized(a=ints(1), b=ints(2))


# Values that bite -------------------------------------------------------------------------------------------


def test_a_list_that_changes_while_it_is_read_does_no_harm() -> None:
    values: list[Any] = []

    class Biting(bytearray):
        def __bytes__(self) -> bytes:
            values.clear()
            return b"bite"

    values += [b"x" * 100, Biting(), b"y" * 100]
    assert tfreel.encode({"a": values, "b": 1}) == serialized(a=texts(b"x" * 100, b"bite"), b=ints(1))


def test_a_row_that_changes_while_it_is_read_does_no_harm() -> None:
    class Biting(bytearray):
        def __bytes__(self) -> bytes:
            row.clear()
            gc.collect()
            return b"bite"

    row: dict[str, Any] = {"a": "x" * 100, "b": [Biting()], "c": np.arange(3), "d": [1, 2]}
    assert tfreel.encode(row) == serialized(
        a=texts(b"x" * 100), b=texts(b"bite"), c=ints(0, 1, 2), d=ints(1, 2)
    )


def test_a_row_may_be_encoded_while_another_is() -> None:
    class Nested(bytearray):
        def __bytes__(self) -> bytes:
            return tfreel.encode({"inner": [1, 2, 3]})

    inner = serialized(inner=ints(1, 2, 3))
    expected = serialized(a=texts(inner, b"ab", inner), b=ints(1))
    assert tfreel.encode({"b": 1, "a": [Nested(), b"ab", Nested()]}) == expected


def test_threads_encode_at_once() -> None:
    rows = [{f"k{i}": [np.datetime64(i, "s"), np.datetime64(1, "D")], "text": "x" * i} for i in range(20)]
    expected = [tfreel.encode(row) for row in rows]
    wrong: list[int] = []

    def work(shift: int) -> None:
        for turn in range(300):
            i = (turn + shift) % len(rows)
            if tfreel.encode(rows[i]) != expected[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(shift,)) for shift in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_encoding_keeps_no_reference_to_values() -> None:
    class Noted(str):
        gone = 0

        def __del__(self) -> None:
            Noted.gone += 1

    tfreel.encode({"a": [Noted("x"), Noted("y")], "b": Noted("z")})
    gc.collect()
    assert Noted.gone == 3


# Sequences --------------------------------------------------------------------------------------------------


def sequence(context: dict[str, Any], lists: dict[str, list[Any]]) -> bytes:
    message = SequenceExample(
        context=Features(feature=context),
        feature_lists=FeatureLists(feature_list={k: FeatureList(feature=v) for k, v in lists.items()}),
    )
    return message.SerializeToString(deterministic=True)  # type: ignore[no-any-return]


ROWS = {
    "rows of different lengths": ([[1, 2], [3], (4, 5)], [ints(1, 2), ints(3), ints(4, 5)]),
    "one value each": ([1.5, 2.5], [floats(1.5), floats(2.5)]),
    "text": (("a", ["b", b"c"]), [texts(b"a"), texts(b"b", b"c")]),
    "no rows": ([], []),
    "empty rows": ([[], [1], []], [ints(), ints(1), ints()]),
    "rows without a kind": ([None, ["x"], None], [Feature(), texts(b"x"), Feature()]),
    "only rows without a kind": ([None], [Feature()]),
    "two-dimensional array": (np.array([[1, 2], [3, 4]], np.int16), [ints(1, 2), ints(3, 4)]),
    "one-dimensional array": (np.array([0.5, 1.5]), [floats(0.5), floats(1.5)]),
    "arrays": ([np.array([1.5]), np.array([], np.float32)], [floats(1.5), floats()]),
}


@pytest.mark.parametrize("case", ROWS)
def test_feature_lists_become_what_protobuf_writes(case: str) -> None:
    rows, features = ROWS[case]
    assert tfreel.encode_sequence({"id": 1}, {"x": rows}) == sequence({"id": ints(1)}, {"x": features})


def test_an_empty_sequence_is_what_protobuf_writes_for_empty_maps() -> None:
    assert tfreel.encode_sequence({}, {}) == sequence({}, {}) == b"\n\x00\x12\x00"


def test_lists_are_sorted_and_none_stands_for_no_list() -> None:
    found = tfreel.encode_sequence({"b": 1, "a": 2}, {"z": [[1]], "n": None, "y": [["t"]]})
    assert found == sequence({"a": ints(2), "b": ints(1)}, {"y": [texts(b"t")], "z": [ints(1)]})


@pytest.mark.parametrize(
    "rows", ["text", b"bytes", 7, {1: 2}, iter([]), np.array(1), [[1], [0.5]], [[], []], tfreel.tensor([1])]
)
def test_rows_of_no_sense_are_refused_by_name(rows: object) -> None:
    with pytest.raises(TypeError, match="'x'"):
        tfreel.encode_sequence({}, {"x": rows})


# Laws -------------------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8"), max_size=150)
FLOATS = st.floats(width=32)
VALUES = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30).map(lambda v: (v, ints(*v))),
    st.lists(FLOATS, min_size=1, max_size=30).map(lambda v: (v, floats(*v))),
    st.lists(st.binary(max_size=150), min_size=1, max_size=30).map(lambda v: (v, texts(*v))),
    st.integers(-(2**63), 2**63 - 1).map(lambda v: (v, ints(v))),
    FLOATS.map(lambda v: (v, floats(v))),
    st.text(st.characters(codec="utf-8")).map(lambda v: (v, texts(v.encode()))),
)


def no_name_begins_another(names: list[str]) -> bool:
    """Where one does, protobuf puts the longer one first; we do not."""
    ordered = sorted(name.encode() for name in names)
    return not any(b.startswith(a) for a, b in itertools.pairwise(ordered))


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_the_bytes_are_those_of_protobuf(row: dict[str, tuple[Any, Any]]) -> None:
    found = tfreel.encode({name: value for name, (value, _) in row.items()})
    message = Example(features=Features(feature={name: feature for name, (_, feature) in row.items()}))
    expected = message.SerializeToString(deterministic=True)
    assert sorted(found) == sorted(expected)
    if no_name_begins_another(list(row)):
        assert found == expected


@given(
    hnp.arrays(
        st.one_of(hnp.integer_dtypes(endianness="?"), hnp.floating_dtypes(endianness="?", sizes=(16, 32))),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0),
    )
)
def test_arrays_of_any_shape_and_byte_order_come_back_flat(array: np.ndarray[Any, Any]) -> None:
    found = tfreel.decode(tfreel.encode({"x": array, "y": array.T}))
    dtype = np.float32 if array.dtype.kind == "f" else np.int64
    np.testing.assert_array_equal(found["x"], array.ravel().astype(dtype))  # type: ignore[arg-type]
    np.testing.assert_array_equal(found["y"], array.T.ravel().astype(dtype))  # type: ignore[arg-type]
