"""Records to look at: paths in, stretches of records with their places out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.parse import Picked
from tfreel.inference.sample import Place, files_to_sample, path_of
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt, read
from tfreel.records.report import Report
from tfreel.storage.names import Paths, resolve


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records that lie side by side in one file.

    Attributes:
        path: The file.
        block: The records, and perhaps others behind them.
        rows: How many of them are meant.
    """

    path: str
    block: _core.Block
    rows: int

    def place(self, row: int) -> Place:
        """Where one of the records is."""
        return Place(self.path, self.block.first_record + int(row))

    def order(self, rows: npt.NDArray[np.integer] | None = None) -> npt.NDArray[np.uint64] | None:
        """The rows that are meant, or some of them, as the core wants them; None for all of the block."""
        if rows is not None:
            return rows.astype(np.uint64)
        return None if self.rows == len(self.block) else np.arange(self.rows, dtype=np.uint64)

    def picked(self, rows: npt.NDArray[np.integer] | None = None) -> Picked:
        """The records, or some of them, for `tfreel.parse`."""
        return Picked((self.block,), self.order(rows))


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
        for block in reader.blocks():
            rows = len(block) if share is None else min(share, len(block))
            self.records += rows
            if rows:
                yield Chunk(reader.path, block, rows)
            if self._progress is not None:
                self._progress(rows, block.nbytes)
            if share is not None:
                share -= rows
                if not share:
                    break
        self.report.merge(reader.report)
