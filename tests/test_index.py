"""`tfreel.open` and `tfreel.build_index`: the records of files as one sequence, picked in every way."""

from __future__ import annotations

import errno
import multiprocessing
import operator
import os
import pickle
import random
import subprocess
import sys
import threading
import tracemalloc
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import Mock

import numpy as np
import pytest

import tfreel
from tfreel.index import seek
from tfreel.index.access import Records, joined
from tfreel.index.sidecar import INDEX_SUFFIX
from tfreel.storage.files import LocalFile
from tfreel.threads import thread_count

from corpus import CODECS, RECORDS, SUFFIXES, compress, frames, offsets, write_file

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20

# How the records of a compressed file are found: by rapidgzip where it is installed, else by our snapshots.
WAYS = ("none", "gzip by rapidgzip", "gzip by snapshots", "zlib")
COLLECTING = """
import gc, sys, threading
from tfreel.index.seek import open_seekable
from tfreel.storage.files import LocalFile


class Collecting(LocalFile):
    def read(self, size, offset):
        if threading.current_thread() is not threading.main_thread():
            gc.collect()
        return super().read(size, offset)


gc.disable()
dropped = open_seekable(LocalFile(sys.argv[1]), "gzip")
dropped.read(1, 0)
ring = [dropped]
ring.append(ring)
del dropped, ring
print(len(open_seekable(Collecting(sys.argv[1]), "gzip").read(1 << 30, 0)))
"""


