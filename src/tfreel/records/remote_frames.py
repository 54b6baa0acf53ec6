"""One object of a store as blocks and faults: read ahead in large pieces, and again where they are bad."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tfreel import _core
from tfreel.ahead import ReadAhead
from tfreel.compression import CodecError, is_plain
from tfreel.errors import CorruptError
from tfreel.records.frames import Position, ReadOptions, StreamFrames
from tfreel.records.members import Note
from tfreel.records.report import TAIL_KINDS, Fault
from tfreel.storage.paths import display
from tfreel.storage.remote.objects import BLOCK_BYTES, ObjectFile

_FIRST_BYTES = 1 << 18
_PIECES_AHEAD = 2


class RemoteFrames(StreamFrames):
    """An uncompressed object. What the network garbled is fetched again before it counts as bad."""

    def __init__(
        self, file: ObjectFile, options: ReadOptions, start: Position, note: Note, head: bytes
    ) -> None:
        self._file = file
        self._note = note
        super().__init__(file.path, options, start, head)

    def _make_pieces(self, offset: int) -> Iterator[bytes]:
        return ReadAhead(pieces_of(self._file, offset), _PIECES_AHEAD)

    def _decode_from(self, start: Position) -> _core.Decoder:
        return _core.Decoder(
            offset=start.offset,
            record=start.record,
            size=self._file.size,
            verify=self._options.verify,
            salvage=self._options.salvage,
            max_record_bytes=self._options.max_record_bytes,
        )

    def step(self) -> _core.Block | Fault | None:
        while True:
            found = super().step()
            if not isinstance(found, Fault) or found.kind not in ("length_crc", "data_crc"):
                return found
            if not self._is_sound_now(found):
                return replace(found, message=f"{found.message}; a second read gave no better")
            self._note(
                f"{display(self._path)}: record {found.record} at byte {found.offset}: transient"
                f" {found.kind}: a second read was good; suspect the network"
            )
            self._go_back(Position(found.offset, found.record))

    def _is_sound_now(self, fault: Fault) -> bool:
        """Whether the same bytes are sound when they are fetched once more."""
        self._file.forget_cache(fault.offset, max(12, fault.end - fault.offset))
        if fault.kind == "length_crc":
            return is_plain(self._file.read(12, fault.offset))
        again = self._decode_from(Position(fault.offset, fault.record))
        again.feed(self._file.read(fault.end - fault.offset, fault.offset))
        again.finish()
        return isinstance(again.next(), _core.Block)

    def _explain(self, found: _core.Fault) -> Fault:
        if self._broken and found.kind in TAIL_KINDS:  # no more came, though more is there
            return self._codec_fault(self._broken, Position(found.begin, found.record))
        return super()._explain(found)

    def _go_back(self, to: Position) -> None:
        self.close()
        self._over = False
        self._pieces = None
        self._broken = None
        self._fed = to.offset
        self._decoder = self._decode_from(to)


def pieces_of(file: ObjectFile, offset: int) -> Iterator[bytes]:
    """The bytes of an object from `offset` on, in pieces that grow: who wants little waits for little."""
    size = _FIRST_BYTES
    while offset < file.size:
        try:
            piece = file.read(size, offset)
        except CorruptError as error:
            raise CodecError(error.kind or "io", "the object changed while it was read", offset) from None
        yield piece
        offset += len(piece)
        size = min(2 * size, BLOCK_BYTES)
