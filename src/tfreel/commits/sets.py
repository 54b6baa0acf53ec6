"""Sets of shards that many processes write, and one publishes.

Workers write parts into a hidden folder beside the set, each under a name that no other attempt has, and say
which. The driver decides which parts count, takes that down, gives them their names, and writes the manifest
last. A driver that dies in between leaves a folder that the next one finishes, or removes where nothing was
decided yet: either way there is a whole set, or none.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from tfreel.commits.parts import Part
from tfreel.errors import TfreelError
from tfreel.records.shards import files_of_set, refuse_file, refuse_set
from tfreel.records.write import Writer
from tfreel.storage.manifest import MANIFEST_SUFFIX, Shard, manifest_of
from tfreel.storage.paths import display, shard_name, split_suffix
from tfreel.storage.places import join
from tfreel.storage.publish import forget_index, sync_directory, write_atomically

_DECISION = "decision.json"
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Parts:
    """Where workers write parts, and how. Goes to the workers.

    Attributes:
        folder: Where all parts of the set are.
        suffix: What names end with.
        compression: As in `tfreel.Writer`.
        level: As in `tfreel.Writer`.
        durable: As in `tfreel.Writer`.
        key: Of the driver, where several may write into the same folder.
    """

    folder: str
    suffix: str
    compression: str | None
    level: int | None
    durable: bool
    key: str = ""

    def writer(self, task: int) -> Writer:
        """The writer of a new attempt at a task."""
        name = f"part-{task:06d}-{self.key}-{os.urandom(8).hex()}{self.suffix}"
        return Writer(
            join(self.folder, name),
            mode="x",
            compression=self.compression,
            level=self.level,
            durable=self.durable,
        )

    @staticmethod
    def key_in(name: str) -> str | None:
        """The key of the driver that a part belongs to; None if this is no part."""
        found = re.match(r"part-\d{6,}-([0-9a-f]*)-", name)
        return None if found is None else found[1]


class NewSet:
    """A set of shards in the making. For the driver.

    Args:
        path: As in `tfreel.ShardedWriter`.
        replace: Whether there may be such a set, which then goes when this one comes.
        compression: Of the files; by default told from the suffix.
        level: As in `tfreel.Writer`.
        durable: As in `tfreel.Writer`.
    """

    def __init__(
        self,
        path: str,
        *,
        replace: bool = False,
        compression: str | None = None,
        level: int | None = None,
        durable: bool = True,
    ) -> None:
        self.path = os.path.abspath(path)
        self.paths: list[str] = []
        self._replace = replace
        folder = f"{_folders(self.path)}{os.urandom(4).hex()}"
        self.parts = Parts(folder, split_suffix(self.path)[1], compression, level, durable)
        self._lock: int | None = None

    def begin(self) -> None:
        """Makes the folder for parts. What an earlier driver left is settled first.

        Raises:
            FileExistsError: There is such a set, or another driver is writing one.
        """
        settle(self.path)
        refuse_file(self.path)
        if not self._replace:
            refuse_set(self.path)
        os.makedirs(self.parts.folder, exist_ok=True)
        self._lock = _locked(self.parts.folder)

    def publish(self, parts: Iterable[Part]) -> None:
        """Makes a set of parts, the first of each task, in their order; and ends the work."""
        chosen: dict[int, Part] = {}
        for part in parts:
            chosen.setdefault(part.task, part)
        ordered = [chosen[task] for task in sorted(chosen)] or [self._nothing()]
        if not self._replace:
            refuse_set(self.path)
        decision = {
            "path": os.path.basename(self.path),
            "parts": [asdict(part) for part in ordered],
            "durable": self.parts.durable,
        }
        content = json.dumps(decision).encode()
        write_atomically(os.path.join(self.parts.folder, _DECISION), content, durable=self.parts.durable)
        self.paths = _carry_out(self.parts.folder, decision)
        self._close()

    def _nothing(self) -> Part:
        """The one part of a set without records."""
        with self.parts.writer(0) as out:
            pass
        return Part.of(0, out)

    def abort(self) -> None:
        """Removes all parts, unless it was decided to publish them."""
        if not os.path.exists(os.path.join(self.parts.folder, _DECISION)):
            shutil.rmtree(self.parts.folder, ignore_errors=True)
        self._close()

    def _close(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}  # it is the driver's


def settle(path: str) -> None:
    """Ends what drivers that died have left of a set: publishes what they decided on, removes the rest.

    Raises:
        FileExistsError: A driver is still at work on it.
    """
    for folder in glob.glob(f"{glob.escape(_folders(os.path.abspath(path)))}*"):
        lock = _locked(folder)
        if lock is None:
            raise FileExistsError(errno.EEXIST, "another process is writing this set", display(path))
        try:
            decision = _decision(folder)
            if decision is None or _was_done(folder, decision):
                shutil.rmtree(folder)
            else:
                _carry_out(folder, decision)
        finally:
            os.close(lock)


def _folders(path: str) -> str:
    head, tail = os.path.split(path)
    return os.path.join(head, f".{tail}.parts-")


def _locked(folder: str) -> int | None:
    """The lock of a folder, an open file; None if somebody else has it."""
    lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _decision(folder: str) -> dict[str, Any] | None:
    try:
        with open(os.path.join(folder, _DECISION), "rb") as file:
            found: dict[str, Any] = json.loads(file.read())
    except FileNotFoundError:
        return None
    return found


def _was_done(folder: str, decision: dict[str, Any]) -> bool:
    """Whether all that is left to do is to tidy up: another set may have come since, and must not go."""
    path = os.path.join(os.path.dirname(folder), decision["path"])
    left = (os.path.join(folder, part["name"]) for part in decision["parts"])
    return os.path.exists(path + MANIFEST_SUFFIX) and not any(map(os.path.exists, left))


def _carry_out(folder: str, decision: dict[str, Any]) -> list[str]:
    """Does what was decided, however much of it was done before. Gives the paths of the shards."""
    path = os.path.join(os.path.dirname(folder), decision["path"])
    parts = [Part(**part) for part in decision["parts"]]
    prefix, suffix = split_suffix(path)
    names = [shard_name(prefix, i, len(parts), suffix) for i in range(len(parts))]
    _remove_others(path, names)
    for part, name in zip(parts, names, strict=True):
        with suppress(FileNotFoundError):  # it has its name already
            os.rename(os.path.join(folder, part.name), name)
            forget_index(name)
    shards = [
        Shard(os.path.basename(name), part.records, part.bytes)
        for part, name in zip(parts, names, strict=True)
    ]
    _require_whole(names, shards)
    if decision["durable"]:
        sync_directory(os.path.dirname(path))
    write_atomically(path + MANIFEST_SUFFIX, manifest_of(shards), durable=decision["durable"])
    shutil.rmtree(folder)
    return names


def _remove_others(path: str, names: Sequence[str]) -> None:
    """Removes what there is of an older set; its manifest first, without which it counts as none."""
    for old in files_of_set(path):
        if old not in names:
            os.unlink(old)
            forget_index(old)


def _require_whole(names: Sequence[str], shards: Sequence[Shard]) -> None:
    for name, shard in zip(names, shards, strict=True):
        size = os.path.getsize(name) if os.path.exists(name) else -1
        if size != shard.bytes:
            raise TfreelError(
                f"{display(name)}: is not what a worker wrote there; nothing is published",
                path=name,
                kind="part_lost",
            )
