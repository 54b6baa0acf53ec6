"""`tfreel.open`: the records of one or many files as a sequence."""

from __future__ import annotations

import bisect
import hashlib
import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from tfreel import _core, markup
from tfreel.compression import Codec, codec_named
from tfreel.errors import DecodeError, TfreelError
from tfreel.examples.decode import decode_sequence
from tfreel.index.build import IndexMode, index_of, named_files, salvaged
from tfreel.index.handles import Handles
from tfreel.index.indexes import Indexes, find_indexes
from tfreel.index.sidecar import U64, FileIndex
from tfreel.records.read import OnCorrupt, read
from tfreel.records.report import Fault
from tfreel.settings import byte_count
from tfreel.storage.files import most_open_files
from tfreel.storage.names import Paths
from tfreel.storage.url import Url
from tfreel.threads import Turn, in_threads, thread_count

_MODES = ("auto", "memory", "rebuild", "require", "text")
_ITERATE_RECORDS = 1024
_HELD_BYTES = 100 << 20  # in each process: as much as anybody can spare
_MOST_OPEN_FILES = 64  # that batches made ahead keep, besides those of `Handles`
_MOST_SHARDS_AT_ONCE = 16  # of a store: they are waited for, and not worked at


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
    may inherit it, and it pickles as its files and options; a very large set with what is known of its files.

    Attributes:
        files: The files.
        faults: The damage that was passed over, where that was asked for.
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
        find = _Find(index, None if compression is None else codec_named(compression), on_corrupt)
        by_sidecars = on_corrupt == "raise" and index not in ("memory", "text")
        indexes = find_indexes(files, find, threads, by_sidecars=by_sidecars)
        self._set_up(files, indexes, [fault for file in files for fault in find.faults.get(file, ())])

    def _set_up(self, files: list[str], indexes: Indexes, faults: list[Fault]) -> None:
        self._parts: Sequence[Records] = ()  # if it is made of several, each with options of its own
        self.files = files
        self.faults = faults
        self._indexes = indexes
        self._remote = any(isinstance(file, Url) for file in files)
        self._fingerprint: str | None = None
        self._shards: tuple[int, _core.Shards] | None = None  # with the process they are of
        self._starts = np.concatenate([[0], np.cumsum(indexes.counts)])
        self._start_list: list[int] = self._starts.tolist()  # bisect is quicker on a list
        self._handles = Handles(files, indexes, thread_count(self._config["threads"]))

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
        for file, count in enumerate(self.counts()):
            start = 0
            while start < count:
                picks = np.arange(start, min(start + _ITERATE_RECORDS, count), dtype=np.uint64)
                records = self._handles.get(file).fetch(picks)
                start += len(records)
                yield from records

    def blocks(self) -> Iterator[_core.Block]:
        """All records in blocks: for callers that want no Python object per record."""
        if self._parts:
            yield from chain.from_iterable(part.blocks() for part in self._parts)
            return
        damaged = {fault.path for fault in self.faults}  # which was passed over, and is again
        for file in self.files:
            on_corrupt: OnCorrupt = "skip" if file in damaged else "raise"
            yield from read([file], compression=self._config["compression"], on_corrupt=on_corrupt).blocks()

    def views(self, positions: U64) -> tuple[list[_core.Block | bytes], U64 | None]:
        """The records at these positions, without an object for each where that is possible.

        Returns:
            Blocks, and bytes of compressed files, file by file; and where among all of their records the
            first, second, … of the positions is. None if they are in order already.
        """
        if len(self.files) == 1:
            return self._handles.get(0).views(positions), None
        groups = self._by_file(positions.astype(np.int64))

        def view(group: _Group, turn: Turn) -> list[_core.Block | bytes]:
            del turn
            return self._handles.get(group.file).views(group.picks)

        views = [view for part in in_threads(view, groups, self._at_once) for view in part]
        order = np.empty(len(positions), np.uint64)
        if groups:
            places = np.concatenate([group.places for group in groups])
            order[places] = np.arange(len(positions), dtype=np.uint64)
        return views, order

    @property
    def remote(self) -> bool:
        """Whether a file lies in a store, where it pays to ask for much at once."""
        return self._remote

    @property
    def in_groups(self) -> bool:
        """Whether it pays to ask for many at once: in a store, or if their indexes are not in memory."""
        return self._remote or not self._indexes.are_held

    @property
    def _at_once(self) -> int:
        return _MOST_SHARDS_AT_ONCE if self.remote else 1

    def pipeline(
        self, features: list[_core.FeatureSpec], *, sequences: bool, threads: int
    ) -> _core.Pipeline | None:
        """What reads and parses batches of these records in threads of its own.

        It opens the files itself, a few at a time, and shares them with others of these records.

        Returns:
            None if nothing is asked for, or if a file is compressed or not of this machine: it can do nothing
            about those. Nor about a set so large that its indexes are not in memory.
        """
        if not features or self.remote or not (self._indexes.are_plain and self._indexes.are_held):
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
            ],
            most_held=byte_count("TFREEL_HELD_BYTES", _HELD_BYTES),
            most_open=most_open_files(_MOST_OPEN_FILES),
        )

    def place(self, position: int) -> tuple[str, int, int]:
        """The file of a record, its number in that file, and its offset."""
        file = bisect.bisect_right(self._start_list, position) - 1
        record = position - self._start_list[file]
        return self.files[file], record, int(self._indexes[file].offsets[record])

    @property
    def nbytes(self) -> int:
        """The bytes of all records, with their frames."""
        return self._indexes.stream_bytes

    def lengths(self) -> U64:
        """How many bytes each record has."""
        return np.concatenate([np.empty(0, np.uint64), *(index.lengths for index in self._indexes)])

    def counts(self) -> list[int]:
        """How many records each file has."""
        counts: list[int] = self._indexes.counts.tolist()
        return counts

    def known(self) -> tuple[list[str], Sequence[FileIndex]]:
        """The files with their indexes, for `indexed`: to have these records elsewhere without a scan."""
        return self.files, self._indexes

    def fingerprint(self) -> str:
        """A hash of what the files hold, whatever their names and places."""
        if self._fingerprint is None:
            self._fingerprint = hashlib.sha256(self._indexes.fingerprints).hexdigest()[:16]
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
        if self._parts:
            return joined, (self._parts,)
        if self._indexes.are_promised:  # what the headers said is short, and what is not so is seen later
            return _made, (self.files, self._indexes, self._config, self.faults)
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
        found: list[bytes] = [b""] * len(positions)

        def take(group: _Group, turn: Turn) -> None:
            del turn
            records = self._fetch_from(group.file, group.picks)
            for place, record in zip(group.places.tolist(), records, strict=True):
                found[place] = record

        in_threads(take, self._by_file(positions), self._at_once)
        return found

    def _by_file(self, positions: npt.NDArray[np.int64]) -> list[_Group]:
        """The positions of each file that has some."""
        files = np.searchsorted(self._starts, positions, "right") - 1
        by_file = np.argsort(files, kind="stable")
        borders = np.flatnonzero(np.diff(files[by_file])) + 1
        groups = []
        for places in np.split(by_file, borders):
            if len(places):
                file = int(files[places[0]])
                picks = (positions[places] - self._start_list[file]).astype(np.uint64)
                groups.append(_Group(file, places, picks))
        return groups

    def _fetch_from(self, file: int, picks: U64) -> list[bytes]:
        handle = self._handles.get(file)
        records: list[bytes] = []
        while len(records) < len(picks):
            records += handle.fetch(picks[len(records) :])
        return records


