"""What records hold, without their values: outlines of the core in, facts about each feature out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.features.kinds import DType
from tfreel.inference.profile import FeatureProfile, Span
from tfreel.inference.sample import Place
from tfreel.profile.chunks import Chunk

NO_KIND = 0
KINDS: dict[int, DType] = {1: "bytes", 2: "float32", 3: "int64"}
CODES: dict[DType, int] = {kind: code for code, kind in KINDS.items()}
MOST_OTHERS = 1000  # names that nobody asked about


@dataclass(frozen=True, slots=True)
class Outline:
    """What the records of a chunk hold of one feature, or of one feature list.

    Attributes:
        rows: The records that have it.
        kinds: The kind of each list, as a key of `KINDS`, or 0: one for each row; of feature lists one for
            each step.
        counts: How many values each of these lists has.
        steps: Of feature lists, how many steps each row has; None of other features.
    """

    rows: npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.uint32] | None

    @property
    def unit_rows(self) -> npt.NDArray[np.uint32]:
        """The row of each list."""
        return self.rows if self.steps is None else np.repeat(self.rows, self.steps)

    @property
    def present_rows(self) -> npt.NDArray[np.uint32]:
        """The rows that have the feature, as parsing means it: a feature without a kind is none."""
        return self.rows if self.steps is not None else self.rows[self.kinds != NO_KIND]


@dataclass(frozen=True, slots=True)
class Outlines:
    """What the records of a chunk hold.

    Attributes:
        chunk: The records.
        features: By name.
        lists: Feature lists, by name.
        unlisted: How often there was a feature whose name there was no room for.
        bad: Records that are no messages: row, and why.
        good: The rows that are.
    """

    chunk: Chunk
    features: dict[str, Outline]
    lists: dict[str, Outline]
    unlisted: int
    bad: list[tuple[int, str]]
    good: npt.NDArray[np.bool_]

    def absent(self, outline: Outline) -> npt.NDArray[np.intp]:
        """The good rows without this feature."""
        lacking = self.good.copy()
        lacking[outline.present_rows] = False
        return np.flatnonzero(lacking)


def outlines_of(chunk: Chunk, features: Sequence[str], lists: Sequence[str], *, sequences: bool) -> Outlines:
    """What the records hold of these features, and of at most `MOST_OTHERS` others."""
    found, found_lists, unlisted, bad = _core.outline(
        chunk.blocks, features, lists, sequences=sequences, most_others=MOST_OTHERS, order=chunk.order()
    )
    good = np.ones(chunk.rows, np.bool_)
    good[[row for row, _, _ in bad]] = False
    return Outlines(
        chunk,
        {name: Outline(rows, kinds, counts, None) for name, rows, kinds, counts, _ in found},
        {name: Outline(rows, kinds, counts, steps) for name, rows, kinds, counts, steps in found_lists},
        unlisted,
        [(row, f"{why} at byte {byte}") for row, byte, why in bad],
        good,
    )


class Seen:
    """What was seen of one feature in all chunks so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.present = 0
        self.empty = 0
        self.kinds: Counter[DType] = Counter()
        self.first_of_kind: dict[DType, Place] = {}
        self.lengths, self.steps = Span(), Span()

    def add(self, outline: Outline, chunk: Chunk) -> None:
        """Takes note of one chunk."""
        self.present += len(outline.present_rows)
        kinds, counts = outline.kinds, outline.counts
        if outline.steps is not None and len(outline.steps):
            self.steps.add(int(outline.steps.min()), int(outline.steps.max()))
        told = kinds != NO_KIND
        # A step without a kind is a step without values; elsewhere it is no feature at all.
        self.empty += int(np.count_nonzero(counts[told] == 0)) + (
            int(np.count_nonzero(~told)) if outline.steps is not None else 0
        )
        for code, kind in KINDS.items():
            of_kind = np.flatnonzero(kinds == code)
            if len(of_kind):
                self.kinds[kind] += len(of_kind)
                self.first_of_kind.setdefault(kind, chunk.place(int(outline.unit_rows[of_kind[0]])))
                lengths = counts[of_kind]
                self.lengths.add(int(lengths.min()), int(lengths.max()))

    def profile(self, records: int) -> FeatureProfile:
        """All that was seen, in so many records."""
        return FeatureProfile(
            name=self.name,
            records=records,
            absent=records - self.present,
            empty=self.empty,
            kinds=dict(self.kinds.most_common()),
            lengths=self.lengths.ends,
            steps=self.steps.ends,
        )


class Survey:
    """What was seen of all features, those of the records and those of their feature lists.

    Args:
        features: Names that there must be room for.
        lists: The same, of feature lists.
    """

    def __init__(self, features: Iterable[str] = (), lists: Iterable[str] = ()) -> None:
        self.records = 0  # good ones
        self.bad = 0
        self.first_bad: tuple[Place, str] | None = None
        self.unlisted = 0
        self.features = {name: Seen(name) for name in features}
        self.lists = {name: Seen(name) for name in lists}
        self._most = len(self.features) + MOST_OTHERS, len(self.lists) + MOST_OTHERS

    def add(self, outlines: Outlines) -> None:
        """Takes note of one chunk."""
        self.records += int(np.count_nonzero(outlines.good))
        self.bad += len(outlines.bad)
        self.unlisted += outlines.unlisted
        if outlines.bad and self.first_bad is None:
            row, why = outlines.bad[0]
            self.first_bad = outlines.chunk.place(row), why
        found = (self.features, outlines.features), (self.lists, outlines.lists)
        for (seen, here), most in zip(found, self._most, strict=True):
            for name, outline in here.items():
                if name in seen or (len(outline.rows) and len(seen) < most):
                    seen.setdefault(name, Seen(name)).add(outline, outlines.chunk)

    def profiles(self, *, in_lists: bool = False) -> dict[str, FeatureProfile]:
        """What was seen of each, by name; also of those that were never seen, if there is room for them."""
        seen = self.lists if in_lists else self.features
        return {name: each.profile(self.records) for name, each in sorted(seen.items())}
