"""Random access inside compressed files: any range of the plain stream, without inflating all before it.

With ``rapidgzip`` installed (``pip install 'tfreel[gzip]'``), gzip files are read by it, on all processors.
Otherwise, and for zlib files, snapshots of the inflating state are kept every few megabytes, and a read
inflates from the nearest one.
"""

from __future__ import annotations

import atexit
import bisect
import importlib.util
import io
import os
import threading
import weakref
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from tfreel.compression import Codec, CodecError, until_error
from tfreel.records.members import Restart
from tfreel.storage.files import LocalFile
from tfreel.storage.remote.objects import ObjectFile, Window
from tfreel.threads import renew_after_fork, thread_count

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_SNAPSHOT_BYTES = 1 << 22
_MOST_SNAPSHOTS = 512
_MOST_STRETCHES = 16  # of a damaged file, whose snapshots are kept
_STEP_BYTES = 1 << 18
_LARGEST_READ_BYTES = 1 << 22
_LARGEST_SEEK_BYTES = 1 << 24  # on the way to new places: so that Ctrl-C is heard


class Seekable(Protocol):
    """The plain stream of a compressed file, by position. Threads may share it, a fork may inherit it."""

    def read(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset`: fewer only at the end.

        Raises:
            CodecError: The compressed data is damaged, or not there any more.
        """


def open_seekable(
    file: LocalFile | ObjectFile, codec: Codec, restarts: Sequence[Restart] | None = None
) -> Seekable:
    """Random access to the plain stream of a compressed file; with `restarts`, of a damaged one."""
    if restarts is not None:
        return _Stretches(Window(file) if isinstance(file, ObjectFile) else file, codec, restarts)
    if isinstance(file, ObjectFile):
        return Snapshots(Window(file), codec)
    if codec == "gzip" and importlib.util.find_spec("rapidgzip") is not None:
        return _Rapid(file)
    return Snapshots(file, codec)


class _Steady(io.RawIOBase):
    """A file as it was opened, to read from: what it lost since, and what cannot be read, reads as zeros.

    rapidgzip ends the process when a file ends sooner than it did before, and when a call fails in one of its
    threads or while it lets go of the file, even after it was closed. Zeros are damage like any other.

    Attributes:
        failure: Why something could not be read. Whoever reads raises it.
    """

    def __init__(self, file: LocalFile) -> None:
        self._file: LocalFile | None = file
        self._size = file.size
        self._at = 0
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = (0, self._at, self._size)[whence] + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        size = min(len(view), max(0, self._size - self._at))
        data = b""
        try:
            if self._file is not None:
                data = self._file.read(size, self._at)
        except BaseException as error:  # noqa: BLE001 - also Ctrl-C
            self.failure = error
        view[:size] = data.ljust(size, b"\0")
        self._at += size
        return size

    def close(self) -> None:
        self._file = None  # rapidgzip never lets go of this object: the file must not stay open with it
        super().close()


class _Rapid:
    """Reads by rapidgzip, which builds its own seek points as it goes.

    It is fast, and was not made for forks, nor for the end of the interpreter: its threads must not live
    through either. So all its readers are closed before.

    Its threads call Python to read the file, and there they may find themselves collecting garbage: perhaps
    another reader, which to close they would wait for the lock of him who waits for them. So who drops one
    only closes it if he is known to be none of them, and need not wait; others leave it to him who reads.
    """

    _lock = threading.RLock()  # of all of them: one keeps all processors busy
    _all: ClassVar[weakref.WeakSet[_Rapid]] = weakref.WeakSet()
    _callers = threading.local()  # has `known` in threads that read
    _dropped: ClassVar[list[tuple[Any, _Steady]]] = []
    _reader: Any = None
    _careful: Snapshots | None = None
    _steady: _Steady

    def __init__(self, file: LocalFile) -> None:
        self._file = file
        self._reached = 0
        self._all.add(self)

    def read(self, size: int, offset: int) -> bytes:
        self._callers.known = True
        try:
            return self._read_carefully(size, offset)
        finally:
            self._close_dropped()

    def _read_carefully(self, size: int, offset: int) -> bytes:
        with self._lock:
            self._check_size()
            if self._careful is None:
                try:
                    return self._read(size, offset)
                except (RuntimeError, ValueError):
                    self._close()
                    self._check_size()
                    # The file is damaged, somewhere: zlib reads all that lies before it, and says what it is.
                    self._careful = Snapshots(self._file, "gzip")
        return self._careful.read(size, offset)

    def _check_size(self) -> None:
        if self._file.current_identity().size < self._file.size:
            raise CodecError("file_changed", "the file was truncated while it was open", 0)

    def _read(self, size: int, offset: int) -> bytes:
        if self._reader is None:
            self._open()
            self._reached = 0
        try:
            return self._read_in_pieces(size, offset)
        finally:
            if (failure := self._steady.failure) is not None:
                self._close()  # it has zeros where the file may have something else
                raise failure

    def _read_in_pieces(self, size: int, offset: int) -> bytes:
        while self._reached + _LARGEST_SEEK_BYTES < offset:
            self._reached += _LARGEST_SEEK_BYTES
            self._reader.seek(self._reached)
            self._reader.read(1)
        self._reader.seek(offset)
        # It allocates what is asked for before it knows what is there.
        parts = []
        while size and (part := self._reader.read(min(size, _LARGEST_READ_BYTES))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _open(self) -> None:
        import rapidgzip

        self._steady = _Steady(self._file)
        self._reader = rapidgzip.open(self._steady, parallelization=thread_count())

    def _drop(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            self._dropped.append((reader, self._steady))

    def _close(self) -> None:
        self._drop()
        self._close_dropped()

    @classmethod
    def _close_dropped(cls) -> None:
        """Closes what was dropped, unless another thread reads: that one looks again when it is done."""
        while cls._dropped and cls._lock.acquire(blocking=False):
            try:
                with suppress(IndexError):  # the garbage that is collected meanwhile may take the last ones
                    while True:
                        reader, steady = cls._dropped.pop()
                        reader.close()
                        steady.close()
            finally:
                cls._lock.release()

    def __del__(self) -> None:
        self._drop()
        is_main = threading.get_ident() == threading.main_thread().ident
        if is_main or getattr(self._callers, "known", False):
            self._close_dropped()

    @classmethod
    def rest(cls) -> None:
        """Sees to it that there are no threads, and will be none before `go_on`."""
        cls._lock.acquire()
        for reader in list(cls._all):
            reader._drop()
        cls._close_dropped()

    @classmethod
    def go_on(cls) -> None:
        """Ends the rest."""
        cls._lock.release()


os.register_at_fork(before=_Rapid.rest, after_in_parent=_Rapid.go_on, after_in_child=_Rapid.go_on)
atexit.register(_Rapid.rest)  # for ever


@dataclass(slots=True)
class _Snapshot:
    plain: int  # offset in the plain stream
    compressed: int  # offset of the next compressed byte to feed
    inflater: Any


class Snapshots:
    """Reads by zlib, from the nearest of a bounded number of saved states."""

    def __init__(self, file: LocalFile | Window, codec: Codec, start: int = 0) -> None:
        self._file = file
        self._start = start
        self._wbits = zlib.MAX_WBITS + (16 if codec == "gzip" else 0)
        self._every = _SNAPSHOT_BYTES
        self._saved = [_Snapshot(0, start, zlib.decompressobj(self._wbits))]
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._now = _Snapshot(0, self._start, zlib.decompressobj(self._wbits))
        self._recent = b""  # the last output: it ends where `_now` stands
        self._failure: CodecError | None = None  # what comes behind it

    def read(self, size: int, offset: int) -> bytes:
        with self._lock:
            try:
                return self._read(size, offset)
            except BaseException:
                self._begin()  # whatever it was, perhaps Ctrl-C, it may have struck in the middle of a step
                raise

    def _read(self, size: int, offset: int) -> bytes:
        self._go_near(offset)
        while self._now.plain <= offset and self._inflate_some():
            pass
        first = offset - (self._now.plain - len(self._recent))
        parts = [self._recent[first : first + size]]
        missing = size - len(parts[0])
        while missing > 0 and (piece := self._inflate_some()):
            parts.append(piece[:missing])
            missing -= len(parts[-1])
        return b"".join(parts)

    def _go_near(self, offset: int) -> None:
        """Makes sure that what comes next does not lie behind us, and not far ahead either."""
        best = bisect.bisect_right(self._saved, offset, key=lambda snapshot: snapshot.plain) - 1
        saved = self._saved[best]
        if not saved.plain <= self._now.plain or offset < self._now.plain - len(self._recent):
            self._now = _Snapshot(saved.plain, saved.compressed, saved.inflater.copy())
            self._recent = b""
            self._failure = None

    def _inflate_some(self) -> bytes:
        now = self._now
        if self._failure is not None:
            raise self._failure
        while True:
            if now.inflater.eof:
                now.inflater = zlib.decompressobj(self._wbits)  # the next member of a gzip file
            data = self._file.read(_STEP_BYTES, now.compressed)
            before = now.inflater.copy()
            try:
                out: bytes = now.inflater.decompress(data, _STEP_BYTES)
            except zlib.error as error:
                message = f"the compressed data is damaged ({error})"
                self._failure = CodecError("compressed_corrupt", message, now.compressed)
                self._recent = out = b"".join(until_error(before, data))
                now.plain += len(out)
                if not out:
                    raise self._failure from None
                return out
            # At the end of a member zlib leaves the same bytes in both.
            left = now.inflater.unused_data if now.inflater.eof else now.inflater.unconsumed_tail
            now.compressed += len(data) - len(left)
            now.plain += len(out)
            if out:
                self._recent = out
                self._save()
                return out
            if not data:
                return b""

    def _save(self) -> None:
        now = self._now
        if now.plain - self._saved[-1].plain < self._every:
            return
        self._saved.append(_Snapshot(now.plain, now.compressed, now.inflater.copy()))
        if len(self._saved) > _MOST_SNAPSHOTS:  # half as many, twice as far apart
            self._saved = self._saved[::2]
            self._every *= 2


class _Stretches:
    """Reads a damaged file as salvage does: up to the damage, then from the next sound member on.

    Not by rapidgzip, which may give less of such a file than there is. No record lies in two stretches.
    """

    def __init__(self, file: LocalFile | Window, codec: Codec, restarts: Sequence[Restart]) -> None:
        self._starts = [Restart(0, 0), *restarts]
        self._opened = lru_cache(_MOST_STRETCHES)(partial(Snapshots, file, codec))

    def read(self, size: int, offset: int) -> bytes:
        after = bisect.bisect_right(self._starts, offset, key=lambda start: start.plain)
        start = self._starts[after - 1]
        return self._opened(start.compressed).read(size, offset - start.plain)
