"""The walk along two rows of records, from one that both have to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfreel import _core
from tfreel.profile.alignment import U64, Alignment, align, common_prefix
from tfreel.profile.changes import Change, Content, Difference, Kind, described, differing
from tfreel.profile.pairs import pair_by_feature
from tfreel.profile.sides import Side

# How far is looked ahead for a record that the other side has too: at first, by how much more, and at most.
_FIRST_WINDOW = 256
_GROWTH = 8
_LARGEST_WINDOW = 1 << 16
_WINDOW_BYTES = 128 << 20
_ENOUGH = 4  # if one in so many records is found again, it is no chance


@dataclass(frozen=True, slots=True)
class _Gap:
    """What lies between two records that stayed: in A, in B, and which of it is only elsewhere."""

    a: list[int]
    b: list[int]
    moved: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Window:
    """The next records of both sides.

    Attributes:
        digests: Of each side.
        found: Which belong together.
        ends: How many of each side can be judged: the rest may belong to what comes behind the window.
    """

    digests: tuple[U64, U64]
    found: Alignment
    ends: tuple[int, int]

    def gaps(self) -> Iterator[_Gap]:
        """What lies between the records that stayed, before the first and behind the last."""
        partners = zip(self.found.moved_a.tolist(), self.found.moved_b.tolist(), strict=True)
        moved = {i: j for i, j in partners if i < self.ends[0] and j < self.ends[1]}
        arrived = set(moved.values())
        a = np.concatenate([[-1], self.found.a, [self.ends[0]]])
        b = np.concatenate([[-1], self.found.b, [self.ends[1]]])
        for k in np.flatnonzero((np.diff(a) > 1) | (np.diff(b) > 1)).tolist():
            in_a = range(int(a[k]) + 1, int(a[k + 1]))
            in_b = range(int(b[k]) + 1, int(b[k + 1]))
            yield _Gap(
                [i for i in in_a if i not in moved],
                [j for j in in_b if j not in arrived],
                [(i, moved[i]) for i in in_a if i in moved],
            )


class Walk:
    """Compares two sides from the front to the end.

    Args:
        a: The old records.
        b: The new ones.
        limit: How many changes to keep.
    """

    def __init__(self, a: Side, b: Side, limit: int) -> None:
        self._a = a
        self._b = b
        self._limit = limit
        self._found = Difference()
        self._contents: dict[tuple[bool, int], Content] = {}
        # Sums of the digests of all that did not stay where it was: equal, if nothing got lost or changed.
        self._sums = [np.zeros(2, np.uint64), np.zeros(2, np.uint64)]

    def to_end(self) -> Difference:
        """All that differs."""
        found = self._found
        while True:
            self._pass_equal_bytes()
            if self._a.finished and self._b.finished:
                break
            if not self._pass_equal_content():
                self._pass_window(self._look_ahead())
        found.records_a, found.records_b = self._a.records, self._b.records
        found.faults = [*self._a.faults, *self._b.faults]
        if not found.same and (self._sums[0] == self._sums[1]).all():
            # What is missing at one place is at another, further away than was looked.
            found.moved = found.records_a - found.equal
            found.changed = found.removed = found.added = 0
            found.changes = [change for change in found.changes if change.kind == "moved"]
            found.features = {}
        return found

    def _pass_equal_bytes(self) -> None:
        while (a := self._a.head()) is not None and (b := self._b.head()) is not None:
            count = _core.equal_records(*a, *b)
            self._found.equal += count
            self._a.drop(count)
            self._b.drop(count)
            if a[1] + count < len(a[0]) and b[1] + count < len(b[0]):
                return

    def _pass_equal_content(self) -> int:
        """Is done with the next records that say the same in other bytes; how many these were."""
        for side in (self._a, self._b):
            side.fill(_FIRST_WINDOW, _WINDOW_BYTES)
        count = min(_FIRST_WINDOW, self._a.ready, self._b.ready)
        count = common_prefix(self._a.digests(count), self._b.digests(count))
        self._found.equal += count
        self._found.reencoded += int((self._a.checks(count) != self._b.checks(count)).sum())
        self._a.drop(count)
        self._b.drop(count)
        return count

    def _look_ahead(self) -> _Window:
        """As many records as it takes to find some again."""
        sides = self._a, self._b
        size = _FIRST_WINDOW
        while True:
            for side in sides:
                side.fill(size, _WINDOW_BYTES)
            counts = min(size, self._a.ready), min(size, self._b.ready)
            digests = self._a.digests(counts[0]), self._b.digests(counts[1])
            found = align(*digests)
            all_seen = all(side.at_end and side.ready <= size for side in sides)
            enough = len(found.a) and _ENOUGH * len(found.a) >= min(counts)
            more = size < _LARGEST_WINDOW and any(side.ready >= size for side in sides)
            if all_seen or enough or not more:
                break
            size *= _GROWTH
        if all_seen:
            return _Window(digests, found, counts)
        if len(found.a):
            return _Window(digests, found, (int(found.a[-1]) + 1, int(found.b[-1]) + 1))
        return _Window(digests, found, self._ends_by_feature(counts))

    def _ends_by_feature(self, counts: tuple[int, int]) -> tuple[int, int]:
        """How many can be judged where all were changed: up to the last that is known by a feature."""
        pairs = self._pairs_by_feature(list(range(counts[0])), list(range(counts[1])))
        if not pairs or _ENOUGH * len(pairs) < min(counts):
            return counts
        return pairs[-1][0] + 1, pairs[-1][1] + 1

    def _pass_window(self, window: _Window) -> None:
        found = window.found
        checks = self._a.checks(window.ends[0]), self._b.checks(window.ends[1])
        self._found.equal += len(found.a)
        self._found.reencoded += int((checks[0][found.a] != checks[1][found.b]).sum())
        for side, stay in enumerate((found.a, found.b)):
            others = np.delete(window.digests[side][: window.ends[side]], stay, axis=0)
            self._sums[side] += others.sum(axis=0, dtype=np.uint64)
        for gap in window.gaps():
            for i, j in gap.moved:
                self._add("moved", i, j)
            self._judge(gap.a, gap.b)
        self._contents.clear()
        self._a.drop(window.ends[0])
        self._b.drop(window.ends[1])

    def _judge(self, a: list[int], b: list[int]) -> None:
        """Tells what was changed from what was taken out or put in, between two records that stayed."""
        changed = dict(self._pairs(a, b))
        known = set(changed.values())
        for i in a:
            self._add("changed" if i in changed else "removed", i, changed.get(i))
        for j in b:
            if j not in known:
                self._add("added", None, j)

    def _pairs(self, a: list[int], b: list[int]) -> list[tuple[int, int]]:
        """Which records are one thing with other values."""
        alone = len(a) == len(b) == 1
        pairs = [] if alone or not a or not b else self._pairs_by_feature(a, b)
        if len(a) == len(b) and 2 * len(pairs) < len(a):
            return list(zip(a, b, strict=True))
        return pairs

    def _pairs_by_feature(self, a: list[int], b: list[int]) -> list[tuple[int, int]]:
        old = [self._content(self._a, i) for i in a]
        new = [self._content(self._b, j) for j in b]
        return [(a[i], b[j]) for i, j in pair_by_feature(old, new, ordered=True)]

    def _content(self, side: Side, i: int) -> Content:
        """What a record of the window holds, decoded once."""
        key = side is self._a, i
        if key not in self._contents:
            self._contents[key] = Content(side.record(i))
        return self._contents[key]

    def _add(self, kind: Kind, i: int | None, j: int | None) -> None:
        found = self._found
        setattr(found, kind, getattr(found, kind) + 1)
        listed = len(found.changes) < self._limit
        if kind != "changed" and not listed:
            return
        old = None if i is None else self._content(self._a, i)
        new = None if j is None else self._content(self._b, j)
        names = differing(old, new) if kind == "changed" and old and new else []
        found.count(names)
        if listed:
            found.changes.append(
                Change(
                    kind,
                    None if i is None else self._a.place(i),
                    None if j is None else self._b.place(j),
                    described(old, new, names) if kind == "changed" and old and new else (),
                    "" if kind == "changed" else (old or new or Content(b"")).words(),
                )
            )
