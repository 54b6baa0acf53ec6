"""One reading of a scan, from its beginning to its end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from tfreel.ahead import ReadAhead
from tfreel.columns.batch import Batch
from tfreel.errors import TfreelWarning
from tfreel.records.report import Report
from tfreel.scans.chunks import Chunk, chunks_of, first_of
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
        spans = reader.spans(pieces)
        if limit is not None and not question.where:
            spans = first_of(spans, limit)
        chunks = chunks_of(spans, options.batch_rows, options.batch_bytes)
        self._ahead: list[ReadAhead[Chunk] | ReadAhead[Batch]] = []
        if options.threads > 1 and limit != 0:
            # One thread reads and checks, one has the core parse: together with the consumer, three at work.
            self._ahead.append(read := ReadAhead(chunks, _AHEAD))
            chunks = read
        answers = _answers(chunks, question, options.threads, limit)
        # What an engine decides is asked in the thread in which it asks us: its others may all wait for us.
        if self._ahead and question.also is None:
            self._ahead.append(made := ReadAhead(answers, _AHEAD))
            answers = made
        self._batches = answers

    def __next__(self) -> Batch:
        return next(self._batches)

    def close(self) -> None:
        """Ends the threads; there are no more batches."""
        self._batches = iter(())
        for ahead in self._ahead:
            ahead.close()

    def __del__(self) -> None:
        self.close()


def _answers(chunks: Iterator[Chunk], question: Question, threads: int, limit: int | None) -> Iterator[Batch]:
    left = limit
    while left != 0 and (chunk := next(chunks, None)) is not None:
        batch, met = question.answer(chunk, threads, left)
        if batch.num_rows:
            yield batch
        left = None if left is None else left - met


def with_warning(stream: BatchStream) -> Iterator[Batch]:
    """The batches; whoever takes them as Arrow data sees no report, and must not miss what it would say."""
    try:
        yield from stream
    finally:
        stream.close()
    if stream.report.fault_count:
        first = stream.report.faults[0]
        more = stream.report.fault_count - 1
        text = f"passed over: {first}" + (f", and {more:,} more faults" if more else "")
        warnings.warn(text, TfreelWarning, stacklevel=2)
