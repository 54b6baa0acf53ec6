"""Sets that many processes write: a whole one or none, whoever dies, and however often something is done."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from pathlib import Path

import pytest

import tfreel
from tfreel.commits import NewSet, Part, sets
from tfreel.commits.sets import Parts, settle

from corpus import frame


def begun(**options: object) -> NewSet:
    new = NewSet("out/train.tfrecord", **options)  # type: ignore[arg-type]
    new.begin()
    return new


def attempt(parts: Parts, task: int, *records: bytes) -> Part:
    with parts.writer(task) as out:
        out.write_many(records)
    return Part.of(task, out)


def there() -> list[str]:
    return sorted(os.listdir("out"))


WHOLE = ["train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord", "train.tfrecord.manifest.json"]


def test_parts_become_shards_in_the_order_of_their_tasks() -> None:
    new = begun()
    parts = [attempt(new.parts, 7, b"c"), attempt(new.parts, 2, b"a", b"b")]
    assert list(Path("out").glob("train*")) == []
    new.publish(parts)
    assert there() == WHOLE
    assert list(tfreel.read("out/train.tfrecord")) == [b"a", b"b", b"c"]
    assert [os.path.basename(path) for path in new.paths] == WHOLE[:2]


def test_the_manifest_is_that_of_a_sharded_writer() -> None:
    with tfreel.ShardedWriter("other/train.tfrecord", max_records=2) as out:
        out.write_many([b"a", b"b", b"c"])
    new = begun()
    new.publish([attempt(new.parts, 0, b"a", b"b"), attempt(new.parts, 1, b"c")])
    assert Path("out/train.tfrecord.manifest.json").read_bytes() == (
        Path("other/train.tfrecord.manifest.json").read_bytes()
    )


def test_of_several_attempts_at_a_task_one_counts() -> None:
    new = begun()
    first, second = attempt(new.parts, 0, b"a"), attempt(new.parts, 0, b"a")
    attempt(new.parts, 1, b"of a worker that was lost")
    assert first.name != second.name
    new.publish([first, second, attempt(new.parts, 1, b"b")])
    assert there() == WHOLE
    assert list(tfreel.read("out/train.tfrecord")) == [b"a", b"b"]


def test_without_records_there_is_one_empty_shard() -> None:
    new = begun(compression="gzip")
    new.publish([])
    assert list(tfreel.read("out/train.tfrecord")) == []
    assert len(there()) == 2


def test_very_many_parts_cost_the_driver_little() -> None:
    new = NewSet("out/train.tfrecord", durable=False)
    new.begin()
    parts = []
    for task in range(2000):
        name = f"part-{task:06d}--{task:016x}.tfrecord"
        (Path(new.parts.folder) / name).write_bytes(frame(b"%d" % task))
        parts.append(Part(task, name, 1, 16 + len(str(task))))
    tracemalloc.start()
    try:
        new.publish(parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2000 * 4096
    assert list(tfreel.read("out/train.tfrecord")) == [b"%d" % task for task in range(2000)]


def test_nothing_is_left_when_it_is_given_up() -> None:
    new = begun()
    attempt(new.parts, 0, b"a")
    new.abort()
    assert there() == []


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_with_the_name_of_the_set_is_refused(replace: bool) -> None:
    tfreel.save("out/train.tfrecord", [b"old"])
    with pytest.raises(FileExistsError, match="which would be read in place of the set"):
        begun(replace=replace)
    assert there() == ["train.tfrecord"]


def test_a_set_that_is_there_is_kept_or_replaced() -> None:
    begun().publish([])
    with pytest.raises(FileExistsError, match=r'the set exists already.*mode="w" replaces it'):
        begun()
    new = begun(replace=True)
    new.publish([attempt(new.parts, 0, b"a"), attempt(new.parts, 1, b"b")])
    assert there() == WHOLE
    aborted = begun(replace=True)
    attempt(aborted.parts, 0, b"x")
    aborted.abort()
    assert list(tfreel.read("out/train.tfrecord")) == [b"a", b"b"]


def test_an_index_of_what_was_there_goes_with_it() -> None:
    first = begun()
    first.publish([attempt(first.parts, 0, b"a")])
    tfreel.build_index("out/train.tfrecord")
    second = begun(replace=True)
    second.publish([attempt(second.parts, 0, b"other")])
    assert tfreel.open("out/train.tfrecord")[0] == b"other"


def test_one_driver_at_a_time() -> None:
    new = begun()
    with pytest.raises(FileExistsError, match="another process"):
        begun(replace=True)
    new.abort()
    begun().abort()


class Killed(BaseException):
    """Nothing is done after it."""


@pytest.mark.parametrize("step", range(9))
@pytest.mark.parametrize("old", [True, False])
def test_a_driver_killed_at_any_step_leaves_a_whole_set_or_none(
    step: int, old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if old:
        before = begun()
        before.publish([attempt(before.parts, task, b"old") for task in range(3)])
    new = begun(replace=True)
    parts = [attempt(new.parts, 0, b"a"), attempt(new.parts, 1, b"b")]
    steps = iter(range(100))

    def dying(function: object) -> object:
        def wrapped(*args: object, **options: object) -> object:
            if next(steps) == step:
                raise Killed
            return function(*args, **options)  # type: ignore[operator]

        return wrapped

    with monkeypatch.context() as patch:
        for name in (
            "write_atomically",
            "forget_index",
            "sync_directory",
            "_remove_others",
            "_require_whole",
        ):
            patch.setattr(sets, name, dying(getattr(sets, name)))
        patch.setattr(sets.shutil, "rmtree", dying(sets.shutil.rmtree))
        try:
            new.publish(parts)
        except Killed:
            new._close()  # as the system does for a process that is gone
        else:
            assert step > 4
    settle("out/train.tfrecord")
    settle("out/train.tfrecord")  # as often as one likes
    found = list(tfreel.read("out/train.tfrecord")) if there() else []
    assert found == ([b"a", b"b"] if step > 0 else [b"old"] * 3 if old else [])
    assert [name for name in there() if name.startswith(".")] == []


def test_a_newer_set_is_not_harmed_by_what_an_older_driver_left(monkeypatch: pytest.MonkeyPatch) -> None:
    new = begun()
    part = attempt(new.parts, 0, b"a")
    with monkeypatch.context() as patch:
        patch.setattr(sets.shutil, "rmtree", lambda _: None)
        new.publish([part])
    with tfreel.ShardedWriter("out/train.tfrecord", shards=1, mode="w") as out:
        out.write(b"newer")
    settle("out/train.tfrecord")
    assert list(tfreel.read("out/train.tfrecord")) == [b"newer"]
    assert [name for name in there() if name.startswith(".")] == []


def test_a_part_that_is_gone_is_no_smaller_set() -> None:
    new = begun()
    parts = [attempt(new.parts, 0, b"a"), attempt(new.parts, 1, b"b")]
    os.unlink(os.path.join(new.parts.folder, parts[1].name))
    with pytest.raises(tfreel.TfreelError, match="not what a worker wrote"):
        new.publish(parts)
    assert not os.path.exists("out/train.tfrecord.manifest.json")


def test_what_goes_to_workers_is_configuration_only() -> None:
    new = begun()
    copy = pickle.loads(pickle.dumps(new))
    assert copy._lock is None
    part = attempt(pickle.loads(pickle.dumps(new.parts)), 0, b"a")
    new.publish([part])
    assert list(tfreel.read("out/train.tfrecord")) == [b"a"]
