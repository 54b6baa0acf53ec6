"""Statistics in a few words and small bars, for tables and pages. Text that comes out is not escaped."""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.inference.content import IMAGES, NAMES, is_text
from tfreel.profile.figures import Bytes, CommonBytes, Numbers
from tfreel.profile.statistics import FeatureStatistics, GroupValue

_BLOCKS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FEW = 3
_LONGEST = 24


def number(value: float | None) -> str:
    """``1,234``, ``0.4713``; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if abs(value) < 1e4 or abs(value) >= 1e15 else f"{value:,.0f}"


def plural(count: int, noun: str) -> str:
    """``1 record``, ``2,000 records``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """``12 %``, ``0.3 %``; never 0 for something, nor 100 for less than all."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    bounded = min(max(100 * share, 0.01), 99.99)
    digits = 0 if 10 <= bounded <= 99 else 1 if 1 <= bounded <= 99.9 else 2
    return f"{bounded:.{digits}f} %"


def spark(counts: Sequence[int]) -> str:
    """A histogram in one line: nothing where there is nothing, and at least the lowest block elsewhere."""
    most = max(counts, default=0)
    return "".join(_BLOCKS[-(-8 * count // most)] if most else " " for count in counts)


def bar(share: float, width: int = 10) -> str:
    """A bar of so many letters for 100 %."""
    eighths = round(8 * width * min(1.0, max(0.0, share))) or int(share > 0)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def ends(numbers: Numbers) -> str:
    """``0…9``, or ``7`` if it is always the same; nothing if there is no number."""
    if numbers.min is None:
        return ""
    same = numbers.min == numbers.max
    return number(numbers.min) if same else f"{number(numbers.min)}…{number(numbers.max)}"


def kind(feature: FeatureStatistics) -> str:
    """``int64``, ``float32 [4]``, ``bytes [2…5 steps, 1]``."""
    kinds = " or ".join(feature.kinds) or "no kind"
    lengths = feature.lengths
    sides = [] if (lengths.min, lengths.max) in ((1, 1), (None, None)) else [ends(lengths)]
    if feature.steps is not None:
        sides.insert(0, f"{ends(feature.steps)} steps")
    return f"{kinds} [{', '.join(sides)}]" if sides else kinds


def gaps(feature: FeatureStatistics) -> str:
    """Where values are missing or no numbers."""
    words = []
    if feature.absent:
        words.append(f"absent in {percent(feature.absent / feature.records)}")
    if feature.empty:
        words.append(f"{feature.empty:,} empty")
    for numbers in (feature.int64, feature.float32):
        if numbers is not None:
            infinite = numbers.infinities + numbers.negative_infinities
            words += [f"{numbers.nans:,} NaN"] if numbers.nans else []
            words += [f"{infinite:,} infinite"] if infinite else []
    return ", ".join(words)


def values(feature: FeatureStatistics) -> str:
    """What the values are."""
    words = [_numbers(part) for part in (feature.int64, feature.float32) if part is not None and part.count]
    if feature.strings is not None:
        words.append(_strings(feature.strings))
    return "; ".join(words)


def distribution(feature: FeatureStatistics) -> Numbers | None:
    """The distribution that says most: of numbers themselves, else of the sizes of bytes values."""
    if feature.numbers is not None and feature.numbers.count:
        return feature.numbers
    return None if feature.strings is None else feature.strings.sizes


def distinct(feature: FeatureStatistics) -> str:
    """How many different values there are."""
    parts = [part for part in (feature.int64, feature.float32, feature.strings) if part is not None]
    exact = all(part.distinct_exact for part in parts)
    return f"{'' if exact else '≈ '}{feature.distinct:,}" if parts else ""


def group(value: GroupValue) -> str:
    """The value that a group shares."""
    if value is None:
        return "none or several"
    return number(value) if isinstance(value, int) else _text(value)


def common_bytes(each: CommonBytes) -> str:
    """A bytes value, cut where it is long."""
    return _text(each.value, cut=each.size > len(each.value))


def contents(strings: Bytes) -> str:
    """``JPEG (998) or PNG (2)``."""
    kinds = list(strings.contents.items())
    if len(kinds) == 1:
        return NAMES[kinds[0][0]]
    named = [f"{NAMES[name]} ({count:,})" for name, count in kinds[:_FEW]]
    return " or ".join(named) + (" or other" if len(kinds) > _FEW else "")


def _numbers(numbers: Numbers) -> str:
    if numbers.min == numbers.max:
        return f"always {number(numbers.min)}"
    return f"{ends(numbers)}, mean {number(numbers.mean)} ± {number(numbers.std)}"


def _strings(strings: Bytes) -> str:
    words = [contents(strings)]
    if strings.images is not None:
        images = strings.images
        small, large = (
            f"{number(width)}×{number(height)}"
            for width, height in zip(_pair(images.widths), _pair(images.heights), strict=True)
        )
        words.append(small if small == large else f"{small}…{large}")
    if not IMAGES.intersection(strings.contents):
        words.append(f"{ends(strings.sizes)} bytes")
        often = [each for each in strings.common if each.count > 1][:_FEW]
        words += [f"{common_bytes(each)} {percent(each.count / strings.count)}" for each in often]
    return ", ".join(words)


def _pair(numbers: Numbers) -> tuple[float | None, float | None]:
    return numbers.min, numbers.max


def _text(value: bytes, *, cut: bool = False) -> str:
    if value and not is_text(value):
        return f"0x{value[: _LONGEST // 2].hex()}" + ("…" if cut or len(value) > _LONGEST // 2 else "")
    text = value.decode()
    short = text if len(text) <= _LONGEST else text[:_LONGEST]
    return repr(short)[:-1] + "…'" if cut or len(text) > _LONGEST else repr(text)
