"""Folders that many tasks write at once: their files appear together, when the job is over, or not at all.

Tasks write each attempt into a file of its own below ``_temporary``, where nobody looks. The driver names
one attempt of each task, and `Job.commit` gives those their names. The manifest, ``dataset.json``, is the
point of no return: before it is there the folder is what it was, afterwards what it will be, whenever the
driver died. ``_SUCCESS`` comes last of all, for those who do not know manifests.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tfreel.commits.marks import new_key
from tfreel.commits.parts import Part
from tfreel.records.write import Writer
from tfreel.storage.dataset_folder import MANIFEST_NAME, Folder, manifest_content, read_folder
from tfreel.storage.manifest import Shard
from tfreel.storage.paths import INDEX_SUFFIX, display
from tfreel.storage.places import is_file, join
from tfreel.storage.publish import sync_directory, write_atomically
from tfreel.storage.url import Url

SUCCESS_NAME = "_SUCCESS"
SPLIT_NAME = "all"
TEMPORARY = "_temporary"
_LOCK = "_lock"
_JOURNAL = "commit.json"
PART = "part-"


@dataclass(frozen=True, slots=True)
class Job:
    """One writing of a folder, by any number of tasks. It pickles as three words.

    Attributes:
        path: The folder.
        key: What tells this job from all others.
        suffix: How the names of its files end.
        replace: The files are instead of those that are there, and not in addition to them.
    """

    path: str
    key: str
    suffix: str
    replace: bool

    @classmethod
    def begin(cls, path: str, *, suffix: str, replace: bool) -> Job:
        """A new job, for which there is a place now.

        Raises:
            FileExistsError: What is there may not be replaced, or added to.
        """
        job = cls(os.path.abspath(path), new_key(), suffix, replace)
        _refuse(job.path, replace=replace)
        os.makedirs(job._place)
        return job

    def file(self, task: int, attempt: int) -> str:
        """Where an attempt at a task writes to.

        Raises:
            FileNotFoundError: The job is over, or this machine does not see its folder.
        """
        if not os.path.isdir(self._place):
            raise FileNotFoundError(
                errno.ENOENT,
                "the job is over, or this machine does not see the folder: driver and workers must share it",
                display(self.path),
            )
        return os.path.join(self._place, f"{PART}{task:05d}-attempt-{attempt}{self.suffix}")

    def part(self, task: int, out: Writer) -> Part:
        """What an attempt wrote. It lies where the job ends: there is nothing to look after."""
        return Part.of(task, out)

    def commit(self, parts: Iterable[Part], facts: Mapping[str, Any]) -> None:
        """Makes these files what the folder holds. To commit again does no harm.

        Args:
            parts: One for each task that has rows.
            facts: What else the manifest is to say.

        Raises:
            ValueError: A task is there twice.
            FileNotFoundError: One of the files is not there.
            FileExistsError: What is there may not be replaced, or added to.
        """
        moves = self._moves(parts)
        with _alone(self.path):
            for journal in _journals(self.path):
                if journal.job != self.key:
                    journal.settle(self.path)
            if not _is_done(self.path, self.key):
                self._publish(moves, facts)
            _settle(self.path, self.key)
            write_atomically(os.path.join(self.path, SUCCESS_NAME), b"")
        _leave(self.path, self.key)

    def abort(self) -> None:
        """Takes everything back."""
        if os.path.isdir(self._place):
            with _alone(self.path):
                _settle(self.path, self.key)
        _leave(self.path, self.key)

    @property
    def _place(self) -> str:
        return os.path.join(self.path, TEMPORARY, self.key)

    def _moves(self, parts: Iterable[Part]) -> list[tuple[str, Shard]]:
        """Where each file is, and what it is going to be, in the order of the tasks."""
        return [
            (
                os.path.join(self._place, os.path.basename(part.name)),
                Shard(f"{PART}{part.task:05d}-{self.key}{self.suffix}", part.records, part.bytes),
            )
            for part in by_task(parts)
        ]

    def _publish(self, moves: list[tuple[str, Shard]], facts: Mapping[str, Any]) -> None:
        _refuse(self.path, replace=self.replace)
        before = folder_at(self.path)
        old = [name for name in _visible(self.path) if self.key not in name]
        new = [shard for _, shard in moves]
        journal = _Journal(self.key, tuple(shard.name for shard in new), tuple(old) if self.replace else ())
        write_atomically(os.path.join(self._place, _JOURNAL), journal.content())
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, SUCCESS_NAME))
        for source, shard in moves:
            _move(source, os.path.join(self.path, shard.name), shard.bytes)
        sync_directory(self.path)
        if self.replace or before is not None or not old:
            kept = [] if self.replace or before is None else list(before.shards())
            content = manifest([*kept, *new], {**facts, "job": self.key})
            write_atomically(os.path.join(self.path, MANIFEST_NAME), content)
        else:
            # Nobody knows what the other files hold: there is no manifest, and this is all there is to do.
            os.unlink(os.path.join(self._place, _JOURNAL))


@dataclass(frozen=True, slots=True)
class _Journal:
    """What a commit is about to do: it is settled by whoever finds it without its owner."""

    job: str
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def content(self) -> bytes:
        return json.dumps({"job": self.job, "added": self.added, "removed": self.removed}).encode()

    def settle(self, path: str) -> None:
        """Brings the folder to one side: before the manifest nothing was done, behind it all of it."""
        for name in self.removed if _is_done(path, self.job) else self.added:
            for file in (name, name + INDEX_SUFFIX):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(path, os.path.basename(file)))
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(path, TEMPORARY, self.job, _JOURNAL))


def _is_done(path: str, key: str) -> bool:
    """Whether this job was the last to be committed. One before it has left no journal to ask about."""
    folder = folder_at(path)
    return folder is not None and folder.facts.get("job") == key


def folder_at(path: str) -> Folder | None:
    """What the manifest of a folder says, if there is one."""
    return read_folder(path) if is_file(join(path, MANIFEST_NAME)) else None


def _visible(path: str) -> list[str]:
    """What a reader of the folder sees, but for the manifest."""
    return [name for name in os.listdir(path) if name[0] not in "._" and name != MANIFEST_NAME]


def _refuse(path: str, *, replace: bool) -> None:
    """Fails if the folder holds what is none of our business."""
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise FileExistsError(errno.EEXIST, "exists already, and is no folder", display(path))
    folder = folder_at(path)
    if replace:
        refuse_strangers(path, _visible(path), folder)
    elif folder is not None:
        refuse_splits(path, folder)


def refuse_strangers(path: str, names: Iterable[str], folder: Folder | None) -> None:
    """Makes sure that all that is in a folder was written by jobs, and may be replaced by one.

    Raises:
        FileExistsError: There is something else.
    """
    ours = set() if folder is None else {shard.name for shard in folder.shards()}
    for name in names:
        stem = name.removesuffix(INDEX_SUFFIX)
        known = stem in ours or stem.startswith(PART)
        if not known or (not isinstance(path, Url) and os.path.isdir(os.path.join(path, name))):
            raise FileExistsError(
                errno.EEXIST,
                f"holds {display(name)!r}, which is no file of a job: it is not replaced",
                display(path),
            )


def refuse_splits(path: str, folder: Folder) -> None:
    """Makes sure that something can be added to what is in a folder.

    Raises:
        FileExistsError: It has splits, and nobody knows to which.
    """
    if [*folder.splits] != [SPLIT_NAME]:
        splits = ", ".join(map(repr, folder.splits))
        raise FileExistsError(
            errno.EEXIST, f"holds a data set with the splits {splits}: nothing is added to it", display(path)
        )


def by_task(parts: Iterable[Part]) -> list[Part]:
    """The parts in the order of their tasks.

    Raises:
        ValueError: A task is there twice.
    """
    found: dict[int, Part] = {}
    for part in parts:
        if found.setdefault(part.task, part) is not part:
            raise ValueError(f"task {part.task} is there twice: one of its attempts must be chosen")
    return [found[task] for task in sorted(found)]


def _move(source: str, target: str, size: int) -> None:
    try:
        os.rename(source, target)
    except FileNotFoundError:
        if not os.path.exists(target):  # it was moved by a commit that did not come to its end
            raise FileNotFoundError(
                errno.ENOENT, "what a task wrote is not there any more", display(source)
            ) from None
    if (found := os.stat(target).st_size) != size:
        raise OSError(errno.EIO, f"a task wrote {size:,} bytes, and {found:,} are there", display(target))


def manifest(shards: Sequence[Shard], facts: Mapping[str, Any]) -> bytes:
    """The manifest of a folder with these files."""
    split = {
        "records": sum(shard.records for shard in shards),
        "bytes": sum(shard.bytes for shard in shards),
        "classes": {},
        "files": [{"name": shard.name, "records": shard.records, "bytes": shard.bytes} for shard in shards],
    }
    told = {"records": split["records"], "features": {}, "classes": [], "splits": {SPLIT_NAME: split}}
    return manifest_content({**facts, **told})


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Waits until no other job is committing in the folder, and keeps them waiting."""
    lock = os.path.join(path, TEMPORARY, _LOCK)
    while True:
        os.makedirs(os.path.dirname(lock), exist_ok=True)
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:  # somebody tidied up in between
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_still(lock, descriptor):
                yield
                os.unlink(lock)
                return
        finally:
            os.close(descriptor)


def _is_still(path: str, descriptor: int) -> bool:
    """Whether the open file still has its name: the one before us may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _journals(path: str) -> list[_Journal]:
    found = (_journal(path, key) for key in os.listdir(os.path.join(path, TEMPORARY)))
    return [journal for journal in found if journal is not None]


def _journal(path: str, key: str) -> _Journal | None:
    try:
        with open(os.path.join(path, TEMPORARY, key, _JOURNAL), "rb") as file:
            said = json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _Journal(key, tuple(said["added"]), tuple(said["removed"]))


def _settle(path: str, key: str) -> None:
    journal = _journal(path, key)
    if journal is not None:
        journal.settle(path)


def _leave(path: str, key: str) -> None:
    """Removes the place of a job, and what was made for it and is empty."""
    with suppress(FileNotFoundError):
        shutil.rmtree(os.path.join(path, TEMPORARY, key))
    with suppress(OSError):  # others are at work there
        os.rmdir(os.path.join(path, TEMPORARY))
        os.rmdir(path)
