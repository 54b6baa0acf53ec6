"""`tfreel.ShardedWriter`: one stream of records over many files that appear together."""

from __future__ import annotations

import errno
import glob
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn, Self

from tfreel import _core
from tfreel.columns.table import Columns, encode_columns
from tfreel.compression import checked_level, codec_named, codec_to_write
from tfreel.records.payloads import Record, as_bytes, batches, note_number
from tfreel.records.targets import Mode
from tfreel.records.write import Writer
from tfreel.storage.manifest import MANIFEST_SUFFIX, Shard, manifest_of
from tfreel.storage.names import PathLike
from tfreel.storage.paths import display, shard_name, split_suffix
from tfreel.storage.places import exists, matching, named_like, remove, size_of
from tfreel.storage.publish import forget_index, new_file, sync_directory
from tfreel.storage.url import Url, place
from tfreel.threads import renew_after_fork

_MEMORY_BYTES = 1 << 26
_SMALLEST_BUFFER_BYTES = 1 << 13
_LARGEST_BUFFER_BYTES = 1 << 18
_FRAME_BYTES = 16


class ShardedWriter:
    """Writes records to a set of files named ``train-00000-of-00008.tfrecord`` and so on.

    Say either how many (``shards``: records are dealt out in turn) or how large (``max_records``,
    ``max_bytes``: files are filled one after the other). No file appears before all are complete; a manifest
    beside them, written last, says so. `tfreel.read` takes the same path and finds them.

    Args:
        path: The name without its shard number, as in ``out/train.tfrecord``.
        shards: Number of files.
        max_records: Records in each file, at the most.
        max_bytes: Bytes of records in each file, before compression, at the most (a larger record gets a file
            of its own).
        mode: ``"x"`` fails if the set exists, ``"w"`` replaces it, old shards included. Both fail if one file
            has this name, which would be read in place of the set.
        compression: As in `Writer`.
        level: As in `Writer`.
        durable: As in `Writer`.

    Example:
        >>> with tfreel.ShardedWriter("out/train.tfrecord", shards=2) as out:
        ...     out.write_many([b"a", b"b", b"c"])
        >>> sorted(os.listdir("out"))
        ['train-00000-of-00002.tfrecord', 'train-00001-of-00002.tfrecord', 'train.tfrecord.manifest.json']
        >>> list(tfreel.read("out/train.tfrecord"))
        [b'a', b'c', b'b']
    """

    def __init__(
        self,
        path: PathLike,
        *,
        shards: int | None = None,
        max_records: int | None = None,
        max_bytes: int | None = None,
        mode: Mode = "x",
        compression: str | None = None,
        level: int | None = None,
        durable: bool = True,
    ) -> None:
        given = {"shards": shards, "max_records": max_records, "max_bytes": max_bytes}
        chosen = {name: value for name, value in given.items() if value is not None}
        if len(chosen) != 1:
            raise ValueError(f"say one of shards=, max_records= and max_bytes=, not {len(chosen)} of them")
        name, value = next(iter(chosen.items()))
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or value < 1
            or (shards is not None and value >= 100_000)
        ):
            raise ValueError(
                f"{name} must be a whole number from 1 on (below 100,000 for shards), not {value!r}"
            )
        if mode not in ("x", "w"):
            raise ValueError(f'mode must be "x" or "w", not {mode!r}')
        self.path = place(path)
        self.paths: list[str] = []
        self._prefix, self._suffix = split_suffix(self.path)
        self._replace = mode == "w"
        self._durable = durable
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._codec = codec_to_write(self.path) if compression is None else codec_named(compression)
        self._level = checked_level(level)
        self._writers: list[Writer] = []
        self._named: list[str] = []  # what to take away again if the set does not become whole
        self._sealed = 0
        self._filled_bytes = 0
        self._turn = 0
        self._open = True
        self._failure: Exception | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()  # which file is next is decided by one thread at a time
        renew_after_fork(self)
        refuse_file(self.path)
        if not self._replace:
            self._refuse_existing()
        # Open from the beginning, for its lock: one writer at a time for one set, however it is cut up.
        self._manifest = new_file(self.path + MANIFEST_SUFFIX, replace=self._replace, durable=durable)
        try:
            for index in range(shards or 1):
                self._add_writer(index, shards or 1)
        except BaseException:
            self.abort()
            raise

    def _add_writer(self, index: int, count: int) -> None:
        # The name is a stand-in where the number of shards is not known yet; publishing gives the true one.
        name = self._shard(index, count)
        file = new_file(name, replace=self._replace, durable=self._durable, alone=index == 0)
        buffer_bytes = max(_SMALLEST_BUFFER_BYTES, min(_LARGEST_BUFFER_BYTES, _MEMORY_BYTES // count))
        self._writers.append(Writer._of_shard(file, name, self._codec, self._level, buffer_bytes))

    def _shard(self, index: int, count: int) -> str:
        return named_like(self.path, shard_name(self._prefix, index, count, self._suffix))

    @property
    def records_written(self) -> int:
        """Records taken so far."""
        return sum(writer.records_written for writer in self._writers)

    def write(self, record: Record) -> None:
        """Adds one record, to the file whose turn it is."""
        payload = as_bytes(record)
        with _Turn(self):
            if self._max_records is None and self._max_bytes is None:
                self._writers[self._turn].write(payload)
                self._turn = (self._turn + 1) % len(self._writers)
                return
            if self._is_full(len(payload)):
                self._start_next()
            self._writers[-1].write(payload)
            self._filled_bytes += len(payload) + _FRAME_BYTES

    def write_many(self, records: Iterable[Record]) -> None:
        """Adds many records, faster than one by one."""
        for numbers, batch in batches(records):
            with _Turn(self):
                if self._max_bytes is not None:
                    self._write_each(numbers, batch)
                elif self._max_records is not None:
                    self._fill_in_turn(numbers, batch, self._max_records)
                else:
                    self._deal_out(numbers, batch)

    def write_block(self, block: _core.Block) -> None:
        """Adds the records of a block that a reader gave out."""
        self.write_many(block.to_list())

    def write_batch(self, columns: Columns) -> None:
        """Adds the rows of columns, as `Writer.write_batch` does."""
        for block in encode_columns(columns):
            self.write_block(block)

    def _write_each(self, numbers: range, batch: list[Record]) -> None:
        before = self.records_written
        try:
            for record in batch:
                self.write(record)
        except (TypeError, ValueError) as error:
            note_number(error, numbers[self.records_written - before])
            raise

    def _deal_out(self, numbers: range, batch: list[Record]) -> None:
        count = len(self._writers)
        for i in range(min(count, len(batch))):
            self._writers[(self._turn + i) % count]._write_list(numbers[i::count], batch[i::count])
        self._turn = (self._turn + len(batch)) % count

    def _fill_in_turn(self, numbers: range, batch: list[Record], max_records: int) -> None:
        done = 0
        while done < len(batch):
            if self._is_full(0):
                self._start_next()
            room = max_records - self._writers[-1].records_written
            self._writers[-1]._write_list(numbers[done : done + room], batch[done : done + room])
            done += room

    def _is_full(self, length: int) -> bool:
        current = self._writers[-1].records_written
        if self._max_records is not None:
            return current >= self._max_records
        return current > 0 and self._filled_bytes + length + _FRAME_BYTES > (self._max_bytes or 0)

    def _start_next(self) -> None:
        self._writers[-1]._seal()
        self._sealed += 1
        self._filled_bytes = 0
        self._add_writer(len(self._writers), len(self._writers) + 1)

    def flush(self, *, sync: bool = False) -> None:
        """Hands everything written so far to the system; with ``sync`` returns when it is on the disk."""
        with _Turn(self):
            for writer in self._writers[self._sealed :]:
                writer.flush(sync=sync)

    def close(self) -> None:
        """Completes all files and gives them their names, the manifest last. Closing twice is fine."""
        with self._lock:
            if not self._open:
                if self._failure is not None:
                    raise self._failure
                return
            try:
                for writer in self._writers[self._sealed :]:
                    writer._seal()
                self._publish()
            except BaseException as error:
                self._give_up(error)
                raise
            self._open = False

    def _give_up(self, error: BaseException) -> None:
        """Remembers the first failure: a set that cannot be whole is no set."""
        self._failure = error if isinstance(error, Exception) else RuntimeError("the writer was interrupted")
        self.abort()

    def _publish(self) -> None:
        if self._replace:
            self._remove_old()
        else:
            self._refuse_existing()
        count = len(self._writers)
        shards = []
        for index, writer in enumerate(self._writers):
            path = self._shard(index, count)
            self._give_name(writer._publish, path)
            shards.append(Shard(os.path.basename(path), writer.records_written, size_of(path)))
        self._manifest.write(manifest_of(shards))
        self._give_name(self._manifest.publish, self.path + MANIFEST_SUFFIX)
        self.paths = self._named[:-1]

    def _give_name(self, publish: Callable[[str], None], path: str) -> None:
        if self._replace:  # the old file is gone: whatever has this name from here on is ours
            self._named.append(path)
            publish(path)
        else:
            publish(path)
            self._named.append(path)

    def _refuse_existing(self) -> None:
        refuse_set(self.path)

    def _remove_old(self) -> None:
        old = files_of_set(self.path)
        for path in old:
            remove(path)
            forget_index(path)
        if old and self._durable and not isinstance(self.path, Url):
            sync_directory(os.path.dirname(self.path) or ".")

    def abort(self) -> None:
        """Removes what was written."""
        with self._lock:
            if not self._open or self._process != os.getpid():
                return
            self._open = False
            for abort in (*(writer.abort for writer in self._writers), self._manifest.abort):
                with suppress(OSError):
                    abort()
            for path in reversed(self._named):
                with suppress(OSError):
                    remove(path)

    def after_fork(self) -> None:
        """Gives the child a lock that nobody holds; to write is up to the parent."""
        self._lock = threading.RLock()

    def _check_open(self) -> None:
        if self._failure is not None:
            raise self._failure
        if not self._open:
            raise ValueError("the writer is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __del__(self) -> None:
        if hasattr(self, "_manifest") and self._open and self._process == os.getpid():
            if not sys.is_finalizing():
                warnings.warn(
                    f"writer of {display(self.path)!r} was never closed: its files are dropped",
                    ResourceWarning,
                    stacklevel=2,
                )
            self.abort()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a writer cannot be pickled: it stands for files that only one process may write")

    def __repr__(self) -> str:
        return f"<tfreel.ShardedWriter of {display(self.path)!r}, {self.records_written} records written>"


class _Turn:
    """The right to write to an open set, of one thread at a time. A failure of the system ends the set."""

    __slots__ = ("_lock", "_writer")

    def __init__(self, writer: ShardedWriter) -> None:
        self._writer = writer
        self._lock = writer._lock

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._writer._check_open()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if isinstance(error, OSError):
                self._writer._give_up(error)
        finally:
            self._lock.release()


def files_of_set(path: str) -> list[str]:
    """The files that there are of a set of shards: its manifest, and the shards of whatever number."""
    prefix, suffix = split_suffix(path)
    pattern = f"{glob.escape(prefix)}-*-of-*{glob.escape(suffix)}"
    shard = re.compile(rf"{re.escape(prefix)}-\d{{5,}}-of-\d{{5,}}{re.escape(suffix)}")
    manifest = path + MANIFEST_SUFFIX
    found = matching(named_like(path, pattern), shard.pattern)
    shards = sorted(path for path in found if shard.fullmatch(path))
    # The manifest comes first: without it the set counts as incomplete.
    return ([manifest] if exists(manifest) else []) + shards


def refuse_set(path: str) -> None:
    """Makes sure that there is no such set.

    Raises:
        FileExistsError: There is.
    """
    if old := files_of_set(path):
        raise FileExistsError(
            f'{display(old[0])}: the set exists already, {len(old)} files of it; mode="w" replaces it'
        )


def refuse_file(path: str) -> None:
    """Makes sure that no file has the name of a set: readers would take it, and not the shards.

    Raises:
        FileExistsError: One has.
    """
    if exists(path) and (isinstance(path, Url) or not os.path.isdir(path)):
        raise FileExistsError(
            errno.EEXIST,
            "is one file, which would be read in place of the set; remove it, or give the set another name",
            display(path),
        )
