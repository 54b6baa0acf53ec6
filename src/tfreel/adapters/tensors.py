"""Rows and batches as tensors of PyTorch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfreel.adapters.needs import needs
from tfreel.columns import Batch, BytesColumn, Ragged, SequenceBatch, Sparse

try:
    import torch
except ModuleNotFoundError as error:
    raise needs("PyTorch", "torch") from error


_MOST_DENSE = 10_000_000  # byte strings that are made of a few at positions


class Jagged(NamedTuple):
    """Rows of any length: two tensors, however many rows there are.

    A list of tensors would be slower, and across worker processes every one of them would take an open file.

    Attributes:
        values: The values of all rows, one behind the other; a Jagged itself for rows of rows.
        offsets: Where each row begins in `values`, and at last where the last one ends.
    """

    values: Any
    offsets: Any

    def rows(self) -> list[Any]:
        """The rows, each as a tensor; rows of rows as lists of them."""
        if isinstance(self.values, Jagged):
            inner = self.values.rows()
            return [inner[begin:end] for begin, end in pairwise(self.offsets.tolist())]
        return list(torch.tensor_split(self.values, self.offsets[1:-1].cpu()))

    def padded(self, value: float = 0) -> Any:
        """The rows as one tensor, filled up to the longest. Rows of rows: `Dataset.batch` can pad them.

        Raises:
            ValueError: The values are whole numbers, and `value` is none.
        """
        if not self.values.is_floating_point() and not float(value).is_integer():
            raise ValueError(f"rows of {self.values.dtype} cannot be filled up with {value}")
        return torch.nn.utils.rnn.pad_sequence(self.rows(), batch_first=True, padding_value=value)

    def nested(self) -> Any:
        """The rows as a nested tensor of PyTorch, without a copy."""
        return torch.nested.nested_tensor_from_jagged(self.values, self.offsets)


def to_torch(element: Any) -> Any:
    """What a dataset gives, with tensors in place of arrays. Numbers are not copied.

    Columns and dicts become dicts. Arrays of numbers become tensors, and columns of rows of any length
    become `Jagged`. Numbers at positions, those of a `SparseFeature`, become sparse tensors. Byte strings
    have no tensor: they stay `bytes`, in lists. Tuples and lists go member by member; anything else stays as
    it is.
    """
    if isinstance(element, (Batch, Mapping)):
        return {name: to_torch(value) for name, value in element.items()}
    if isinstance(element, (np.ndarray, np.generic)):
        return _tensor(np.asarray(element))
    if isinstance(element, BytesColumn):
        return element.to_list()
    if isinstance(element, Sparse):
        return _sparse(element) if element.has_positions else to_torch(element.to_ragged())
    if isinstance(element, Ragged):
        return _jagged(element)
    if isinstance(element, (tuple, SequenceBatch)):
        return tuple(map(to_torch, element))
    return list(map(to_torch, element)) if isinstance(element, list) else element


def _tensor(array: npt.NDArray[Any]) -> Any:
    if array.dtype.kind not in "biufc":
        return to_torch(array.tolist())
    # Tensors can be written to, have no negative strides, and know only the byte order of this machine.
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return torch.from_numpy(np.require(native, requirements=["C", "W"]))


def _sparse(column: Sparse) -> Any:
    if isinstance(column.values, BytesColumn):
        if math.prod(column.dense_shape) > _MOST_DENSE:
            raise ValueError(
                f"byte strings at positions in a shape of {list(column.dense_shape)}: there are no sparse"
                " tensors of strings; map the column to what the model needs"
            )
        return to_torch(column.to_dense())
    column.check()
    indices = to_torch(np.ascontiguousarray(column.indices.T))
    return torch.sparse_coo_tensor(
        indices, to_torch(column.values), column.dense_shape, check_invariants=True
    )


def _jagged(column: Ragged) -> Any:
    if isinstance(column.flat_values, BytesColumn):
        return column.to_list()
    rows = column.trimmed()
    return Jagged(to_torch(rows.values), to_torch(rows.offsets))


def collate(rows: Sequence[Any]) -> Any:
    """One batch of the rows that `Dataset` gives: for ``DataLoader(batch_size=…, collate_fn=collate)``.

    Tensors of one shape are stacked, of different lengths become `Jagged`; byte strings and all else become
    lists, where PyTorch's own function takes them apart or gives up. Dicts and tuples go member by member.
    """
    first = rows[0]
    if isinstance(first, Mapping):
        return {name: collate([row[name] for row in rows]) for name in first}
    if isinstance(first, tuple):
        return tuple(map(collate, zip(*rows, strict=True)))
    if all(isinstance(row, torch.Tensor) for row in rows):
        return _stacked(rows)
    if all(type(row) in (bool, int, float) for row in rows):
        return torch.tensor(rows)
    return list(rows)


def _stacked(rows: Sequence[Any]) -> Any:
    if len({row.shape for row in rows}) == 1:
        return torch.stack(list(rows))
    if len({row.shape[1:] for row in rows}) > 1 or any(row.ndim == 0 for row in rows):
        return list(rows)  # nothing better can hold tensors of any shape
    lengths = torch.tensor([0, *map(len, rows)])
    return Jagged(torch.cat(list(rows)), lengths.cumsum(0))
