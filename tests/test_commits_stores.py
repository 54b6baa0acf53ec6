"""Folders and sets in stores, without renames and locks: all or nothing, whoever dies and whoever comes."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fsspec
import pytest

import tfreel
from tfreel.commits import (
    NewStoreSet,
    Part,
    StoreJob,
    begin_job,
    files_in,
    marks,
    new_set,
    store_sets,
)
from tfreel.storage.remote.filesystems import FileSystemStore
from tfreel.storage.remote.stores import ChangedError
from tfreel.storage.url import Url

FACTS = {"tool": "tests", "source": {"kind": "spark", "path": None}}
OUT = Url("memory://box/out")
SET = Url("memory://box/train.tfrecord")


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(scratch))
    files = fsspec.filesystem("memory")
    files.rm("/", recursive=True)
    yield files
    assert list(scratch.iterdir()) == []  # nothing was left behind


def there() -> list[str]:
    """All objects, but for what is random in their names."""
    found = fsspec.filesystem("memory").find("/box")
    return sorted(path.removeprefix("/box/")[:19] for path in found)


class Killed(BaseException):
    """Nothing is done after it."""


def before_change(patch: pytest.MonkeyPatch, step: int, event: Callable[[], object]) -> None:
    """Lets something happen before the change of that number in a store, whatever it is."""
    left = [step]

    def watched(real: Any) -> Any:
        def change(*args: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == -1:
                event()
            return real(*args, **options)

        return change

    for name in ("write", "copy", "swap", "delete"):
        patch.setattr(FileSystemStore, name, watched(getattr(FileSystemStore, name)))


def dying_at(patch: pytest.MonkeyPatch, step: int) -> None:
    """Lets the driver die before its change of that number."""

    def die() -> None:
        raise Killed

    before_change(patch, step, die)


def a_week_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "_ABANDONED_SECONDS", -1)


# Folders ----------------------------------------------------------------------------------------------------


def begin(*, replace: bool = False) -> StoreJob:
    job = begin_job(OUT, suffix=".tfrecord", replace=replace)
    assert isinstance(job, StoreJob)
    return job


def written(job: StoreJob, task: int, *records: bytes, attempt: int = 0) -> Part:
    with tfreel.Writer(job.file(task, attempt), mode="w") as out:
        out.write_many(records)
    return job.part(task, out)


def one_job(*records: bytes, replace: bool = False) -> StoreJob:
    job = begin(replace=replace)
    job.commit([written(job, task, record) for task, record in enumerate(records)], FACTS)
    return job


def held() -> list[bytes]:
    found = list(tfreel.read(OUT))
    assert list(tfreel.read(files_in(OUT))) == found
    return found


def test_nothing_counts_before_the_commit_and_all_of_it_afterwards() -> None:
    job = begin()
    parts = [written(job, 1, b"c"), written(job, 0, b"a", b"b")]
    with pytest.raises(FileNotFoundError, match="a job that was to write some did not finish"):
        files_in(OUT)
    with pytest.raises(FileNotFoundError):
        tfreel.read(OUT)
    job.commit(parts, FACTS)
    assert held() == [b"a", b"b", b"c"]
    assert len(tfreel.open(OUT)) == 3
    assert there() == ["out/_SUCCESS", "out/dataset.json", "out/part-00000-" + job.key[:4], *there()[3:]]
    assert len(there()) == 4


def test_attempts_that_do_not_count_go() -> None:
    job = begin()
    first, second = written(job, 0, b"a", attempt=1), written(job, 0, b"a", attempt=2)
    written(job, 5, b"of a worker that was lost")
    with pytest.raises(ValueError, match="task 0 is there twice"):
        job.commit([first, second], FACTS)
    job.commit([second], FACTS)
    assert held() == [b"a"]
    assert len(there()) == 3
    with pytest.raises(FileNotFoundError, match="the job is over"):
        job.file(0, 7)


def test_append_adds_and_overwrite_replaces() -> None:
    one_job(b"a")
    job = one_job(b"b", b"c")
    assert held() == [b"a", b"b", b"c"]
    tfreel.build_index(OUT)
    assert any(path.endswith("index") for path in fsspec.filesystem("memory").find("/box"))
    one_job(b"d", replace=True)
    assert held() == [b"d"]
    assert len(there()) == 3
    pickle.loads(pickle.dumps(job)).abort()
    assert held() == [b"d"]
    one_job(replace=True)
    assert held() == []


def test_an_abort_leaves_what_was_there() -> None:
    one_job(b"a")
    job = begin(replace=True)
    written(job, 0, b"b")
    job.abort()
    job.abort()
    assert held() == [b"a"]
    assert len(there()) == 3


@pytest.mark.parametrize("end", [StoreJob.abort, lambda job: job.commit([], FACTS)])
def test_what_a_task_finishes_too_late_goes_again(end: Callable[[StoreJob], None]) -> None:
    job = begin()
    out = tfreel.Writer(job.file(0, 0), mode="w")
    out.write(b"a")
    end(job)
    before = there()
    out.close()
    with pytest.raises(FileNotFoundError, match="the job is over"):
        job.part(0, out)
    assert there() == before


def test_to_commit_again_does_no_harm() -> None:
    job = begin()
    parts = [written(job, 0, b"a")]
    job.commit(parts, FACTS)
    job.commit(parts, FACTS)
    one_job(b"b")
    job.commit(parts, FACTS)
    job.abort()
    assert held() == [b"a", b"b"]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("step", range(9))
def test_a_driver_that_dies_at_any_change_leaves_all_or_nothing(
    step: int, replace: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_job(b"old")
    job = begin(replace=replace)
    parts = [written(job, 0, b"a"), written(job, 1, b"b")]
    written(job, 1, b"b", attempt=1)
    with monkeypatch.context() as patch:
        dying_at(patch, step)
        with suppress(Killed):
            job.commit(parts, FACTS)
    new = [b"a", b"b"] if replace else [b"old", b"a", b"b"]
    is_done = step >= 2  # _SUCCESS goes, then the manifest comes
    assert held() == (new if is_done else [b"old"])
    a_week_later(monkeypatch)
    one_job(b"next")
    expected = [*(new if is_done else [b"old"]), b"next"]
    assert held() == expected
    assert len(there()) == len(expected) + 2  # nothing is left but what counts, the manifest and _SUCCESS


def test_other_jobs_that_are_at_work_are_left_alone() -> None:
    slow = begin()
    part = written(slow, 0, b"slow")
    one_job(b"quick", replace=True)
    one_job(b"again", replace=True)
    slow.commit([part], FACTS)
    assert held() == [b"again", b"slow"]


def test_what_others_add_while_the_manifest_is_changed_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    one_job(b"a")
    slow = begin()
    part = written(slow, 0, b"slow")
    real = FileSystemStore.swap

    def late(self: FileSystemStore, *args: Any) -> None:
        monkeypatch.setattr(FileSystemStore, "swap", real)
        one_job(b"quick")
        real(self, *args)

    monkeypatch.setattr(FileSystemStore, "swap", late)
    slow.commit([part], FACTS)
    assert held() == [b"a", b"quick", b"slow"]


def test_a_manifest_that_never_stands_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    job = begin()
    part = written(job, 0, b"a")

    def never(*args: Any) -> None:
        raise ChangedError

    monkeypatch.setattr(FileSystemStore, "swap", never)
    with pytest.raises(OSError, match="other jobs changed the manifest 20 times meanwhile"):
        job.commit([part], FACTS)


def test_what_is_no_object_of_a_job_is_not_replaced(memory: Any) -> None:
    one_job(b"a")
    memory.pipe("/box/out/notes.txt", b"mine")
    with pytest.raises(FileExistsError, match=r"holds 'notes.txt', which is no file of a job"):
        begin(replace=True)
    one_job(b"b")
    assert held() == [b"a", b"b"]


def test_nothing_is_added_where_only_a_manifest_could_say_what_counts() -> None:
    with tfreel.Writer(OUT.within("part-r-00000")) as out:
        out.write(b"foreign")
    with pytest.raises(FileExistsError, match=r"holds 'part-r-00000' and no dataset.json"):
        begin()
    assert files_in(OUT) == [OUT.within("part-r-00000")]
    one_job(b"a", replace=True)
    assert held() == [b"a"]
    assert len(there()) == 3


def test_a_part_that_is_not_what_the_task_said_stops_the_commit(memory: Any) -> None:
    one_job(b"old")
    job = begin()
    part = written(job, 0, b"a")
    memory.pipe(f"/box/out/{part.name}", b"other")
    with pytest.raises(OSError, match="a task wrote 17 bytes, and 5 are there"):
        job.commit([part], FACTS)
    memory.rm(f"/box/out/{part.name}")
    with pytest.raises(FileNotFoundError, match="is not there any more"):
        job.commit([part], FACTS)
    job.abort()
    assert held() == [b"old"]


def test_a_folder_may_be_called_like_a_file() -> None:
    job = begin_job(Url("memory://box/all.tfrecord"), suffix=".tfrecord", replace=False)
    with tfreel.Writer(job.file(0, 0)) as out:
        out.write(b"a")
    job.commit([Part.of(0, out)], FACTS)
    assert list(tfreel.read("memory://box/all.tfrecord")) == [b"a"]


# Sets -------------------------------------------------------------------------------------------------------


def begun(**options: Any) -> NewStoreSet:
    new = new_set(SET, **options)
    assert isinstance(new, NewStoreSet)
    new.begin()
    return new


def attempt(new: NewStoreSet, task: int, *records: bytes) -> Part:
    with pickle.loads(pickle.dumps(new)).parts.writer(task) as out:
        out.write_many(records)
    return Part.of(task, out)


def published(*records: bytes, **options: Any) -> NewStoreSet:
    new = begun(**options)
    new.publish([attempt(new, task, record) for task, record in enumerate(records)])
    return new


WHOLE = ["train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord", "train.tfrecord.manifest.json"]


def objects() -> list[str]:
    return sorted(path.removeprefix("/box/") for path in fsspec.filesystem("memory").find("/box"))


def test_parts_become_shards_in_the_order_of_their_tasks() -> None:
    new = begun()
    parts = [attempt(new, 7, b"c"), attempt(new, 2, b"a", b"b"), attempt(new, 2, b"again")]
    assert all(name.startswith(".train.tfrecord.parts/") for name in objects())
    new.publish(parts)
    new.abort()
    assert objects() == WHOLE
    assert list(tfreel.read(SET)) == [b"a", b"b", b"c"]
    assert [path.rpartition("/")[2] for path in new.paths] == WHOLE[:2]


def test_a_set_in_a_store_is_kept_or_replaced() -> None:
    begun(compression="gzip").publish([])
    assert list(tfreel.read(SET)) == []
    with pytest.raises(FileExistsError, match=r'the set exists already.*mode="w" replaces it'):
        begun()
    published(b"a", b"b", replace=True)
    assert objects() == WHOLE
    tfreel.build_index(SET)
    aborted = begun(replace=True)
    attempt(aborted, 0, b"x")
    aborted.abort()
    aborted.abort()
    assert list(tfreel.read(SET)) == [b"a", b"b"]
    published(b"c", b"dd", replace=True)
    assert tfreel.open(SET)[1] == b"dd"


@pytest.mark.parametrize("step", range(14))
@pytest.mark.parametrize("old", [True, False])
def test_a_driver_that_dies_at_any_change_leaves_a_whole_set_or_none(
    step: int, old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if old:
        published(b"1", b"2", b"3")
    new = begun(replace=True)
    parts = [attempt(new, 0, b"a"), attempt(new, 1, b"b")]
    with monkeypatch.context() as patch:
        dying_at(patch, step)
        with suppress(Killed):
            new.publish(parts)
    store_sets.settle(SET)
    store_sets.settle(SET)  # as often as one likes
    found = list(tfreel.read(SET)) if WHOLE[2] in objects() else []
    assert found == ([b"a", b"b"] if step > 0 else [b"1", b"2", b"3"] if old else [])
    a_week_later(monkeypatch)
    published(b"x", b"y", replace=True)
    assert objects() == WHOLE


@pytest.mark.parametrize("step", range(9))
def test_a_slow_driver_and_one_that_takes_it_for_dead_make_no_mixture(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of its work another one comes, finishes it, and publishes a set of the same sizes."""
    slow = begun(replace=True)
    parts = [attempt(slow, 0, b"a"), attempt(slow, 1, b"b")]
    with monkeypatch.context() as patch:
        before_change(patch, step, lambda: published(b"c", b"d", replace=True))
        slow.publish(parts)
    found = [record for name in WHOLE[:2] for record in tfreel.read(f"memory://box/{name}")]
    assert found in ([b"a", b"b"], [b"c", b"d"])
    assert [name for name in objects() if name.startswith(".")] == []


