"""Records to look at: paths in, stretches of records with their places out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.parse import Picked
from tfreel.inference.sample import Place, files_to_sample, path_of
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt, read
from tfreel.records.report import Report
from tfreel.storage.names import Paths, resolve

_CHUNK_BYTES = 8 << 20  # large enough that what is done once for a chunk does not count


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records of one file, one behind the other.

    Attributes:
        path: The file.
        blocks: The records, and perhaps others behind them.
        rows: How many of them are meant.
        starts: The row that each block begins with.
    """

    path: str
    blocks: tuple[_core.Block, ...]
    rows: int
    starts: tuple[int, ...]

    @classmethod
    def of(cls, path: str, blocks: Sequence[_core.Block], rows: int) -> Self:
        """The first records of some blocks."""
        return cls(path, tuple(blocks), rows, (0, *accumulate(map(len, blocks[:-1]))))

    def _where(self, row: int) -> tuple[_core.Block, int]:
        i = bisect_right(self.starts, row) - 1
        return self.blocks[i], row - self.starts[i]

    def place(self, row: int) -> Place:
        """Where one of the records is."""
        block, i = self._where(row)
        return Place(self.path, block.first_record + i)

    def record(self, row: int) -> bytes:
        """One of the records."""
        block, i = self._where(row)
        return block[i]

    @property
    def is_whole(self) -> bool:
        """Whether all records of the blocks are meant."""
        return self.rows == self.starts[-1] + len(self.blocks[-1])

    def order(self, rows: npt.NDArray[np.integer] | None = None) -> npt.NDArray[np.uint64] | None:
        """The rows that are meant, or some of them, as the core wants them; None for all there are."""
        if rows is not None:
            return None if self.is_whole and len(rows) == self.rows else rows.astype(np.uint64)
        return None if self.is_whole else np.arange(self.rows, dtype=np.uint64)

    def picked(self, rows: npt.NDArray[np.integer] | None = None) -> Picked:
        """The records, or some of them in their order, for `tfreel.parse`."""
        return Picked(self.blocks, self.order(rows))


class Chunks:
    """The records of some files, or a sample of them. Iterate over it once.

    Attributes:
        files: The files that are looked into.
        records: How many records there were so far.
        report: What was wrong with the files.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        sample: int | None = None,
        on_corrupt: OnCorrupt = "raise",
        progress: Progress | None = None,
    ) -> None:
        if sample is not None and sample < 1:
            raise ValueError(f"sample must be at least 1, or None for all records, not {sample}")
        files = resolve(paths)
        self._sources = files_to_sample(files, sample)
        self._all_files = len(self._sources) == len(files)
        self.files = [path_of(source) for source in self._sources]
        self.records = 0
        self.report = Report()
        self._sample = sample
        self._on_corrupt: OnCorrupt = on_corrupt
        self._progress = progress

    @property
    def whole(self) -> bool:
        """Whether that were all records there are."""
        return self._sample is None or (self._all_files and self.records < self._sample)

    def __iter__(self) -> Iterator[Chunk]:
        left = self._sample
        for i, source in enumerate(self._sources):
            # As in `infer_features`: what a short file lacks, later ones make up for.
            share = None if left is None else -(-left // (len(self._sources) - i))
            for chunk in self._file(source, share):
                left = None if left is None else left - chunk.rows
                yield chunk

    def _file(self, source: object, share: int | None) -> Iterator[Chunk]:
        reader = read([source], on_corrupt=self._on_corrupt)  # type: ignore[list-item]
        path = path_of(source)  # type: ignore[arg-type]
        blocks: list[_core.Block] = []
        size = rows = 0
        try:
            for block in reader.blocks():
                blocks.append(block)
                taken = len(block) if share is None else min(share - rows, len(block))
                rows, size = rows + taken, size + block.nbytes
                self.records += taken
                if self._progress is not None:
                    self._progress(taken, block.nbytes)
                if size >= _CHUNK_BYTES or rows == share:
                    yield Chunk.of(path, blocks, rows)
                    share = None if share is None else share - rows
                    blocks, size, rows = [], 0, 0
                if share == 0:
                    break
        finally:
            self.report.merge(reader.report)
        if rows:
            yield Chunk.of(path, blocks, rows)
