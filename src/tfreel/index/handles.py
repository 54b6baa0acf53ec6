"""Open files with their indexes, the most recently used ones: what `tfreel.open` fetches records from."""

from __future__ import annotations

import errno
import threading
import warnings
import weakref
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace

import numpy as np

from tfreel import _core
from tfreel.compression import CodecError, is_plain
from tfreel.errors import TfreelError, TfreelWarning
from tfreel.index.build import changed_since
from tfreel.index.indexes import Indexes
from tfreel.index.remote import RemoteRecords
from tfreel.index.rows import Rows
from tfreel.index.seek import Seekable, open_seekable
from tfreel.index.sidecar import ROW_BYTES, U64, FileIndex
from tfreel.index.spans import Spans
from tfreel.records.report import Fault, describe
from tfreel.storage.files import LocalFile, most_open_files
from tfreel.storage.paths import display
from tfreel.storage.places import File
from tfreel.storage.remote.objects import ObjectFile
from tfreel.storage.url import Url
from tfreel.threads import renew_after_fork

_MOST_OPEN_FILES = 128
_FILES_PER_STREAM = 8  # for how many of those a compressed file counts: it has threads, caches and snapshots
MOST_INDEX_BYTES = 256 << 20  # that open files keep, where indexes are loaded when they are wanted
_ENOUGH_BYTES = 1 << 22
_FRAME_BYTES = 16


class Handle:
    """One open file with its index."""

    _file: File

    def __init__(self, path: str, index: FileIndex | Rows, threads: int) -> None:
        self._threads = threads
        self._rows = index if isinstance(index, Rows) else None
        self._index = index = index.index if isinstance(index, Rows) else index
        self._open(path)
        if (self._file.size, self._file.identity.mtime_ns) != (index.size, index.mtime_ns):
            raise changed_since(path)
        self._seekable: Seekable | None = (
            None if index.codec == "none" else open_seekable(self._file, index.codec, index.restarts)
        )
        self.weight = 1 if self._seekable is None else _FILES_PER_STREAM

    @property
    def index_bytes(self) -> int:
        """The memory that its index takes."""
        return len(self._index) * ROW_BYTES if self._rows is None else self._rows.nbytes

    def _open(self, path: str) -> None:
        index = self._index
        self._file = LocalFile(path)
        self._records = _core.IndexedFile(
            self._file.descriptor, index.offsets, index.lengths, index.checksums
        )

    def fetch_one(self, pick: int) -> bytes:
        """The record at `pick`."""
        if self._seekable is None and self._rows is None:
            with suppress(OSError):  # the long way round meets it again, and names the file
                found = self._records.fetch_one(pick)
                if isinstance(found, bytes):
                    return found
        return self.fetch(np.array([pick], np.uint64))[0]

    def fetch(self, picks: U64) -> list[bytes]:
        """The records at `picks`, or as many of them as come at once."""
        if self._rows is not None:
            self._rows.want(picks)
        if self._seekable is not None:
            return self._fetch_inflated(self._seekable, picks)
        return self._fetch_block(picks, self._threads).to_list()

    def views(self, picks: U64) -> list[_core.Block | bytes]:
        """All records at `picks`, in blocks if that is possible.

        By one thread: whoever takes block after block has better work for the others than a part of one.
        """
        if self._rows is not None:
            self._rows.want(picks)
        views: list[_core.Block | bytes] = []
        while len(picks):
            if self._seekable is not None:
                some = self._fetch_inflated(self._seekable, picks)
                views += some
                picks = picks[len(some) :]
            else:
                views.append(block := self._fetch_block(picks, threads=1))
                picks = picks[len(block) :]
        return views

    def _fetch_block(self, picks: U64, threads: int) -> _core.Block:
        found = self._try(picks, threads)
        return self._try_again(found, picks) if isinstance(found, _core.Fault) else found

    def _try(self, picks: U64, threads: int = 1) -> _core.Block | _core.Fault:
        try:
            return self._records.fetch(picks, threads)
        except OSError as error:
            error.filename = self._file.path
            raise

    def _try_again(self, fault: _core.Fault, picks: U64) -> _core.Block:
        """A second read, from the disk: what bad memory or a bad cable gave, it does not confirm."""
        if not self._file.changed():
            self._file.forget_cache(fault.begin, fault.end - fault.begin)
            found = self._try(picks)
            if isinstance(found, _core.Block):
                where = f"{display(self._file.path)}: record {fault.record}"
                text = f"{where}: transient {fault.kind}: a second read was good"
                warnings.warn(text, TfreelWarning, stacklevel=2)
                return found
        raise self._error(describe(self._file.path, fault))

    def _error(self, fault: Fault) -> TfreelError:
        if self._file.changed():
            message = "the file changed while it was open"
            fault = replace(fault, kind="file_changed", message=message, expected=None, actual=None)
        return fault.to_error()

    def _fetch_inflated(self, stream: Seekable, picks: U64) -> list[bytes]:
        records: list[bytes] = []
        size = 0
        for pick in picks.tolist():
            records.append(self._inflate(stream, pick))
            size += len(records[-1]) + _FRAME_BYTES
            if size > _ENOUGH_BYTES:
                break
        return records

    def _inflate(self, stream: Seekable, pick: int) -> bytes:
        offset, length = int(self._index.offsets[pick]), int(self._index.lengths[pick])
        fault = Fault(
            self._file.path,
            "index_stale",
            pick,
            offset,
            offset + length + _FRAME_BYTES,
            "the index promises another record here; the file changed since it was indexed",
        )
        try:
            frame = stream.read(length + _FRAME_BYTES, offset)
        except CodecError as error:
            fault = replace(fault, kind=error.kind, message=str(error), compressed_offset=error.offset)
            raise self._error(fault) from None
        decoder = _core.Decoder(offset=offset, record=pick, size=fault.end, window_bytes=len(frame))
        decoder.feed(frame)
        decoder.finish()
        found = decoder.next()
        if isinstance(found, _core.Block):
            if found.lengths[0] == length and found.checksums[0] == self._index.checksums[pick]:
                return found[0]
        elif isinstance(found, _core.Fault) and not _is_header_of_other(frame, length):
            fault = describe(self._file.path, found)
        raise self._error(fault)


