"""Folders in object stores that many tasks write at once: `Job` from afar, without renames and locks.

Tasks write objects under the names that they will keep, which no other attempt has. To be there means
nothing: the manifest says which count, and appears in one step. So whoever dies where, the folder is what it
was or what it will be; what is left over is removed by later jobs.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfreel.commits.folders import (
    PART,
    SUCCESS_NAME,
    TEMPORARY,
    by_task,
    folder_at,
    manifest,
    refuse_splits,
    refuse_strangers,
)
from tfreel.commits.marks import Mark, new_key, take_away
from tfreel.commits.parts import Part
from tfreel.records.write import Writer
from tfreel.storage.dataset_folder import MANIFEST_NAME, Folder
from tfreel.storage.manifest import Shard
from tfreel.storage.paths import INDEX_SUFFIX, display
from tfreel.storage.places import listed
from tfreel.storage.publish import write_atomically
from tfreel.storage.remote.stores import ChangedError, Facts, store_of
from tfreel.storage.url import Url

_ATTEMPTS = 20  # each time it was another job that came in between
_OURS = re.compile(PART + r"\d{5,}-([0-9a-f]{16})(-\d+)?(\..*)?")


@dataclass(frozen=True, slots=True)
class StoreJob:
    """One writing of a folder in a store, by any number of tasks.

    Attributes:
        path: The folder.
        key: What tells this job from all others.
        suffix: How the names of its objects end.
        replace: The objects are instead of those that are there, and not in addition to them.
    """

    path: Url
    key: str
    suffix: str
    replace: bool

    @classmethod
    def begin(cls, path: Url, *, suffix: str, replace: bool) -> StoreJob:
        """A new job, which is marked as being at work now.

        Raises:
            FileExistsError: What is there may not be replaced, or added to.
        """
        job = cls(path.renamed(path.rstrip("/")), new_key(), suffix, replace)
        job._refuse(folder_at(job.path))
        job._mark.put()
        return job

    def file(self, task: int, attempt: int) -> Url:
        """Where an attempt at a task writes to.

        Raises:
            FileNotFoundError: The job is over.
        """
        if not self._mark.is_there():
            raise self._is_over()
        return self.path.within(f"{PART}{task:05d}-{self.key}-{attempt}{self.suffix}")

    def part(self, task: int, out: Writer) -> Part:
        """What an attempt wrote. If the job ended meanwhile, that goes: its driver has tidied up already.

        Raises:
            FileNotFoundError: The job is over.
        """
        part = Part.of(task, out)
        if not self._mark.is_there():
            take_away(self.path.within(part.name))
            raise self._is_over()
        return part

    def commit(self, parts: Iterable[Part], facts: Mapping[str, Any]) -> None:
        """Makes these objects what the folder holds. To commit again does no harm.

        Args:
            parts: One for each task that has rows.
            facts: What else the manifest is to say.

        Raises:
            ValueError: A task is there twice.
            FileNotFoundError: One of the objects is not there.
            FileExistsError: What is there may not be replaced, or added to.
        """
        new = [Shard(part.name, part.records, part.bytes) for part in by_task(parts)]
        if not self._is_in(folder_at(self.path)):
            self._require(new)
            self._publish(new, {**facts, "job": self.key})
        if self._mark.is_there():
            self._tidy()
            write_atomically(self.path.within(SUCCESS_NAME), b"")
            self._mark.clear()

    def abort(self) -> None:
        """Takes everything back, unless the manifest says otherwise."""
        if self._is_in(folder_at(self.path)):
            if self._mark.is_there():
                self._tidy()
            self._mark.clear()
            return
        self._mark.clear()  # first: who writes from now on sees that it is gone, and takes that away itself
        for name in listed(self.path):
            if _key_in(name) == self.key:
                take_away(self.path.within(name))

    def _is_over(self) -> FileNotFoundError:
        return FileNotFoundError(errno.ENOENT, "the job is over", display(self.path))

    @property
    def _mark(self) -> Mark:
        return Mark(self.path.within(TEMPORARY), self.key)

    def _is_in(self, folder: Folder | None) -> bool:
        """Whether this job is one of those that the manifest tells of."""
        if folder is None:
            return False
        names = (shard.name for shard in folder.shards())
        return folder.facts.get("job") == self.key or any(_key_in(name) == self.key for name in names)

    def _require(self, shards: list[Shard]) -> None:
        sizes = listed(self.path)
        for shard in shards:
            found, name = sizes.get(shard.name), display(self.path.within(shard.name))
            if found is None:
                raise FileNotFoundError(errno.ENOENT, "what a task wrote is not there any more", name)
            if found != shard.bytes:
                raise OSError(errno.EIO, f"a task wrote {shard.bytes:,} bytes, and {found:,} are there", name)

    def _publish(self, new: list[Shard], facts: Mapping[str, Any]) -> None:
        """Changes the manifest, in one step where the store can: what others added meanwhile is kept."""
        take_away(self.path.within(SUCCESS_NAME))
        url = self.path.within(MANIFEST_NAME)
        for _ in range(_ATTEMPTS):
            before = _facts_of(url)
            folder = None if before is None else folder_at(self.path)
            if self._is_in(folder):  # the answer to an earlier try was lost on its way
                return
            self._refuse(folder)
            kept = [] if self.replace or folder is None else list(folder.shards())
            try:
                store_of(url).swap(url, manifest([*kept, *new], facts), before)
            except ChangedError:
                continue
            return
        raise OSError(
            errno.EAGAIN, f"other jobs changed the manifest {_ATTEMPTS} times meanwhile", display(url)
        )

    def _tidy(self) -> None:
        """Removes what does not count, but for what other jobs are writing.

        The manifest is looked at last: a job that is not at work any more has written it before.
        """
        names = listed(self.path)
        others = self._mark.others()
        folder = folder_at(self.path)
        counts = set() if folder is None else {shard.name for shard in folder.shards()}
        for name in names:
            stem = name.removesuffix(INDEX_SUFFIX)
            key = _key_in(stem)
            replaced = self.replace and stem.startswith(PART)
            if stem not in counts and (key is not None or replaced) and key not in others:
                take_away(self.path.within(name))

    def _refuse(self, folder: Folder | None) -> None:
        """Fails if the folder holds what is none of our business."""
        names = [name for name in listed(self.path) if name[0] not in "._" and name != MANIFEST_NAME]
        if self.replace:
            refuse_strangers(self.path, names, folder)
        elif folder is not None:
            refuse_splits(self.path, folder)
        elif unknown := [name for name in names if not is_unfinished(name)]:
            raise FileExistsError(
                errno.EEXIST,
                f"holds {display(unknown[0])!r} and no {MANIFEST_NAME}: in a store, where only that can say"
                " what counts, nothing is added to it",
                display(self.path),
            )


def is_unfinished(name: str) -> bool:
    """Whether this is an object of a job in a store: without a manifest it does not count."""
    found = _OURS.fullmatch(name.removesuffix(INDEX_SUFFIX))
    return found is not None and found[2] is not None


def _key_in(name: str) -> str | None:
    """The key of the job that wrote this."""
    found = _OURS.fullmatch(name.removesuffix(INDEX_SUFFIX))
    return None if found is None else found[1]


def _facts_of(url: Url) -> Facts | None:
    try:
        return store_of(url).head(url)
    except FileNotFoundError:
        return None
