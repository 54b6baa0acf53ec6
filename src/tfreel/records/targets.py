"""Where a writer sends framed bytes: a new file, one that grows, an object, an open stream."""

from __future__ import annotations

import errno
import io
import os
from contextlib import closing
from typing import Any, Literal, Protocol, TypeAlias

from tfreel.compression import Codec
from tfreel.errors import CorruptError
from tfreel.records.frames import Position, ReadOptions, open_frames
from tfreel.records.report import Fault
from tfreel.storage.paths import display
from tfreel.storage.publish import GrownFile, new_file, wait_until_writable
from tfreel.storage.url import Url

Mode: TypeAlias = Literal["x", "w", "a"]


class Target(Protocol):
    """Where framed bytes go."""

    @property
    def descriptor(self) -> int:
        """To write to directly, or -1 where only `write` will do."""

    def write(self, data: bytes) -> None:
        """Adds bytes."""

    def flush(self) -> None:
        """Hands what was written to the system."""

    def sync(self) -> None:
        """Returns when what was written is safe."""

    def seal(self) -> None:
        """Makes the content final."""

    def publish(self, path: str | None = None) -> None:
        """Gives it its name."""

    def abort(self) -> None:
        """Takes everything back."""


class OpenStream:
    """A file somebody else opened: written to as it is, neither named nor closed by us."""

    descriptor = -1

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        rest: bytes | memoryview = data
        while rest:
            try:
                taken = self._stream.write(rest)
            except BlockingIOError as full:
                taken = full.characters_written
                wait_until_writable(self._stream.fileno())
            if taken is None:
                if not isinstance(self._stream, io.RawIOBase):
                    return  # what does not count takes all
                taken = 0
                wait_until_writable(self._stream.fileno())
            rest = memoryview(rest)[taken:]

    def flush(self) -> None:
        while True:
            try:
                self._stream.flush()
            except BlockingIOError:
                wait_until_writable(self._stream.fileno())
            else:
                return

    def sync(self) -> None:
        self.flush()
        try:
            os.fsync(self._stream.fileno())
        except (AttributeError, io.UnsupportedOperation):
            pass  # not a file of the system
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a pipe, which has no disk
                raise

    def seal(self) -> None:
        self.flush()

    def publish(self, path: str | None = None) -> None:
        pass

    def abort(self) -> None:
        pass


def open_target(path: str, mode: Mode, codec: Codec, *, durable: bool) -> Target:
    """The target for a path, as the mode says."""
    if mode == "a" and isinstance(path, Url):
        raise ValueError(f'{display(path)}: an object cannot be added to; mode="w" replaces it')
    if mode == "a" and os.path.exists(path):
        return GrownFile(path, durable=durable, end=_checked_end(path, codec))
    return new_file(path, replace=mode == "w", durable=durable)


def _checked_end(path: str, codec: Codec) -> int:
    """The size of a file that is sound to its last byte and can be added to."""
    if codec == "zlib":
        raise ValueError(f"{display(path)}: a zlib file holds one stream and cannot be added to; gzip can")
    advice = f"nothing was added. tfreel.repair({path!r}, …) makes a sound copy to add to"
    notes: list[str] = []
    size = os.path.getsize(path)  # before the look: what comes in between was not looked at, and is refused
    with closing(open_frames(path, ReadOptions(compression=codec), Position(), notes.append)) as frames:
        while (found := frames.step()) is not None:
            if isinstance(found, Fault):
                raise CorruptError(
                    f"{found}; {advice}",
                    path=path,
                    record=found.record,
                    offset=found.offset,
                    kind=found.kind,
                )
    if codec == "gzip" and notes:  # padding: harmless at the end, but no member may follow it
        raise CorruptError(f"{display(path)}: {notes[0]}; {advice}", path=path, kind="trailing_garbage")
    return size
