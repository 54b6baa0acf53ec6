"""What was seen of one feature: values in, counts and ranges out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfreel.features.kinds import DType
from tfreel.inference.content import Content, content_of
from tfreel.inference.sample import Place

_MOST_WORDS = 4  # distinct texts that are kept: three to show, one to know that there are more
_LONGEST_WORD = 24


@dataclass(frozen=True, slots=True)
class FeatureProfile:
    """What was seen of one feature, in the records that were looked at.

    Attributes:
        name: Of the feature.
        records: Records that were looked at.
        absent: Those of them without the feature.
        empty: Lists without a value. In the feature lists of a SequenceExample every step has a list, in all
            other features every record.
        kinds: How many lists are of each kind, ``"int64"``, ``"float32"`` and ``"bytes"``.
        lengths: Of the shortest and the longest list; None if there is none.
        steps: The least and the most steps in a record, for feature lists only.
        values: The least and the greatest number; None without numbers. NaN and infinities do not count.
        not_finite: How many numbers are NaN or infinite.
        sizes: Bytes of the shortest and the longest bytes value.
        contents: What the bytes values are, ``"jpeg"``, ``"text"`` and so on, and how many.
        image_sizes: The least width and height of images, and the greatest.
        words: The texts, if they are few and short.
        array_dtype: Of arrays that are stored as bytes, if that can be told.
        array_shape: The shape of all these arrays, if they have one and it can be told.
        shape_from: The features that say the shape; empty if it is a guess, or the value says it itself.
    """

    name: str
    records: int
    absent: int
    empty: int
    kinds: Mapping[DType, int]
    lengths: tuple[int, int] | None = None
    steps: tuple[int, int] | None = None
    values: tuple[float, float] | None = None
    not_finite: int = 0
    sizes: tuple[int, int] | None = None
    contents: Mapping[str, int] = field(default_factory=dict)
    image_sizes: tuple[tuple[int, int], tuple[int, int]] | None = None
    words: tuple[str, ...] = ()
    array_dtype: str | None = None
    array_shape: tuple[int, ...] | None = None
    shape_from: tuple[str, ...] = ()


class Span:
    """The least and the greatest of some things."""

    __slots__ = ("ends",)

    def __init__(self) -> None:
        self.ends: tuple[Any, Any] | None = None

    def add(self, least: Any, most: Any) -> None:
        """Widens the span, if need be."""
        if self.ends is None:
            self.ends = least, most
        else:
            self.ends = min(self.ends[0], least), max(self.ends[1], most)


class Observer:
    """Sees the values of one feature, one list after the other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.present = 0
        self.empty = 0
        self.kinds: Counter[DType] = Counter()
        self.first_of_kind: dict[DType, Place] = {}
        self.first_of_content: dict[str, Place] = {}
        self.contents: Counter[str] = Counter()
        self.dtypes: set[str | None] = set()
        self.shapes: set[tuple[int, ...] | None] = set()
        self.present_in: Counter[str] = Counter()  # by file
        self.lengths_in: dict[str, Span] = {}
        self.lengths, self.steps, self.values, self.sizes = (Span() for _ in range(4))
        self.widths, self.heights = Span(), Span()
        self.not_finite = 0
        self.words: set[str] = set()

    def see(self, value: Any, place: Place) -> None:
        """Takes note of the list that one record has."""
        self.present += 1
        self.present_in[place.path] += 1
        self._look(value, place)

    def see_steps(self, steps: list[Any], place: Place) -> None:
        """Takes note of the lists that one record has, one for each step."""
        self.present += 1
        self.present_in[place.path] += 1
        self.steps.add(len(steps), len(steps))
        for value in steps:
            self._look(value, place)

    def _look(self, value: Any, place: Place) -> None:
        """Takes note of one list of values."""
        length = 0 if value is None else len(value)
        in_file = self.lengths_in.get(place.path)
        if in_file is None:
            in_file = self.lengths_in[place.path] = Span()
        in_file.add(length, length)
        self.empty += not length
        if value is None:
            return
        self.lengths.add(length, length)
        kind: DType = "bytes" if isinstance(value, list) else value.dtype.name
        if kind not in self.kinds:
            self.first_of_kind[kind] = place
        self.kinds[kind] += 1
        if kind == "bytes":
            for item in value:
                self._look_at_bytes(item, place)
        elif length:
            self._look_at_numbers(value)

    def _look_at_numbers(self, array: Any) -> None:
        least, most = array.min(), array.max()
        if not (math.isfinite(least) and math.isfinite(most)):
            finite = array[np.isfinite(array)]
            self.not_finite += len(array) - len(finite)
            if not len(finite):
                return
            least, most = finite.min(), finite.max()
        self.values.add(_as_written(least), _as_written(most))

    def _look_at_bytes(self, item: bytes, place: Place) -> None:
        content = content_of(item)
        if content.kind not in self.contents:
            self.first_of_content[content.kind] = place
        self.contents[content.kind] += 1
        self.sizes.add(len(item), len(item))
        if content.width and content.height:
            self.widths.add(content.width, content.width)
            self.heights.add(content.height, content.height)
        if content.kind in ("tensor", "npy"):
            self._look_at_array(content)
        if content.kind == "text" and len(self.words) < _MOST_WORDS:
            word = item.decode()
            self.words.add(word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…")

    def _look_at_array(self, content: Content) -> None:
        if len(self.dtypes) < 2:  # one is a fact, two are none
            self.dtypes.add(content.dtype)
        if len(self.shapes) < 2:
            self.shapes.add(content.shape)

    def profile(self, records: int) -> FeatureProfile:
        """All that was seen, in so many records."""
        widths, heights = self.widths.ends, self.heights.ends
        few = len(self.words) < _MOST_WORDS and all(len(word) <= _LONGEST_WORD for word in self.words)
        return FeatureProfile(
            name=self.name,
            records=records,
            absent=records - self.present,
            empty=self.empty,
            kinds=dict(self.kinds.most_common()),
            lengths=self.lengths.ends,
            steps=self.steps.ends,
            values=self.values.ends,
            not_finite=self.not_finite,
            sizes=self.sizes.ends,
            contents=dict(self.contents.most_common()),
            image_sizes=((widths[0], heights[0]), (widths[1], heights[1])) if widths and heights else None,
            words=tuple(sorted(self.words)) if few else (),
            array_dtype=next(iter(self.dtypes)) if len(self.dtypes) == 1 else None,
            array_shape=next(iter(self.shapes)) if len(self.shapes) == 1 else None,
        )


def _as_written(number: Any) -> float:
    """The number, a float32 as the shortest decimal that means it: 0.1, not 0.10000000149011612."""
    return float(str(number)) if number.dtype.kind == "f" else int(number)
