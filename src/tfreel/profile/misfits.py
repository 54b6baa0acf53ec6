"""Whether records fit a feature that is asked for: outlines in, the records that do not out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.columns.parse import Picked, parse, parse_sequence
from tfreel.errors import FeatureError
from tfreel.features.kinds import (
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
)
from tfreel.inference.sample import Place
from tfreel.profile.asked import Asked
from tfreel.profile.outlines import CODES, KINDS, NO_KIND, Outline, Outlines

What: TypeAlias = Literal["missing", "kind", "count", "values"]


@dataclass(slots=True)
class Misfit:
    """In how many records a feature does not fit in one way, and which is the first.

    Attributes:
        what: In which way: it is missing, of another kind, of another number of values, or its values do not
            go together.
        records: In how many records.
        first: The first of them.
        found: What it holds.
    """

    what: What
    records: int
    first: Place
    found: str


class Check:
    """Counts the records that do not fit one feature."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.misfits: dict[What, Misfit] = {}

    def add(self, outlines: Outlines) -> None:
        """Looks at the records of one chunk."""
        feature = self.asked.feature
        if feature is None:
            return
        partitioned = isinstance(feature, RaggedFeature) and feature.partitions
        if isinstance(feature, SparseFeature) or partitioned:
            self._parse(feature, outlines)
        else:
            found = outlines.lists if self.asked.where == "lists" else outlines.features
            self._compare(feature, found[self.asked.key], outlines)

    def _compare(self, feature: Feature, outline: Outline, outlines: Outlines) -> None:
        # As parsing has it: in the context a fixed feature without a kind is one without values, and so is
        # a step without a kind; elsewhere a feature without a kind is none.
        fixed_context = self.asked.where == "context" and isinstance(feature, FixedLenFeature)
        kindless_is_empty = self.asked.where == "lists" or fixed_context
        kinds, counts, rows = outline.kinds, outline.counts, outline.unit_rows
        right = kinds == CODES[feature.dtype]
        if kindless_is_empty:
            right |= kinds == NO_KIND
        if _is_required(feature):
            lacking = outlines.good.copy()
            lacking[outline.rows if kindless_is_empty else outline.present_rows] = False
            self._note("missing", np.flatnonzero(lacking), outlines, "")
        wrong = np.flatnonzero((kinds != NO_KIND) & ~right)
        if len(wrong):
            self._note("kind", rows[wrong], outlines, KINDS[int(kinds[wrong[0]])])
        uneven = np.flatnonzero(right & _is_uneven(feature, counts, in_lists=self.asked.where == "lists"))
        if len(uneven):
            count = int(counts[uneven[0]])
            self._note("count", rows[uneven], outlines, f"{count:,} value{'' if count == 1 else 's'}")

    def _note(self, what: What, rows: npt.NDArray[Any], outlines: Outlines, found: str) -> None:
        """Takes note of rows that do not fit, in order, perhaps one several times."""
        if not len(rows):
            return
        count = len(np.unique(rows))
        known = self.misfits.get(what)
        if known is None:
            self.misfits[what] = Misfit(what, count, outlines.chunk.place(int(rows[0])), found)
        else:
            known.records += count

    def _parse(self, feature: Feature, outlines: Outlines) -> None:
        """Tries it: whether values go together can be told only from them."""
        rows = np.flatnonzero(outlines.good)
        if self._error(feature, outlines.chunk.picked(rows)) is None:
            return
        for row in rows:
            why = self._error(feature, outlines.chunk.picked(np.array([row])))
            if why is not None:
                self._note("values", np.array([row]), outlines, why)

    def _error(self, feature: Feature, records: Picked) -> str | None:
        asked = {self.asked.name: feature}
        try:
            if self.asked.where == "example":
                parse(records, asked)
            elif self.asked.where == "context":
                parse_sequence(records, asked)
            else:
                parse_sequence(records, None, asked)
        except FeatureError as error:
            return str(error)
        return None


def _is_required(feature: Feature) -> bool:
    if isinstance(feature, FixedLenFeature):
        return feature.default_value is None
    return isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing


def _is_uneven(feature: Feature, counts: npt.NDArray[np.uint32], *, in_lists: bool) -> npt.NDArray[np.bool_]:
    """Which lists have a number of values that is not asked for."""
    uneven = np.zeros(len(counts), np.bool_)
    if isinstance(feature, FixedLenFeature) or (in_lists and isinstance(feature, FixedLenSequenceFeature)):
        uneven = np.not_equal(counts, math.prod(feature.shape))
    elif isinstance(feature, FixedLenSequenceFeature):
        uneven = np.not_equal(counts % math.prod(feature.shape), 0)
    return uneven


def asked_count(feature: Feature) -> str:
    """How many values are asked for, in words."""
    if isinstance(feature, RaggedFeature):
        return "any number"
    size = math.prod(getattr(feature, "shape", ()))
    shape = list(getattr(feature, "shape", ()))
    return f"{size:,}" if len(shape) < 2 else f"{size:,} (for {shape})"
