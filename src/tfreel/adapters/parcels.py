"""Batches on their way from a worker process: one piece of bytes for all columns.

PyTorch sends every tensor by itself, through a shared file that both sides open and map. For a batch of many
small columns that takes longer than making it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tfreel.adapters.tensors import to_torch
from tfreel.columns import Batch, BytesColumn, Ragged, Sparse
from tfreel.dataset.cache_format import pack, unpack
from tfreel.dataset.report import DatasetReport

_MOST_BYTES = 1 << 20  # what is larger is better shared than sent


class Parcel:
    """A batch that arrives as its tensors, wherever it is unpickled."""

    __slots__ = ("_batch",)

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (pack(self._batch),)


class WorkerOutput(NamedTuple):
    """What a worker hands over: a batch, or nothing at the end, and what is new in its report."""

    batches: tuple[Any, ...]
    report: DatasetReport


def _opened(packed: bytes) -> Any:
    return to_torch(unpack(packed))


def for_sending(batch: Any) -> Any:
    """The batch as it is best sent to another process: as a parcel, or as tensors."""
    columns: Any = batch.values() if isinstance(batch, (Batch, Mapping)) else ()
    small = all(map(_is_numbers, columns)) and 0 < sum(column.nbytes for column in columns) <= _MOST_BYTES
    return Parcel(dict(batch)) if small or _is_sparse(columns) else to_torch(batch)


def _is_numbers(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "biufc"


def _is_sparse(columns: Any) -> bool:
    """Whether there are sparse tensors among them, which PyTorch sends with a warning."""
    return any(isinstance(column, Sparse) and column.has_positions for column in columns) and all(
        _is_numbers(column) or isinstance(column, (BytesColumn, Ragged, Sparse)) for column in columns
    )