class RemoteHandle(Handle):
    """One object with its index: records that are asked for together are fetched together."""

    _file: ObjectFile

    def __init__(self, path: str, index: FileIndex, threads: int, spans: Spans) -> None:
        self._spans = spans
        super().__init__(path, index, threads)

    def _open(self, path: str) -> None:
        if not isinstance(path, Url):
            raise TypeError(path)
        self._file = ObjectFile(path)
        self._remote = RemoteRecords(self._file, self._index, self._spans)

    def fetch_one(self, pick: int) -> bytes:
        """The record at `pick`."""
        return self.fetch(np.array([pick], np.uint64))[0]

    def fetch(self, picks: U64) -> list[bytes]:
        """The records at `picks`, or as many of them as come at once."""
        if self._seekable is not None:
            return self._fetch_inflated(self._seekable, picks)
        return [record for block in self._blocks(picks) for record in block.to_list()]

    def views(self, picks: U64) -> list[_core.Block | bytes]:
        """All records at `picks`, in blocks if that is possible."""
        if self._seekable is not None:
            return super().views(picks)
        views: list[_core.Block | bytes] = []
        while len(picks):
            blocks = self._blocks(picks)
            views += blocks
            picks = picks[sum(map(len, blocks)) :]
        return views

    def _blocks(self, picks: U64) -> list[_core.Block]:
        """The records at `picks`, or the first of them; asked for once more if the first answer is bad."""
        if not len(picks):
            return []
        first = self._remote.fetch(picks)
        if isinstance(first, list):
            return first
        fault = describe(self._file.path, first)
        if self._file.changed():
            raise self._error(fault)
        self._remote.forget(picks)
        again = self._remote.fetch(picks)
        if isinstance(again, list):
            where = f"{display(self._file.path)}: record {first.record}"
            text = f"{where}: transient {first.kind}: a second read was good; suspect the network"
            warnings.warn(text, TfreelWarning, stacklevel=2)
            return again
        raise self._error(replace(fault, message=f"{fault.message}; a second read gave no better"))


def _is_header_of_other(frame: bytes, length: int) -> bool:
    """Whether this is the beginning of a sound record, but of one with another length."""
    return is_plain(frame) and int.from_bytes(frame[:8], "little") != length


class Handles:
    """The most recently used files: a set may have more shards than a process may have open files.

    With them, they keep their indexes, where those were loaded because somebody wanted records.
    """

    def __init__(self, files: list[str], indexes: Indexes, threads: int) -> None:
        self._files = files
        self._threads = threads
        self._indexes = indexes
        self._all_held = indexes.are_held
        self._lock = threading.Lock()
        self._open: OrderedDict[int, Handle] = OrderedDict()
        self._most_open = most_open_files(_MOST_OPEN_FILES)
        self._spans = Spans()
        renew_after_fork(self)
        _all_handles[id(self)] = self

    def after_fork(self) -> None:
        self._lock = threading.Lock()

    def get(self, file: int) -> Handle:
        """The open file; whoever holds it keeps it open."""
        with self._lock:
            handle = self._known(file)
        if handle is not None:
            return handle
        # Without the lock: if it has to be loaded, others want theirs meanwhile.
        index = self._indexes.rows(file) or self._indexes[file]
        with self._lock:
            handle = self._known(file)
            if handle is None:
                handle = self._open[file] = self._opened(self._files[file], index)
                self._close_some()
            return handle

    def _known(self, file: int) -> Handle | None:
        handle = self._open.get(file)
        if handle is not None:
            self._open.move_to_end(file)
            if not self._all_held:  # rows that were wanted may have come since
                self._close_some()
        return handle

    def _close_some(self) -> None:
        weight = sum(handle.weight for handle in self._open.values())
        index_bytes = 0 if self._all_held else sum(handle.index_bytes for handle in self._open.values())
        while len(self._open) > 1 and (weight > self._most_open or index_bytes > MOST_INDEX_BYTES):
            _, handle = self._open.popitem(last=False)
            weight -= handle.weight
            index_bytes -= 0 if self._all_held else handle.index_bytes

    def _opened(self, path: str, index: FileIndex | Rows) -> Handle:
        try:
            return self._made(path, index)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
        self._open.clear()
        for reference in _all_handles.valuerefs():
            if (other := reference()) is not None:
                other._let_go()
        return self._made(path, index)

    def _let_go(self) -> None:
        """Closes what is kept open and not in use. Without waiting: whoever has the lock may wait for us."""
        if self._lock.acquire(blocking=False):
            self._open.clear()
            self._lock.release()

    def _made(self, path: str, index: FileIndex | Rows) -> Handle:
        if isinstance(path, Url) and isinstance(index, FileIndex):
            return RemoteHandle(path, index, self._threads, self._spans)
        return Handle(path, index, self._threads)


# Of all sets: when the process may open no more files, each gives back those that it keeps for later.
_all_handles: weakref.WeakValueDictionary[int, Handles] = weakref.WeakValueDictionary()
