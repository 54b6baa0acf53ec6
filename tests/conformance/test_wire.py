"""Whatever bytes a record holds, tfreel reads from them what protobuf reads, and refuses what it refuses.

The same messages in every run; `make conformance` compares millions of others.
"""

from __future__ import annotations

import pytest
from google.protobuf.message import DecodeError as ProtobufError

from tfreel.columns import parse
from tfreel.errors import DecodeError
from tfreel.examples.messages import Example
from tfreel.features import VarLenFeature

from conformance.messages import END, FLOATS, INTS, KEYS, START, Builder, field, tag, varint
from conformance.wire import Comparison, compare_many

COUNT = 110_000  # of each message


@pytest.mark.parametrize("sequences", [False, True], ids=["examples", "sequence examples"])
def test_random_and_bent_messages_are_read_as_protobuf_reads_them(sequences: bool) -> None:
    done = compare_many(20240601, COUNT, sequences=sequences)
    shown = "\n".join(f"{message.hex()}: {difference}" for message, difference in done.differences[:5])
    assert not done.differences, shown
    assert done.compared >= COUNT
    # The messages must not be so strange that nothing is compared but refusals, or left out.
    assert done.accepted > COUNT / 5
    assert done.left_out < COUNT / 10


def test_the_comparison_notices_a_value_that_differs() -> None:
    class Lying(Comparison):
        def read_with_protobuf(self, message: bytes) -> object:
            return ({"a": ("int64_list", (8,))},)

    comparison = Lying(sequences=False)
    comparison.compare([entry(b"a", field(INTS, field(1, b"\x07")))])
    assert len(comparison.differences) == 2  # as rows of any length, and of a fixed one


def entry(key: bytes, feature: bytes) -> bytes:
    return field(1, field(1, field(1, key) + field(2, feature)))


LEVELS = {
    "example": lambda inside: inside,
    "features": lambda inside: field(1, inside),
    "entry": lambda inside: field(1, field(1, field(1, b"a") + field(2, b"") + inside)),
    "feature": lambda inside: entry(b"a", inside),
    "list": lambda inside: entry(b"a", field(INTS, inside)),
}

