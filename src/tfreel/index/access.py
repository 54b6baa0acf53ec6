"""`tfreel.open`: the records of one or many files as a sequence."""

from __future__ import annotations

import bisect
import hashlib
import operator
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tfreel import _core, markup
from tfreel.compression import CodecError, codec_named, is_plain
from tfreel.errors import DecodeError, StaleIndexError, TfreelError, TfreelWarning
from tfreel.examples.decode import decode_sequence
from tfreel.index.build import IndexMode, index_of, named_files, sound
from tfreel.index.seek import Seekable, open_seekable
from tfreel.index.sidecar import U64, FileIndex
from tfreel.records.read import OnCorrupt, read
from tfreel.records.report import Fault, describe
from tfreel.storage.files import LocalFile
from tfreel.storage.names import Paths
from tfreel.storage.paths import display
from tfreel.threads import Turn, in_threads, renew_after_fork, thread_count

_MODES = ("auto", "memory", "rebuild", "require", "text")
_MOST_OPEN_FILES = 128
_FILES_PER_STREAM = 8  # for how many of those a compressed file counts: it has threads, caches and snapshots
_ITERATE_RECORDS = 1024
_ENOUGH_BYTES = 1 << 22
_FRAME_BYTES = 16


def open(  # noqa: A001 - the public name, as in gzip.open
    paths: Paths, *, index: IndexMode = "auto", compression: str | None = None, threads: int | None = None
) -> Records:
    """The records of one or many files, as a sequence of `bytes` with a length and random access.

    Args:
        paths: As in `tfreel.read`, streams excepted.
        index: Where the places of the records come from. ``"auto"``: from the sidecar of each file, or a scan
            where there is none; ``"memory"``: from a scan; ``"rebuild"``: as ``"auto"``, writing sidecars
            that are missing or stale; ``"require"``: from sidecars only; ``"text"``: from the ``.idx`` files
            of DALI or ``tfrecord``.
        compression: As in `tfreel.read`.
        threads: Files, or parts of them, indexed, and records fetched at the same time; all processors by
            default.

    Raises:
        StaleIndexError: A sidecar is damaged or belongs to another state of its file.
        CorruptError: A file that had to be scanned is damaged.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord") as out:
        ...     out.write_many([b"one", b"two", b"three"])
        >>> records = tfreel.open("numbers.tfrecord")
        >>> len(records), records[-1], records[[2, 0]], records[:2]
        (3, b'three', [b'three', b'one'], [b'one', b'two'])
    """
    return Records(paths, index=index, compression=compression, threads=threads)


