"""Which hashes differ in a few bits only, among any number of them.

Two hashes that differ in at most d bits agree wholly in at least one of d + 1 groups of bits. So the hashes
are sorted by each group in turn, and only those are compared that agree in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.profile.pictures import U64
from tfreel.threads import in_order

BITS = 128
_COMPARISONS_AT_ONCE = 1 << 22  # some milliseconds
_MOST_COMPARISONS = 1 << 36  # a minute or two: only hashes made to be compared need more


def near_pairs(hashes: U64, distance: int, threads: int) -> Iterator[npt.NDArray[np.int64]]:
    """First, second and distance of pairs that differ in at most so many bits, some at a time.

    Raises:
        OverflowError: It would take too long to find all of them.
    """
    comparisons = 0
    masks = _masks(distance + 1)
    for i, mask in enumerate(masks):
        keys = hashes & mask
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        limits = _run_ends(keys[order])
        work = np.cumsum(limits - np.arange(1, len(limits) + 1))
        comparisons += int(work[-1]) if len(work) else 0
        if comparisons > _MOST_COMPARISONS:
            raise OverflowError("too many hashes agree in too many bits")
        compare = partial(
            _core.near_pairs,
            np.ascontiguousarray(hashes[order]).reshape(-1),
            limits.astype(np.uint64),
            most=distance,
            seen=masks[:i].reshape(-1),
        )
        for words in in_order(_pieces(compare, work), threads):
            found = words.reshape(-1, 3).astype(np.int64)
            found[:, :2] = np.sort(order[found[:, :2]], axis=1)
            yield found


def _pieces(compare: Callable[..., U64], work: npt.NDArray[np.int64]) -> Iterator[Callable[[], U64]]:
    """The comparisons in parts of about one size."""
    begin = 0
    while begin < len(work):
        done = int(work[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(work, done + _COMPARISONS_AT_ONCE, "right")))
        yield partial(compare, begin=begin, end=end)
        begin = end


def _masks(groups: int) -> U64:
    """Groups of bits. Neighbours go to different groups: where a picture is plain, all their bits are 0."""
    bits = np.arange(BITS)
    chosen = np.array([bits % groups == group for group in range(groups)])
    return np.packbits(chosen, axis=1, bitorder="little").view(np.uint64).reshape(-1, 2)


def _run_ends(keys: U64) -> npt.NDArray[np.int64]:
    """For each of sorted keys, where those end that are equal to it."""
    borders = np.flatnonzero((keys[1:] != keys[:-1]).any(axis=1)) + 1
    ends = np.concatenate([borders, [len(keys)]])
    return np.repeat(ends, np.diff(np.concatenate([[0], ends])))
