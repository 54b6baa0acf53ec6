"""Which records of a joined input to keep: a slice of them, a sample, or both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tfreel import Reader, Records
    from tfreel._core import Block
    from tfreel.cli.progress import Progress

_FETCH_RECORDS = 1024
_FETCH_BYTES = 1 << 24
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Picks:
    """A choice of records by their ordinals in the joined input.

    Attributes:
        span: The slice, as Python means it.
        fraction: How many of the records in the slice to keep, from 0 to 1.
        seed: Of the sample.
    """

    span: slice
    fraction: float
    seed: int

    @property
    def streams(self) -> bool:
        """Whether the number of records need not be known."""
        return all(part is None or part >= 0 for part in (self.span.start, self.span.stop, self.span.step))

    def among(self, ordinals: range) -> npt.NDArray[np.uint64]:
        """Those of these ordinals, all of them inside the span, that the sample keeps."""
        import numpy as np

        wanted = np.arange(ordinals.start, ordinals.stop, ordinals.step, dtype=np.int64).astype(np.uint64)
        if self.fraction >= 1:
            return wanted
        return wanted[sample_hash(wanted, self.seed) < np.uint64(int(self.fraction * (_MASK + 1)))]


def sample_hash(ordinals: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """A number from 0 to 2⁶⁴ - 1 for each ordinal: SplitMix64, started at the hash of the seed.

    A record is kept when its number is below the fraction's share of 2⁶⁴. So the choice depends on nothing
    but ordinal and seed: it is the same for ever and everywhere, and a larger fraction keeps all that a
    smaller one does. Never change this.
    """
    import numpy as np

    start = _mixed(np.array([seed & _MASK], np.uint64))
    return _mixed(start + (ordinals + np.uint64(1)) * np.uint64(_GOLDEN))


def _mixed(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood, 2014)."""
    import numpy as np

    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def streamed(reader: Reader, picks: Picks, progress: Progress) -> Iterator[list[bytes] | Block]:
    """The picked records, reading forward and no further than the last of them."""
    start, stop, step = picks.span.start or 0, picks.span.stop, picks.span.step or 1
    first = 0
    blocks = reader.blocks()
    while (stop is None or first < stop) and (block := next(blocks, None)) is not None:
        after = first + len(block)
        end = after if stop is None else min(after, stop)
        begin = start if first <= start else first + (start - first) % step
        wanted = picks.among(range(begin, end, step))
        if len(wanted) == len(block):
            yield block
        elif len(wanted):
            yield [block[ordinal - first] for ordinal in wanted.tolist()]
        progress(len(block), block.nbytes)
        first = after


def fetched(records: Records, picks: Picks, progress: Progress) -> Iterator[list[bytes]]:
    """The picked records, by random access: for slices that count from the end or run backwards."""
    ordinals = range(*picks.span.indices(len(records)))
    few = max(1, min(_FETCH_RECORDS, _FETCH_BYTES * len(records) // max(1, records.nbytes)))
    for i in range(0, len(ordinals), few):
        batch = records[picks.among(ordinals[i : i + few])]
        yield batch
        progress(len(batch), sum(map(len, batch)))


def parse_slice(text: str) -> slice:
    """The slice that ``START:STOP:STEP`` says, every part of it optional.

    Raises:
        click.BadParameter: It says none.
    """
    try:
        parts = [int(part) if part.strip() else None for part in text.split(":")]
    except ValueError:
        parts = []
    if not 2 <= len(parts) <= 3:
        raise click.BadParameter(f"{text!r} is not a slice; slices look like 10:20, :100, -5: or ::2.")
    if parts[2:] == [0]:
        raise click.BadParameter("the step of a slice cannot be 0.")
    return slice(*parts)
