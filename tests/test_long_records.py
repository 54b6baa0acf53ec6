"""Long records are read by themselves, straight into place: the result must be that of reading in blocks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import frames, offsets, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = 32 << 10  # from here on a record is long
LENGTHS = [
    70_000,
    0,
    LONG,
    LONG - 1,
    5,
    700_000,
    300_000,
    12,
    262_144 - 16,
    262_144,
    100_000,
    40_000,
    40_000,
    3,
]


def make_records(lengths: list[int], seed: int = 0) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(length) for length in lengths]


RECORDS = make_records(LENGTHS)


def in_blocks(path: Path, **options: Any) -> tuple[list[bytes], tfreel.Reader]:
    reader = tfreel.read(path, **options)
    return [record for block in reader.blocks() for record in block.to_list()], reader


def until_error(records: Iterator[Any]) -> tuple[list[Any], tuple[Any, ...]]:
    found = []
    try:
        for record in records:
            found.append(record)  # noqa: PERF402 - what came before the error counts
    except tfreel.TfreelError as error:
        return found, (type(error), str(error), error.record, error.offset)
    return found, ()


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_records_of_any_lengths_come_in_order(tmp_path: Path, seed: int, verify: bool) -> None:
    rng = random.Random(seed)
    lengths = [rng.choice((0, 11, LONG, LONG + 1, rng.randrange(400_000))) for _ in range(40)]
    records = make_records(lengths, seed)
    path = write_file(tmp_path / "a", records)
    reader = tfreel.read(path, verify=verify)
    assert list(reader) == records
    assert reader.report.records == reader.records_produced == len(records)
    assert (reader.report.files, reader.report.bytes) == (1, path.stat().st_size)


def test_long_records_really_take_the_short_way(tmp_path: Path) -> None:
    reader = tfreel.read(write_file(tmp_path / "a", make_records([70_000] * 50)))
    assert len(list(reader)) == 50
    assert reader._long_records >= 40


def test_every_state_gives_exactly_the_tail(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    for produced in range(len(RECORDS) + 1):
        state = reader.state_dict()
        assert reader.records_produced == state["records_produced"] == produced
        assert state["offset"] == offsets(RECORDS)[produced]
        other = tfreel.read(path)
        other.load_state_dict(state)
        assert list(other) == RECORDS[produced:]
        assert next(reader, None) == (RECORDS[produced] if produced < len(RECORDS) else None)


def test_closing_and_changing_to_blocks_counts_no_record_twice(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS * 2)
    reader = tfreel.read(path)
    found = []
    for _ in RECORDS:
        found.append(next(reader))
        assert reader.report.records >= len(found) == reader.records_produced
        reader.close()
        assert reader.report.records == len(found) == reader.records_produced
    found += [next(reader), next(reader), next(reader)]
    found += [record for block in reader.blocks() for record in block.to_list()]
    assert found == RECORDS * 2
    assert reader.report.records == reader.records_produced == len(found)


@pytest.mark.parametrize("on_corrupt", ["raise", "tail", "skip"])
def test_cut_and_flipped_files_read_as_in_blocks(tmp_path: Path, on_corrupt: str) -> None:
    sound = frames(RECORDS)
    path = tmp_path / "a"
    starts = offsets(RECORDS)
    places = sorted(
        {min(start + d, len(sound) - 1) for start in starts for d in (0, 3, 9, 11, 12, 30, 33_000)}
    )
    for place in places:
        for damaged in (sound[:place], sound[:place] + bytes([sound[place] ^ 4]) + sound[place + 1 :]):
            path.write_bytes(damaged)
            reader = tfreel.read(path, on_corrupt=on_corrupt)
            other = tfreel.read(path, on_corrupt=on_corrupt)
            blocks, other_error = until_error(other.blocks())
            found, error = until_error(reader)
            assert (found, error) == ([r for block in blocks for r in block.to_list()], other_error), place
            assert reader.report == other.report
            assert reader.state_dict() == other.state_dict()


def test_file_that_shrinks_between_long_records_is_reported(tmp_path: Path) -> None:
    records = make_records([70_000] * 20)
    path = write_file(tmp_path / "a", records)
    reader = tfreel.read(path)
    found = [next(reader) for _ in range(8)]
    with path.open("r+b") as file:
        file.truncate(offsets(records)[10] + 100)
    with pytest.raises(tfreel.CorruptError, match="changed while it was read"):
        found += list(reader)
    assert records[: len(found)] == found


def test_damage_that_comes_while_reading_is_found(tmp_path: Path) -> None:
    records = make_records([70_000] * 20)
    path = write_file(tmp_path / "a", records)
    reader = tfreel.read(path, on_corrupt="skip")
    found = [next(reader) for _ in range(8)]
    with path.open("r+b") as file:
        file.seek(offsets(records)[12] + 50_000)
        file.write(b"damaged")
    found += list(reader)
    assert found == records[:12] + records[13:]
    assert [(fault.kind, fault.record) for fault in reader.report.faults] == [("file_changed", 12)]
    assert reader.report.records == 19
