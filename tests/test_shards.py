"""`tfreel.ShardedWriter`: one stream of records over many files, all of them there or none."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel

from corpus import CODECS, RECORDS, SUFFIXES, compress, frames, write_file
from memory import PEAK_BYTES

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = [b"%d" % i for i in range(10)]
MANIFEST = "train.tfrecord.manifest.json"


def visible(directory: Path) -> list[str]:
    return sorted(name for name in os.listdir(directory) if not name.startswith("."))


def names(count: int, suffix: str = ".tfrecord") -> list[str]:
    return [f"train-{i:05d}-of-{count:05d}{suffix}" for i in range(count)]


def write_set(directory: Path, records: list[bytes], **options: object) -> None:
    with tfreel.ShardedWriter(directory / "train.tfrecord", **options) as out:
        out.write_many(records)


def fail_inside(
    out: tfreel.ShardedWriter, error: type[BaseException] = RuntimeError, end: str = "flush"
) -> None:
    with out:
        out.write_many(NUMBERS)
        getattr(out, end)()
        raise error


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in os.listdir(directory)}


# How records are spread -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [1, 2, 3, 10, 12])
def test_shards_get_the_records_in_turn(tmp_path: Path, shards: int) -> None:
    with tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=shards) as out:
        for record in NUMBERS:
            out.write(record)
    assert visible(tmp_path) == [*names(shards), MANIFEST]
    for i, name in enumerate(names(shards)):
        assert (tmp_path / name).read_bytes() == frames(NUMBERS[i::shards])
    assert out.paths == [str(tmp_path / name) for name in names(shards)]


@pytest.mark.parametrize("most", [1, 3, 5, 9, 10, 11])
def test_max_records_fills_one_file_after_the_other(tmp_path: Path, most: int) -> None:
    write_set(tmp_path, NUMBERS, max_records=most)
    expected = [NUMBERS[i : i + most] for i in range(0, len(NUMBERS), most)]
    assert visible(tmp_path) == [*names(len(expected)), MANIFEST]
    for name, records in zip(names(len(expected)), expected, strict=True):
        assert (tmp_path / name).read_bytes() == frames(records)


@pytest.mark.parametrize("most", [1, 34, 35, 100, 10_000])
def test_max_bytes_fills_one_file_after_the_other(tmp_path: Path, most: int) -> None:
    records = [b"x" * length for length in (1, 1, 1, 50, 0, 200, 3, 0, 0, 84)]
    write_set(tmp_path, records, max_bytes=most)
    expected: list[list[bytes]] = [[]]
    for record in records:
        if expected[-1] and len(frames([*expected[-1], record])) > most:
            expected.append([])
        expected[-1].append(record)
    assert visible(tmp_path) == [*names(len(expected)), MANIFEST]
    for name, taken in zip(names(len(expected)), expected, strict=True):
        assert (tmp_path / name).read_bytes() == frames(taken)
        assert len(taken) == 1 or (tmp_path / name).stat().st_size <= most


@pytest.mark.parametrize("option", [{"shards": 3}, {"max_records": 4}, {"max_bytes": 60}])
@pytest.mark.parametrize("codec", CODECS)
def test_write_many_equals_write(tmp_path: Path, option: dict[str, int], codec: str) -> None:
    records = [*RECORDS, *NUMBERS, b"large" * 100_000, *RECORDS]
    path = "train" + SUFFIXES[codec]
    with tfreel.ShardedWriter(tmp_path / "one" / path, **option) as out:
        for record in records:
            out.write(record)
    with tfreel.ShardedWriter(tmp_path / "many" / path, **option) as out:
        out.write_many(records[:4])
        out.write_many(iter(records[4:5]))
        out.write_many([])
        out.write(records[5])
        out.write_many(record for record in records[6:])
        assert out.records_written == len(records)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_exactly_full_files_are_followed_by_no_empty_one(tmp_path: Path) -> None:
    write_set(tmp_path, NUMBERS, max_records=5)
    assert visible(tmp_path) == [*names(2), MANIFEST]


def test_any_kind_of_record_is_taken(tmp_path: Path) -> None:
    class Message:
        def SerializeToString(self) -> bytes:
            return b"message"

    row = {"label": 7, "name": "cat"}
    mixed = [b"a", bytearray(b"b"), memoryview(b"c"), np.bytes_(b"d"), Message(), row]
    for option in ({"shards": 2}, {"max_records": 2}, {"max_bytes": 40}):
        with tfreel.ShardedWriter(tmp_path / "train.tfrecord", mode="w", **option) as out:
            for record in mixed:
                out.write(record)
            out.write_many(mixed)
        found = sorted(tfreel.read(tmp_path / "train.tfrecord"))
        assert found == sorted([b"a", b"b", b"c", b"d", b"message", tfreel.encode(row)] * 2)


@pytest.mark.parametrize("option", [{"shards": 2}, {"max_records": 2}, {"max_bytes": 60}])
@pytest.mark.parametrize(
    "record", ["text", None, 7, np.zeros(2), memoryview(b"abcd")[::2]], ids=lambda r: type(r).__name__
)
def test_what_is_not_bytes_is_a_type_error(tmp_path: Path, option: dict[str, int], record: object) -> None:
    with tfreel.ShardedWriter(tmp_path / "train.tfrecord", **option) as out:
        out.write_many([b"a", b"b"])
        with pytest.raises(TypeError):
            out.write(record)
        with pytest.raises(TypeError):
            out.write_many([record])
        with pytest.raises(TypeError, match="write_many takes an iterable"):
            out.write_many(b"one")
        out.write(b"c")
    assert sorted(tfreel.read(tmp_path / "train.tfrecord")) == [b"a", b"b", b"c"]


# Options ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shards": 2, "max_records": 2},
        {"shards": 2, "max_bytes": 2},
        {"max_records": 2, "max_bytes": 2},
        {"shards": 2, "max_records": 2, "max_bytes": 2},
    ],
    ids=lambda options: "+".join(options) or "none",
)
def test_exactly_one_way_to_cut_is_said(tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"say one of shards=, max_records= and max_bytes="):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", **options)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["shards", "max_records", "max_bytes"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
def test_a_count_that_is_none_is_refused(tmp_path: Path, name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a whole number from 1"):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", **{name: value})
    assert os.listdir(tmp_path) == []


def test_more_shards_than_names_have_digits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="below 100,000"):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=100_000)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("options", [{"mode": "a"}, {"compression": "snappy"}, {"level": 10}])
def test_a_bad_option_leaves_nothing_behind(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"mode must be|unknown compression|level must be"):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2, **options)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("codec", CODECS)
def test_the_suffix_stays_behind_the_number_and_chooses_the_compression(tmp_path: Path, codec: str) -> None:
    suffix = SUFFIXES[codec]
    with tfreel.ShardedWriter(tmp_path / f"train{suffix}", shards=2) as out:
        out.write_many(NUMBERS)
    assert visible(tmp_path) == [*names(2, suffix), f"train{suffix}.manifest.json"]
    first = (tmp_path / names(2, suffix)[0]).read_bytes()
    if codec == "none":
        assert first == frames(NUMBERS[::2])
    else:
        assert first != frames(NUMBERS[::2])
        assert sorted(tfreel.read(tmp_path / names(2, suffix)[0])) == NUMBERS[::2]


def test_the_argument_wins_over_the_suffix(tmp_path: Path) -> None:
    write_set(tmp_path, NUMBERS, shards=2, compression="GZIP", level=9)
    assert gzip.decompress((tmp_path / names(2)[1]).read_bytes()) == frames(NUMBERS[1::2])


@pytest.mark.parametrize("name", [b"\xff\xfe.tfrecord", b"new\nline.tfrecord", b"[a]*?.tfrecord", b"plain"])
def test_odd_names_are_written_read_and_replaced(tmp_path: Path, name: bytes) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)
    for count in (3, 2):
        with tfreel.ShardedWriter(path, shards=count, mode="w") as out:
            out.write_many(NUMBERS)
        assert len(os.listdir(tmp_path)) == count + 1
        assert sorted(tfreel.read(path)) == NUMBERS


def test_missing_directories_are_made(tmp_path: Path) -> None:
    write_set(tmp_path / "deep" / "er", NUMBERS, shards=2)
    assert visible(tmp_path / "deep" / "er") == [*names(2), MANIFEST]


# When the set is there --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [{"shards": 3}, {"max_records": 2}, {"max_bytes": 40}])
def test_nothing_is_visible_before_close(tmp_path: Path, option: dict[str, int]) -> None:
    out = tfreel.ShardedWriter(tmp_path / "train.tfrecord", **option)
    out.write_many(NUMBERS)
    out.flush(sync=True)
    assert visible(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        tfreel.read(tmp_path / "train.tfrecord")
    with pytest.raises(FileNotFoundError):
        tfreel.read(tmp_path / "train-*.tfrecord")
    out.close()
    assert visible(tmp_path) == sorted(os.listdir(tmp_path))


def test_flush_makes_every_record_readable_in_the_temporaries(tmp_path: Path) -> None:
    for option in ({"shards": 3}, {"max_records": 3}):
        with tfreel.ShardedWriter(tmp_path / "train.tfrecord", mode="w", **option) as out:
            out.write_many(NUMBERS)
            out.flush()
            found = [record for path in tmp_path.glob(".train-*.tmp") for record in tfreel.read(path)]
            assert sorted(found) == NUMBERS


def test_the_manifest_says_what_is_there(tmp_path: Path) -> None:
    write_set(tmp_path, NUMBERS, shards=3)
    manifest = json.loads((tmp_path / MANIFEST).read_bytes())
    assert manifest["records"] == 10
    assert [row["name"] for row in manifest["shards"]] == names(3)
    assert [row["records"] for row in manifest["shards"]] == [4, 3, 3]
    assert [row["bytes"] for row in manifest["shards"]] == [(tmp_path / n).stat().st_size for n in names(3)]


@pytest.mark.parametrize(
    "pattern",
    ["train.tfrecord", "train-*.tfrecord", "train@3.tfrecord", "train-{00000..00002}-of-00003.tfrecord"],
)
def test_the_set_is_read_by_its_names(tmp_path: Path, pattern: str) -> None:
    write_set(tmp_path, NUMBERS, shards=3)
    assert list(tfreel.read(tmp_path / pattern)) == NUMBERS[::3] + NUMBERS[1::3] + NUMBERS[2::3]
    assert tfreel.verify(tmp_path / pattern).records == 10


def test_sequential_sets_are_read_in_the_order_they_were_written(tmp_path: Path) -> None:
    records = [b"%d" % i for i in range(1000)]
    write_set(tmp_path, records, max_records=7)
    assert list(tfreel.read(tmp_path / "train.tfrecord")) == records
    assert list(tfreel.read(tmp_path / "train-*")) == records


@pytest.mark.parametrize(
    ("option", "count"), [({"shards": 3}, 3), ({"max_records": 5}, 1), ({"max_bytes": 5}, 1)]
)
@pytest.mark.parametrize("codec", CODECS)
def test_no_records_make_valid_empty_shards(
    tmp_path: Path, option: dict[str, int], count: int, codec: str
) -> None:
    path = tmp_path / f"train{SUFFIXES[codec]}"
    with tfreel.ShardedWriter(path, **option):
        pass
    assert len(visible(tmp_path)) == count + 1
    assert list(tfreel.read(path)) == []
    assert tfreel.verify(path).ok


def test_more_shards_than_records_leave_the_last_ones_empty(tmp_path: Path) -> None:
    write_set(tmp_path, [b"a"], shards=3)
    assert [(tmp_path / name).read_bytes() for name in names(3)] == [frames([b"a"]), b"", b""]
    assert list(tfreel.read(tmp_path / "train.tfrecord")) == [b"a"]


# Sets that exist --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [{"shards": 3}, {"shards": 2}, {"shards": 5}, {"max_records": 4}])
def test_mode_x_refuses_an_existing_set_however_it_is_cut(tmp_path: Path, option: dict[str, int]) -> None:
    write_set(tmp_path, NUMBERS, shards=3)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=r'the set exists already, 4 files of it; mode="w" replaces it'):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", **option)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("leftover", [names(3)[1], names(7)[6], MANIFEST])
def test_mode_x_refuses_what_is_left_of_a_set(tmp_path: Path, leftover: str) -> None:
    (tmp_path / leftover).write_bytes(b"")
    with pytest.raises(FileExistsError, match=leftover):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2)
    assert os.listdir(tmp_path) == [leftover]


def test_mode_x_does_not_mix_with_a_set_that_came_in_between(tmp_path: Path) -> None:
    out = tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=3)
    out.write_many(NUMBERS)
    write_file(tmp_path / names(2)[1], [b"theirs"])
    with pytest.raises(FileExistsError):
        out.close()
    assert contents(tmp_path) == {names(2)[1]: frames([b"theirs"])}


@pytest.mark.parametrize(
    "name",
    [
        "trainer-00000-of-00002.tfrecord",
        "my-train-00000-of-00002.tfrecord",
        "train-1-of-2.tfrecord",
        "train-00000-of-00002.tfrecord.gz",
        "train.tfrecord.gz",
    ],
)
@pytest.mark.parametrize("mode", ["x", "w"])
def test_names_that_look_alike_are_other_files(tmp_path: Path, name: str, mode: str) -> None:
    (tmp_path / name).write_bytes(b"theirs")
    write_set(tmp_path, NUMBERS, shards=2, mode=mode)
    assert (tmp_path / name).read_bytes() == b"theirs"
    assert len(os.listdir(tmp_path)) == 4


@pytest.mark.parametrize("new", [1, 2, 4, 6])
def test_mode_w_leaves_no_shard_of_the_old_set(tmp_path: Path, new: int) -> None:
    write_set(tmp_path, [b"old"] * 20, shards=4)
    write_set(tmp_path, NUMBERS, shards=new, mode="w")
    assert sorted(os.listdir(tmp_path)) == [*names(new), MANIFEST]
    for pattern in ("train.tfrecord", "train-*", f"train@{new}.tfrecord"):
        assert sorted(tfreel.read(tmp_path / pattern)) == NUMBERS


def test_mode_w_leaves_the_old_set_whole_until_the_end(tmp_path: Path) -> None:
    write_set(tmp_path, [b"old"] * 20, shards=4)
    with tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2, mode="w") as out:
        out.write_many(NUMBERS)
        out.flush(sync=True)
        assert list(tfreel.read(tmp_path / "train.tfrecord")) == [b"old"] * 20
        assert list(tfreel.read(tmp_path / "train-*")) == [b"old"] * 20


def test_mode_w_clears_what_a_crash_left_of_several_sets(tmp_path: Path) -> None:
    for name in (names(4)[0], names(4)[3], names(9)[2]):
        write_file(tmp_path / name, [b"old"])
    write_set(tmp_path, NUMBERS, shards=2, mode="w")
    assert sorted(os.listdir(tmp_path)) == [*names(2), MANIFEST]


def test_an_aborted_replacement_leaves_the_old_set_as_it_was(tmp_path: Path) -> None:
    write_set(tmp_path, [b"old"] * 20, shards=4)
    before = contents(tmp_path)
    with pytest.raises(RuntimeError):
        fail_inside(tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2, mode="w"))
    assert contents(tmp_path) == before


def test_a_shard_that_goes_missing_is_named(tmp_path: Path) -> None:
    write_set(tmp_path, NUMBERS, shards=3)
    (tmp_path / names(3)[1]).unlink()
    for pattern in ("train.tfrecord", "train-*", "train@3.tfrecord"):
        with pytest.raises(FileNotFoundError, match=names(3)[1]):
            list(tfreel.read(tmp_path / pattern))


@pytest.mark.parametrize("end", [0, -16, -1])
def test_a_shard_that_is_cut_is_named_even_at_a_record_boundary(tmp_path: Path, end: int) -> None:
    write_set(tmp_path, [b"", b""] * 3, shards=2)
    path = tmp_path / names(2)[1]
    path.write_bytes(path.read_bytes()[:end])
    for pattern in ("train.tfrecord", "train-*", "train@2.tfrecord"):
        with pytest.raises(tfreel.StaleIndexError, match="promises 48") as caught:
            list(tfreel.read(tmp_path / pattern))
        assert caught.value.kind == "index_stale"


# When it does not go well -----------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [{"shards": 3}, {"max_records": 2}, {"max_bytes": 40}])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_inside_with_aborts_all(
    tmp_path: Path, option: dict[str, int], error: type[BaseException]
) -> None:
    with pytest.raises(error):
        fail_inside(tfreel.ShardedWriter(tmp_path / "train.tfrecord", **option), error)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", [{"shards": 3}, {"max_records": 2}])
def test_a_dropped_writer_warns_and_publishes_nothing(tmp_path: Path, option: dict[str, int]) -> None:
    held = [tfreel.ShardedWriter(tmp_path / "train.tfrecord", **option)]
    held[0].write_many(NUMBERS)
    with pytest.warns(ResourceWarning, match="never closed"):
        held.clear()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("end", ["close", "abort"])
def test_a_writer_that_ended_refuses_everything(tmp_path: Path, end: str) -> None:
    out = tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2)
    out.write_many(NUMBERS)
    getattr(out, end)()
    for use in (lambda: out.write(b"b"), lambda: out.write_many([b"b"]), out.flush):
        with pytest.raises(ValueError, match="the writer is closed"):
            use()
    out.close()
    out.abort()
    assert visible(tmp_path) == ([*names(2), MANIFEST] if end == "close" else [])
    assert out.records_written == 10


def test_an_exception_after_close_leaves_the_set_alone(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        fail_inside(tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2), end="close")
    assert sorted(tfreel.read(tmp_path / "train.tfrecord")) == NUMBERS


@pytest.mark.parametrize("mode", ["x", "w"])
@pytest.mark.parametrize(
    "missing", [".train-00000*.tmp", ".train-00001*.tmp", ".train-00002*.tmp", ".*json*.tmp"]
)
def test_a_failure_while_publishing_leaves_no_set_that_counts_as_complete(
    tmp_path: Path, mode: str, missing: str
) -> None:
    """Somebody removed a temporary file: those before it have their names already when that is noticed."""
    out = tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=3, mode=mode)
    out.write_many(NUMBERS)
    (gone,) = tmp_path.glob(missing)
    gone.unlink()
    with pytest.raises(FileNotFoundError, match="train") as caught:
        out.close()
    for use in (out.close, out.flush, lambda: out.write(b"b"), lambda: out.write_many([b"b"])):
        with pytest.raises(FileNotFoundError) as again:
            use()
        assert again.value is caught.value
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", ["x", "w"])
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_directory_under_the_name_of_a_shard_is_a_failure(tmp_path: Path, mode: str, taken: int) -> None:
    out = tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=3, mode=mode)
    out.write_many(NUMBERS)
    (tmp_path / names(3)[taken]).mkdir()
    with pytest.raises(OSError, match=names(3)[taken]):
        out.close()
    for use in (out.close, out.flush, lambda: out.write(b"b"), lambda: out.write_many([b"b"])):
        with pytest.raises(OSError, match=names(3)[taken]):
            use()
    assert os.listdir(tmp_path) == [names(3)[taken]]
    with pytest.raises(FileNotFoundError):
        tfreel.read(tmp_path / "train.tfrecord")


@pytest.mark.parametrize("mode", ["x", "w"])
def test_a_manifest_that_cannot_take_its_name_takes_the_shards_away(tmp_path: Path, mode: str) -> None:
    out = tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=3, mode=mode)
    out.write_many(NUMBERS)
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(OSError, match="manifest"):
        out.close()
    assert os.listdir(tmp_path) == [MANIFEST]


# Two writers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [{"shards": 2}, {"max_records": 1}])
@pytest.mark.parametrize("second", [{"shards": 2}, {"shards": 3}, {"max_records": 1}, {"max_bytes": 40}])
@pytest.mark.parametrize("mode", ["x", "w"])
def test_a_second_writer_of_the_set_fails_however_it_is_cut(
    tmp_path: Path, first: dict[str, int], second: dict[str, int], mode: str
) -> None:
    with tfreel.ShardedWriter(tmp_path / "train.tfrecord", mode=mode, **first) as out:
        out.write_many(NUMBERS)
        with pytest.raises(FileExistsError, match="another writer"):
            tfreel.ShardedWriter(tmp_path / "train.tfrecord", mode=mode, **second)
    assert sorted(tfreel.read(tmp_path / "train.tfrecord")) == NUMBERS
    assert visible(tmp_path) == sorted(os.listdir(tmp_path))


def test_sets_beside_each_other_do_not_block(tmp_path: Path) -> None:
    with (
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2) as one,
        tfreel.ShardedWriter(tmp_path / "train.tfrecord.gz", shards=2) as two,
        tfreel.ShardedWriter(tmp_path / "trainer.tfrecord", shards=2) as three,
    ):
        for out in (one, two, three):
            out.write_many(NUMBERS)
    for name in ("train.tfrecord", "train.tfrecord.gz", "trainer.tfrecord"):
        assert sorted(tfreel.read(tmp_path / name)) == NUMBERS


# Many files -------------------------------------------------------------------------------------------------

FEW_DESCRIPTORS = """
import resource, sys, tfreel
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
name, count = sys.argv[1], int(sys.argv[2])
with tfreel.ShardedWriter("train.tfrecord", durable=False, **{name: count}) as out:
    for i in range(100):
        out.write(b"%d" % i)
    out.flush()
