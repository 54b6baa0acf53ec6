"""Datasets for Grain: a source of rows by position. Grain itself is not needed to make one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns import BytesColumn, Ragged
from tfreel.dataset import Dataset
from tfreel.dataset.dataset import dataset_of
from tfreel.dataset.plan import signature

__all__ = ["Source", "collate"]


class Source:
    """A dataset as Grain's `RandomAccessDataSource`: ``grain.MapDataset.source(Source(ds))``.

    Let Grain shuffle, share out and batch the rows, and keep the state. Byte strings are `bytes`, and several
    of them an array of objects. Make batches with ``batch_fn=collate``: Grain's own function cuts zero bytes
    off the ends of strings.

    Its `repr` names data and plan, wherever they are: Grain compares it before it goes on from a state.

    Args:
        ds: What to read. It must know its positions.

    Example:
        >>> from tfreel.adapters.grain import Source
        >>> tfreel.save("numbers.tfrecord", {"x": range(10)})
        >>> source = Source(tfreel.Dataset("numbers.tfrecord"))
        >>> len(source), source[3]
        (10, {'x': np.int64(3)})
    """

    def __init__(self, ds: Dataset) -> None:
        dataset_of(ds)._require_positions("to be a source")
        len(ds)  # what has no end is for Grain to repeat
        self._ds = ds

    def __len__(self) -> int:
        return len(self._ds)

    def __getitem__(self, index: int) -> Any:
        return _plain(self._ds[index])

    def _getitems(self, indices: Sequence[int]) -> list[Any]:
        """Several rows at once, as Grain asks for them."""
        return [_plain(row) for row in self._ds.__getitems__(indices)]

    def __repr__(self) -> str:
        names = [name for _, name in signature(self._ds._node.stages())]
        plan = hashlib.sha256(json.dumps(names).encode()).hexdigest()[:12]
        return f"<{__name__}.Source of {len(self):,} rows, plan {plan}>"


def _plain(row: Any) -> Any:
    """A row whose values are leaves to Grain, which knows NumPy and no columns."""
    if isinstance(row, Mapping):
        return {name: _plain(value) for name, value in row.items()}
    return row.to_numpy() if isinstance(row, (BytesColumn, Ragged)) else row


def collate(rows: Sequence[Mapping[str, Any]]) -> dict[str, npt.NDArray[Any]]:
    """One batch of rows: for ``dataset.batch(n, batch_fn=collate)``.

    Values of one shape are stacked; byte strings, and arrays of different shapes, become arrays of objects.

    Example:
        >>> from tfreel.adapters.grain import collate
        >>> collate([{"x": 1, "name": b"cat"}, {"x": 2, "name": b"dog"}])
        {'x': array([1, 2]), 'name': array([b'cat', b'dog'], dtype=object)}
    """
    return {name: _stacked([row[name] for row in rows]) for name in rows[0]}


def _stacked(values: Sequence[Any]) -> npt.NDArray[Any]:
    if not any(isinstance(value, (bytes, str)) for value in values):
        arrays = [np.asarray(value) for value in values]
        if len({array.shape for array in arrays}) == 1:
            return np.stack(arrays)
    column = np.empty(len(values), object)
    for i, value in enumerate(values):
        column[i] = value
    return column
