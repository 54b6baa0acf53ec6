"""Which item goes where: into which split, at which place, in which shard. All of it is arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
import numpy.typing as npt

from tfreel.dataset.group_by import Groups, dealt_by_class, dealt_by_hash
from tfreel.dataset.order import permutation
from tfreel.packing.report import FRAME_BYTES
from tfreel.packing.source import Listing, digest
from tfreel.storage.paths import shard_name

Indices = npt.NDArray[np.int64]

SHARD_BYTES = 256_000_000


@dataclass(frozen=True, slots=True)
class Layout:
    """How items are laid out.

    Attributes:
        split: The fraction of each split; None keeps the splits that the source has.
        seed: Of all that is random.
        shuffle: Put the records of each split into random order.
        shards: How many files each split has; None goes by their size.
        shard_bytes: About how large a file gets.
    """

    split: Mapping[str, float] | None = None
    seed: int = 0
    shuffle: bool = True
    shards: int | None = None
    shard_bytes: int = SHARD_BYTES

    def __post_init__(self) -> None:
        if self.split is not None:
            _check_fractions(self.split)
        if self.shards is not None and not 1 <= self.shards < 100_000:
            raise ValueError(f"shards must be from 1 to 99,999, not {self.shards}")
        if self.shards is not None and self.shard_bytes != SHARD_BYTES:
            raise ValueError("say how many shards there are, or how large they get, not both")
        if self.shard_bytes < 1:
            raise ValueError(f"shard_bytes must be at least 1, not {self.shard_bytes}")

    def identity(self) -> str:
        """What changes when the layout does."""
        fractions = None if self.split is None else list(self.split.items())
        return digest(fractions, self.seed, self.shuffle, self.shards, self.shard_bytes)

    def laid_out(self, listing: Listing, by: Grouping | None, suffix: str) -> list[Shard]:
        """All shards, and the items in each."""
        parts = self._splits(listing, by)
        # Records may have to be made for their sizes: not where these decide nothing.
        sizes = (listing.record_sizes() if self.shards is None else listing.sizes()) + FRAME_BYTES
        shards = []
        for number, (split, members) in enumerate(parts.items()):
            if self.shuffle:
                order = permutation(len(members), self.seed, number + 1)
                members = members[order.take(np.arange(len(members), dtype=np.uint64)).astype(np.int64)]
            count = self._shard_count(len(members), int(sizes[members].sum()))
            for index, chunk in enumerate(np.array_split(members, count)):
                shards.append(Shard(split, shard_name(split, index, count, suffix), chunk))
        return shards

    def _shard_count(self, records: int, total_bytes: int) -> int:
        wanted = math.ceil(total_bytes / self.shard_bytes) if self.shards is None else self.shards
        return max(1, min(wanted, records))

    def _splits(self, listing: Listing, by: Grouping | None) -> dict[str, Indices]:
        if self.split is None:
            return _own_splits(listing.splits())
        fractions = list(self.split.values())
        if by is None:
            parts = _dealt(listing.count, fractions, self.seed)
        elif by.together:
            parts = dealt_by_hash(by.groups, fractions, self.seed)
        else:
            parts = dealt_by_class(by.groups, fractions, self.seed)
        return {name: np.flatnonzero(parts == number) for number, name in enumerate(self.split)}


@dataclass(frozen=True, slots=True)
class Grouping:
    """Items by a value: those with the same one stay together, or are shared out in proportion."""

    groups: Groups
    together: bool


@dataclass(frozen=True, slots=True)
class Shard:
    """One file to be written.

    Attributes:
        split: The split it belongs to.
        name: Of the file.
        items: Which items are in it, in the order of their records.
    """

    split: str
    name: str
    items: Indices


def _check_fractions(split: Mapping[str, float]) -> None:
    if not isinstance(split, Mapping):
        example = '{"train": 0.8, "val": 0.2}'
        raise TypeError(f"split must say the fraction of each split, as in {example}, not {split!r}")
    for name, fraction in split.items():
        if not isinstance(fraction, Real) or isinstance(fraction, bool):
            raise TypeError(f"the fraction of the split {name!r} must be a number, not {fraction!r}")
    # NaN is neither more nor less than anything.
    if not split or min(split.values()) < 0 or not abs(sum(split.values()) - 1) <= 1e-6:
        parts = ", ".join(f"{name}={fraction:g}" for name, fraction in split.items())
        raise ValueError(f"the fractions of splits must add up to 1: {parts or 'there are none'}")
    for name in split:
        check_split_name(name)


def check_split_name(name: str) -> None:
    """Refuses what cannot be part of a file name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a split must be text, not {name!r}")
    if not name or not all(letter.isalnum() or letter in "_-." for letter in name) or name[0] in ".-":
        raise ValueError(f"a split may be called by letters, digits, '_', '-' and '.', not {name!r}")


def _own_splits(splits: Sequence[str | None]) -> dict[str, Indices]:
    """What the source says. All is for training where it says nothing."""
    if not any(splits):
        return {"train": np.arange(len(splits))}
    members: dict[str, list[int]] = {}
    for index, split in enumerate(splits):
        members.setdefault(split or "train", []).append(index)
    known = {"train": 0, "val": 1, "test": 2}
    ordered = sorted(members, key=lambda name: (known.get(name, 3), name))
    return {name: np.array(members[name], np.int64) for name in ordered}


def _dealt(count: int, fractions: Sequence[float], seed: int) -> Indices:
    """For each item its part, by exact count."""
    order = permutation(count, seed, 0).take(np.arange(count, dtype=np.uint64)).astype(np.int64)
    bounds = np.floor(np.cumsum(fractions) / sum(fractions) * count + 0.5).astype(np.int64)
    parts = np.empty(count, np.int64)
    parts[order] = np.searchsorted(bounds, np.arange(count), "right")
    return parts
