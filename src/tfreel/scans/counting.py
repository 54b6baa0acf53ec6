"""How many rows there are, without reading them where something knows it already."""

from __future__ import annotations

import os
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
from tfreel.storage.manifest import MANIFEST_SUFFIX, read_manifest
from tfreel.storage.names import manifest_beside
from tfreel.storage.places import join, named_like, parent, size_of
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
    """How many records the pieces have: from manifests and indexes where there are some, else by reading."""
    promised = _promised(pieces) if options.on_corrupt == "raise" else {}

    def count(piece: Piece, turn: Turn) -> int:
        if piece.rows is not None:
            return piece.rows
        if piece.path in promised:
            return promised[piece.path]
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


def _promised(pieces: Sequence[Piece]) -> dict[str, int]:
    """How many records manifests promise of files that are as long as they say."""
    manifests = {manifest_beside(piece.path) for piece in pieces} - {None}
    shards = {
        join(parent(manifest), os.path.basename(shard.name)): shard
        for manifest in manifests
        if manifest is not None
        for shard in read_manifest(named_like(manifest, manifest.removesuffix(MANIFEST_SUFFIX)))
    }
    return {
        piece.path: shard.records
        for piece in pieces
        if (shard := shards.get(piece.path)) is not None and size_of(piece.path) == shard.bytes
    }


def _told(turn: Turn, count: int) -> int:
    turn()
    return count


def count_matches(pieces: Sequence[Piece], question: Question, options: Options) -> int:
    """How many records are wanted: of each, only what the condition needs is decoded."""
    spans = PieceReader(options.verify, options.on_corrupt).spans(pieces)
    chunks = chunks_of(spans, options.batch_rows, options.batch_bytes)
    return sum(question.matches(chunk, options.threads) for chunk in chunks)
