"""Examples become dicts, as protobuf reads them, whatever their bytes look like."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given
from hypothesis import strategies as st

import tfreel

from messages_oracle import Example, Feature, FeatureList, FeatureLists, Features, Int64List, SequenceExample


def field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def record_of(*features: tuple[str, bytes]) -> bytes:
    entries = (field(1, field(1, name.encode()) + field(2, feature)) for name, feature in features)
    return field(1, b"".join(entries))


def values_of(feature: Any) -> Any:
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    values = list(getattr(feature, kind).value)
    dtypes = {"int64_list": np.int64, "float_list": np.float32}
    return np.array(values, dtypes[kind]) if kind in dtypes else values


def assert_same(found: object, expected: object) -> None:
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


def check_against_protobuf(record: bytes) -> None:
    found = tfreel.decode(record, tensors=False)
    expected = Example.FromString(record).features.feature
    assert set(found) == set(expected)
    for name in expected:
        assert_same(found[name], values_of(expected[name]))


# Plain records ----------------------------------------------------------------------------------------------


def test_numbers_come_as_arrays_and_bytes_as_lists() -> None:
    found = tfreel.decode(tfreel.encode({"a": [1, -2], "b": 0.5, "c": ["x", b"\xff"]}))
    assert_same(found["a"], np.array([1, -2], np.int64))
    assert_same(found["b"], np.array([0.5], np.float32))
    assert found["c"] == [b"x", b"\xff"]


def test_arrays_may_be_written_to() -> None:
    found = tfreel.decode(tfreel.encode({"a": [1, 2]}))["a"]
    assert isinstance(found, np.ndarray)
    assert found.flags.writeable
    assert found.flags.owndata


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_anything_that_holds_bytes_is_a_record(kind: Any) -> None:
    assert tfreel.decode(kind(tfreel.encode({"a": b"x"}))) == {"a": [b"x"]}


def test_what_holds_no_bytes_is_a_type_error() -> None:
    for record in ("text", 1, None, np.zeros(3)):
        with pytest.raises(TypeError):
            tfreel.decode(record)  # type: ignore[arg-type]


def test_nothing_is_a_record_without_features() -> None:
    assert tfreel.decode(b"") == tfreel.decode(b"\n\x00") == {}
    assert tfreel.decode_sequence(b"") == ({}, {})


def test_names_come_in_the_order_of_the_record() -> None:
    record = record_of(("b", b""), ("a", b"\x1a\x00"), ("", b"\n\x00"))
    found = tfreel.decode(record)
    assert list(found) == ["b", "a", ""]
    assert found["b"] is None
    assert_same(found["a"], np.array([], np.int64))
    assert found[""] == []


def test_records_with_other_names_at_the_same_places_do_not_disturb_each_other() -> None:
    for names in (["a", "b"], ["a" * 300, "", "c"], ["x"], ["a", "b", "c", "d"], ["", "é"]):
        row = dict(enumerate(names))
        assert list(tfreel.decode(record_of(*((name, b"") for name in row.values())))) == names


# Records as other writers make them -------------------------------------------------------------------------

ODD = {
    "values one by one": record_of(("a", field(3, b"\x08\x01\x08\x02"))),
    "floats one by one": record_of(("a", field(2, b"\x0d\x00\x00\x80\x3f" * 2))),
    "runs and single values": record_of(("a", field(3, b"\x0a\x02\x01\x02\x08\x03\x0a\x01\x04"))),
    "one kind twice": record_of(("a", field(3, b"\x0a\x01\x01") + field(3, b"\x0a\x01\x02"))),
    "two kinds, the last counts": record_of(("a", field(3, b"\x0a\x01\x01") + field(1, b"\x0a\x01x"))),
    "one name twice, the last counts": record_of(
        ("a", field(3, b"\x0a\x01\x01")), ("b", b""), ("a", field(1, b"\x0a\x01x"))
    ),
    "features twice, merged": record_of(("a", field(3, b""))) + record_of(("b", field(2, b""))),
    "a value before its name": field(1, field(1, field(2, field(3, b"\x0a\x01\x07")) + field(1, b"k"))),
    "an entry without a value": field(1, field(1, field(1, b"k"))),
    "an entry without a name": field(1, field(1, field(2, field(3, b"\x0a\x01\x07")))),
    "a value twice, merged": field(
        1,
        field(1, field(1, b"k") + field(2, field(3, b"\x0a\x01\x07")) + field(2, field(3, b"\x0a\x01\x08"))),
    ),
    "unknown fields everywhere": b"\x78\x05" + record_of(("a", b"\x78\x05" + field(1, b"\x78\x05\x0a\x01x"))),
    "a name twice in one entry": field(1, field(1, field(1, b"k") + field(1, b"l") + field(2, b""))),
    "a group": b"\x7b\x08\x01\x7c" + record_of(("a", field(1, b"\x0a\x01x"))),
    "an int of more bytes than it needs": record_of(("a", field(3, b"\x0a\x03\x81\x80\x00"))),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_records_are_read_as_protobuf_reads_them(case: str) -> None:
    check_against_protobuf(ODD[case])


def test_a_name_that_comes_twice_keeps_its_first_place() -> None:
    assert list(tfreel.decode(ODD["one name twice, the last counts"])) == ["a", "b"]


def test_unknown_fields_in_an_entry_do_not_cost_the_entry() -> None:
    record = field(1, field(1, field(1, b"k") + b"\x78\x05" + field(2, field(1, b"\x0a\x01x"))))
    assert tfreel.decode(record) == {"k": [b"x"]}


def test_rows_of_a_sequence_are_read_as_protobuf_reads_them() -> None:
    rows = FeatureList(
        feature=[Feature(int64_list=Int64List(value=[1, 2])), Feature(), Feature(int64_list={})]
    )
    message = SequenceExample(
        context=Features(feature={"id": Feature(int64_list=Int64List(value=[7]))}),
        feature_lists=FeatureLists(feature_list={"x": rows, "empty": FeatureList()}),
    )
    context, lists = tfreel.decode_sequence(message.SerializeToString())
    assert_same(context["id"], np.array([7]))
    assert lists["empty"] == []
    assert len(lists["x"]) == 3
    assert_same(lists["x"][0], np.array([1, 2]))
    assert lists["x"][1] is None
    assert_same(lists["x"][2], np.array([], np.int64))


# Bad records ------------------------------------------------------------------------------------------------

BAD = {
    "a length past the end": (b"\n\x05\n", 1),
    "a length in the entry past the end": (b"\n\x04\n\x02\n\x05", 5),
    "a number without an end": (b"\xff", 0),
    "field 0": (b"\x00", 0),
    "an unknown wire type": (b"\x0f", 0),
    "a name that is not UTF-8": (field(1, field(1, field(1, b"a\xff"))), 7),
    "a name that is not UTF-8 before one that is": (
        field(1, field(1, field(1, b"\xff") + field(1, b"a"))),
        6,
    ),
    "floats that do not come out even": (record_of(("a", field(2, b"\x0a\x03abc"))), 13),
    "ints that end too early": (record_of(("a", field(3, b"\x0a\x02\x01\x80"))), 13),
    "an end of a group": (b"\x0c", 1),
}
MORE_THAN_64_BITS = record_of(("a", field(3, b"\x0a\x0a" + b"\xff" * 9 + b"\x02")))


@pytest.mark.parametrize("case", BAD)
def test_bad_records_are_named_with_the_byte(case: str) -> None:
    record, byte = BAD[case]
    for read in (tfreel.decode, tfreel.decode_sequence):
        with pytest.raises(tfreel.DecodeError, match=f"not a valid .*Example.*at byte {byte}") as caught:
            read(record)
        assert (caught.value.kind, caught.value.byte) == ("proto_malformed", byte)
        assert pickle.loads(pickle.dumps(caught.value)).byte == byte
    with pytest.raises(Exception, match=r"pars|UTF-8|Wrong wire type"):
        Example.FromString(record)


def test_numbers_of_more_than_64_bits_are_cut_as_protobuf_cuts_them() -> None:
    expected = Example.FromString(MORE_THAN_64_BITS).features.feature["a"].int64_list.value
    assert np.array_equal(tfreel.decode(MORE_THAN_64_BITS)["a"], expected)


def test_every_cut_of_a_record_is_refused_or_read_as_protobuf_reads_it() -> None:
    record = tfreel.encode({"a": [1, 300, -1], "b": [0.5, 1.5], "c": ["x", "yz"], "": "é"})
    for end in range(len(record)):
        agree_with_protobuf(record[:end])


@given(st.data())
def test_flipped_bytes_are_refused_or_read_as_protobuf_reads_them(data: Any) -> None:
    record = bytearray(tfreel.encode({"a": [1, 300, -1], "b": [0.5, 1.5], "c": ["x", "yz"], "é": "é"}))
    for _ in range(data.draw(st.integers(1, 3))):
        record[data.draw(st.integers(0, len(record) - 1))] = data.draw(st.integers(0, 255))
    agree_with_protobuf(bytes(record))


@given(st.binary(max_size=40))
def test_any_bytes_are_refused_or_read_as_protobuf_reads_them(record: bytes) -> None:
    agree_with_protobuf(record)


def agree_with_protobuf(record: bytes) -> None:
    try:
        message = Example.FromString(record)
    except Exception:  # noqa: BLE001 - protobuf's error has no public name of its own
        with pytest.raises(tfreel.DecodeError):
            tfreel.decode(record)
        return
    if is_refused_by_us_alone(record):
        return
    if any(unknown.field_number == 1 for unknown in UnknownFieldSet(message.features)):
        # Protobuf (upb) takes an entry with unknown fields out of the map, a silent loss we do not follow.
        tfreel.decode(record)
        return
    check_against_protobuf(record)


def is_refused_by_us_alone(record: bytes) -> bool:
    """Whether it holds one of the two things no writer makes and protobuf passes over."""
    try:
        tfreel.decode(record)
    except tfreel.DecodeError as error:
        begin = error.byte or 0
        too_many_bits = "a number that is too long" in str(error) and 1 < record[begin + 9] < 0x80
        return too_many_bits or "field number 0" in str(
            error
        )  # protobuf minds the latter outside groups only
    return False


# Laws -------------------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9).map(lambda v: np.array(v, np.int64)),
    st.lists(st.floats(width=32), max_size=9).map(lambda v: np.array(v, np.float32)),
    st.lists(st.binary(max_size=20), min_size=1, max_size=9),
)


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_decoding_gives_back_what_was_encoded(row: dict[str, Any]) -> None:
    found = tfreel.decode(tfreel.encode(row), tensors=False)
    assert list(found) == sorted(row, key=str.encode)
    for name, value in row.items():
        assert_same(found[name], value)


@given(
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.dictionaries(NAMES, st.lists(st.one_of(st.none(), VALUES), max_size=4), max_size=4),
)
def test_decoding_gives_back_what_was_encoded_as_a_sequence(
    context: dict[str, Any], lists: dict[str, list[Any]]
) -> None:
    def kind(value: object) -> object:
        return value.dtype if isinstance(value, np.ndarray) else list

    lists = {k: v for k, v in lists.items() if len({kind(row) for row in v if row is not None}) < 2}
    found_context, found_lists = tfreel.decode_sequence(tfreel.encode_sequence(context, lists), tensors=False)
    assert set(found_context) == set(context)
    for name, value in context.items():
        assert_same(found_context[name], value)
    assert set(found_lists) == set(lists)
    for name, rows in lists.items():
        assert len(found_lists[name]) == len(rows)
        for found, row in zip(found_lists[name], rows, strict=True):
            assert_same(found, row)


@pytest.mark.parametrize("decode", [tfreel.decode, tfreel.decode_sequence])
def test_nothing_is_no_record(decode: Any) -> None:
    with pytest.raises(TypeError, match="expected bytes, bytearray or memoryview, got None"):
        decode(None)


# One value of 8,000 bytes, which are 4,000 fields without content: with another length, they are values.
CHANGING = """
import mmap, os, signal, time
import tfreel

record = tfreel.encode({"x": [b"\\x0a\\x00" * 4_000]})
at = record.index(b"\\x0a\\x00\\x0a\\x00") - 2
shared = mmap.mmap(-1, len(record))
shared[:] = record
parent, child = os.getpid(), os.fork()
if child == 0:
    while os.getppid() == parent:
        shared[at : at + 2] = b"\\x01A"
        shared[at : at + 2] = record[at : at + 2]
    os._exit(0)
try:
    view, decoded, end = memoryview(shared), 0, time.monotonic() + 2
    while time.monotonic() < end:
        try:
            decoded += all(isinstance(value, bytes) for value in tfreel.decode(view)["x"])
        except tfreel.DecodeError:
            pass
    assert decoded > 0
finally:
    os.kill(child, signal.SIGKILL)
"""


def test_a_record_that_somebody_writes_to_meanwhile_is_decoded_or_refused() -> None:
    subprocess.run([sys.executable, "-c", CHANGING], check=True)
