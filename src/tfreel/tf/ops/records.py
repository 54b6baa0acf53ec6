"""`tf.io.TFRecordWriter` and its options, and the iterator of the first generation."""

from __future__ import annotations

import errno
import os
import warnings
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from tfreel.errors import TfreelError, TfreelWarning
from tfreel.records.read import Reader
from tfreel.records.write import Writer
from tfreel.tf.errors import FailedPreconditionError, NotFoundError, as_tensorflow, translated


class TFRecordCompressionType:
    """How records are compressed, in numbers."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How records are written. Only the compression and its level make a difference to files.

    Args:
        compression_type: ``"GZIP"``, ``"ZLIB"``, ``""`` or None; or one of `TFRecordCompressionType`.
        flush_mode: Kept as it is, like all others but the level.
        compression_level: From 0 to 9; -1 for what zlib takes by itself, None for a fast one.

    Raises:
        ValueError: There is no such compression.
    """

    compression_type_map: ClassVar[dict[int, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression that options, or one of its other names, mean: ``""``, ``"GZIP"`` or ``"ZLIB"``.

        Raises:
            ValueError: There is no such compression.
        """
        while isinstance(options, TFRecordOptions):
            options = options.compression_type
        if not options:
            return ""
        name = cls.compression_type_map.get(options, options) if isinstance(options, int) else options
        if isinstance(name, str) and name in cls.compression_type_map.values():
            return name
        hint = ' (the names are "GZIP" and "ZLIB")' if isinstance(name, str) else ""
        raise ValueError(f'Not a valid compression_type: "{options}"{hint}')


class TFRecordWriter:
    """Writes records to a TFRecord file; an old file of that name is replaced.

    The file has its name when the writer is closed, or its ``with`` block ends well; else there is none.

    Args:
        path: Where to write. Its folder must be there.
        options: `TFRecordOptions`, or the name of a compression.

    Raises:
        NotFoundError: The folder is not there.
        FailedPreconditionError: The path is a folder.

    Example:
        >>> with tf.io.TFRecordWriter("numbers.tfrecord") as writer:
        ...     writer.write(b"one")
        >>> [record.numpy() for record in tf.data.TFRecordDataset("numbers.tfrecord")]
        [b'one']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        name = _path(path)
        codec = TFRecordOptions.get_compression_type_string(options)
        _drop_earlier(name)
        with as_tensorflow():
            self._writer = Writer(name, mode="w", compression=codec.lower() or "none", level=_level(options))
        # At the end of the program too, where `__del__` might come too late to be heard.
        self._dropped = weakref.finalize(self, _drop, self._writer)
        _OPEN[os.path.abspath(name)] = self

    def write(self, record: Any) -> None:
        """Adds a record: bytes, or text, which is encoded as UTF-8.

        Raises:
            TypeError: It is neither.
            FailedPreconditionError: The writer is closed.
        """
        if type(record) is not bytes:
            record = _bytes(record)
        self._check_open()
        try:
            self._writer.write(record)
        except (TfreelError, OSError) as error:
            raise translated(error) from error

    def flush(self) -> None:
        """Hands everything written so far to the system. The file still appears at the end only."""
        self._check_open()
        with as_tensorflow():
            self._writer.flush()

    def close(self) -> None:
        """Completes the file and gives it its name. Closing twice is fine."""
        self._dropped.detach()
        with as_tensorflow():
            self._writer.close()

    def _check_open(self) -> None:
        if not self._dropped.alive:
            raise FailedPreconditionError("Writer is closed.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._dropped.detach()
            self._writer.abort()

    def __repr__(self) -> str:
        return (
            f"<tf.io.TFRecordWriter of {self._writer.path!r}, {self._writer.records_written} records written>"
        )


# The writers by their paths, for who begins anew without having closed: a cell of a notebook, run again.
_OPEN: weakref.WeakValueDictionary[str, TFRecordWriter] = weakref.WeakValueDictionary()


def _drop_earlier(path: str) -> None:
    earlier = _OPEN.get(os.path.abspath(path))
    if earlier is not None:
        earlier._dropped()


def _drop(writer: Writer) -> None:
    """Says that a writer was not closed. What it wrote may be half of something, and gets no name."""
    if writer.is_open:
        warnings.warn(
            f"the TFRecordWriter of {writer.path!r} was never closed, so its {writer.records_written} records"
            ' are dropped: call writer.close(), or write in a "with" block',
            TfreelWarning,
            stacklevel=2,
        )
        writer.abort()


def _path(path: Any) -> str:
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    name = os.fsdecode(path)
    folder = os.path.dirname(os.path.expanduser(name)) or "."
    if not os.path.isdir(folder):
        missing = FileNotFoundError(errno.ENOENT, f"there is no folder {folder!r}", name)
        raise NotFoundError(
            f"{name}; No such file or directory: {folder!r} does not exist; create it first"
        ) from missing
    return name


_USUAL_LEVEL = 6  # what zlib means by -1


def _level(options: Any) -> int | None:
    level = None
    while isinstance(options, TFRecordOptions):
        level = options.compression_level if level is None else level
        options = options.compression_type
    return _USUAL_LEVEL if level == -1 else level


def _bytes(record: Any) -> bytes | bytearray | memoryview:
    """A record that is not `bytes`.

    Raises:
        TypeError: It cannot be one.
    """
    if isinstance(record, str):
        return record.encode()
    if isinstance(record, bytes):  # NumPy's
        return bytes(record)
    if isinstance(record, (bytearray, memoryview)):
        return record
    raise TypeError(f"a record must be bytes or str, not {type(record).__name__}{_advice(record)}")


def _advice(record: Any) -> str:
    if hasattr(record, "SerializeToString"):
        return ": write(message.SerializeToString())"
    if isinstance(record, dict):
        return ": make a tf.train.Example of it, or let tfreel.encode do so"
    if hasattr(record, "numpy"):
        return ": write(tensor.numpy()) if it is one string, or tf.io.serialize_tensor(tensor).numpy()"
    if hasattr(record, "tobytes"):
        return ": put record.tobytes() into a BytesList of a tf.train.Example, together with its shape"
    return ""


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """`tf.python_io.tf_record_iterator`: the records of a file, as bytes.

    Raises:
        NotFoundError: There is no such file.
        FailedPreconditionError: It is a folder.
        DataLossError: It is damaged; this comes when all records before have been given.
    """
    codec = TFRecordOptions.get_compression_type_string(options)
    name = os.fsdecode(path)
    if os.path.isdir(name):
        raise FailedPreconditionError(f"{name}; Is a directory")
    with as_tensorflow():
        return _Records(Reader(name, compression=codec.lower() or None))


class _Records(Iterator[bytes]):
    """An iterator whose errors are TensorFlow's."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __next__(self) -> bytes:
        try:
            return next(self._reader)
        except (TfreelError, OSError) as error:
            raise translated(error) from error