def take_way(way: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Makes this way the one that is taken; gives the codec."""
    if way.endswith("rapidgzip"):
        pytest.importorskip("rapidgzip")
    elif way.endswith("snapshots"):
        nothing = SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: None))
        monkeypatch.setattr(seek, "importlib", nothing)
    return way.split()[0]


@pytest.fixture(params=WAYS)
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    return take_way(request.param, monkeypatch)


def some_records(count: int, seed: int = 0, longest: int = 400) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(rng.randrange(longest)) for _ in range(count)]


def write_set(directory: Path, codec: str) -> tuple[list[Path], list[bytes]]:
    """Five files, two of them empty in different ways and one of them last, and all their records."""
    suffix = SUFFIXES[codec]
    parts = [RECORDS, [], [b"alone"], some_records(60), []]
    files = [
        write_file(directory / f"part-{i}{suffix}", part, codec if part else "none")
        for i, part in enumerate(parts)
    ]
    files[1].write_bytes(compress(b"", codec))
    return files, [record for part in parts for record in part]


@pytest.fixture
def plain(tmp_path: Path) -> tuple[tfreel.Records, list[bytes]]:
    expected = RECORDS + some_records(40)
    return tfreel.open(write_file(tmp_path / "a.tfrecord", expected)), expected


# One record -------------------------------------------------------------------------------------------------


def test_every_index_of_one_file_gives_its_record(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / "a", RECORDS, codec)
    records = tfreel.open(path)
    assert len(records) == len(RECORDS)
    for i in range(-len(RECORDS), len(RECORDS)):
        assert records[i] == RECORDS[i]


def test_every_index_of_many_files_with_empty_ones_among_them_gives_its_record(
    tmp_path: Path, codec: str
) -> None:
    files, expected = write_set(tmp_path, codec)
    records = tfreel.open(files)
    assert len(records) == len(expected)
    for i in range(-len(expected), len(expected)):
        assert records[i] == expected[i]


def test_files_of_different_codecs_make_one_sequence(tmp_path: Path) -> None:
    files = [write_file(tmp_path / name, RECORDS, name) for name in CODECS]
    assert list(tfreel.open(files)) == RECORDS * 3


def test_the_same_file_named_twice_is_there_twice(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    assert list(tfreel.open([path, path])) == RECORDS * 2


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.array, bool])
def test_whatever_counts_as_an_integer_picks_a_record(
    plain: tuple[tfreel.Records, list[bytes]], kind: type
) -> None:
    records, expected = plain
    assert records[kind(1)] == expected[1]


def test_a_negative_numpy_integer_counts_from_the_end(plain: tuple[tfreel.Records, list[bytes]]) -> None:
    records, expected = plain
    assert records[np.int16(-3)] == expected[-3]


def test_an_index_out_of_range_is_an_index_error_that_says_both_numbers(tmp_path: Path) -> None:
    records = tfreel.open(write_file(tmp_path / "a", RECORDS))
    for i in (len(RECORDS), -len(RECORDS) - 1, 1 << 31, 1 << 63, 1 << 64, -(1 << 70)):
        with pytest.raises(IndexError, match=rf"{i} .*\b{len(RECORDS)} records"):
            records[i]


def test_an_empty_file_has_no_record_to_pick(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "empty"
    path.write_bytes(compress(b"", codec))
    records = tfreel.open(path)
    assert len(records) == 0
    assert not records
    assert list(records) == records[:] == records[[]] == []
    for i in (0, -1):
        with pytest.raises(IndexError):
            records[i]


def test_no_files_at_all_are_an_empty_sequence() -> None:
    records = tfreel.open([])
    assert len(records) == 0
    assert list(records) == records[:] == records[[]] == records.__getitems__([]) == []
    with pytest.raises(IndexError):
        records[0]


@pytest.mark.parametrize("key", [1.0, "1", b"1", None, {1}, 1j, [[0], [1]], np.zeros((2, 2), int)])
def test_what_is_no_index_is_a_type_error(plain: tuple[tfreel.Records, list[bytes]], key: object) -> None:
    with pytest.raises(TypeError, match="picked by"):
        plain[0][key]


# Several records --------------------------------------------------------------------------------------------


def test_slices_are_those_of_a_list(tmp_path: Path) -> None:
    files, expected = write_set(tmp_path, "none")
    records = tfreel.open(files)
    bounds = (None, 0, 1, 7, 8, 40, 68, 69, 1000, -1, -5, -68, -69, -1000)
    for start in bounds:
        for stop in bounds:
            for step in (None, 1, 2, 7, 100, -1, -3, -100):
                assert records[start:stop:step] == expected[start:stop:step]


def test_a_slice_of_a_compressed_file_is_that_of_a_list(tmp_path: Path, codec: str) -> None:
    files, expected = write_set(tmp_path, codec)
    records = tfreel.open(files)
    for cut in (slice(None), slice(5, 30), slice(None, None, -1), slice(60, 2, -7)):
        assert records[cut] == expected[cut]


def test_a_slice_with_step_zero_is_a_value_error(plain: tuple[tfreel.Records, list[bytes]]) -> None:
    with pytest.raises(ValueError, match="zero"):
        plain[0][::0]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda x: np.array(x, np.int16)])
def test_a_list_of_indices_gives_the_records_in_its_order_with_repeats(
    tmp_path: Path, codec: str, kind: type
) -> None:
    files, expected = write_set(tmp_path, codec)
    rng = random.Random(1)
    picks = [rng.randrange(-len(expected), len(expected)) for _ in range(200)] + [3, 3, 3]
    assert tfreel.open(files)[kind(picks)] == [expected[i] for i in picks]


def test_a_range_picks_like_a_list(plain: tuple[tfreel.Records, list[bytes]]) -> None:
    records, expected = plain
    assert records[range(9, 2, -2)] == [expected[i] for i in range(9, 2, -2)]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint16, np.uint64])
def test_an_array_of_any_integer_dtype_picks(tmp_path: Path, kind: type) -> None:
    expected = some_records(300)
    records = tfreel.open(write_file(tmp_path / "a", expected))
    assert records[np.array([0, 100, 7], kind)] == [expected[0], expected[100], expected[7]]


@pytest.mark.parametrize("empty", [[], (), np.array([]), np.array([], int), range(0), slice(3, 3)])
def test_an_empty_pick_is_an_empty_list(plain: tuple[tfreel.Records, list[bytes]], empty: object) -> None:
    assert plain[0][empty] == []


def test_a_mask_picks_where_it_is_true(tmp_path: Path) -> None:
    files, expected = write_set(tmp_path, "none")
    records = tfreel.open(files)
    rng = random.Random(2)
    mask = [rng.random() < 0.5 for _ in expected]
    wanted = [record for record, keep in zip(expected, mask, strict=True) if keep]
    assert records[mask] == records[np.array(mask)] == wanted
    assert records[[False] * len(expected)] == []


@pytest.mark.parametrize("off_by", [-1, 1])
def test_a_mask_of_another_length_is_an_index_error(
    plain: tuple[tfreel.Records, list[bytes]], off_by: int
) -> None:
    records, expected = plain
    with pytest.raises(IndexError, match="mask"):
        records[np.zeros(len(expected) + off_by, bool)]


def test_an_empty_mask_does_not_fit_a_file_with_records(plain: tuple[tfreel.Records, list[bytes]]) -> None:
    with pytest.raises(IndexError, match="mask"):
        plain[0][np.zeros(0, bool)]


@pytest.mark.parametrize("wrong", [47, -48, 1 << 40, (1 << 64) - 1, 1 << 64])
def test_one_index_out_of_range_among_many_is_an_index_error_naming_it(
    plain: tuple[tfreel.Records, list[bytes]], wrong: int
) -> None:
    with pytest.raises(IndexError, match=str(wrong)):
        plain[0][[0, 1, wrong, 2]]


@pytest.mark.parametrize("wrong", [["0"], [0.0], [None], [b"0"], [1j], np.array([0.5]), [0, "1"], [[1], 2]])
def test_a_list_of_something_else_is_a_type_error(
    plain: tuple[tfreel.Records, list[bytes]], wrong: object
) -> None:
    with pytest.raises(TypeError, match="picked by"):
        plain[0][wrong]


def test_getitems_is_what_pytorch_asks_for(tmp_path: Path, codec: str) -> None:
    files, expected = write_set(tmp_path, codec)
    records = tfreel.open(files)
    picks = [40, 0, -1, 7, 40]
    assert records.__getitems__(picks) == [expected[i] for i in picks]
    with pytest.raises(IndexError):
        records.__getitems__([0, len(expected)])


# As a sequence ----------------------------------------------------------------------------------------------


def test_iterating_gives_every_record_in_order_and_again(tmp_path: Path, codec: str) -> None:
    expected = some_records(3000, longest=60)  # more than are fetched at a time
    files = [
        write_file(tmp_path / "a", expected[:2500], codec),
        write_file(tmp_path / "b", [], "none"),
        write_file(tmp_path / "c", expected[2500:], codec),
    ]
    records = tfreel.open(files)
    assert list(records) == expected
    assert list(records) == expected
    one, two = iter(records), iter(records)
    assert [next(one), next(two), next(one)] == [expected[0], expected[0], expected[1]]


def test_the_sequence_methods_work(plain: tuple[tfreel.Records, list[bytes]]) -> None:
    records, expected = plain
    assert list(reversed(records)) == expected[::-1]
    assert b"the quick brown fox" in records
    assert b"the slow brown fox" not in records
    assert records.index(b"a") == 1
    assert records.index(b"", 1) == 4
    assert records.count(b"") == expected.count(b"")
    with pytest.raises(ValueError, match=r"^$"):
        records.index(b"the slow brown fox")


def test_the_repr_counts_records_and_files(tmp_path: Path) -> None:
    files, expected = write_set(tmp_path, "none")
    assert repr(tfreel.open(files)) == f"<tfreel.Records: {len(expected)} records in 5 files>"


def test_iterating_over_large_records_holds_a_few_of_them(tmp_path: Path, codec: str) -> None:
    record = bytes(512 << 10)
    records = tfreel.open(write_file(tmp_path / "a", [record] * 100, codec))
    next(iter(records))
    tracemalloc.start()
    assert sum(len(found) for found in records) == 100 * len(record)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * MIB


# Large records ----------------------------------------------------------------------------------------------


def test_records_around_and_above_the_size_of_one_fetch_come_in_any_order(tmp_path: Path, codec: str) -> None:
    sizes = [4 * MIB, 3, 4 * MIB - 16, 4 * MIB - 15, 9 * MIB, 0, 2 * MIB, 2 * MIB, 100]
    expected = [(bytes(range(i, 256)) * (size // 200 + 1))[:size] for i, size in enumerate(sizes)]
    path = tmp_path / "a"
    path.write_bytes(compress(frames(expected), codec))
    records = tfreel.open(path)
    assert records[:] == expected
    order = [4, 0, 8, 4, 3, 2, 7, 6, 5, 1, 0, 4]
    assert records[order] == [expected[i] for i in order]
    assert records[::-1] == expected[::-1]
    assert records[4] == expected[4]


def test_random_order_over_a_stream_longer_than_several_snapshots_is_right(
    tmp_path: Path, codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tight snapshots and few of them: all of their book-keeping happens in a file of two megabytes.
    monkeypatch.setattr(seek, "_SNAPSHOT_BYTES", 1 << 14)
    monkeypatch.setattr(seek, "_MOST_SNAPSHOTS", 16)
    monkeypatch.setattr(seek, "_STEP_BYTES", 1 << 12)
    rng = random.Random(4)
    expected = [rng.choice([b"x", rng.randbytes(3)]) * rng.randrange(2000) for _ in range(1000)]
    data = frames(expected)
    cuts = sorted(rng.randrange(len(data)) for _ in range(3)) if codec == "gzip" else []  # members
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    path = tmp_path / "a"
    path.write_bytes(b"".join(compress(part, codec) for part in parts))
    records = tfreel.open(path)
    for i in [999, 0, 500, 499, 501] + [rng.randrange(1000) for _ in range(300)]:
        assert records[i] == expected[i]


# Where the index comes from ---------------------------------------------------------------------------------


def names_in(directory: Path) -> set[str]:
    return {name for name in os.listdir(directory) if name != ".cache"}


def test_auto_writes_nothing(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    assert list(tfreel.open(path)) == RECORDS
    assert names_in(tmp_path) == {"a"}
    assert not os.path.exists(tmp_path / ".cache")


def test_auto_uses_the_sidecar_and_does_not_scan(tmp_path: Path, codec: str) -> None:
    # A file of which only the last record is damaged: a scan would meet that, a sidecar does not.
    records = some_records(100)
    path = write_file(tmp_path / "a", records, codec)
    tfreel.build_index(path)
    assert len(tfreel.open(path)) == 100
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2 + 20] ^= 1
    info = path.stat()
    path.write_bytes(damaged)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    with pytest.raises(tfreel.CorruptError):
        tfreel.open(path, index="memory")
    if codec != "none":  # a few records of plain files are looked at
        assert len(tfreel.open(path)) == 100


def test_memory_does_not_look_at_sidecars(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    sidecar = tmp_path / f"a{INDEX_SUFFIX}"
    sidecar.write_bytes(b"not an index")
    assert list(tfreel.open(path, index="memory")) == RECORDS
    assert sidecar.read_bytes() == b"not an index"


def test_rebuild_writes_what_is_missing_and_leaves_what_is_right(tmp_path: Path, codec: str) -> None:
    files, expected = write_set(tmp_path, codec)
    assert list(tfreel.open(files, index="rebuild")) == expected
    sidecars = [tmp_path / (file.name + INDEX_SUFFIX) for file in files]
    assert names_in(tmp_path) == {file.name for file in files + sidecars}
    before = [(sidecar.stat().st_ino, sidecar.stat().st_mtime_ns) for sidecar in sidecars]
    assert list(tfreel.open(files, index="rebuild")) == expected
    assert [(sidecar.stat().st_ino, sidecar.stat().st_mtime_ns) for sidecar in sidecars] == before


def test_rebuild_replaces_what_is_damaged_or_stale(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    (sidecar,) = tfreel.build_index(path)
    with open(sidecar, "r+b") as file:
        file.truncate(50)
    assert list(tfreel.open(path, index="rebuild")) == RECORDS
    write_file(path, RECORDS[::-1])
    assert list(tfreel.open(path, index="rebuild")) == RECORDS[::-1]
    assert list(tfreel.open(path, index="require")) == RECORDS[::-1]


def test_rebuild_does_not_write_the_index_of_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(frames(RECORDS)[:-1])
    with pytest.raises(tfreel.TruncatedError) as caught:
        tfreel.open(path, index="rebuild")
    assert (caught.value.kind, caught.value.record) == ("truncated_body", len(RECORDS) - 1)
    assert names_in(tmp_path) == {"a"}


def test_require_takes_sidecars_and_nothing_else(tmp_path: Path) -> None:
    files, expected = write_set(tmp_path, "none")
    tfreel.build_index(files)
    assert list(tfreel.open(files, index="require")) == expected
    os.unlink(tmp_path / (files[2].name + INDEX_SUFFIX))
    with pytest.raises(FileNotFoundError, match="build_index") as caught:
        tfreel.open(files, index="require")
    assert caught.value.filename == os.fspath(files[2])


def test_text_takes_the_text_index(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    assert tfreel.build_index(path, format="text") == [f"{path}.idx"]
    assert list(tfreel.open(path, index="text")) == RECORDS


@pytest.mark.parametrize("mode", ["", "none", None, True])
def test_an_unknown_mode_is_a_value_error(tmp_path: Path, mode: object) -> None:
    with pytest.raises(ValueError, match="'auto', 'memory', 'rebuild', 'require', 'text'"):
        tfreel.open(write_file(tmp_path / "a", RECORDS), index=mode)  # type: ignore[arg-type]


def test_a_scan_of_a_damaged_file_says_where_and_names_the_remedy(tmp_path: Path, codec: str) -> None:
    data = bytearray(frames(RECORDS))
    data[offsets(RECORDS)[5] + 12] ^= 1
    path = tmp_path / "a"
    path.write_bytes(compress(bytes(data), codec))
    with pytest.raises(tfreel.ChecksumError, match=r"tfreel\.repair") as caught:
        tfreel.open(path)
    error = caught.value
    assert (error.path, error.record, error.offset, error.kind) == (
        os.fspath(path),
        5,
        offsets(RECORDS)[5],
        "data_crc",
    )


def test_the_first_damaged_file_in_order_is_the_one_reported(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abcd"]
    for path in paths:
        path.write_bytes(frames(RECORDS)[: -1 if path.name in "bd" else None])
    with pytest.raises(tfreel.TruncatedError) as caught:
        tfreel.open(paths, threads=4)
    assert caught.value.path == os.fspath(paths[1])


def test_compression_can_be_said_and_is_believed_only_if_true(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS, "gzip")
    assert list(tfreel.open(path, compression="GZIP")) == RECORDS
    with pytest.raises(tfreel.CorruptError, match="gzip"):
        tfreel.open(path, compression="zlib")
    with pytest.raises(ValueError, match="unknown compression"):
        tfreel.open(path, compression="bzip2")


def test_a_stream_has_no_random_access(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    with open(path, "rb") as stream, pytest.raises(ValueError, match="stream"):
        tfreel.open(stream)
    with pytest.raises(ValueError, match="stream"):
        tfreel.open("-")
    with open(path, "rb") as stream, pytest.raises(ValueError, match="stream"):
        tfreel.build_index([path, stream])


def test_data_that_is_missing_is_a_clear_error_though_its_index_is_there(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    path.unlink()
    for mode in ("auto", "memory", "rebuild", "require", "text"):
        with pytest.raises(FileNotFoundError) as caught:
            tfreel.open(path, index=mode)  # type: ignore[arg-type]
        assert caught.value.filename == os.fspath(path)
    with pytest.raises(FileNotFoundError):
        tfreel.build_index(path)


def test_data_that_goes_away_after_the_open_is_a_clear_error(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    records = tfreel.open(path)
    path.unlink()
    with pytest.raises(FileNotFoundError) as caught:
        records[0]
    assert caught.value.filename == os.fspath(path)


def test_a_glob_does_not_mean_the_sidecars(tmp_path: Path) -> None:
    write_file(tmp_path / "a.tfrecord", RECORDS)
    tfreel.build_index(tmp_path / "a.tfrecord")
    tfreel.build_index(tmp_path / "a.tfrecord", format="text")
    assert list(tfreel.open("a*")) == RECORDS


# Building ---------------------------------------------------------------------------------------------------


def test_build_index_gives_the_sidecars_in_order(tmp_path: Path, codec: str) -> None:
    files, expected = write_set(tmp_path, codec)
    assert tfreel.build_index(files) == [f"{file}{INDEX_SUFFIX}" for file in files]
    assert list(tfreel.open(files, index="require")) == expected


def test_build_index_leaves_a_good_index_unless_forced(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    sidecar = tmp_path / f"a{INDEX_SUFFIX}"
    content = sidecar.read_bytes()
    before = sidecar.stat()
    tfreel.build_index(path)
    assert (sidecar.stat().st_ino, sidecar.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    tfreel.build_index(path, force=True)
    assert sidecar.stat().st_mtime_ns > before.st_mtime_ns
    assert sidecar.read_bytes() == content


def test_build_index_replaces_a_stale_index(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    write_file(path, RECORDS[1:])
    tfreel.build_index(path)
    assert list(tfreel.open(path, index="require")) == RECORDS[1:]


def test_progress_adds_up_to_all_records_and_bytes(tmp_path: Path, codec: str) -> None:
    files, expected = write_set(tmp_path, codec)
    lock = threading.Lock()
    told: list[tuple[int, int]] = []

    def progress(records: int, size: int) -> None:
        with lock:
            told.append((records, size))

    tfreel.build_index(files, progress=progress, threads=2)
    assert sum(records for records, _ in told) == len(expected)
    assert sum(size for _, size in told) == len(frames(expected))


def test_build_index_knows_its_formats(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    with pytest.raises(ValueError, match='"tfreel" or "text"'):
        tfreel.build_index(path, format="json")  # type: ignore[arg-type]


def test_build_index_of_a_damaged_file_fails_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(frames(RECORDS) + b"garbage garbage garbage")
    with pytest.raises(tfreel.CorruptError):
        tfreel.build_index(path)
    assert names_in(tmp_path) == {"a"}


# Across processes -------------------------------------------------------------------------------------------


def test_records_pickle_as_their_files_and_options(tmp_path: Path, codec: str) -> None:
    files, expected = write_set(tmp_path, codec)
    records = tfreel.open(files)
    records[3]
    pickled = pickle.dumps(records)
    assert len(pickled) < 5000
    again = pickle.loads(pickled)
    assert repr(again) == repr(records)
    assert list(again) == expected


def test_pickled_records_keep_their_index_mode(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    pickled = pickle.dumps(tfreel.open(path, index="require"))
    os.unlink(f"{path}{INDEX_SUFFIX}")
    with pytest.raises(FileNotFoundError, match="build_index"):
        pickle.loads(pickled)


def test_a_spawned_process_reads_pickled_records(tmp_path: Path) -> None:
    files, expected = write_set(tmp_path, "gzip")
    records = tfreel.open(files)
    assert records[0] == expected[0]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(operator.getitem, (records, -1)) == expected[-1]
        assert pool.apply(list, (records,)) == expected


FEW_OPEN_FILES = """
import os, random, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import tfreel
count, paths = int(sys.argv[1]), sys.argv[2]
records = tfreel.open(paths)
assert len(records) == 2 * count, len(records)
order = list(range(2 * count))
random.Random(5).shuffle(order)
for i in order:
    assert records[i] == b"%d" % i, i
assert records[order] == [b"%d" % i for i in order]
assert list(records) == [b"%d" % i for i in range(2 * count)]
assert len(os.listdir("/proc/self/fd")) < 256
"""


@pytest.mark.parametrize(("codec", "count"), [("none", 2000), ("gzip", 160), ("zlib", 160)])
def test_more_shards_than_files_may_be_open(tmp_path: Path, codec: str, count: int) -> None:
    for i in range(count):
        shard = [b"%d" % (2 * i), b"%d" % (2 * i + 1)]
        write_file(tmp_path / f"s-{i:05d}-of-{count:05d}{SUFFIXES[codec]}", shard, codec)
    command = [sys.executable, "-c", FEW_OPEN_FILES, str(count), f"s-*{SUFFIXES[codec]}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")


MANY_OPEN_SETS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
import tfreel
features = {"i": tfreel.FixedLenFeature([], "int64")}
sets = [tfreel.Dataset("s-*.tfrecord", features=features) for _ in range(int(sys.argv[2]))]
for dataset in sets:
    everything = list(range(len(dataset)))
    assert [row["i"] for row in dataset] == everything
    batches = [batch["i"].tolist() for batch in dataset.shuffle(seed=1).batch(7)]
    assert sorted(i for batch in batches for i in batch) == everything
"""


@pytest.mark.parametrize(("limit", "sets"), [(32, 1), (64, 3), (256, 8)])
def test_sets_share_the_files_that_a_process_may_open(tmp_path: Path, limit: int, sets: int) -> None:
    for i in range(200):
        tfreel.save(tmp_path / f"s-{i:05d}-of-00200.tfrecord", {"i": [2 * i, 2 * i + 1]})
    command = [sys.executable, "-c", MANY_OPEN_SETS, str(limit), str(sets)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# Threads ----------------------------------------------------------------------------------------------------


def test_threads_are_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFREEL_NUM_THREADS", "5")
    assert thread_count(3) == 3
    assert thread_count() == 5
    monkeypatch.delenv("TFREEL_NUM_THREADS")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 9}, raising=False)
    assert thread_count() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert thread_count() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count() == 1