print(sum(1 for _ in tfreel.read("train.tfrecord")))
"""


def _with_few_descriptors(directory: Path, option: str, value: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", FEW_DESCRIPTORS, option, str(value)]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("option", ["max_records", "max_bytes"])
def test_files_filled_in_turn_may_be_more_than_may_be_open(tmp_path: Path, option: str) -> None:
    done = _with_few_descriptors(tmp_path, option, 1)
    assert (done.returncode, done.stdout) == (0, "100\n"), done.stderr
    assert visible(tmp_path) == [*names(100), MANIFEST]


def test_more_shards_than_may_be_open_fail_at_once_and_leave_nothing(tmp_path: Path) -> None:
    done = _with_few_descriptors(tmp_path, "shards", 50)
    assert done.returncode == 1
    assert "Too many open files" in done.stderr
    assert "train-000" in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_thousand_shards_take_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "train.tfrecord"
    script = f"""{PEAK_BYTES}
import tfreel
tfreel.ShardedWriter  # what it needs is loaded before anything is measured
resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000))
before = peak_bytes()
with tfreel.ShardedWriter({str(path)!r}, shards=1000, durable=False) as out:
    for _ in range(60):
        out.write_many([bytes(3000)] * 1000)
print(peak_bytes() - before >> 10)
"""
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 120_000  # KiB; a buffer of full size for each would be 250,000
    assert len(os.listdir(tmp_path)) == 1001


def test_repr_names_the_set_and_counts(tmp_path: Path) -> None:
    with tfreel.ShardedWriter("train.tfrecord", shards=2) as out:
        out.write_many(NUMBERS)
        assert repr(out) == "<tfreel.ShardedWriter of 'train.tfrecord', 10 records written>"


def test_a_sharded_writer_does_not_pickle(tmp_path: Path) -> None:
    with (
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=2) as out,
        pytest.raises(TypeError, match="cannot be pickled"),
    ):
        pickle.dumps(out)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    write_set(tmp_path, NUMBERS, shards=3)
    write_set(tmp_path, NUMBERS, max_records=3, mode="w")
    with pytest.raises(FileExistsError):
        tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=3)
    with pytest.raises(RuntimeError), tfreel.ShardedWriter(tmp_path / "b.tfrecord", shards=3):
        raise RuntimeError
    assert os.listdir("/proc/self/fd") == before


def test_a_set_made_by_others_needs_no_manifest(tmp_path: Path) -> None:
    for i, name in enumerate(names(3, ".tfrecord.gz")):
        (tmp_path / name).write_bytes(compress(frames(NUMBERS[i::3]), "gzip"))
    assert sorted(tfreel.read(tmp_path / "train-*")) == NUMBERS


@pytest.mark.parametrize("mode", ["x", "w"])
def test_a_file_that_would_be_read_in_place_of_the_set_is_refused(tmp_path: Path, mode: Any) -> None:
    tfreel.save(tmp_path / "a.tfrecord", [b"old"])
    with pytest.raises(FileExistsError, match="is one file, which would be read in place of the set"):
        tfreel.ShardedWriter(tmp_path / "a.tfrecord", shards=2, mode=mode)
    assert visible(tmp_path) == ["a.tfrecord"]
    os.remove(tmp_path / "a.tfrecord")
    tfreel.save(tmp_path / "a.tfrecord", [b"new"] * 3, shards=2, mode=mode)
    assert len(tfreel.open(tmp_path / "a.tfrecord")) == 3
