"""How the values of a feature are distributed: columns in, a few bars out, in little memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfreel.inference.content import content_of, is_text
from tfreel.viewer.shown import number

if TYPE_CHECKING:
    from tfreel.profile.figures import Numbers
    from tfreel.profile.statistics import FeatureStatistics

_FINE_BARS = 4096
_BARS = 24
_MOST_DISTINCT = 10_000
_TOP = 12
_LONGEST_WORD = 80


class NumberBars:
    """Counts numbers in narrow bars, which become wider as the range grows."""

    def __init__(self) -> None:
        self._counts: npt.NDArray[np.int64] | None = None
        self._low = 0.0
        self._width = 1.0
        self._whole = True
        self._distinct: Counter[Any] | None = Counter()
        self.count = self.not_finite = 0
        self._total = 0.0
        self._least: Any = None
        self._greatest: Any = None

    def add(self, values: npt.NDArray[Any]) -> None:
        """Counts some numbers."""
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        self.not_finite += len(values) - len(finite)
        if not len(finite):
            return
        least, greatest = finite.min(), finite.max()
        self._least = least if self._least is None else min(self._least, least)
        self._greatest = greatest if self._greatest is None else max(self._greatest, greatest)
        self.count += len(finite)
        self._total += float(finite.sum(dtype=np.float64))
        self._whole = self._whole and values.dtype.kind in "iu"
        self._count_distinct(finite)
        numbers = finite.astype(np.float64)
        self._make_room(float(least), float(greatest))
        bars = ((numbers - self._low) / self._width).astype(np.int64)
        counts = np.bincount(np.clip(bars, 0, _FINE_BARS - 1), minlength=_FINE_BARS)
        self._counts = counts if self._counts is None else self._counts + counts

    def _count_distinct(self, finite: npt.NDArray[Any]) -> None:
        if self._distinct is None:
            return
        found, counts = np.unique(finite, return_counts=True)
        self._distinct.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        if len(self._distinct) > _MOST_DISTINCT:
            self._distinct = None

    def _make_room(self, least: float, greatest: float) -> None:
        """Widens the bars, two becoming one, until they hold these."""
        if self._counts is None:
            span = greatest - least
            # Whole numbers keep bars of their own as long as there are few enough of them.
            self._width = 1.0 if self._whole and span < _FINE_BARS / 2 else max(span, 1e-30) * 2 / _FINE_BARS
            self._low = least
            return
        while least < self._low or greatest >= self._low + self._width * _FINE_BARS:
            pairs = self._counts.reshape(-1, 2).sum(axis=1)
            empty = np.zeros(_FINE_BARS // 2, np.int64)
            if least < self._low:
                self._low -= self._width * _FINE_BARS
                self._counts = np.concatenate([empty, pairs])
            else:
                self._counts = np.concatenate([pairs, empty])
            self._width *= 2

    def result(self) -> dict[str, Any]:
        """The bars, from the least to the greatest number."""
        if self._counts is None:
            return {"kind": "numbers", "count": 0, "not_finite": self.not_finite, "bars": []}
        return {
            "kind": "numbers",
            "count": self.count,
            "not_finite": self.not_finite,
            "least": number(self._least),
            "greatest": number(self._greatest),
            "mean": number(self._total / self.count),
            "distinct": None if self._distinct is None else len(self._distinct),
            "bars": self._few() or self._bars(),
        }

    def _few(self) -> list[dict[str, Any]] | None:
        """A bar for each number, if there are few."""
        if self._distinct is None or len(self._distinct) > _BARS:
            return None
        few = sorted(self._distinct.items())
        return [{"value": number(value), "count": count} for value, count in few]

    def _bars(self) -> list[dict[str, Any]]:
        assert self._counts is not None  # noqa: S101 - for mypy: `result` asks first
        used = np.flatnonzero(self._counts)
        first, last = int(used[0]), int(used[-1]) + 1
        each = -(-(last - first) // _BARS)
        bars = []
        for start in range(first, last, each):
            low = self._low + start * self._width
            bars.append(
                {
                    "from": number(low),
                    "to": number(low + each * self._width),
                    "count": int(self._counts[start : start + each].sum()),
                }
            )
        return bars


class ByteBars:
    """Counts bytes values: texts by what they say, everything else by what it is."""

    def __init__(self) -> None:
        self._words: Counter[bytes] = Counter()
        self._contents: Counter[str] = Counter()
        self._sizes: Counter[str] = Counter()
        self._more = False
        self.count = 0

    def add(self, values: list[bytes]) -> None:
        """Counts some values."""
        self.count += len(values)
        for value in values:
            content = content_of(value)
            kind = content.kind
            self._contents[kind] += 1
            if content.width and content.height and len(self._sizes) < _MOST_DISTINCT:
                self._sizes[f"{content.width}×{content.height}"] += 1
            if kind in ("text", "empty") and len(value) <= _LONGEST_WORD:
                if value in self._words or len(self._words) < _MOST_DISTINCT:
                    self._words[value] += 1
                else:
                    self._more = True

    def result(self) -> dict[str, Any]:
        """The most frequent texts, and what the values are."""
        top = self._words.most_common(_TOP)
        counted = sum(count for _, count in top)
        return {
            "kind": "bytes",
            "count": self.count,
            "contents": dict(self._contents.most_common()),
            "distinct": None if self._more else len(self._words),
            "bars": [{"value": value.decode(errors="replace"), "count": count} for value, count in top],
            "others": sum(self._words.values()) - counted,
            "sizes": [{"value": size, "count": count} for size, count in self._sizes.most_common(_TOP)],
        }


class Distributions:
    """The distributions of all features of some records."""

    def __init__(self) -> None:
        self._bars: dict[str, NumberBars | ByteBars] = {}

    def add(self, name: str, values: Any) -> None:
        """Counts values of a feature: an array, or a list of bytes. Of other kinds than the first: not."""
        if values is None:
            return
        is_bytes = isinstance(values, list)
        bars = self._bars.get(name)
        if bars is None:
            bars = self._bars[name] = ByteBars() if is_bytes else NumberBars()
        if isinstance(bars, ByteBars):
            if is_bytes:
                bars.add(values)
        elif not is_bytes:
            bars.add(values)

    def result(self) -> dict[str, dict[str, Any]]:
        """By feature."""
        return {name: bars.result() for name, bars in self._bars.items()}


def distribution_of(figures: FeatureStatistics) -> dict[str, Any] | None:
    """What the statistics of all records say, in the same form."""
    numbers, strings = figures.numbers, figures.strings
    if numbers is not None and (strings is None or numbers.count >= strings.count):
        return {
            "kind": "numbers",
            "count": numbers.count,
            "not_finite": numbers.nans + numbers.infinities + numbers.negative_infinities,
            "bars": _bars_of(numbers),
            "distinct": numbers.distinct,
            **(
                {}
                if numbers.min is None or numbers.max is None or numbers.mean is None
                else {
                    "least": number(numbers.min),
                    "greatest": number(numbers.max),
                    "mean": number(numbers.mean),
                }
            ),
        }
    if strings is None:
        return None
    texts = [each for each in strings.common if len(each.value) == each.size and is_text(each.value)]
    return {
        "kind": "bytes",
        "count": strings.count,
        "contents": dict(strings.contents),
        "distinct": strings.distinct,
        "bars": [{"value": each.value.decode(), "count": each.count} for each in texts],
        "others": strings.count - sum(each.count for each in texts),
        "sizes": [
            {"value": "×".join(map(str, each.value)), "count": each.count}
            for each in (strings.images.common if strings.images else ())
        ],
    }


def _bars_of(numbers: Numbers) -> list[dict[str, Any]]:
    if numbers.distinct_exact and numbers.distinct <= len(numbers.common):
        few = sorted(numbers.common, key=lambda each: each.value)
        return [{"value": number(each.value), "count": each.count} for each in few]
    histogram = numbers.histogram
    if (
        all(isinstance(edge, int) for edge in histogram.edges)
        and histogram.edges[1] - histogram.edges[0] == 1
    ):
        pairs = zip(histogram.edges, histogram.counts, strict=False)
        return [{"value": number(edge), "count": count} for edge, count in pairs]
    return [
        {"from": number(low), "to": number(high), "count": count}
        for (low, high), count in zip(pairwise(histogram.edges), histogram.counts, strict=True)
    ]


class Rows:
    """Values of single records, kept until they can be counted all at once."""

    def __init__(self) -> None:
        self._numbers: dict[str, list[npt.NDArray[Any]]] = {}
        self._bytes: dict[str, list[bytes]] = {}

    def keep(self, features: Mapping[str, Any], lists: Mapping[str, list[Any]]) -> None:
        """Takes the values of one record."""
        for name, value in features.items():
            self._keep(name, value)
        for name, steps in lists.items():
            for value in steps:
                self._keep(name, value)

    def _keep(self, name: str, value: Any) -> None:
        if isinstance(value, list):
            self._bytes.setdefault(name, []).extend(value)
        elif value is not None:
            self._numbers.setdefault(name, []).append(value)

    def distributions(self) -> dict[str, dict[str, Any]]:
        """By feature; of one with numbers and bytes, that of the numbers."""
        counted = Distributions()
        for name, arrays in self._numbers.items():
            counted.add(name, np.concatenate(arrays))
        for name, values in self._bytes.items():
            counted.add(name, values)
        return counted.result()