class Records(Sequence[bytes]):
    """The sequence that `tfreel.open` returns: `len`, ``[i]``, ``[-1]``, slices, lists and masks of indices.

    Every record is checked when it is read, against its checksums and the index. Threads may share it, a fork
    may inherit it, and it pickles as its files and options.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        index: IndexMode = "auto",
        compression: str | None = None,
        threads: int | None = None,
        on_corrupt: OnCorrupt = "raise",
    ) -> None:
        if index not in _MODES:
            raise ValueError(f"index must be one of {', '.join(map(repr, _MODES))}, not {index!r}")
        files = named_files(paths)
        self._config: dict[str, Any] = {
            "index": index,
            "compression": compression,
            "threads": threads,
            "on_corrupt": on_corrupt,
        }
        codec = None if compression is None else codec_named(compression)

        def find(path: str, turn: Turn) -> FileIndex:
            return (
                index_of(path, index, codec, turn)
                if on_corrupt == "raise"
                else sound(path, on_corrupt, codec)
            )

        self._set_up(files, in_threads(find, files, threads))

    def _set_up(self, files: list[str], indexes: list[FileIndex]) -> None:
        self.files = files
        self._indexes = indexes
        self._fingerprint: str | None = None
        self._shards: tuple[int, _core.Shards] | None = None  # with the process they are of
        counts = np.array([0, *map(len, indexes)], np.int64)
        self._starts = np.cumsum(counts)
        self._start_list: list[int] = self._starts.tolist()  # bisect is quicker on a list
        self._handles = _Handles(files, indexes, thread_count(self._config["threads"]))

    def __len__(self) -> int:
        return self._start_list[-1]

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> bytes: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> list[bytes]: ...

    def __getitem__(
        self, key: int | np.integer[Any] | slice | Sequence[int] | npt.NDArray[Any]
    ) -> bytes | list[bytes]:
        if type(key) is int:  # first, because it is the one that is called in loops
            return self._fetch_one(key)
        if isinstance(key, slice):
            return self._fetch(np.arange(*key.indices(len(self)), dtype=np.int64))
        if isinstance(key, (list, tuple, range)) or (isinstance(key, np.ndarray) and key.ndim):
            return self._fetch(self._checked(key))
        try:
            i = operator.index(key)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(
                f"records are picked by an integer, a slice or a list of integers, not {type(key).__name__}"
            ) from None
        return self._fetch_one(i)

    def __getitems__(self, indices: Sequence[int]) -> list[bytes]:
        """Several records at once: what PyTorch's fetcher asks for."""
        return self._fetch(self._checked(indices))

    def __iter__(self) -> Iterator[bytes]:
        for file, index in enumerate(self._indexes):
            start = 0
            while start < len(index):
                picks = np.arange(start, min(start + _ITERATE_RECORDS, len(index)), dtype=np.uint64)
                records = self._handles.get(file).fetch(picks)
                start += len(records)
                yield from records

    def blocks(self) -> Iterator[_core.Block]:
        """All records in blocks: for callers that want no Python object per record."""
        return read(self.files, compression=self._config["compression"]).blocks()

    def views(self, positions: U64) -> tuple[list[_core.Block | bytes], U64 | None]:
        """The records at these positions, without an object for each where that is possible.

        Returns:
            Blocks, and bytes of compressed files, file by file; and where among all of their records the
            first, second, … of the positions is. None if they are in order already.
        """
        if len(self.files) == 1:
            return self._handles.get(0).views(positions), None
        files = np.searchsorted(self._starts, positions.astype(np.int64), "right") - 1
        by_file = np.argsort(files, kind="stable")
        views: list[_core.Block | bytes] = []
        borders = np.flatnonzero(np.diff(files[by_file])) + 1
        for places in np.split(by_file, borders):
            if len(places):
                file = int(files[places[0]])
                views += self._handles.get(file).views(positions[places] - np.uint64(self._start_list[file]))
        order = np.empty(len(positions), np.uint64)
        order[by_file] = np.arange(len(positions), dtype=np.uint64)
        return views, order

    def pipeline(
        self, features: list[_core.FeatureSpec], *, sequences: bool, threads: int
    ) -> _core.Pipeline | None:
        """What reads and parses batches of these records in threads of its own.

        It opens the files itself, a few at a time, and shares them with others of these records.

        Returns:
            None if nothing is asked for, or if a file is compressed: it can do nothing about those.
        """
        if not features or any(index.codec != "none" for index in self._indexes):
            return None
        if self._shards is None or self._shards[0] != os.getpid():  # its locks would not survive a fork
            self._shards = os.getpid(), self._new_shards()
        return _core.Pipeline(self._shards[1], features, sequences=sequences, threads=threads)

    def _new_shards(self) -> _core.Shards:
        return _core.Shards(
            [
                _core.Shard(
                    os.fsencode(path),
                    index.size,
                    index.mtime_ns,
                    index.offsets,
                    index.lengths,
                    index.checksums,
                )
                for path, index in zip(self.files, self._indexes, strict=True)
            ]
        )

    def place(self, position: int) -> tuple[str, int, int]:
        """The file of a record, its number in that file, and its offset."""
        file = bisect.bisect_right(self._start_list, position) - 1
        record = position - self._start_list[file]
        return self.files[file], record, int(self._indexes[file].offsets[record])

    @property
    def nbytes(self) -> int:
        """The bytes of all records, with their frames."""
        ends = (int(index.offsets[-1] + index.lengths[-1]) for index in self._indexes if len(index))
        return sum(end + _FRAME_BYTES for end in ends)

    def lengths(self) -> U64:
        """How many bytes each record has."""
        return np.concatenate([np.empty(0, np.uint64), *(index.lengths for index in self._indexes)])

    def counts(self) -> list[int]:
        """How many records each file has."""
        return [len(index) for index in self._indexes]

    def known(self) -> tuple[list[str], list[FileIndex]]:
        """The files with their indexes, for `indexed`: to have these records elsewhere without a scan."""
        return self.files, self._indexes

    def fingerprint(self) -> str:
        """A hash of what the files hold, whatever their names and places."""
        if self._fingerprint is None:
            digests = (index.fingerprint for index in self._indexes)
            self._fingerprint = hashlib.sha256(b"".join(digests)).hexdigest()[:16]
        return self._fingerprint

    def __repr__(self) -> str:
        return f"<tfreel.Records: {len(self):,} records in {len(self.files):,} files>"

    def _repr_html_(self) -> str:
        files = (f"{name}: {count:,}" for name, count in zip(self.files, self.counts(), strict=True))
        return markup.block(
            f"tfreel.Records: {markup.count(len(self), 'record')} in {markup.count(len(self.files), 'file')}",
            markup.attempt(self._first_rows, (TfreelError, OSError)),
            markup.note(", ".join(markup.listed(files))),
        )

    def _first_rows(self) -> str:
        """The first records, as what they turn out to be."""
        return markup.Cells().row_table([_row(record) for record in self[: markup.MOST_ROWS]])

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.files, self._config)

    def _checked(self, indices: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The indices as positions from 0; a mask becomes the positions where it is true."""
        try:
            array = np.asarray(indices)
        except ValueError:  # lists of different lengths
            array = np.empty((0, 0))
        if array.ndim != 1:
            raise TypeError("records are picked by a flat list of integers, not a nested one")
        too_large = array.dtype.kind in "fO" and all(isinstance(i, int) for i in indices)
        if too_large:  # for a dtype of integers; they are still to be named
            array = np.array(indices, object)
        if array.dtype == np.bool_:
            if len(array) != len(self):
                raise IndexError(f"a mask of {len(array):,} for {len(self):,} records")
            return np.flatnonzero(array).astype(np.int64)
        if array.size == 0:
            return np.empty(0, np.int64)
        if array.dtype.kind not in "iu" and not too_large:
            raise TypeError(f"records are picked by integers, not {array.dtype}")
        wrong = array[(array < -len(self)) | (array >= len(self))]
        if wrong.size:
            raise IndexError(f"record index {wrong[0]} out of range for {len(self):,} records")
        positions = array.astype(np.int64)
        return np.where(positions < 0, positions + len(self), positions)

    def _fetch_one(self, i: int) -> bytes:
        starts = self._start_list
        size = starts[-1]
        if not -size <= i < size:
            raise IndexError(f"record index {i} out of range for {size:,} records")
        i %= size
        file = bisect.bisect_right(starts, i) - 1
        return self._handles.get(file).fetch_one(i - starts[file])

    def _fetch(self, positions: npt.NDArray[np.int64]) -> list[bytes]:
        if len(self.files) == 1:
            return self._fetch_from(0, positions.astype(np.uint64))
        files = np.searchsorted(self._starts, positions, "right") - 1
        found: list[bytes] = [b""] * len(positions)
        for file in np.unique(files):
            places = np.flatnonzero(files == file)
            picks = (positions[places] - self._starts[file]).astype(np.uint64)
            for place, record in zip(places.tolist(), self._fetch_from(int(file), picks), strict=True):
                found[place] = record
        return found

    def _fetch_from(self, file: int, picks: U64) -> list[bytes]:
        handle = self._handles.get(file)
        records: list[bytes] = []
        while len(records) < len(picks):
            records += handle.fetch(picks[len(records) :])
        return records


def joined(parts: Sequence[Records]) -> Records:
    """The records of all of them, as one sequence."""
    files = [file for part in parts for file in part.files]
    return _made(files, [index for part in parts for index in part._indexes], parts[0]._config)


def indexed(files: Sequence[str], indexes: Sequence[FileIndex]) -> Records:
    """The records of files whose indexes are there already: as many of them as these say."""
    config = {"index": "auto", "compression": None, "threads": None, "on_corrupt": "skip"}
    return _made(list(files), list(indexes), config)


def _made(files: list[str], indexes: list[FileIndex], config: dict[str, Any]) -> Records:
    whole = Records.__new__(Records)
    whole._config = config
    whole._set_up(files, indexes)
    return whole


def _reopen(files: list[str], config: dict[str, Any]) -> Records:
    return Records(files, **config)


def _row(record: bytes) -> dict[str, Any]:
    """The features of an Example; of anything else, its bytes."""
    try:
        context, lists = decode_sequence(record)
    except DecodeError:
        return {"": record}
    return {**context, **lists} or {"": record}


class _Handle:
    """One open file with its index."""

    def __init__(self, path: str, index: FileIndex, threads: int) -> None:
        self._threads = threads
        self._file = LocalFile(path)
        self._index = index
        if (self._file.size, self._file.identity.mtime_ns) != (index.size, index.mtime_ns):
            raise StaleIndexError(
                f"{display(path)}: the file changed after its index was loaded; open it again",
                path=path,
                kind="file_changed",
            )
        self._records = _core.IndexedFile(
            self._file.descriptor, index.offsets, index.lengths, index.checksums
        )
        self._seekable: Seekable | None = (
            None if index.codec == "none" else open_seekable(self._file, index.codec)
        )
        self.weight = 1 if self._seekable is None else _FILES_PER_STREAM

    def fetch_one(self, pick: int) -> bytes:
        """The record at `pick`."""
        if self._seekable is None:
            with suppress(OSError):  # the long way round meets it again, and names the file
                found = self._records.fetch_one(pick)
                if isinstance(found, bytes):
                    return found
        return self.fetch(np.array([pick], np.uint64))[0]

    def fetch(self, picks: U64) -> list[bytes]:
        """The records at `picks`, or as many of them as come at once."""
        if self._seekable is not None:
            return self._fetch_inflated(self._seekable, picks)
        return self._fetch_block(picks, self._threads).to_list()

    def views(self, picks: U64) -> list[_core.Block | bytes]:
        """All records at `picks`, in blocks if that is possible.

        By one thread: whoever takes block after block has better work for the others than a part of one.
        """
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


def _is_header_of_other(frame: bytes, length: int) -> bool:
    """Whether this is the beginning of a sound record, but of one with another length."""
    return is_plain(frame) and int.from_bytes(frame[:8], "little") != length


class _Handles:
    """The most recently used files: a set may have more shards than a process may have open files."""

    def __init__(self, files: list[str], indexes: list[FileIndex], threads: int) -> None:
        self._files = files
        self._threads = threads
        self._indexes = indexes
        self._lock = threading.Lock()
        self._open: OrderedDict[int, _Handle] = OrderedDict()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._lock = threading.Lock()

    def get(self, file: int) -> _Handle:
        """The open file; whoever holds it keeps it open."""
        with self._lock:
            handle = self._open.get(file)
            if handle is None:
                handle = _Handle(self._files[file], self._indexes[file], self._threads)
                self._open[file] = handle
                while len(self._open) > 1 and sum(h.weight for h in self._open.values()) > _MOST_OPEN_FILES:
                    self._open.popitem(last=False)
            else:
                self._open.move_to_end(file)
            return handle
