"""Sets whose indexes are too large to load: headers when they are opened, each index when it is wanted."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tfreel
from tfreel.index import access, build, handles, indexes
from tfreel.index.sidecar import INDEX_SUFFIX, FileIndex, cached_path

from corpus import CODECS, SUFFIXES, write_file
from faulty_server import serving
from numbered import numbers, write_numbered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHARDS = 12
PER_SHARD = 30
ALL = [b"%d" % i * (i % 7) for i in range(SHARDS * PER_SHARD)]


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small a set is, it counts as large."""
    monkeypatch.setattr(indexes, "LARGEST_BYTES", -1)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sidecars that were read whole, in order."""
    seen: list[str] = []
    read = build.read_sidecar

    def note(path: str) -> tuple[FileIndex, bytes]:
        seen.append(os.path.basename(path))
        return read(path)

    monkeypatch.setattr(build, "read_sidecar", note)
    return seen


def write_shards(directory: Path, codec: str = "none", *, index: bool = True) -> list[Path]:
    files = [
        write_file(directory / f"s{i:02}{SUFFIXES[codec]}", ALL[i * PER_SHARD : (i + 1) * PER_SHARD], codec)
        for i in range(SHARDS)
    ]
    if index:
        tfreel.build_index(files)
    return files


def sidecar_of(path: Path) -> Path:
    return path.with_name(path.name + INDEX_SUFFIX)


# Laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_every_way_to_pick_gives_what_it_gives_of_a_small_set(tmp_path: Path, codec: str) -> None:
    records = tfreel.open(write_shards(tmp_path, codec))
    assert len(records) == len(ALL)
    assert list(records) == ALL
    assert [records[i] for i in range(-len(ALL), len(ALL))] == ALL + ALL
    assert records[5:300:7] == ALL[5:300:7]
    order = np.random.default_rng(1).permutation(len(ALL))
    assert records[order] == [ALL[i] for i in order]
    assert records.__getitems__([359, 0]) == [ALL[359], ALL[0]]


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_told_of_a_large_set_is_what_is_told_of_a_small_one(
    tmp_path: Path, codec: str, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    files = write_shards(tmp_path, codec)
    loads.clear()
    large = tfreel.open(files)
    told = large.counts(), large.nbytes, large.fingerprint(), repr(large)
    assert not loads
    monkeypatch.setattr(indexes, "LARGEST_BYTES", 1 << 20)
    small = tfreel.open(files)
    assert told == (small.counts(), small.nbytes, small.fingerprint(), repr(small))
    assert (large.lengths() == small.lengths()).all()
    assert [large.place(i) for i in (0, 29, 30, 359)] == [small.place(i) for i in (0, 29, 30, 359)]


def test_a_small_set_is_loaded_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    files = write_shards(tmp_path)
    rows = SHARDS * (PER_SHARD * 20 + 1024)
    for largest, count in ((rows, SHARDS), (rows - 1, 0)):
        loads.clear()
        monkeypatch.setattr(indexes, "LARGEST_BYTES", largest)
        tfreel.open(files)
        assert len(loads) == count


def test_an_index_is_loaded_when_a_record_is_wanted_and_no_other(tmp_path: Path, loads: list[str]) -> None:
    records = tfreel.open(write_shards(tmp_path))
    loads.clear()
    assert records[100] == ALL[100]
    assert records[101] == ALL[101]
    assert loads == ["s03.tfrecord" + INDEX_SUFFIX]


def test_the_indexes_in_memory_are_those_that_were_used_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    monkeypatch.setattr(handles, "MOST_INDEX_BYTES", 3 * PER_SHARD * 20)
    monkeypatch.setattr(indexes, "ARE_POSSIBLE", False)  # rows by themselves: whole indexes only
    records = tfreel.open(write_shards(tmp_path))
    loads.clear()
    for shard in (0, 1, 2, 0, 3, 0, 1):
        assert records[shard * PER_SHARD] == ALL[shard * PER_SHARD]
    assert [int(name[1:3]) for name in loads] == [0, 1, 2, 3, 1]
    assert sum(h.index_bytes for h in records._handles._open.values()) <= 3 * PER_SHARD * 20
    assert list(records) == ALL


def test_an_index_that_is_larger_than_all_may_be_is_loaded_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handles, "MOST_INDEX_BYTES", 1)
    assert list(tfreel.open(write_shards(tmp_path))) == ALL


def test_files_without_an_index_are_scanned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_shards(tmp_path)
    sidecar_of(files[4]).unlink()
    records = tfreel.open(files)
    monkeypatch.setattr(build, "scan", None)
    assert list(records) == ALL
    with pytest.raises(FileNotFoundError, match=r"s04"):
        tfreel.open(files, index="require")


def test_rebuild_writes_what_is_missing_and_holds_nothing(tmp_path: Path, loads: list[str]) -> None:
    files = write_shards(tmp_path, index=False)
    records = tfreel.open(files, index="rebuild")
    assert all(sidecar_of(file).exists() for file in files)
    loads.clear()
    assert list(records) == ALL
    assert len(loads) == SHARDS


def test_datasets_of_large_sets_have_the_same_rows_plans_and_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_numbered(tmp_path)
    tfreel.build_index(paths)

    def dataset() -> tfreel.Dataset:
        return tfreel.Dataset(paths).shuffle(seed=3).batch(8)

    large = dataset()
    iterator = iter(large)
    head = numbers(next(iterator) for _ in range(4))
    state = iterator.state_dict()
    monkeypatch.setattr(indexes, "LARGEST_BYTES", 1 << 20)
    small = dataset()
    assert numbers(large) == numbers(small)
    rest = iter(small)
    rest.load_state_dict(state)
    assert head + numbers(rest) == numbers(small)


@pytest.mark.parametrize("raw", [True, False])
def test_a_dataset_tells_of_a_damaged_index_when_its_records_are_wanted(tmp_path: Path, raw: bool) -> None:
    for i in range(4):
        tfreel.save(tmp_path / f"s0{i}.tfrecord", {"n": np.arange(20) + 20 * i})
    tfreel.build_index(tmp_path / "*.tfrecord")
    flip(90)(sidecar_of(tmp_path / "s02.tfrecord"))
    batches = iter(tfreel.Dataset(tmp_path / "*.tfrecord", raw=raw).batch(8))
    assert numbers([next(batches) for _ in range(5)]) == list(range(40))
    with pytest.raises(tfreel.StaleIndexError, match=r"s02.*columns") as caught:
        next(batches)
    assert caught.value.kind == "index_corrupt"


def test_datasets_of_large_sets_are_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_shards(tmp_path)
    made: list[int] = []
    views = tfreel.Records.views

    def note(records: tfreel.Records, positions: np.ndarray) -> object:
        made.append(len(positions))
        return views(records, positions)

    monkeypatch.setattr(tfreel.Records, "views", note)
    batches = list(tfreel.Dataset(files, raw=True).shuffle(seed=1).batch(10))
    assert sorted(record for batch in batches for record in batch) == sorted(ALL)
    assert max(made) == len(ALL)  # which is little, and so fetched together


def test_joined_records_are_those_of_all_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_shards(tmp_path)
    large = tfreel.open(files[:5])
    monkeypatch.setattr(indexes, "LARGEST_BYTES", 1 << 20)
    both = access.joined([large, tfreel.open(files[5:])])
    assert list(both) == ALL
    assert both.fingerprint() == tfreel.open(files).fingerprint()
    assert both.nbytes == tfreel.open(files).nbytes


# Rows -------------------------------------------------------------------------------------------------------

MANY = [b"%d" % i * (i % 5) for i in range(20_000)]


@pytest.fixture(params=CODECS)
def wide(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tfreel.Records:
    """Two files, of the first of which the index was checked, and is not in memory any more."""
    monkeypatch.setattr(handles, "MOST_INDEX_BYTES", 8 * 4096)
    files = [write_file(tmp_path / name, MANY, request.param) for name in "ab"]
    tfreel.build_index(files)
    records = tfreel.open(files)
    assert [records[0], records[-1]] == [MANY[0], MANY[-1]]
    return records


def test_after_the_first_time_only_the_rows_that_are_wanted_are_read(
    wide: tfreel.Records, loads: list[str]
) -> None:
    for pick in (19_999, 0, 7):
        assert wide[pick] == MANY[pick]
    held = wide._handles._open[0]
    assert (held.index_bytes, loads) == (4 * 4096, [])  # a column begins on the page where another ends
    picks = np.random.default_rng(0).integers(0, 2 * len(MANY), 3000, np.uint64)
    assert wide[picks] == [(MANY + MANY)[pick] for pick in picks]
    assert not loads
    assert list(wide) == MANY + MANY
    found = [[view] if isinstance(view, bytes) else view.to_list() for view in wide.views(picks[:9])[0]]
    assert sorted(record for some in found for record in some) == sorted(wide[picks[:9]])


def test_rows_that_were_wanted_count_as_memory(wide: tfreel.Records) -> None:
    for pick in range(0, 40_000, 331):
        assert wide[pick] == (MANY + MANY)[pick]
    assert wide[0:20_000:300] == MANY[0:20_000:300]
    assert wide[1] == MANY[1]
    assert len(wide._handles._open) == 1


def test_an_index_that_was_written_anew_is_as_good_if_it_says_the_same(
    wide: tfreel.Records, loads: list[str]
) -> None:
    assert wide[5] == MANY[5]
    tfreel.build_index("a", force=True)
    assert wide[19_000] == MANY[19_000]
    assert loads == ["a" + INDEX_SUFFIX]


@pytest.mark.parametrize("size", [0, 87, 5000])
def test_an_index_that_is_cut_short_while_it_is_used_is_an_error(wide: tfreel.Records, size: int) -> None:
    assert wide[5] == MANY[5]
    os.truncate("a" + INDEX_SUFFIX, size)
    with pytest.raises(tfreel.StaleIndexError, match="damaged"):
        wide[19_000]
    assert wide[5] == MANY[5]


def test_an_index_that_goes_away_while_it_is_used_is_an_error_that_names_it(wide: tfreel.Records) -> None:
    assert wide[5] == MANY[5]
    os.unlink("a" + INDEX_SUFFIX)
    with pytest.raises(FileNotFoundError, match=INDEX_SUFFIX):
        wide[19_000]


# Processes and threads --------------------------------------------------------------------------------------


def test_pickles_and_what_is_known_go_elsewhere_without_the_rows(tmp_path: Path, loads: list[str]) -> None:
    records = tfreel.open(write_shards(tmp_path))
    loads.clear()
    pickled = pickle.dumps(records.known())
    again = access.indexed(*pickle.loads(pickled))
    assert not loads
    assert list(again) == ALL
    assert list(pickle.loads(pickle.dumps(records))) == ALL


def test_a_pickle_of_a_large_set_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_shards(tmp_path)
    records = tfreel.open(files)
    assert records[7] == ALL[7]
    pickled = pickle.dumps(records)
    assert len(pickled) < 300 * SHARDS + 1000
    monkeypatch.setattr(indexes, "_read_header", None)
    again = pickle.loads(pickled)
    assert (len(again), again.fingerprint()) == (len(records), records.fingerprint())
    assert list(again) == ALL
    again = pickle.loads(pickled)
    write_file(files[0], [b"other"])
    with pytest.raises(tfreel.StaleIndexError, match=r"s00.*open it again"):
        again[7]


def test_a_pickle_of_a_set_that_had_to_be_scanned_is_scanned_again(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    sidecar_of(files[4]).unlink()
    records = tfreel.open(files)
    again = pickle.loads(pickle.dumps(records))
    assert list(again) == ALL


def test_a_fork_goes_on_with_what_was_loaded_and_with_what_was_not(tmp_path: Path) -> None:
    records = tfreel.open(write_shards(tmp_path))
    assert records[0] == ALL[0]
    child = os.fork()
    if child == 0:
        os._exit(0 if list(records) == ALL else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list(records) == ALL


def test_threads_share_a_large_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "MOST_INDEX_BYTES", 2 * PER_SHARD * 20)
    records = tfreel.open(write_shards(tmp_path))
    wrong: list[int] = []

    def read(seed: int) -> None:
        picks = np.random.default_rng(seed).integers(0, len(ALL), 300).tolist()
        wrong.extend(i for i in picks if records[i] != ALL[i])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Damage and change ------------------------------------------------------------------------------------------


def flip(at: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)

    return damage


def test_a_damaged_header_is_an_error_at_once(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    flip(20)(sidecar_of(files[3]))
    with pytest.raises(tfreel.StaleIndexError, match=r's03.*header.*index="rebuild"') as caught:
        tfreel.open(files)
    assert caught.value.kind == "index_corrupt"


@pytest.mark.parametrize("at", [90, 90 + 8 * PER_SHARD, 90 + 16 * PER_SHARD, -1])
def test_damaged_columns_are_an_error_when_their_records_are_wanted(tmp_path: Path, at: int) -> None:
    files = write_shards(tmp_path)
    flip(at)(sidecar_of(files[3]))
    records = tfreel.open(files)
    assert records[:90] == ALL[:90]
    for pick in (90, [0, 119], slice(80, 100)):
        with pytest.raises(tfreel.StaleIndexError, match=r's03.*columns.*index="rebuild"') as caught:
            records[pick]
        assert (caught.value.kind, caught.value.path) == ("index_corrupt", os.fspath(sidecar_of(files[3])))
    assert records[120:] == ALL[120:]


def test_rebuild_mends_damaged_columns_when_their_records_are_wanted(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    good = sidecar_of(files[3]).read_bytes()
    flip(90)(sidecar_of(files[3]))
    assert list(tfreel.open(files, index="rebuild")) == ALL
    assert sidecar_of(files[3]).read_bytes() == good


def test_a_good_index_in_the_cache_stands_in_for_a_damaged_one(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    cached = cached_path(os.fspath(files[3]))
    os.makedirs(os.path.dirname(cached))
    shutil.copy(sidecar_of(files[3]), cached)
    flip(90)(sidecar_of(files[3]))
    assert list(tfreel.open(files, index="require")) == ALL
    sidecar_of(files[3]).unlink()
    assert list(tfreel.open(files, index="require")) == ALL


def test_a_sidecar_cut_short_is_an_error_at_once(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    os.truncate(sidecar_of(files[3]), 200)
    with pytest.raises(tfreel.StaleIndexError, match=r"s03.*promises 30 records"):
        tfreel.open(files)


def rewritten(path: Path) -> None:
    """Other records of the same size, with the same time."""
    before = path.stat()
    first = int(path.name[1:3]) * PER_SHARD
    write_file(path, [record[::-1] for record in ALL[first : first + PER_SHARD]])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_other_records_of_the_same_size_and_time_are_seen_when_they_are_wanted(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    rewritten(files[3])
    records = tfreel.open(files)
    assert records[0] == ALL[0]
    with pytest.raises(tfreel.StaleIndexError, match=r"s03.*other records") as caught:
        records[91]
    assert caught.value.kind == "index_stale"


def test_a_file_of_another_size_is_stale_at_once(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    with files[3].open("ab") as out:
        out.write(b"more")
    with pytest.raises(tfreel.StaleIndexError, match=r"s03.*stale"):
        tfreel.open(files)


def test_a_copy_is_looked_at_once_and_its_index_is_loaded_when_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    files = write_shards(tmp_path)
    os.utime(files[3], ns=(1, 1))
    records = tfreel.open(files)
    loads.clear()
    monkeypatch.setattr(build, "scan", None)
    assert list(records) == ALL
    assert len(loads) == SHARDS


@pytest.mark.parametrize("loaded", [True, False])
def test_a_file_that_changes_after_the_open_is_an_error(
    tmp_path: Path, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handles, "MOST_INDEX_BYTES", 1)
    files = write_shards(tmp_path)
    records = tfreel.open(files)
    if loaded:
        assert [records[95], records[0]] == [ALL[95], ALL[0]]  # the second, and the first is closed
    write_file(files[3], [b"other"])
    tfreel.build_index(files[3])
    with pytest.raises(tfreel.StaleIndexError, match=r"s03.*open it again") as caught:
        records[95]
    assert caught.value.kind == "file_changed"


def test_an_index_of_other_records_is_not_the_one_that_was_promised(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    records = tfreel.open(files)
    before = files[3].stat()
    rewritten(files[3])
    tfreel.build_index(files[3], force=True)
    assert files[3].stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(tfreel.StaleIndexError, match=r"s03.*open it again"):
        records[95]


def test_data_that_goes_away_is_a_missing_file(tmp_path: Path) -> None:
    files = write_shards(tmp_path)
    records = tfreel.open(files)
    files[3].unlink()
    with pytest.raises(FileNotFoundError, match=r"s03"):
        records[95]
    with pytest.raises(FileNotFoundError, match=r"s03"):
        tfreel.open(files)


# Objects ----------------------------------------------------------------------------------------------------


def test_of_objects_the_headers_are_fetched_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("obstore")
    with serving() as site:
        for file in write_shards(tmp_path):
            site.files[f"/{file.name}"] = file.read_bytes()
            site.files[f"/{file.name}{INDEX_SUFFIX}"] = sidecar_of(file).read_bytes()
        paths = [f"{site.url}/s{i:02}.tfrecord" for i in range(SHARDS)]
        site.asked.clear()
        records = tfreel.open(paths)
        asked = [wanted for method, _, wanted in site.asked if method == "GET"]
        assert asked == ["bytes=0-87"] * SHARDS
        assert len(site.asked) == 2 * SHARDS  # the others ask whether what was named is there
        assert records[[359, 0, 100]] == [ALL[359], ALL[0], ALL[100]]
        site.files["/s05.tfrecord"] += b"more"
        with pytest.raises(tfreel.StaleIndexError, match=r"s05.*stale"):
            records[150]


# Size -------------------------------------------------------------------------------------------------------

MEMORY = """
import glob, resource, sys
import tfreel
files = sorted(glob.glob(sys.argv[1] + "/*.tfrecord"))
def used():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
tfreel.open(files[:100], threads=2)
before = used()
records = tfreel.open(files, threads=2)
print(len(records), (used() - before) // len(files))
"""


def test_a_file_costs_no_object_and_its_rows_no_memory(tmp_path: Path) -> None:
    rows = 20_000
    shard = _Faked(rows)
    for i in range(1500):
        shard.put(tmp_path / f"{i:05}.tfrecord")
    command = [sys.executable, "-c", MEMORY, os.fspath(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    records, each = map(int, done.stdout.split())
    assert records == 1500 * rows
    assert each < 300


class _Faked:
    """A shard of empty records, and its sidecar, made once and linked as often as wanted."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.first: Path | None = None

    def put(self, path: Path) -> None:
        if self.first is None:
            write_file(path, [b""] * self.rows)
            tfreel.build_index(path)
            self.first = path
            return
        os.link(self.first, path)
        os.link(sidecar_of(self.first), sidecar_of(path))
