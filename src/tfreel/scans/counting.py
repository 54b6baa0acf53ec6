"""How many rows there are, without reading them where something knows it already."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from tfreel.errors import StaleIndexError
from tfreel.index.build import index_of, load_sidecar
from tfreel.index.sidecar import FileIndex, find_sidecars
from tfreel.records.frames import ReadOptions
from tfreel.records.parts import size_in_parts
from tfreel.scans.chunks import chunks_of
from tfreel.scans.options import Options
from tfreel.scans.pieces import Piece, PieceReader
from tfreel.scans.question import Question
from tfreel.threads import Turn, in_threads


def known_index(path: str, turn: Turn) -> FileIndex | None:
    """The index of a file, if there is one beside it that is right."""
    for sidecar in find_sidecars(path):
        with suppress(StaleIndexError):
            return load_sidecar(path, sidecar, turn)
    return None


def made_index(path: str, turn: Turn) -> FileIndex:
    """The index of a file, by a scan of it if there is none beside it."""
    return known_index(path, turn) or index_of(path, "memory", None, turn)


def count_rows(pieces: Sequence[Piece], options: Options) -> int:
    """How many records the pieces have: from what is known of them, else from indexes, else by reading."""

    def count(piece: Piece, turn: Turn) -> int:
        if piece.rows is not None:
            return piece.rows
        if options.on_corrupt == "raise":
            index = known_index(piece.path, turn)
            if index is not None:
                return len(index)
            found = size_in_parts(piece.path, ReadOptions(verify=options.verify), turn=turn, progress=None)
            if found is not None:
                return found[0]
        spans = PieceReader(options.verify, options.on_corrupt).spans([piece])
        return sum(_told(turn, len(span)) for span in spans)

    return sum(in_threads(count, pieces, options.threads))


def _told(turn: Turn, count: int) -> int:
    turn()
    return count


def count_matches(pieces: Sequence[Piece], question: Question, options: Options) -> int:
    """How many records are wanted: of each, only what the condition needs is decoded."""
    spans = PieceReader(options.verify, options.on_corrupt).spans(pieces)
    chunks = chunks_of(spans, options.batch_rows, options.batch_bytes)
    return sum(question.matches(chunk, options.threads) for chunk in chunks)
