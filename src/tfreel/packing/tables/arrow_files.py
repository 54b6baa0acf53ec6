"""Parquet and Arrow IPC files (Feather). pyarrow reads them, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from tfreel.columns.arrow import Field
from tfreel.columns.arrow_import import Array, open_arrow
from tfreel.packing.source import digest
from tfreel.packing.tables.arrow_table import ArrowTable, Options
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display

__all__ = ["Options", "opened", "recognised"]

_SUFFIXES = (".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc")
_PART_BYTES = 1 << 22
_MOST_ROWS = 1 << 16
_BUFFER_BYTES = 1 << 20


def recognised(path: str) -> bool:
    """Whether it is called like one."""
    return path.lower().endswith(_SUFFIXES)


def opened(path: str, options: Options) -> ArrowFile:
    """The table in a file.

    Raises:
        ImportError: pyarrow is not installed.
        ValueError: It is no such file.
    """
    try:
        import pyarrow as pa  # noqa: F401 - better said now than after some work
    except ImportError:
        raise ImportError("Parquet and Arrow files need pyarrow: pip install 'tfreel[arrow]'") from None
    with closing(LocalFile(path)) as file:
        identity = digest(file.identity.size, file.identity.mtime_ns)
        magic = file.read(6, 0)
    is_parquet = magic.startswith(b"PAR1")

    def open_table(columns: Sequence[str] | None) -> tuple[Field, Iterator[Array]]:
        with _naming(path):
            field, arrays = open_arrow(_parquet(path, columns) if is_parquet else _ipc(path, magic))
        return field, _named(path, arrays)

    folder = os.path.dirname(os.path.abspath(path))
    return ArrowFile(open_table, options, folder=folder, identity=identity)


class ArrowFile(ArrowTable):
    """The table in a file."""

    kind = "parquet"


def _parquet(path: str, columns: Sequence[str] | None) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(path, memory_map=False, buffer_size=_BUFFER_BYTES)
    metadata = file.metadata
    groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    row_bytes = max(1, sum(groups) // max(1, metadata.num_rows))
    rows = min(_MOST_ROWS, max(1, _PART_BYTES // row_bytes))
    schema = file.schema_arrow
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in schema.names if name in columns])
    batches = file.iter_batches(rows, columns=None if columns is None else list(columns), use_threads=False)
    return pa.RecordBatchReader.from_batches(schema, batches)


def _ipc(path: str, magic: bytes) -> Any:
    import pyarrow as pa
    from pyarrow import ipc

    file = pa.OSFile(path)
    if magic != b"ARROW1":
        return ipc.open_stream(file)
    reader = ipc.open_file(file)
    batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    return pa.RecordBatchReader.from_batches(reader.schema, batches)


def _named(path: str, arrays: Iterator[Array]) -> Iterator[Array]:
    with _naming(path):
        yield from arrays


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Lets errors of the reader say which file it was."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, RuntimeError) as error:
        raise ValueError(f"{display(path)}: {error}") from None
