"""What a stream that is to be packed gives."""

from __future__ import annotations

from tfreel.packing.source import Made, Stream


def made_of(stream: Stream) -> Made:
    """All that a stream gives."""
    whole = Made([])
    for work in stream.chunks():
        piece = work()
        records = piece.records if isinstance(piece.records, list) else piece.records.to_list()
        whole.records += records  # type: ignore[operator]
        whole.rejects += piece.rejects
    return whole
