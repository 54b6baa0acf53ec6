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
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tfreel.commits.parts import Part
from tfreel.storage.dataset_folder import MANIFEST_NAME, Folder, manifest_content, read_folder
from tfreel.storage.manifest import Shard
from tfreel.storage.names import SIDECAR_SUFFIXES, natural_key
from tfreel.storage.paths import INDEX_SUFFIX, display
from tfreel.storage.publish import sync_directory, write_atomically

SUCCESS_NAME = "_SUCCESS"
SPLIT_NAME = "all"
_TEMPORARY = "_temporary"
_LOCK = "_lock"
_JOURNAL = "commit.json"
_PART = "part-"


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
        job = cls(os.path.abspath(path), uuid.uuid4().hex[:16], suffix, replace)
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
        return os.path.join(self._place, f"{_PART}{task:05d}-attempt-{attempt}{self.suffix}")

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
        return os.path.join(self.path, _TEMPORARY, self.key)

    def _moves(self, parts: Iterable[Part]) -> list[tuple[str, Shard]]:
        """Where each file is, and what it is going to be, in the order of the tasks."""
        by_task: dict[int, Part] = {}
        for part in parts:
            if by_task.setdefault(part.task, part) is not part:
                raise ValueError(f"task {part.task} is there twice: one of its attempts must be chosen")
        return [
            (
                os.path.join(self._place, os.path.basename(part.name)),
                Shard(f"{_PART}{task:05d}-{self.key}{self.suffix}", part.records, part.bytes),
            )
            for task, part in sorted(by_task.items())
        ]

    def _publish(self, moves: list[tuple[str, Shard]], facts: Mapping[str, Any]) -> None:
        _refuse(self.path, replace=self.replace)
        before = _folder(self.path)
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
            content = _manifest([*kept, *new], {**facts, "job": self.key})
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
            os.unlink(os.path.join(path, _TEMPORARY, self.job, _JOURNAL))


def files_in(path: str) -> list[str]:
    """The record files of a folder: those that the manifest lists, or all that are not hidden.

    Raises:
        FileNotFoundError: There are none.
        IsADirectoryError: There are folders in it, which nobody would read.
    """
    folder = _folder(path)
    if folder is not None:
        return folder.files()
    found = [name for name in os.listdir(path) if name[0] not in "._"]
    for name in found:
        if os.path.isdir(os.path.join(path, name)):
            raise IsADirectoryError(
                errno.EISDIR,
                f"holds the folder {display(name)!r}; name the files, as in"
                f" {display(os.path.join(path, '*', '*'))!r}",
                display(path),
            )
    files = [os.path.join(path, name) for name in found if not name.endswith(SIDECAR_SUFFIXES)]
    if not files:
        unfinished = os.path.isdir(os.path.join(path, _TEMPORARY))
        why = "; a job that was to write some did not finish" if unfinished else ""
        raise FileNotFoundError(errno.ENOENT, f"there are no record files in it{why}", display(path))
    return sorted(files, key=natural_key)


def _is_done(path: str, key: str) -> bool:
    """Whether this job was the last to be committed. One before it has left no journal to ask about."""
    folder = _folder(path)
    return folder is not None and folder.facts.get("job") == key


def _folder(path: str) -> Folder | None:
    return read_folder(path) if os.path.isfile(os.path.join(path, MANIFEST_NAME)) else None


def _visible(path: str) -> list[str]:
    """What a reader of the folder sees, but for the manifest."""
    return [name for name in os.listdir(path) if name[0] not in "._" and name != MANIFEST_NAME]


def _refuse(path: str, *, replace: bool) -> None:
    """Fails if the folder holds what is none of our business."""
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise FileExistsError(errno.EEXIST, "exists already, and is no folder", display(path))
    folder = _folder(path)
    ours = set() if folder is None else {shard.name for shard in folder.shards()}
    if replace:
        for name in _visible(path):
            stem = name.removesuffix(INDEX_SUFFIX)
            if not (stem in ours or stem.startswith(_PART)) or os.path.isdir(os.path.join(path, name)):
                raise FileExistsError(
                    errno.EEXIST,
                    f"holds {display(name)!r}, which is no file of a job: it is not replaced",
                    display(path),
                )
    elif folder is not None and [*folder.splits] != [SPLIT_NAME]:
        splits = ", ".join(map(repr, folder.splits))
        raise FileExistsError(
            errno.EEXIST, f"holds a data set with the splits {splits}: nothing is added to it", display(path)
        )


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


def _manifest(shards: Sequence[Shard], facts: Mapping[str, Any]) -> bytes:
    split = {
        "records": sum(shard.records for shard in shards),
        "bytes": sum(shard.bytes for shard in shards),
        "classes": {},
        "files": [{"name": shard.name, "records": shard.records, "bytes": shard.bytes} for shard in shards],
    }
    told = {"records": split["records"], "features": {}, "classes": [], "splits": {SPLIT_NAME: split}}
    return manifest_content({**facts, **told})


# Other jobs -------------------------------------------------------------------------------------------------


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Waits until no other job is committing in the folder, and keeps them waiting."""
    lock = os.path.join(path, _TEMPORARY, _LOCK)
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
    found = (_journal(path, key) for key in os.listdir(os.path.join(path, _TEMPORARY)))
    return [journal for journal in found if journal is not None]


def _journal(path: str, key: str) -> _Journal | None:
    try:
        with open(os.path.join(path, _TEMPORARY, key, _JOURNAL), "rb") as file:
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
        shutil.rmtree(os.path.join(path, _TEMPORARY, key))
    with suppress(OSError):  # others are at work there
        os.rmdir(os.path.join(path, _TEMPORARY))
        os.rmdir(path)
