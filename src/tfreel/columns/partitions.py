"""How the values of an example are cut into rows by other features of it: the partitions of RaggedFeature.

Everything works on all examples at once. What a record says about its rows is a claim: it is checked before
it is used, because offsets that lie are how a small file makes a program read outside of its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeAlias

import numpy as np

from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.strings import I64, BytesColumn
from tfreel.features.kinds import Partition, RaggedFeature

# Says which record is wrong, and how.
Refuse: TypeAlias = Callable[[int, str], NoReturn]


def cut_into_rows(
    values: Flat | Ragged,
    counts: I64,
    partition: Partition,
    keys: Ragged | None,
    splits: str,
    refuse: Refuse,
) -> tuple[Flat | Ragged, I64]:
    """The values of each example in rows, and how many rows each example has now.

    Args:
        values: Of all examples, one behind the other.
        counts: How many of them each example has.
        partition: How to cut.
        keys: The values of the feature that the partition names, a row for each example.
        splits: The dtype of row splits.
        refuse: Called with the number of an example whose claims do not fit.
    """
    if isinstance(partition, RaggedFeature.UniformRowLength):
        return _cut_evenly(values, counts, partition.length, splits, refuse)
    if keys is None:
        raise ValueError("a partition without its feature")
    lengths, rows = _METHODS[type(partition)](keys, counts, refuse)
    example = np.repeat(np.arange(len(rows)), rows)
    _require(lengths >= 0, example, refuse, "its rows run backwards")
    # One by one first: the sum of numbers that are too large can come out right.
    _require(lengths <= counts[example], example, refuse, "its rows do not add up to its values")
    totals = np.zeros(len(counts), np.int64)
    np.add.at(totals, example, lengths)
    _require(totals == counts, np.arange(len(counts)), refuse, "its rows do not add up to its values")
    return Ragged(values, _offsets(lengths), row_splits_dtype=splits), rows


def _cut_evenly(
    values: Flat | Ragged, counts: I64, length: int, splits: str, refuse: Refuse
) -> tuple[Flat | Ragged, I64]:
    _require(counts % length == 0, np.arange(len(counts)), refuse, f"its values do not fill rows of {length}")
    total = int(counts.sum()) // length
    rows = counts // length
    if isinstance(values, np.ndarray):
        return values.reshape(total, length, *values.shape[1:]), rows
    if isinstance(values, BytesColumn):
        return BytesColumn(values.data, values.offsets, (total, length, *values.shape[1:])), rows
    offsets = np.arange(total + 1, dtype=np.int64) * length
    return Ragged(values, offsets, row_splits_dtype=splits), rows


def _row_lengths(keys: Ragged, _counts: I64, _refuse: Refuse) -> tuple[I64, I64]:
    return _flat(keys), keys.lengths


def _row_splits(keys: Ragged, _counts: I64, refuse: Refuse) -> tuple[I64, I64]:
    splits, given = _flat(keys), keys.lengths
    begins = keys.offsets[:-1] - keys.offsets[0]
    some = given > 0
    _require(splits[begins[some]] == 0, np.flatnonzero(some), refuse, "its row splits do not begin with 0")
    return np.delete(_steps(splits), begins[some]), np.maximum(given - 1, 0)


def _row_limits(keys: Ragged, _counts: I64, _refuse: Refuse) -> tuple[I64, I64]:
    limits, given = _flat(keys), keys.lengths
    begins = (keys.offsets[:-1] - keys.offsets[0])[given > 0]
    lengths = _steps(limits)
    lengths[begins] = limits[begins]
    return lengths, given


def _row_starts(keys: Ragged, counts: I64, refuse: Refuse) -> tuple[I64, I64]:
    starts, given = _flat(keys), keys.lengths
    some = given > 0
    begins = (keys.offsets[:-1] - keys.offsets[0])[some]
    _require(starts[begins] == 0, np.flatnonzero(some), refuse, "its row starts do not begin with 0")
    lengths = np.append(np.diff(starts), 0)
    ends = (keys.offsets[1:] - keys.offsets[0])[some] - 1
    lengths[ends] = counts[some] - starts[ends]
    return lengths[: len(starts)], given


def _value_row_ids(keys: Ragged, counts: I64, refuse: Refuse) -> tuple[I64, I64]:
    ids, given = _flat(keys), keys.lengths
    every = np.arange(len(counts))
    _require(given == counts, every, refuse, "it has not one row id for each value")
    example = np.repeat(every, given)
    # Not many more rows than values, or one number could ask for any amount of memory.
    most = counts * _ROWS_PER_VALUE + _MORE_ROWS
    _require(ids < most[example], example, refuse, "its row ids leave out too many rows")
    _require(ids >= 0, example, refuse, "its row ids are not in order")
    steps = _steps(ids)
    begins = (keys.offsets[:-1] - keys.offsets[0])[given > 0]
    steps[begins] = ids[begins]
    _require(steps >= 0, example, refuse, "its row ids are not in order")
    ends = (keys.offsets[1:] - keys.offsets[0])[given > 0] - 1
    rows = np.zeros(len(counts), np.int64)
    rows[given > 0] = ids[ends] + 1
    first_row = _offsets(rows)[:-1]
    return np.bincount(np.repeat(first_row, given) + ids, minlength=int(rows.sum())).astype(np.int64), rows


_ROWS_PER_VALUE, _MORE_ROWS = 16, 256

_METHODS: dict[type, Callable[[Ragged, I64, Refuse], tuple[I64, I64]]] = {
    RaggedFeature.RowLengths: _row_lengths,
    RaggedFeature.RowSplits: _row_splits,
    RaggedFeature.RowLimits: _row_limits,
    RaggedFeature.RowStarts: _row_starts,
    RaggedFeature.ValueRowIds: _value_row_ids,
}


def _flat(keys: Ragged) -> I64:
    return np.asarray(keys.values[int(keys.offsets[0]) : int(keys.offsets[-1])], np.int64)


def _steps(values: I64) -> I64:
    """The difference of each value to the one before it; wraps at the ends of int64, and is checked later."""
    with np.errstate(over="ignore"):
        return np.diff(values, prepend=np.int64(0))


def _offsets(lengths: I64) -> I64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _require(
    good: np.ndarray[tuple[int], np.dtype[np.bool_]], example: I64, refuse: Refuse, why: str
) -> None:
    if not good.all():
        refuse(int(example[int(np.argmin(good))]), why)
