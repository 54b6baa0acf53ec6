"""ArrayRecord files: their records as they are, read by the package `array_record`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfreel.packing.formats.copied import CopiedStream
from tfreel.packing.formats.tfrecord import of_files
from tfreel.packing.source import Source
from tfreel.storage.paths import display

_SUFFIXES = (".array_record", ".arrayrecord")
_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be said about ArrayRecord files: nothing."""


def recognised(thing: Sequence[str] | str) -> bool:
    """Whether the files are called so, perhaps with the number of a shard."""
    paths = [thing] if isinstance(thing, str) else thing
    return all(any(suffix in path.lower() for suffix in _SUFFIXES) for path in paths)


def opened(thing: Sequence[str] | str, options: Options) -> Source:
    """The records of some files."""
    del options
    return CopiedStream(of_files("arrayrecord", [thing] if isinstance(thing, str) else thing), records_of)


def records_of(path: str) -> Iterator[list[bytes]]:
    """The records of a file, some at a time.

    Raises:
        ImportError: The package is not installed.
        ValueError: It cannot read the file.
    """
    reader = _reader(path)
    try:
        count = reader.num_records()
        for begin in range(0, count, _AT_ONCE):
            records = reader.read(begin, min(begin + _AT_ONCE, count))
            if len(records) != min(_AT_ONCE, count - begin):
                raise ValueError(f"{display(path)}: a record of those from {begin:,} on cannot be read")
            yield records
    finally:
        reader.close()


def _reader(path: str) -> Any:
    try:
        from array_record.python.array_record_module import ArrayRecordReader
    except ImportError as error:
        raise ImportError(
            f"ArrayRecord files are read by array_record: pip install array_record ({error})"
        ) from None
    reader = ArrayRecordReader(path)
    if not reader.ok():
        raise ValueError(f"{display(path)}: not a sound ArrayRecord file")
    return reader
