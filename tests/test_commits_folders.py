"""Folders that many tasks write: committed once, undone or finished whenever the driver dies."""

from __future__ import annotations

import json
import os
import pickle
import threading
from contextlib import suppress
from pathlib import Path

import pytest

import tfreel
from tfreel.commits import Job, Part, files_in, folders

from tfds_like import flowers

FACTS = {"tool": "tests", "source": {"kind": "spark", "path": None}}


def written(job: Job, task: int, records: list[bytes], attempt: int = 0) -> Part:
    path = job.file(task, attempt)
    with tfreel.Writer(path) as out:
        out.write_many(records)
    return Part(task, os.path.basename(path), len(records), os.path.getsize(path))


def begin(path: str = "out", *, replace: bool = False) -> Job:
    return Job.begin(path, suffix=".tfrecord", replace=replace)


def one_job(path: str, *records: bytes, replace: bool = False) -> Job:
    job = begin(path, replace=replace)
    job.commit([written(job, task, [record]) for task, record in enumerate(records)], FACTS)
    return job


def held(path: str = "out") -> list[bytes]:
    return list(tfreel.read(path))


def test_nothing_is_seen_before_the_commit_and_all_of_it_afterwards() -> None:
    job = begin()
    attempts = [written(job, 1, [b"c"]), written(job, 0, [b"a", b"b"])]
    assert os.listdir("out") == ["_temporary"]
    with pytest.raises(FileNotFoundError, match="did not finish"):
        files_in("out")
    job.commit(attempts, FACTS)
    assert held() == [b"a", b"b", b"c"]
    assert [Path(file).name[:11] for file in files_in("out")] == ["part-00000-", "part-00001-"]
    assert sorted(os.listdir("out"))[:2] == ["_SUCCESS", "dataset.json"]
    assert len(tfreel.open("out")) == 3


def test_of_two_attempts_the_driver_names_one() -> None:
    job = begin()
    first, second = written(job, 0, [b"a"], attempt=1), written(job, 0, [b"a"], attempt=2)
    with pytest.raises(ValueError, match="task 0 is there twice"):
        job.commit([first, second], FACTS)
    job.commit([second], FACTS)
    assert held() == [b"a"]
    assert not os.path.exists("out/_temporary")


def test_append_adds_and_overwrite_replaces() -> None:
    one_job("out", b"a")
    one_job("out", b"b", b"c")
    assert held() == [b"a", b"b", b"c"]
    tfreel.build_index("out/part-*")
    one_job("out", b"d", replace=True)
    assert held() == [b"d"]
    assert sorted(name[:5] for name in os.listdir("out")) == ["_SUCC", "datas", "part-"]
    one_job("out", replace=True)
    assert held() == []


def test_an_abort_leaves_what_was_there() -> None:
    one_job("out", b"a")
    job = begin(replace=True)
    written(job, 0, [b"b"])
    job.abort()
    assert held() == [b"a"]
    assert "_temporary" not in os.listdir("out")
    job = begin("new")
    job.abort()
    job.abort()
    assert not os.path.exists("new")


def test_a_late_task_of_a_job_that_is_over_writes_nothing() -> None:
    job = one_job("out", b"a")
    with pytest.raises(FileNotFoundError, match="the job is over, or this machine does not see the folder"):
        job.file(0, 7)
    assert not os.path.exists("out/_temporary")


def test_to_commit_again_does_no_harm() -> None:
    job = begin()
    attempts = [written(job, 0, [b"a"])]
    job.commit(attempts, FACTS)
    before = sorted(os.listdir("out"))
    pickle.loads(pickle.dumps(job)).commit(attempts, FACTS)
    assert sorted(os.listdir("out")) == before
    assert held() == [b"a"]


class Killed(BaseException):
    pass


STEPS = ["write_atomically", "_move", "sync_directory"]


