"""What the sketches of the core say, in figures: means, quantiles, histograms, the most common values.

A distribution comes from the core as a dict of keys, which are unsigned integers in the order of the numbers
they stand for, with exact sums beside them. It leaves as a frozen value that anybody can read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.inference.content import IMAGES, NAMES

Keys: TypeAlias = npt.NDArray[np.uint64]

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_BINS = 20
_MOST_COMMON = 10
_KINDS_OF_CONTENT = tuple(NAMES)  # the core counts them in this order
_SIGN = 1 << 63


@dataclass(frozen=True, slots=True)
class Common:
    """A value, and how often it is there: a number, or the width and height of images."""

    value: Any
    count: int


@dataclass(frozen=True, slots=True)
class CommonBytes:
    """The beginning of a bytes value, at most 48 bytes of it, with its size, and how often it is there."""

    value: bytes
    size: int
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many numbers lie between two edges each: from one up to, but not including, the next.

    Of floats the last bin includes its end. The counts add up to the number of values, always.

    Attributes:
        edges: One more than there are counts.
        counts: Of each bin.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """How numbers are distributed. NaN and infinities are counted, and count in nothing else.

    Attributes:
        count: How many finite numbers there are.
        min: The least; None without any.
        max: The greatest.
        mean: Rounded once, from an exact sum.
        std: The standard deviation of all of them, as ``numpy.std`` has it.
        zeros: How many are zero.
        nans: How many are no number.
        infinities: How many are infinite.
        negative_infinities: How many are infinite and negative.
        quantiles: By share, the least number that so many are not greater than.
        quantile_error: By how much the true share of a quantile may differ; 0 if they are exact.
        histogram: With bins of one width, as exact as the quantiles.
        distinct: How many different numbers there are.
        distinct_exact: Whether that is exact; else it is an estimate, mostly within 2 % (7 % in groups).
        common: The most frequent ones, the most frequent first.
        common_error: How much too small their counts may be; 0 if they are exact.
    """

    count: int
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    zeros: int
    nans: int
    infinities: int
    negative_infinities: int
    quantiles: Mapping[float, float]
    quantile_error: float
    histogram: Histogram
    distinct: int
    distinct_exact: bool
    common: tuple[Common, ...] = ()
    common_error: int = 0

    @property
    def median(self) -> float | None:
        """The number in the middle."""
        return self.quantiles.get(0.5)


@dataclass(frozen=True, slots=True)
class Images:
    """The images among bytes values whose headers say their size.

    Attributes:
        count: How many.
        widths: In pixels.
        heights: In pixels.
        distinct_sizes: How many different sizes there are, width and height together.
        distinct_exact: Whether that is exact.
        common: The most frequent sizes, as pairs of width and height.
        common_error: How much too small their counts may be; 0 if they are exact.
    """

    count: int
    widths: Numbers
    heights: Numbers
    distinct_sizes: int
    distinct_exact: bool
    common: tuple[Common, ...]
    common_error: int


@dataclass(frozen=True, slots=True)
class Bytes:
    """How bytes values are distributed.

    Attributes:
        count: How many there are.
        sizes: In bytes.
        contents: What they are, ``"jpeg"``, ``"text"`` and so on, and how many, the most frequent first.
        images: Those that are images; None if there are none.
        distinct: How many different values there are.
        distinct_exact: As in `Numbers`.
        common: The most frequent values that are there more than once, or all if they are few.
        common_error: As in `Numbers`.
    """

    count: int
    sizes: Numbers
    contents: Mapping[str, int]
    images: Images | None
    distinct: int
    distinct_exact: bool
    common: tuple[CommonBytes, ...]
    common_error: int

    @property
    def formats(self) -> Mapping[str, int]:
        """The formats of images among the contents."""
        return {kind: count for kind, count in self.contents.items() if kind in IMAGES}


def ints_of(found: dict[str, Any]) -> Numbers:
    """The distribution of whole numbers."""
    return _numbers(found, _as_ints, _int_histogram)


def floats_of(found: dict[str, Any]) -> Numbers:
    """The distribution of floats."""
    return _numbers(found, _as_floats, _float_histogram)


def bytes_of(found: dict[str, Any]) -> Bytes:
    """The distribution of bytes values."""
    values = found["values"]
    counted = zip(_KINDS_OF_CONTENT, found["contents"], strict=True)
    contents = sorted(((kind, n) for kind, n in counted if n), key=lambda pair: -pair[1])
    common = sorted((_shown(*each) for each in found["shown"]), key=lambda each: (-each.count, each.value))
    return Bytes(
        count=values["count"],
        sizes=ints_of(found["sizes"]),
        contents=dict(contents),
        images=_images(found) if found["pictures"]["count"] else None,
        distinct=_distinct(values),
        distinct_exact=values["exact"],
        common=tuple(common[:_MOST_COMMON]),
        common_error=values["frequent_error"],
    )


def _shown(beginning: bytes, size: int, count: int) -> CommonBytes:
    """The value, cut between two letters if it is text that was cut."""
    if len(beginning) < size:
        whole = beginning.decode("utf-8", "ignore").encode()
        beginning = whole if len(beginning) - len(whole) < 4 and beginning.startswith(whole) else beginning
    return CommonBytes(beginning, size, count)


def _images(found: dict[str, Any]) -> Images:
    sizes = found["pictures"]
    return Images(
        count=sizes["count"],
        widths=ints_of(found["widths"]),
        heights=ints_of(found["heights"]),
        distinct_sizes=_distinct(sizes),
        distinct_exact=sizes["exact"],
        common=tuple(Common(divmod(key, 1 << 32), count) for key, count in _most_common(sizes)),
        common_error=sizes["frequent_error"],
    )


def _numbers(
    found: dict[str, Any], values_of: Callable[[Keys], list[Any]], histogram: Callable[..., Histogram]
) -> Numbers:
    count = found["count"]
    keys, weights = found["points"]
    ends = values_of(np.array([found["least"], found["most"]], np.uint64)) if count else [None, None]
    mean, std = _moments(count, found["sum"], found["squares"], found["exponent"])
    common = _most_common(found)
    shown = values_of(np.array([key for key, _ in common], np.uint64))
    return Numbers(
        count=count,
        min=ends[0],
        max=ends[1],
        mean=mean,
        std=std,
        zeros=found["zeros"],
        nans=found.get("nans", 0),
        infinities=found.get("infinities", 0),
        negative_infinities=found.get("negative_infinities", 0),
        quantiles=dict(zip(QUANTILES, values_of(_quantiles(keys, weights, count)), strict=False)),
        quantile_error=found["rank_error"] / count if count else 0.0,
        histogram=histogram(keys, weights, found["least"], found["most"]) if count else Histogram((), ()),
        distinct=_distinct(found),
        distinct_exact=found["exact"],
        common=tuple(Common(value, pair[1]) for value, pair in zip(shown, common, strict=True)),
        common_error=found["frequent_error"],
    )


def _moments(count: int, total: int, squares: int, exponent: int) -> tuple[float | None, float | None]:
    """The mean and the standard deviation, from exact sums in units of a power of two."""
    if not count:
        return None, None
    unit = Fraction(2) ** exponent
    variance = Fraction(squares * count - total * total, count * count)
    return float(Fraction(total, count) * unit), math.sqrt(variance * unit * unit)


def _distinct(found: dict[str, Any]) -> int:
    # An estimate may be a little larger than all there is.
    return min(round(float(found["distinct"])), int(found["count"]))


def _most_common(found: dict[str, Any]) -> list[tuple[int, int]]:
    keys, counts = found["frequent"]
    pairs = zip(keys.tolist(), counts.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:_MOST_COMMON]


def _quantiles(keys: Keys, weights: Keys, count: int) -> Keys:
    """The keys at the shares of `QUANTILES`: of each the least with at least so many below or at it."""
    if not count:
        return keys
    ranks = np.array([max(1, -(-round(share * 100) * count // 100)) for share in QUANTILES], np.uint64)
    return keys[np.searchsorted(np.cumsum(weights, dtype=np.uint64), ranks)]


def _as_ints(keys: Keys) -> list[Any]:
    return list((keys ^ np.uint64(_SIGN)).view(np.int64).tolist())


def _as_floats(keys: Keys) -> list[Any]:
    """As the shortest decimals that mean these float32s: 0.1, not 0.10000000149011612."""
    return [float(str(number)) for number in _float32s(keys)]


def _float32s(keys: Keys) -> npt.NDArray[np.float32]:
    bits = keys.astype(np.uint32)
    sign = np.uint32(1 << 31)
    found: npt.NDArray[np.float32] = np.where(bits & sign, bits & ~sign, ~bits).view(np.float32)
    return found


def _int_histogram(keys: Keys, weights: Keys, least: int, most: int) -> Histogram:
    """Bins that begin at whole numbers: one for each of them if they are few."""
    width = (most - least) // _BINS + 1
    bins = (most - least) // width + 1
    counts = np.zeros(bins, np.uint64)
    # Differences of keys are those of the numbers, and fit where those of int64 might not.
    np.add.at(counts, (keys - np.uint64(least)) // np.uint64(width), weights)
    edges = tuple(least - _SIGN + width * i for i in range(bins + 1))
    return Histogram(edges, tuple(counts.tolist()))


def _float_histogram(keys: Keys, weights: Keys, least: int, most: int) -> Histogram:
    ends = _float32s(np.array([least, most], np.uint64)).astype(np.float64)
    if least == most:
        return Histogram((float(ends[0]), float(ends[1])), (int(weights.sum()),))
    edges = np.linspace(ends[0], ends[1], _BINS + 1)
    places = np.searchsorted(edges, _float32s(keys).astype(np.float64), side="right") - 1
    counts = np.zeros(_BINS, np.uint64)
    np.add.at(counts, np.clip(places, 0, _BINS - 1), weights)
    return Histogram(tuple(edges.tolist()), tuple(counts.tolist()))
