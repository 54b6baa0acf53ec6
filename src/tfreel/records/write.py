"""`tfreel.Writer`: records in, a sound TFRecord file out, or nothing at all."""

from __future__ import annotations

import io
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, BinaryIO, NoReturn, Self

from tfreel import _core
from tfreel.columns.table import Columns, encode_columns
from tfreel.compression import Codec, Deflater, checked_level, codec_named, codec_to_write
from tfreel.examples.encode import encoder
from tfreel.records.payloads import Record, as_bytes, batches, note_number
from tfreel.records.targets import Mode, OpenStream, Target, open_target
from tfreel.storage.names import PathLike
from tfreel.storage.paths import display
from tfreel.storage.publish import forget_index
from tfreel.storage.url import place

_BUFFER_BYTES = 1 << 18
_LARGE_BYTES = 1 << 15  # from here on a copy costs more than a system call
_INTERRUPTED = "the writer was interrupted in the middle of a write; its file will not appear"


class Writer:
    """Writes records to a TFRecord file.

    The file appears under its name when the ``with`` block ends well, complete and on disk. An exception, a
    crash or a dropped writer leaves no file, or the old one as it was. Threads may share a writer: records of
    each stay in their order.

    Args:
        path: Where to write; missing directories are made. Or a URL; or an open binary file, which is written
            to as it is and left open.
        mode: ``"x"`` fails if the file exists, ``"w"`` replaces it, ``"a"`` adds to it (in place; the file
            must be sound).
        compression: ``"gzip"``, ``"zlib"`` or ``"none"``; by default told from the suffix (``.gz``,
            ``.zlib``).
        level: 0 to 9 as in zlib; by default a fast one.
        durable: Return from ``close`` only when the file is safely on the disk.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord.gz") as out:
        ...     out.write(b"one")
        ...     out.write_many([b"two", b"three"])
        >>> list(tfreel.read("numbers.tfrecord.gz"))
        [b'one', b'two', b'three']
        >>> with tfreel.Writer("train.tfrecord") as out:  # a mapping becomes a tf.train.Example
        ...     out.write({"label": 7, "name": "cat"})
        >>> tfreel.decode(next(tfreel.read("train.tfrecord")))
        {'label': array([7]), 'name': [b'cat']}
    """

    def __init__(
        self,
        path: PathLike | BinaryIO,
        *,
        mode: Mode = "x",
        compression: str | None = None,
        level: int | None = None,
        durable: bool = True,
    ) -> None:
        if mode not in ("x", "w", "a"):
            raise ValueError(f'mode must be "x", "w" or "a", not {mode!r}')
        checked_level(level)
        codec = None if compression is None else codec_named(compression)
        if isinstance(path, (str, bytes, os.PathLike)):
            name = place(path)
            codec = codec or codec_to_write(name)
            self._begin(open_target(name, mode, codec, durable=durable), name, codec, level)
        elif isinstance(path, io.TextIOBase):
            raise TypeError('expected a file opened in binary mode, as in open(path, "wb")')
        elif hasattr(path, "write"):
            self._begin(OpenStream(path), str(getattr(path, "name", "<stream>")), codec or "none", level)
        else:
            raise TypeError(f"expected a path or an open binary file, got {type(path).__name__}")

    def _begin(
        self, file: Target, path: str, codec: Codec, level: int | None, buffer_bytes: int = _BUFFER_BYTES
    ) -> None:
        # Whoever finds the buffer full, or taken, waits here. What fits into it needs no lock.
        self._lock = threading.RLock()
        self.path = path
        self.records_written = 0
        self._file: Target | None = file
        self._failure: Exception | None = None
        self._frames = _core.FrameBuffer(buffer_bytes)
        self._append: Callable[[Any], bool] = self._frames.append
        self._refuse: Callable[[object], NoReturn] | None = None  # set when the writer is of no use any more
        self._deflater = None if codec == "none" else Deflater(codec, level)
        _open_writers.add(self)

    @classmethod
    def _of_shard(cls, file: Target, path: str, codec: Codec, level: int | None, buffer_bytes: int) -> Self:
        """A writer of one file of a set: the set decides when it is published, and under which name."""
        writer = cls.__new__(cls)
        writer._begin(file, path, codec, level, buffer_bytes)
        return writer

    @property
    def is_open(self) -> bool:
        """Whether it can still be written to: it was not closed, and nothing failed."""
        return self._refuse is None

    def write(self, record: Record) -> None:
        """Adds one record: bytes, a mapping to `encode`, or anything with ``SerializeToString``.

        Raises:
            TypeError: It is none of these; or, like ValueError, as in `encode`. Nothing is written then.
            OSError: The system failed to write. The writer is of no use any more, and its file will not
                appear.
        """
        if type(record) is not bytes:
            record = as_bytes(record)
        if not self._append(record):
            self._write_past(record)
        self.records_written += 1

    def write_many(self, records: Iterable[Record]) -> None:
        """Adds many records, faster than one by one.

        Raises:
            TypeError: As in `write`, with a note on which of them it is; those before it are written.
            OSError: As in `write`.
        """
        for numbers, batch in batches(records):
            self._write_list(numbers, batch)

    def _write_list(self, numbers: range, records: list[Record]) -> None:
        """Adds records, of which the caller knows each by a number."""
        taken = 0
        while taken < len(records):
            before = taken
            with self._lock:
                self._check_usable()
                taken = self._frames.append_many(records, taken, encoder)
                self.records_written += taken - before
            if taken < len(records):
                try:
                    self.write(records[taken])
                except (TypeError, ValueError) as error:
                    note_number(error, numbers[taken])
                    raise
                taken += 1

    def write_block(self, block: _core.Block) -> None:
        """Adds the records of a block that a reader gave out, as they are framed there.

        Example:
            >>> with tfreel.Writer("numbers.tfrecord") as out:
            ...     out.write_many([b"one", b"two", b"three"])
            >>> with tfreel.Writer("copy.tfrecord.gz") as out:
            ...     for block in tfreel.read("numbers.tfrecord").blocks():
            ...         out.write_block(block)
            >>> list(tfreel.read("copy.tfrecord.gz"))
            [b'one', b'two', b'three']
        """
        with self._lock:
            self._check_usable()
            self._drain()
            if (descriptor := self._direct_descriptor) >= 0:
                try:
                    block.write_to(descriptor, to_disk=getattr(self._file, "durable", False))
                except OSError as error:
                    self._fail(error)
            else:
                with _Sticky(self):
                    self._put(block.frames())
            self.records_written += len(block)

    def write_batch(self, columns: Columns) -> None:
        """Adds the rows of columns, each as an Example.

        Args:
            columns: A mapping from names to columns, such as a `Batch`, or a data frame or table that exports
                Arrow data. A column is an array whose first dimension counts the rows, a list with an element
                for each row, or a `Ragged`, `Sparse` or `BytesColumn`. A row whose value is None, or
                the NaT of a column of times, lacks the feature.

        Raises:
            TypeError: A column cannot be a feature; nothing is written.
            ValueError: Columns differ in length, or a value does not fit; nothing is written.

        Example:
            >>> with tfreel.Writer("table.tfrecord") as out:
            ...     out.write_batch({"x": [[1.0, 2.0], [3.0, 4.0]], "label": [0, 1]})
            >>> tfreel.decode(tfreel.open("table.tfrecord")[1])
            {'label': array([1]), 'x': array([3., 4.], dtype=float32)}
        """
        for block in encode_columns(columns):
            self.write_block(block)

    def _write_past(self, record: bytes | bytearray | memoryview) -> None:
        """Adds a record for which the buffer has no room left, or never has."""
        with self._lock:
            self._check_usable()  # another thread may have had its turn
            self._drain()
            if len(record) < _LARGE_BYTES and self._append(record):
                return
            if (descriptor := self._direct_descriptor) >= 0:
                try:
                    _core.write_frame(descriptor, record)
                except OSError as error:
                    self._fail(error)
            else:
                with _Sticky(self):
                    self._put(_core.frame(record))

    @property
    def _direct_descriptor(self) -> int:
        """Where framed bytes go as they are, or -1 where they do not."""
        return -1 if self._file is None or self._deflater is not None else self._file.descriptor

    def _drain(self) -> None:
        if not len(self._frames):
            return
        if (descriptor := self._direct_descriptor) >= 0:
            # The core writes all or fails: whatever else comes in between, such as Ctrl-C, does no harm.
            try:
                self._frames.drain_to(descriptor)
            except OSError as error:
                self._fail(error)
        else:
            with _Sticky(self):
                self._put(self._frames.take())

    def _put(self, data: bytes) -> None:
        """Sends framed bytes on their way, through the codec."""
        self._send(data if self._deflater is None else self._deflater.compress(data))

    def _send(self, data: bytes) -> None:
        if data and self._file is not None:
            self._file.write(data)

    def flush(self, *, sync: bool = False) -> None:
        """Hands everything written so far to the system; with ``sync`` returns when it is on the disk.

        The file still appears under its name only at the end. After a crash, `tfreel.repair` gets what was
        flushed out of the temporary file.
        """
        with self._lock:
            self._check_usable()
            self._drain()
            with _Sticky(self):
                if self._deflater is not None:
                    self._send(self._deflater.flush())
                if self._file is not None:
                    self._file.sync() if sync else self._file.flush()

    def close(self) -> None:
        """Completes the file and gives it its name. Closing twice is fine.

        Raises:
            OSError: Something failed, now or before. There is no file then, or the old one as it was.
        """
        with self._lock:
            if self._refuse is _closed:
                return
            self._seal()
            self._publish()

    def _seal(self) -> None:
        """Writes all that is left to write."""
        self._check_usable()
        self._append = _waits  # what came into the buffer from now on would be lost
        self._drain()
        with _Sticky(self):
            if self._deflater is not None:
                self._send(self._deflater.finish())
            if self._file is not None:
                self._file.seal()

    def _publish(self, path: str | None = None) -> None:
        with _Sticky(self):
            if self._file is not None:
                self._file.publish(path)
        self._retire(_closed)
        forget_index(path or self.path)

    def abort(self) -> None:
        """Removes what was written, as if the writer had never been opened."""
        with self._lock:
            file = self._file
            if file is not None:
                self._retire(_closed)
                file.abort()

    def _retire(self, refuse: Callable[[object], NoReturn]) -> None:
        """Makes every further use an error."""
        self._file = None
        self._append = self._refuse = refuse
        _open_writers.discard(self)

    def _check_usable(self) -> None:
        if self._refuse is not None:
            self._refuse(b"")

    def _fail(self, error: BaseException) -> NoReturn:
        """Remembers the first failure: nothing may be published, or tried again, after it."""
        if isinstance(error, OSError) and error.filename is None:
            error.filename = display(self.path)
        self._failure = error if isinstance(error, Exception) else RuntimeError(_INTERRUPTED)
        file = self._file
        self._retire(self._raise_failure)
        if file is not None:
            with suppress(OSError):  # the first failure is the one to tell
                file.abort()
        raise error

    def _raise_failure(self, record: object) -> NoReturn:
        del record
        assert self._failure is not None  # noqa: S101 - what set this method set the failure
        raise self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            if not sys.is_finalizing():
                warnings.warn(
                    f"writer of {display(self.path)!r} was never closed: its file is dropped",
                    ResourceWarning,
                    stacklevel=2,
                )
            self.abort()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a writer cannot be pickled: it stands for one file that only one process may write")

    def __repr__(self) -> str:
        return f"<tfreel.Writer of {display(self.path)!r}, {self.records_written} records written>"


class _Sticky:
    """Turns the first error inside it into the writer's last word: bytes may be lost that it had taken."""

    __slots__ = ("_writer",)

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:
            self._writer._fail(error)


def _waits(record: object) -> bool:
    """Sends whoever writes to the lock: there it learns how the writer ended."""
    del record
    return False


def _closed(record: object) -> NoReturn:
    del record
    raise ValueError("the writer is closed")


def _forked(record: object) -> NoReturn:
    del record
    raise RuntimeError(
        "this writer was opened before the process forked; only the process that opened it may write"
    )


# A child of fork inherits open writers. If it wrote, or closed them on its way out, it would spoil its
# parent's files: so its copies are made useless before it can.
_open_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _disown_writers() -> None:
    for writer in list(_open_writers):
        writer._lock = threading.RLock()  # the thread that had it is not in the child
        writer._retire(_forked)


os.register_at_fork(after_in_child=_disown_writers)