def dying_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Lets the driver die before the step of that number."""
    left = [number]
    for name in STEPS:

        def step(*args: object, real: object = getattr(folders, name), **options: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*args, **options)  # type: ignore[operator]

        monkeypatch.setattr(folders, name, step)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("number", range(7))
def test_a_driver_that_dies_while_it_commits_leaves_all_or_nothing(
    number: int, replace: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_job("out", b"old")
    job = begin(replace=replace)
    attempts = [written(job, 0, [b"a"]), written(job, 1, [b"b"])]
    with monkeypatch.context() as patch:
        dying_at(patch, number)
        if number < 6:
            with pytest.raises(Killed):
                job.commit(attempts, FACTS)
        else:
            job.commit(attempts, FACTS)
    new = [b"a", b"b"] if replace else [b"old", b"a", b"b"]
    is_done = number >= 5  # journal, two files, their folder; then the manifest
    assert held() == (new if is_done else [b"old"])
    # Another job comes first: it undoes or finishes what it finds.
    one_job("out", b"next")
    assert held() == [*(new if is_done else [b"old"]), b"next"]
    assert sorted(files_in("out")) == sorted(map(str, Path("out").glob("part-*")))


@pytest.mark.parametrize("number", range(7))
def test_the_same_driver_commits_again_where_it_died(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one_job("out", b"old")
    job = begin()
    attempts = [written(job, 0, [b"a"]), written(job, 1, [b"b"])]
    with monkeypatch.context() as patch:
        dying_at(patch, number)
        with suppress(Killed):
            job.commit(attempts, FACTS)
    job.commit(attempts, FACTS)
    assert held() == [b"old", b"a", b"b"]
    assert not os.path.exists("out/_temporary")


def test_jobs_that_commit_at_the_same_time_lose_nothing() -> None:
    started = [begin() for _ in range(8)]
    attempts = [[written(job, 0, [b"%d" % i])] for i, job in enumerate(started)]
    threads = [
        threading.Thread(target=job.commit, args=(files, FACTS))
        for job, files in zip(started, attempts, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held()) == [b"%d" % i for i in range(8)]
    assert not os.path.exists("out/_temporary")


def test_what_is_no_file_of_a_job_is_not_replaced() -> None:
    one_job("out", b"a")
    Path("out/notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds 'notes.txt', which is no file of a job"):
        begin(replace=True)
    one_job("out", b"b")
    assert held() == [b"a", b"b"]
    Path("file").write_text("")
    with pytest.raises(FileExistsError, match="is no folder"):
        begin("file")


def test_nothing_is_added_to_a_data_set_with_splits() -> None:
    one_job("out", b"a")
    facts = json.loads(Path("out/dataset.json").read_text())
    facts["splits"] = {"train": facts["splits"]["all"]}
    Path("out/dataset.json").write_text(json.dumps(facts))
    with pytest.raises(FileExistsError, match="with the splits 'train': nothing is added"):
        begin()
    one_job("out", b"b", replace=True)
    assert held() == [b"b"]


def test_files_without_a_manifest_stay_without_one() -> None:
    with tfreel.Writer("out/part-r-00000") as out:
        out.write(b"a")
    one_job("out", b"b")
    assert not os.path.exists("out/dataset.json")
    assert list(tfreel.read(files_in("out"))) == [b"b", b"a"]
    Path("out/x=1").mkdir()
    with pytest.raises(IsADirectoryError, match="holds the folder 'x=1'"):
        files_in("out")


def test_a_file_that_is_not_what_the_task_said_stops_the_commit() -> None:
    one_job("out", b"old")
    job = begin()
    attempt = written(job, 0, [b"a"])
    with open(job.file(0, 0), "ab") as file:
        file.write(b"more")
    with pytest.raises(OSError, match="a task wrote 17 bytes, and 21 are there"):
        job.commit([attempt], FACTS)
    job.abort()
    assert held() == [b"old"]
    job = begin()
    attempt = written(job, 0, [b"a"])
    os.unlink(job.file(0, 0))
    with pytest.raises(FileNotFoundError, match="is not there any more"):
        job.commit([attempt], FACTS)


def test_a_folder_of_tensorflow_datasets_is_what_it_says(tmp_path: Path) -> None:
    found = files_in(os.fspath(flowers(tmp_path / "flowers")))
    assert [".tfrecord-" in file for file in found] == [True] * 3