def test_a_set_that_is_half_replaced_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if no size betrays it."""
    published(b"1", b"2")
    new = begun(replace=True)
    parts = [attempt(new, 0, b"a"), attempt(new, 1, b"b")]
    with monkeypatch.context() as patch:
        dying_at(patch, 3)  # after the decision, the manifest and one copy
        with suppress(Killed):
            new.publish(parts)
    with pytest.raises(FileNotFoundError):
        tfreel.read(SET)
    store_sets.settle(SET)
    assert list(tfreel.read(SET)) == [b"a", b"b"]


def test_a_decision_that_was_carried_out_by_others_does_no_harm_to_a_newer_set() -> None:
    old = begun()
    parts = [attempt(old, 0, b"a")]
    late = {"key": old.parts.key, "parts": [asdict(part) for part in parts]}
    old.publish(parts)
    published(b"c", b"d", replace=True)
    store_sets._carry_out(SET, late)
    assert list(tfreel.read(SET)) == [b"c", b"d"]
    assert objects() == WHOLE


def test_what_another_driver_decided_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = begun(), begun()
    parts = [attempt(first, 0, b"a"), attempt(first, 1, b"b")]
    others = [attempt(second, 0, b"c")]
    with monkeypatch.context() as patch:
        dying_at(patch, 1)
        with suppress(Killed):
            first.publish(parts)
    with pytest.raises(FileExistsError, match="the set exists already"):
        second.publish(others)
    second.abort()
    assert list(tfreel.read(SET)) == [b"a", b"b"]
    assert objects() == WHOLE


def test_a_decision_whose_parts_are_gone_says_how_to_give_up(
    monkeypatch: pytest.MonkeyPatch, memory: Any
) -> None:
    new = begun()
    parts = [attempt(new, 0, b"a"), attempt(new, 1, b"b")]
    memory.rm(f"/box/.train.tfrecord.parts/{parts[1].name}")
    with pytest.raises(tfreel.TfreelError, match="is not what a worker wrote there"):
        new.publish(parts)
    parts[1] = attempt(new, 1, b"b")
    with monkeypatch.context() as patch:
        dying_at(patch, 1)
        with suppress(Killed):
            new.publish(parts)
    memory.rm(f"/box/.train.tfrecord.parts/{parts[1].name}")
    with pytest.raises(tfreel.TfreelError, match=r"delete 'memory://box/.*decision.json' to give up"):
        begun()


def test_parts_of_drivers_that_are_at_work_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = begun(replace=True)
    parts = [attempt(slow, 0, b"slow")]
    published(b"a", b"b")
    slow.publish(parts)
    assert list(tfreel.read(SET)) == [b"slow"]
    attempt(begun(replace=True), 0, b"of a driver that died")
    a_week_later(monkeypatch)
    published(b"a", b"b", replace=True)
    assert objects() == WHOLE


# Stores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [lambda url: tfreel.Writer(url, mode="w").close(), None])
def test_an_object_is_swapped_only_if_it_is_what_it_was(change: Callable[[Url], None] | None) -> None:
    from tfreel.storage.remote.stores import store_of

    url = OUT.within("object")
    store = store_of(url)
    store.swap(url, b"one", None)
    with pytest.raises(ChangedError):
        store.swap(url, b"two", None)
    before = store.head(url)
    if change is None:
        store.delete(url)
    else:
        change(url)
    with pytest.raises(ChangedError):
        store.swap(url, b"two", before)
    with pytest.raises(FileNotFoundError):
        store.copy(OUT.within("nothing"), url)


def test_a_manifest_that_is_replaced_while_it_is_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    one_job(b"a")
    real = FileSystemStore.read

    def late(self: FileSystemStore, *args: Any) -> bytes:
        monkeypatch.setattr(FileSystemStore, "read", real)
        one_job(b"b")
        return real(self, *args)

    monkeypatch.setattr(FileSystemStore, "read", late)
    assert list(tfreel.read(OUT)) == [b"a", b"b"]