@pytest.mark.parametrize("wrong", ["0", "-1"])
def test_less_than_one_thread_is_a_value_error(
    tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    for call in (tfreel.open, tfreel.build_index):
        with pytest.raises(ValueError, match="at least 1"):
            call(path, threads=int(wrong))
    monkeypatch.setenv("TFREEL_NUM_THREADS", wrong)
    with pytest.raises(ValueError, match="at least 1"):
        tfreel.open(path)


def test_a_number_of_threads_that_is_no_number_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFREEL_NUM_THREADS", "many")
    with pytest.raises(ValueError, match=r"TFREEL_NUM_THREADS.*'many'"):
        tfreel.open(write_file(tmp_path / "a", RECORDS))


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_the_number_of_threads_changes_nothing(tmp_path: Path, threads: int) -> None:
    files, expected = write_set(tmp_path, "gzip")
    assert list(tfreel.open(files, threads=threads)) == expected
    assert tfreel.build_index(files, threads=threads) == [f"{file}{INDEX_SUFFIX}" for file in files]


def test_a_file_that_is_written_anew_or_added_to_loses_its_old_index(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    for mode in ("x", "w", "a"):
        with tfreel.Writer(path, mode=mode) as out:
            out.write_many(RECORDS)
        assert len(tfreel.open(path)) == (2 if mode == "a" else 1) * len(RECORDS)
        tfreel.build_index(path)


def test_a_set_that_is_written_anew_loses_its_old_indexes(tmp_path: Path) -> None:
    for shards in (4, 2):
        with tfreel.ShardedWriter(tmp_path / "a.tfrecord", shards=shards, mode="w") as out:
            out.write_many(RECORDS)
        assert len(tfreel.open(tmp_path / "a.tfrecord")) == len(RECORDS)
        tfreel.build_index(tmp_path / "a.tfrecord")
    assert len(list(tmp_path.glob("*.tfreel-index"))) == 2


@pytest.mark.parametrize("rapid", [False, True])
@pytest.mark.parametrize("suffix", [".gz", ".zlib"])
def test_what_lies_before_damage_in_a_compressed_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, *, rapid: bool
) -> None:
    if not rapid:
        monkeypatch.setattr(seek, "_Rapid", lambda file: seek.Snapshots(file, "gzip"))
    rng = np.random.default_rng(1)
    path = tmp_path / f"a.tfrecord{suffix}"
    with tfreel.Writer(path) as out:
        out.write_many([bytes([i]) + rng.bytes(1000) for i in range(200)])
    whole = path.read_bytes()
    for place, sound in ((len(whole) - 2, 200), (len(whole) // 2, 99)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        dataset = tfreel.Dataset(path, raw=True, on_corrupt="skip")
        assert len(dataset) >= sound - 1
        first = dataset[: sound - 1]
        assert [record[0] for record in first.shuffle(seed=1)] != list(range(sound - 1))
        assert sorted(record[0] for record in first.shuffle(seed=1)) == list(range(sound - 1))
        assert dataset[sound - 2][0] == sound - 2


def test_a_dropped_file_that_a_thread_of_rapidgzip_collects_holds_nobody_up(tmp_path: Path) -> None:
    pytest.importorskip("rapidgzip")
    path = write_file(tmp_path / "a.tfrecord.gz", [bytes(1000)] * 100, "gzip")
    script = [sys.executable, "-c", COLLECTING, str(path)]
    done = subprocess.run(script, capture_output=True, check=True, timeout=30, text=True)
    assert done.stdout == "101600\n"


def test_what_rapidgzip_calls_never_fails_or_it_would_end_the_process(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tfrecord", [bytes(1000)])
    file = LocalFile(str(path))
    steady = seek._Steady(file)
    whole = bytearray(file.size)
    assert steady.readinto(whole) == file.size
    assert bytes(whole) == path.read_bytes()
    file.read = Mock(side_effect=OSError(errno.EIO, "the disk"))
    assert steady.seek(-10, os.SEEK_END) == steady.tell() == file.size - 10
    assert steady.readinto(whole) == 10
    assert whole[:10] == bytes(10)
    assert isinstance(steady.failure, OSError)
    for _ in range(2):
        steady.close()
        assert steady.seek(5) == steady.tell() == 5
        assert steady.readinto(bytearray(5)) == 5


def test_a_disk_that_fails_under_rapidgzip_is_an_oserror_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidgzip")
    path = write_file(tmp_path / "a.tfrecord.gz", [os.urandom(1000) for _ in range(9000)], "gzip")
    expected = list(tfreel.read(path))
    records = tfreel.open(path)
    whole = LocalFile.read

    def fails(self: LocalFile, size: int, offset: int) -> bytes:
        raise OSError(errno.EIO, "the disk", self.path)

    monkeypatch.setattr(LocalFile, "read", fails)
    with pytest.raises(OSError, match="the disk"):
        records[8000]
    monkeypatch.setattr(LocalFile, "read", whole)
    assert [records[i] for i in (8999, 8000, 0)] == [expected[i] for i in (8999, 8000, 0)]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_blocks_pass_over_the_damage_that_was_passed_over_before(tmp_path: Path, suffix: str) -> None:
    sound = write_file(tmp_path / "a.tfrecord", RECORDS)
    cut = write_file(tmp_path / "b.tfrecord", RECORDS)
    cut.write_bytes(cut.read_bytes()[:-1])
    damaged = bytearray(frames(RECORDS))
    damaged[offsets(RECORDS)[3]] ^= 0xFF
    flipped = tmp_path / f"c.tfrecord{suffix}"
    flipped.write_bytes(compress(bytes(damaged), "gzip") if suffix else bytes(damaged))
    records = Records([sound, cut, flipped], on_corrupt="skip")
    expected = RECORDS + RECORDS[:6] + RECORDS[:3] + RECORDS[4:]
    assert list(records) == expected
    assert [record for block in records.blocks() for record in block.to_list()] == expected
    both = joined([Records(sound), Records(cut, on_corrupt="tail")])
    assert [record for block in both.blocks() for record in block.to_list()] == expected[:13]
    sound.write_bytes(bytes(damaged))  # since then
    with pytest.raises(tfreel.ChecksumError):
        list(records.blocks())
