"""Records made to hurt: each is an error that says so, or is read, in little time and memory."""

from __future__ import annotations

import mmap
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tfreel.columns import parse, parse_sequence
from tfreel.errors import DecodeError, FeatureMismatchError, MissingFeatureError
from tfreel.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature

from conformance.messages import END, INTS, START, field, tag, varint
from conformance.parsing import entry, example, feature, feature_list, ints
from memory import PEAK_BYTES

MILLION = 1_000_000
ASKED = {"a": VarLenFeature("int64")}
REQUIRED = {"a": FixedLenFeature([], "int64")}


@contextmanager
def soon(seconds: float = 10) -> Iterator[None]:
    """Generous, since machines are busy: what is not linear takes hours here."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < seconds


# Many.


def test_a_million_names() -> None:
    record = field(1, b"".join(entry(f"k{i}", b"") for i in range(MILLION)) + entry("a", ints(5)))
    with soon():
        assert parse([record, record], ASKED)["a"].to_list() == [[5], [5]]
        asked = {f"k{i}": VarLenFeature("int64") for i in range(1000)}
        assert parse([record], asked).num_rows == 1


def test_a_million_names_and_none_of_them_right() -> None:
    record = field(1, b"".join(entry(f"aa{i}", b"") for i in range(MILLION)))
    with soon(), pytest.raises(MissingFeatureError, match="and 999,992 more"):
        parse([record], REQUIRED)


@pytest.mark.parametrize("value", [b"", ints(), ints(7), feature("bytes", [b"x"])], ids=repr)
def test_one_name_a_million_times(value: bytes) -> None:
    record = field(1, entry("a", value) * MILLION + entry("a", ints(5)))
    with soon():
        assert parse([record], ASKED)["a"].to_list() == [[5]]
        assert parse([record], REQUIRED)["a"].tolist() == [5]


def test_a_million_empty_entries() -> None:
    record = field(1, field(1, b"") * MILLION)
    with soon():
        assert parse([record], {"": VarLenFeature("int64")})[""].to_list() == [[]]


def test_a_million_kinds_in_one_feature() -> None:
    value = (ints(1) + feature("float32", [1.0]) + feature("bytes", [b"x"])) * (MILLION // 3) + ints(5)
    with soon():
        assert parse([example({"a": value})], ASKED)["a"].to_list() == [[5]]


def test_a_million_values_in_one_entry() -> None:
    inside = field(1, b"a") + field(2, ints(1)) * MILLION
    with soon():
        found = parse([field(1, field(1, inside))], ASKED)
    assert len(found["a"].values) == MILLION


def test_a_million_runs_of_nothing() -> None:
    with soon():
        found = parse([example({"a": field(INTS, field(1, b"") * MILLION + field(1, b"\x05"))})], ASKED)
    assert found["a"].to_list() == [[5]]


def test_a_million_steps_without_values() -> None:
    record = field(2, entry("a", feature_list([b""] * MILLION)))
    with soon():
        found = parse_sequence([record], None, {"a": RaggedFeature("int64")})
        assert found.lengths["a"].tolist() == [MILLION]
        with pytest.raises(FeatureMismatchError, match="step 0"):
            parse_sequence([record], None, {"a": FixedLenSequenceFeature([], "int64")})


def test_a_million_lists_of_one_name() -> None:
    record = field(2, entry("a", feature_list([ints(1)])) * MILLION + entry("a", feature_list([ints(5)])))
    with soon():
        found = parse_sequence([record], None, {"a": RaggedFeature("int64")})
    assert found.sequences["a"].to_list() == [[[5]]]


# Large.


def test_a_name_of_100_mib() -> None:
    name = "x" * (100 << 20)
    record = example({name: ints(1), "a": ints(5)})
    with soon():
        assert parse([record, record], ASKED)["a"].to_list() == [[5], [5]]
        with pytest.raises(MissingFeatureError) as caught:
            parse([example({name: ints(1)})], REQUIRED)
    assert len(str(caught.value)) < 1000


def test_a_record_of_2_gib_is_refused() -> None:
    with mmap.mmap(-1, 1 << 31) as memory, memoryview(memory) as record:
        with soon(), pytest.raises(DecodeError, match="larger than 2 GiB") as caught:
            parse([b"", record], ASKED)
        assert (caught.value.record, caught.value.kind) == (1, "record_too_large")


CLAIMS = {
    "a run of 2 GiB in a small record": field(INTS, tag(1, 2) + varint((1 << 31) - 1)),
    "a list of 2 GiB in a small record": tag(INTS, 2) + varint((1 << 31) - 1),
    "a run of 2^35 in a small record": field(INTS, tag(1, 2) + varint((1 << 35) - 1)),
    "a value of 2 GiB in a small record": field(1, tag(1, 2) + varint((1 << 31) - 1)),
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("dtype", ["int64", "float32", "bytes"])
def test_lengths_are_claims(name: str, dtype: str) -> None:
    for spec in (VarLenFeature(dtype), FixedLenFeature([2], dtype), RaggedFeature(dtype)):
        with pytest.raises(DecodeError):
            parse([example({"a": CLAIMS[name]})], {"a": spec})


def test_the_seven_bytes_that_claim_2_gib() -> None:
    with pytest.raises(DecodeError, match="past the end at byte 1"):
        parse([tag(1, 2) + varint((1 << 31) - 1) + b"\x0a"], ASKED)


# Deep.


@pytest.mark.parametrize("depth", [101, 10_000, MILLION])
def test_groups_in_groups(depth: int) -> None:
    for deep in (tag(9, START) * depth, tag(9, START) * depth + tag(9, END) * depth):
        for record in (deep, field(1, deep), example({"a": deep}), example({"a": field(INTS, deep)})):
            with soon(), pytest.raises(DecodeError, match="nested too deeply"):
                parse([record], ASKED)


def test_many_shallow_groups() -> None:
    record = (tag(9, START) * 100 + tag(9, END) * 100) * 10_000 + example({"a": ints(5)})
    with soon():
        assert parse([record], ASKED)["a"].to_list() == [[5]]


# Shapes.


@pytest.mark.parametrize("dtype", ["int64", "float32", "bytes"])
@pytest.mark.parametrize("shape", [[0], [0, 5], [5, 0]])
@pytest.mark.parametrize("packed", [True, False])
def test_a_shape_with_zero(dtype: str, shape: list[int], packed: bool) -> None:
    spec = {"a": FixedLenFeature(shape, dtype)}
    found = parse([example({"a": feature(dtype, [])})] * 3, spec)
    assert found["a"].shape == (3, *shape)
    value = {"int64": 1, "float32": 1.0, "bytes": b"x"}[dtype]
    with pytest.raises(FeatureMismatchError):
        parse([example({"a": feature(dtype, [value], packed=packed)})], spec)
    with pytest.raises(MissingFeatureError):
        parse([b""], spec)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_more_unpacked_values_than_the_shape_holds(dtype: str) -> None:
    records = [example({"a": feature(dtype, [1] * 1000, packed=False)})]
    for count in (0, 1, 2, 999, 1001):
        with pytest.raises(FeatureMismatchError, match="found 1000"):
            parse(records, {"a": FixedLenFeature([count], dtype)})


HUGE = (
    PEAK_BYTES
    + """