MALFORMED = {
    "a tag that ends in the middle": b"\x80",
    "a varint of eleven bytes": tag(9, 0) + b"\x80" * 10 + b"\x00",
    "a varint that ends in the middle": tag(9, 0) + b"\x80",
    "a length past the end": tag(9, 2) + b"\x05abcd",
    "a length of 2 GiB": tag(9, 2) + varint(1 << 31),
    "a length of minus one": tag(9, 2) + varint(-1),
    "a length without an end": tag(9, 2) + b"\xff" * 12,
    "four bytes that are three": tag(9, 5) + b"abc",
    "eight bytes that are seven": tag(9, 1) + b"abcdefg",
    "field number 0": b"\x00\x00",
    "field number 0 with a length": b"\x02\x00",
    "a field number beyond 32 bits": varint(1 << 32 | 8) + b"\x00",
    "a tag of six bytes": tag(9, 0, 5) + b"\x00",
    "wire type 6": bytes([9 << 3 | 6]),
    "wire type 7": bytes([9 << 3 | 7]),
    "the end of no group": tag(9, END),
    "a group without an end": tag(9, START) + tag(9, 0) + b"\x00",
    "a group that ends as another": tag(9, START) + tag(8, END),
    "a broken field in a group": tag(9, START) + tag(1, 2) + b"\x7f" + tag(9, END),
    "groups nested 101 deep": tag(9, START) * 101 + tag(9, END) * 101,
    "groups nested a million deep": tag(9, START) * 1_000_000,
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_bytes_are_refused_on_every_level(name: str, level: str) -> None:
    message = LEVELS[level](MALFORMED[name])
    with pytest.raises(ProtobufError):
        Example.FromString(message)
    with pytest.raises(DecodeError) as caught:
        parse([b"", message], {"a": VarLenFeature("int64")})
    assert caught.value.record == 1
    assert caught.value.kind == "proto_malformed"
    assert caught.value.byte is not None
    assert 0 <= caught.value.byte <= len(message)
    assert "record 1 is not a valid Example" in str(caught.value)


SOUND = {
    "a varint of ten bytes": tag(9, 0) + b"\xff" * 9 + b"\x01",
    "a varint of ten bytes with bits to spare": tag(9, 0) + b"\xff" * 9 + b"\x7f",
    "an overlong varint": tag(9, 0) + b"\x80\x80\x00",
    "a tag of five bytes": tag(9, 0, 4) + b"\x00",
    "a length of five bytes": tag(9, 2) + varint(1, 4) + b"a",
    "the largest field number": tag((1 << 29) - 1, 0) + b"\x00",
    "groups": tag(9, START) + tag(1, 5) + b"abcd" + tag(8, START) + tag(8, END) + tag(9, END),
    "groups nested 96 deep": tag(9, START) * 96 + tag(9, END) * 96,
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", SOUND)
def test_unknown_fields_are_passed_over_on_every_level(name: str, level: str) -> None:
    message = LEVELS[level](SOUND[name]) + entry(b"bb", field(INTS, field(1, b"\x05")))
    Example.FromString(message)
    batch = parse([message], {key: VarLenFeature("int64") for key in KEYS})
    assert batch["bb"].to_list() == [[5]]
    assert batch["a"].to_list() == [[]]


def test_groups_are_accepted_to_a_depth_of_100() -> None:
    message = SOUND["groups"] + tag(9, START) * 100 + tag(9, END) * 100
    Example.FromString(message)
    assert len(parse([message], {"a": VarLenFeature("int64")})["a"]) == 1


BROKEN_VALUES = {
    "a float run that ends in the middle of one": (FLOATS, field(1, b"abcdefg")),
    "an int run that ends in the middle of one": (INTS, field(1, b"\x01\x80")),
    "an int run with a varint of eleven bytes": (INTS, field(1, b"\x80" * 10 + b"\x00")),
    "a single float of three bytes": (FLOATS, tag(1, 5) + b"abc"),
    "a run that goes past the end of its list": (INTS, tag(1, 2) + b"\x05\x01"),
}


@pytest.mark.parametrize("name", BROKEN_VALUES)
@pytest.mark.parametrize("dtype", ["int64", "float32", "bytes"])
def test_broken_values_are_refused_whatever_kind_was_asked_for(name: str, dtype: str) -> None:
    kind, values = BROKEN_VALUES[name]
    message = entry(b"a", field(kind, values))
    with pytest.raises(ProtobufError):
        Example.FromString(message)
    with pytest.raises(DecodeError):
        parse([message], {"a": VarLenFeature(dtype)})


@pytest.mark.parametrize("name", BROKEN_VALUES)
def test_broken_values_are_refused_also_where_a_later_entry_replaces_them(name: str) -> None:
    kind, values = BROKEN_VALUES[name]
    message = entry(b"a", field(kind, values)) + entry(b"a", field(kind, b""))
    with pytest.raises(ProtobufError):
        Example.FromString(message)
    with pytest.raises(DecodeError):
        parse([message], {"a": VarLenFeature("int64" if kind == INTS else "float32")})


@pytest.mark.parametrize(
    "key", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe9", b"ok\x80"]
)
def test_keys_that_are_no_utf8_are_refused(key: bytes) -> None:
    message = entry(key, b"")
    with pytest.raises(ProtobufError):
        Example.FromString(message)
    with pytest.raises(DecodeError, match="UTF-8"):
        parse([message], {"a": VarLenFeature("int64")})


@pytest.mark.parametrize("key", ["ÿ", "\x00", "\U0010ffff", "퟿", "", "ascii and ünicode, of some length"])
def test_keys_that_are_utf8_are_found(key: str) -> None:
    message = entry(key.encode(), field(INTS, field(1, b"\x05")))
    assert parse([message], {key: VarLenFeature("int64")})[key].to_list() == [[5]]


def test_builder_writes_what_it_should() -> None:
    import random

    builder = Builder(random.Random(1))
    sound = 0
    for _ in range(1000):
        try:
            Example.FromString(builder.example())
        except ProtobufError:
            continue
        sound += 1
    assert sound > 700