class _Group(NamedTuple):
    """Those of some positions that are in one file."""

    file: int
    places: npt.NDArray[np.intp]  # among the positions
    picks: U64  # among the records of the file


@dataclass(frozen=True, slots=True)
class _Find:
    """How the index of a file is found."""

    mode: IndexMode
    codec: Codec | None
    on_corrupt: OnCorrupt
    faults: dict[str, list[Fault]] = field(default_factory=dict)  # of each file, that were passed over

    def __call__(self, path: str, turn: Turn, *, seen: bool) -> FileIndex:
        if self.on_corrupt != "raise":
            found, report = salvaged(path, self.on_corrupt, self.codec, turn=turn)
            self.faults[path] = report.faults
            return found
        return index_of(path, self.mode, self.codec, turn, seen=seen)


def joined(parts: Sequence[Records]) -> Records:
    """The records of all of them, as one sequence."""
    files = [file for part in parts for file in part.files]
    faults = [fault for part in parts for fault in part.faults]
    whole = _made(files, Indexes.joined([part._indexes for part in parts]), parts[0]._config, faults)
    whole._parts = parts
    return whole


def indexed(files: Sequence[str], indexes: Sequence[FileIndex]) -> Records:
    """The records of files whose indexes are there already: as many of them as these say."""
    config = {"index": "auto", "compression": None, "threads": None, "on_corrupt": "skip"}
    return _made(list(files), Indexes.of(list(files), indexes), config, [])


def _made(files: list[str], indexes: Indexes, config: dict[str, Any], faults: list[Fault]) -> Records:
    whole = Records.__new__(Records)
    whole._config = config
    whole._set_up(files, indexes, faults)
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
