"""One reading of a scan, from its beginning to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfreel.ahead import ReadAhead
from tfreel.columns.batch import Batch
from tfreel.records.report import Report
from tfreel.scans.chunks import Chunk, chunks_of
from tfreel.scans.options import Options
from tfreel.scans.pieces import Piece, PieceReader
from tfreel.scans.question import Question

_AHEAD = 2


class BatchStream(Iterator[Batch]):
    """The batches of a scan. They are read and parsed ahead in threads, which end with this.

    Attributes:
        report: What was read so far, and what was wrong with it, as in `tfreel.read`.
    """

    def __init__(
        self, pieces: Sequence[Piece], question: Question, options: Options, limit: int | None
    ) -> None:
        reader = PieceReader(options.verify, options.on_corrupt)
        self.report: Report = reader.report
        rows = options.batch_rows
        if limit is not None and question.where is None:
            rows = max(1, min(rows, limit))
        chunks = chunks_of(reader.spans(pieces), rows, options.batch_bytes)
        self._ahead: list[ReadAhead[Chunk] | ReadAhead[Batch]] = []
        if options.threads > 1 and limit != 0:
            # One thread reads and checks, one has the core parse: together with the consumer, three at work.
            self._ahead.append(read := ReadAhead(chunks, _AHEAD))
            batches = ReadAhead(_answers(read, question, options.threads), _AHEAD)
            self._ahead.append(batches)
            self._batches = _limited(batches, limit)
        else:
            self._batches = _limited(_answers(chunks, question, options.threads), limit)

    def __next__(self) -> Batch:
        return next(self._batches)

    def close(self) -> None:
        """Ends the threads; there are no more batches."""
        self._batches = iter(())
        for ahead in self._ahead:
            ahead.close()

    def __del__(self) -> None:
        self.close()


def _answers(chunks: Iterator[Chunk], question: Question, threads: int) -> Iterator[Batch]:
    for chunk in chunks:
        batch = question.answer(chunk, threads)
        if batch.num_rows:
            yield batch


def _limited(batches: Iterator[Batch], limit: int | None) -> Iterator[Batch]:
    if limit is None:
        yield from batches
        return
    left = limit
    while left and (batch := next(batches, None)) is not None:
        yield batch if batch.num_rows <= left else batch.slice(0, left)
        left -= min(left, batch.num_rows)