from conformance.parsing import example, feature
from tfreel.columns import parse, parse_sequence
from tfreel.errors import TfreelError
from tfreel.features import *

records = [example({"a": feature(DTYPE, VALUE)})] * 5000
asked = {"a": FixedLenFeature([2**31 - 1], DTYPE), "b": FixedLenFeature([2**15, 2**15], DTYPE)}
before = peak_bytes()
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for records in (records, records[:1]):
    try:
        parse(records, asked)
    except TfreelError as error:
        print(type(error).__name__)
print(peak_bytes() - before >> 10)
"""
)


@pytest.mark.parametrize("dtype", ["int64", "float32", "bytes"])
def test_a_huge_shape_asks_for_no_memory(dtype: str, request: pytest.FixtureRequest) -> None:
    value = {"int64": "[1]", "float32": "[1.0]", "bytes": "[b'x']"}[dtype]
    script = HUGE.replace("DTYPE", repr(dtype)).replace("VALUE", value)
    tests = str(request.path.parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tests, capture_output=True, text=True, check=True, timeout=60
    )
    *errors, grown_kib = done.stdout.split()
    assert errors == ["FeatureMismatchError"] * 2
    assert int(grown_kib) < 50_000


# Rows that lie.

LIES: dict[str, list[list[int]]] = {
    "RowSplits": [
        [0, 1 << 62, -(1 << 63), -(1 << 62), 3],  # four steps of 2^62: the sum is right modulo 2^64
        [0, (1 << 63) - 1, 3],
        [-(1 << 63), 3],
        [0, 4],
        [0, 3, 0, 3],
        [3],
        [],
    ],
    "RowLengths": [
        [1 << 62, 1 << 62, 1 << 62, 1 << 62, 3],
        [(1 << 63) - 1, (1 << 63) - 1, 5],
        [-1, 4],
        [4],
        [],
    ],
    "RowStarts": [[0, 1 << 62, -(1 << 63), -(1 << 62)], [0, 4], [0, -1], [1], [-(1 << 63)], []],
    "RowLimits": [[1 << 62, -(1 << 63), -(1 << 62), 3], [(1 << 63) - 1], [-1, 3], [4, 3], []],
    "ValueRowIds": [
        [0, 0, (1 << 63) - 1],
        [0, (1 << 63) - 1, -(1 << 63)],
        [0, 1 << 40, 1 << 40],
        [-(1 << 63), 0, 0],
        [1, 0, 0],
        [-1, -1, -1],
        [0, 0],
        [],
    ],
}


@pytest.mark.parametrize("kind", LIES)
def test_rows_that_lie_are_refused(kind: str) -> None:
    good = {
        "RowSplits": [0, 3],
        "RowLengths": [3],
        "RowStarts": [0],
        "RowLimits": [3],
        "ValueRowIds": [0, 0, 0],
    }
    partition = getattr(RaggedFeature, kind)("key")
    spec = {"r": RaggedFeature("int64", value_key="v", partitions=[partition])}
    sound = example({"v": ints(1, 2, 3), "key": ints(*good[kind])})
    assert parse([sound], spec)["r"].to_list() == [[[1, 2, 3]]]
    for lie in LIES[kind]:
        lying = example({"v": ints(1, 2, 3), "key": ints(*lie)})
        with soon(), pytest.raises(FeatureMismatchError) as caught:
            parse([sound, lying, sound], spec)
        assert (caught.value.record, caught.value.feature) == (1, "r")


def test_row_ids_cannot_ask_for_more_memory_than_their_values_deserve() -> None:
    spec = {"r": RaggedFeature("int64", value_key="v", partitions=[RaggedFeature.ValueRowIds("key")])}
    record = example({"v": ints(1), "key": ints(256 + 15)})
    assert len(parse([record], spec)["r"][0]) == 256 + 16
    with pytest.raises(FeatureMismatchError, match="too many rows"):
        parse([example({"v": ints(1), "key": ints(256 + 16)})], spec)


# Bits.


def test_every_bit_of_a_float_arrives() -> None:
    bits = np.array(
        [0x7F800001, 0x7FC00001, 0xFFFFFFFF, 0xFF800001, 0x80000000, 0x00000001, 0x7F800000, 0x7FBFFFFF],
        np.uint32,
    )
    packed = field(2, field(1, bits.tobytes()))
    single = field(2, b"".join(tag(1, 5) + value.tobytes() for value in bits))
    for record in (example({"a": packed}), example({"a": single})):
        for spec in (FixedLenFeature([8], "float32"), RaggedFeature("float32")):
            column: Any = parse([record], {"a": spec})["a"]
            flat = column.ravel() if isinstance(column, np.ndarray) else column.values
            assert flat.view(np.uint32).tolist() == bits.tolist()
        steps = parse_sequence(
            [field(2, entry("a", field(1, packed)))], None, {"a": RaggedFeature("float32")}
        )
        assert steps["a"].flat_values.view(np.uint32).tolist() == bits.tolist()


def test_the_ends_of_int64_arrive() -> None:
    ends = [-(1 << 63), (1 << 63) - 1, -1, 0]
    for packed in (True, False):
        record = example({"a": feature("int64", ends, packed=packed)})
        assert parse([record], {"a": FixedLenFeature([4], "int64")})["a"].tolist() == [ends]
