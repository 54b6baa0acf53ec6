"""Elements by the value of a feature: groups that stay together, classes that keep their share."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import SequenceBatch
from tfreel.columns.plan import no_such_feature
from tfreel.columns.strings import BytesColumn
from tfreel.dataset.node import Node
from tfreel.dataset.order import known, permutation
from tfreel.dataset.rows import Rows
from tfreel.inference import infer_features

_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class Groups:
    """Which element has which value.

    Attributes:
        values: The different values, as bytes: in order.
        codes: For each element, which of them it has.
    """

    values: list[bytes]
    codes: npt.NDArray[np.int64]

    def members(self) -> list[npt.NDArray[np.int64]]:
        """The elements of each value."""
        by_code = np.argsort(self.codes, kind="stable")
        return np.split(by_code, np.flatnonzero(np.diff(self.codes[by_code])) + 1) if len(by_code) else []


def rows_with(what: str, node: Node) -> Rows:
    """The records of a stage, of which the argument `what` wants to read a feature.

    Raises:
        TypeError: The stage has other elements.
    """
    rows = None if node.batched else node.source_rows
    if rows is None:
        raise TypeError(f"{what}= reads a feature of the records: use it before batch, map and the like")
    return rows


def groups_of(rows: Rows, feature: str) -> Groups:
    """Reads one feature of all elements, which must have a single value in each.

    Raises:
        KeyError: There is no such feature.
        ValueError: It is not a single value.
    """
    column = _column(rows, feature)
    values, codes = np.unique(column, return_inverse=True)
    # Numbers as they are written, so that a value has one name whatever file it is in.
    return Groups([_as_bytes(value) for value in values.tolist()], codes.ravel().astype(np.int64))


def numbers_of(rows: Rows, feature: str) -> npt.NDArray[Any]:
    """One feature of all elements, as numbers."""
    column = _column(rows, feature)
    if column.dtype.kind not in "iuf":
        raise ValueError(f"feature {feature!r} holds strings, not numbers")
    return column


def _as_bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else repr(value).encode()


def _column(rows: Rows, name: str) -> npt.NDArray[Any]:
    if not isinstance(name, str):
        raise TypeError(f"a feature is named by one text, not {name!r}")
    elements = rows.elements
    features = elements.features or {}
    if name not in features:  # it need not be among what the dataset gives
        features = infer_features(elements.records.files)
    if name not in features:
        raise KeyError(no_such_feature(name, features))
    only = replace(elements, features={name: features[name]})
    size = known(rows.order)
    chunks = (
        rows.order.at(np.arange(start, min(start + _AT_ONCE, size), dtype=np.uint64), 0)
        for start in range(0, size, _AT_ONCE)
    )
    parts = [_single(batch, name) for batch in only.batches(chunks)]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _single(batch: Any, name: str) -> npt.NDArray[Any]:
    column = (batch.context if isinstance(batch, SequenceBatch) else batch)[name]
    if isinstance(column, BytesColumn) and column.size == len(column):
        return np.array(BytesColumn(column.data, column.offsets).to_list(), object)
    if isinstance(column, np.ndarray) and column.size == len(column):
        return column.reshape(-1)
    raise ValueError(f"feature {name!r} must hold one value in each record")


def rest_of(fractions: Sequence[float]) -> float:
    """What fractions leave of all: nothing if they come to 1, but for what rounding makes of such a sum."""
    rest = 1 - float(sum(fractions))
    return 0.0 if abs(rest) <= 1e-9 else rest


def dealt_by_hash(groups: Groups, fractions: Sequence[float], seed: int) -> npt.NDArray[np.int64]:
    """For each element its part, decided by the hash of its value alone; one past the last for none."""
    key = (operator.index(seed) % (1 << 128)).to_bytes(16, "little")  # it may be NumPy's
    hashes = [hashlib.blake2b(value, digest_size=8, key=key).digest() for value in groups.values]
    shares = np.array([int.from_bytes(each, "little") / 2**64 for each in hashes])
    ends = np.cumsum(fractions).astype(np.float64)
    if rest_of(fractions) == 0:
        ends[np.flatnonzero(fractions)[-1] :] = np.inf
    parts = np.searchsorted(ends, shares, "right")
    return parts[groups.codes] if len(groups.values) else np.empty(0, np.int64)


def dealt_by_class(groups: Groups, fractions: Sequence[float], seed: int | None) -> npt.NDArray[np.int64]:
    """For each element its part, so that each part has its fraction of every class, as near as can be."""
    shares = np.array([*fractions, max(0.0, rest_of(fractions))])
    parts = np.empty(len(groups.codes), np.int64)
    owed = np.zeros(len(shares))  # what a part should have got so far, and did not
    for number, members in enumerate(groups.members()):
        owed += shares * len(members)
        counts = _apportioned(owed, len(members), shares)
        owed -= counts
        if seed is not None:
            order = permutation(len(members), seed, number)
            members = members[order.take(np.arange(len(members), dtype=np.uint64)).astype(np.int64)]
        parts[members] = np.repeat(np.arange(len(shares)), counts)
    return parts


def _apportioned(
    owed: npt.NDArray[np.float64], count: int, shares: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """So many members of a class, shared out by what is owed; a part that has no share gets none."""
    counts = np.floor(shares * count + 1e-9).astype(np.int64)
    rests = np.where(shares > 0, owed - counts, -np.inf)
    for _ in range(count - int(counts.sum())):
        most = int(np.argmax(rests))
        counts[most] += 1
        rests[most] -= 1
    return counts
