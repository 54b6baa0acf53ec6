"""Work in progress: a hidden folder in the output, from which a run that was killed goes on.

Whatever is whole has its final bytes, under its own name, with a note beside it. When all is whole, the files
move up and the manifest is written. Until then nothing of it is to be seen in the output.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from contextlib import suppress
from typing import Any, Self

from tfreel.storage.dataset_folder import MANIFEST_NAME, WORK_NAME, read_folder
from tfreel.storage.paths import INDEX_SUFFIX, display
from tfreel.storage.publish import sync_directory, write_atomically

REJECTS_NAME = "rejects.jsonl"
_PLAN = "plan.json"
_LOCK = "lock"
_NOTE = ".note.json"
_OLD = "old.json"


class Work:
    """The folder of work for an output, locked as long as it is used.

    Args:
        out: The folder that the data set will be.
        force: Replace a data set that is there.
        durable: What is whole is on the disk.

    Raises:
        FileExistsError: There is something else, or another process is at work.
    """

    def __init__(self, out: str, *, force: bool, durable: bool) -> None:
        self.out = out
        self.durable = durable
        self.path = os.path.join(out, WORK_NAME)
        self._old = _replaceable(out, force=force)
        os.makedirs(self.path, exist_ok=True)
        self._lock = os.open(os.path.join(self.path, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise FileExistsError(
                errno.EEXIST, "another process is packing into this folder", display(out)
            ) from None

    def begin(self, plan: str | None) -> bool:
        """Makes sure that all that is here belongs to this plan. Says whether there may be something."""
        if plan is not None and self._read(_PLAN) == {"plan": plan}:
            return True
        for name in os.listdir(self.path):
            if name != _LOCK:
                os.unlink(self.file(name))
        self.write(_PLAN, json.dumps({"plan": plan}).encode())
        return False

    def file(self, name: str) -> str:
        """Where a file of this name is while there is work."""
        return os.path.join(self.path, name)

    def place(self, name: str) -> str:
        """Where a finished file is: still here, or moved already."""
        here = self.file(name)
        return here if os.path.exists(here) else os.path.join(self.out, name)

    def size(self, name: str) -> int:
        """How large a finished file is."""
        return os.stat(self.place(name)).st_size

    def whole(self, name: str) -> dict[str, Any] | None:
        """The note of a file that an earlier run finished, if it still is what it was."""
        note = self._read(name + _NOTE)
        if note is None:
            return None
        with suppress(OSError):
            if self.size(name) == note["bytes"]:
                return note
        return None

    def finish(self, name: str, note: dict[str, Any]) -> dict[str, Any]:
        """Takes note that a file is whole."""
        note = {**note, "bytes": os.stat(self.file(name)).st_size}
        self.write(name + _NOTE, json.dumps(note).encode())
        return note

    def write(self, name: str, content: bytes) -> None:
        """Writes a file of the work."""
        write_atomically(self.file(name), content, durable=self.durable)

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            with open(self.file(name), "rb") as file:
                found = json.loads(file.read())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def publish(self, names: list[str], manifest: bytes) -> None:
        """Gives all files their place, the manifest last, and ends the work."""
        # Killed from here on, the next run must know what it may remove.
        self.write(_OLD, json.dumps({"files": self._old}).encode())
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.out, MANIFEST_NAME))  # without it, what is left is no data set
        for name in names:
            if os.path.exists(self.file(name)):  # or it moved before somebody killed us
                os.rename(self.file(name), os.path.join(self.out, name))
        for name in set(self._old) - set(names):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.out, name))
        if self.durable:
            sync_directory(self.out)
        write_atomically(os.path.join(self.out, MANIFEST_NAME), manifest, durable=self.durable)
        shutil.rmtree(self.path)

    def discard(self) -> None:
        """Removes all work, and the output if nothing else is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.rmdir(self.out)

    def close(self) -> None:
        """Lets others work here."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self._has_whole():
            self.discard()
        self.close()

    def _has_whole(self) -> bool:
        """Whether there is something for the next run to go on with."""
        return os.path.isdir(self.path) and any(name.endswith(_NOTE) for name in os.listdir(self.path))


def _replaceable(out: str, *, force: bool) -> list[str]:
    """The files in a folder that may go when the new data set comes.

    Raises:
        FileExistsError: There are others, or a data set that was not to be replaced.
    """
    if not os.path.lexists(out):
        return []
    if not os.path.isdir(out):
        raise NotADirectoryError(errno.ENOTDIR, "exists, and is no folder", display(out))
    there = {name for name in os.listdir(out) if name != WORK_NAME}
    if MANIFEST_NAME in there and not force:
        raise FileExistsError(errno.EEXIST, "already holds a data set; force=True replaces it", display(out))
    old = _files_of_set(out) if MANIFEST_NAME in there else _left_over(os.path.join(out, WORK_NAME))
    old |= {name for name in there if name.removesuffix(INDEX_SUFFIX) in old}
    if foreign := sorted(there - old):
        more = ", …" if len(foreign) > 3 else ""
        raise FileExistsError(
            errno.EEXIST,
            f"holds other files ({', '.join(map(display, foreign[:3]))}{more}); choose another folder",
            display(out),
        )
    return sorted(old - {MANIFEST_NAME})


def _files_of_set(out: str) -> set[str]:
    return {MANIFEST_NAME, REJECTS_NAME, *(shard.name for shard in read_folder(out).shards())}


def _left_over(work: str) -> set[str]:
    """What a run that was killed while it published has left in the output."""
    try:
        with open(os.path.join(work, _OLD), "rb") as file:
            old = {str(name) for name in json.loads(file.read())["files"]}
        return old | {name.removesuffix(_NOTE) for name in os.listdir(work) if name.endswith(_NOTE)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
