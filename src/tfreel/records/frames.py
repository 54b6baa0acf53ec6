"""One file as blocks and faults, whatever it is: plain, compressed, a pipe, a file that grows.

Every kind answers the same question, `step`: the next block of records, the next fault, or None at the end.
What to do about a fault is for the caller to decide.
"""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

from tfreel import _core
from tfreel.ahead import ReadAhead
from tfreel.compression import Codec, CodecError, Input, detect, is_plain
from tfreel.records.members import Members, Note, Restart
from tfreel.records.report import TAIL_KINDS, Fault, describe, foreign
from tfreel.storage.files import LocalFile, looks_like
from tfreel.storage.paths import display
from tfreel.storage.remote.objects import ObjectFile, Window
from tfreel.storage.url import Url

_HEAD_BYTES = 512
_LOOK_AHEAD_BYTES = 1 << 20
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read, the same for every kind of file."""

    verify: bool = True
    salvage: bool = False
    compression: Codec | None = None
    max_record_bytes: int = 1 << 32
    max_expanded_bytes: int | None = None
    follow_seconds: float | None = None


class Position(NamedTuple):
    """The place of a record in a file: its offset in the uncompressed stream, and its ordinal."""

    offset: int = 0
    record: int = 0


class Frames(Protocol):
    """One open file, as blocks and faults."""

    def step(self) -> _core.Block | Fault | None:
        """The next block or fault; None at the end."""

    @property
    def file_reader(self) -> _core.FileReader | None:
        """What reads the file now, for callers that take long records from it by themselves."""

    @property
    def position(self) -> Position:
        """Where the next block will begin."""

    @property
    def codec(self) -> Codec:
        """How the file is compressed."""

    @property
    def compressed_bytes(self) -> int:
        """Compressed bytes taken so far; 0 for what is not compressed."""

    @property
    def restarts(self) -> Sequence[Restart]:
        """The damage of a compressed stream that was passed over so far."""

    def close(self) -> None:
        """Lets go of the file."""


def open_frames(source: str | BinaryIO, options: ReadOptions, start: Position, note: Note) -> Frames:
    """Opens a file, by name or already open, at a record boundary."""
    if not isinstance(source, str):
        return _open_stream(source, getattr(source, "name", None), options, start, note)
    if source == "-":
        return _open_stream(open(0, "rb", closefd=False), "<stdin>", options, start, note)
    if isinstance(source, Url):
        return _open_object(ObjectFile(source), options, start, note)
    file = LocalFile(source)
    head = file.read(_HEAD_BYTES, 0)
    codec = (options.compression or detect(head)) if head else "none"
    if options.follow_seconds is not None:
        if codec != "none":
            raise ValueError(
                "follow= reads plain files only: a compressed stream cannot be read before it ends"
            )
        return GrowingFrames(file, options, start, options.follow_seconds)
    if codec == "none":
        return PlainFrames(file, options, start, note)
    return _inflated(source, Input.of_file(file), codec, head, options, start, note)


def _open_object(file: ObjectFile, options: ReadOptions, start: Position, note: Note) -> Frames:
    from tfreel.records.remote_frames import RemoteFrames  # which is made of what stands below

    if options.follow_seconds is not None:
        raise ValueError("follow= reads files of this machine only: an object does not grow")
    head = file.read(_HEAD_BYTES, 0)
    codec = (options.compression or detect(head)) if head else "none"
    if codec == "none":
        return RemoteFrames(file, options, start, note, head)
    source = Input(Window(file).read, rewindable=True)
    return _inflated(file.path, source, codec, head, options, start, note)


def _open_stream(stream: BinaryIO, name: object, options: ReadOptions, start: Position, note: Note) -> Frames:
    path = name if isinstance(name, str) else "<stream>"
    head = b""
    more = None
    is_text = isinstance(stream, io.TextIOBase)  # which may fail to read what is no text
    while len(head) < _HEAD_BYTES and more != b"":
        more = "" if is_text else stream.read(_HEAD_BYTES - len(head))
        if not isinstance(more, bytes):  # "", too: an empty file of text would be read for ever
            raise TypeError('expected a stream opened in binary mode, as in open(path, "rb")')
        head += more
    codec = (options.compression or detect(head)) if head else "none"
    source = Input.of_stream(stream, head)
    if codec == "none":
        return PipeFrames(path, source, options, start, head)
    return _inflated(path, source, codec, head, options, start, note)


class PlainFrames:
    """An uncompressed regular file, read by position."""

    codec: Codec = "none"
    compressed_bytes = 0
    restarts: Sequence[Restart] = ()

    def __init__(self, file: LocalFile, options: ReadOptions, start: Position, note: Note) -> None:
        self._file = file
        self._options = options
        self._note = note
        self._told = False  # that the file changed
        self._reopened = False
        self._reader = self._read_from(start)

    def _read_from(
        self, start: Position, *, salvage: bool | None = None, end: int | None = None
    ) -> _core.FileReader:
        return _core.FileReader(
            self._file.descriptor,
            size=self._file.size if end is None else end,
            offset=start.offset,
            record=start.record,
            verify=self._options.verify,
            salvage=self._options.salvage if salvage is None else salvage,
            max_record_bytes=self._options.max_record_bytes,
        )

    @property
    def file_reader(self) -> _core.FileReader:
        return self._reader

    @property
    def position(self) -> Position:
        return Position(self._reader.offset, self._reader.record)

    def step(self) -> _core.Block | Fault | None:
        while True:
            try:
                found = next_of(self._reader, self._file)
            except OSError as error:
                if error.errno != errno.ESTALE or not self._reopen():
                    raise
                continue
            if found is None:
                return self._conclude()
            if isinstance(found, _core.Block):
                return found
            if not self._was_transient(found):
                return self._explain(found)
            self._note(
                f"{display(self._file.path)}: record {found.record} at byte {found.begin}: transient"
                f" {found.kind}: a second read was good; suspect memory, cable or controller"
            )
            self._reader = self._read_from(Position(found.begin, found.record))

    def _reopen(self) -> bool:
        """Opens the file anew, once, if it is still the same: a network file system can lose a handle."""
        file = LocalFile(self._file.path)
        known = self._file.identity
        same = (file.size, file.identity.mtime_ns) == (known.size, known.mtime_ns)
        if self._reopened or not same:
            return False
        at = self.position
        self._file = file
        self._reopened = True
        self._reader = self._read_from(at)
        return True

    def _was_transient(self, fault: _core.Fault) -> bool:
        """Whether the same bytes are sound when they are read once more, from the disk."""
        if fault.kind not in ("length_crc", "data_crc") or self._file.changed():
            return False
        self._file.forget_cache(fault.begin, fault.end - fault.begin)
        if fault.kind == "length_crc":
            return is_plain(self._file.read(12, fault.begin))
        again = self._read_from(Position(fault.begin, fault.record), salvage=False, end=fault.end)
        return isinstance(next_of(again, self._file), _core.Block)

    def _explain(self, found: _core.Fault) -> Fault:
        fault = describe(self._file.path, found)
        if self._file.changed() and not self._is_being_written(fault):
            return self._changed(Position(fault.offset, fault.record), fault.end)
        if fault.offset == 0 and fault.kind in ("length_crc", "truncated_header"):
            return _perhaps_foreign(
                fault,
                self._file.read(_HEAD_BYTES, 0),
                self._options.compression,
                nothing_sound=self._nothing_sound_follows(fault),
            )
        return fault

    def _nothing_sound_follows(self, fault: Fault) -> bool:
        if self._options.salvage:
            return fault.end == self._file.size
        end = min(self._file.size, _LOOK_AHEAD_BYTES)
        found = next_of(self._read_from(Position(), salvage=True, end=end), self._file)
        return isinstance(found, _core.Fault) and found.end == end

    def _changed(self, at: Position, end: int) -> Fault:
        self._told = True
        message = "the file changed while it was read"
        return Fault(self._file.path, "file_changed", at.record, at.offset, end, message)

    def _is_being_written(self, fault: Fault) -> bool:
        """Whether the file has only grown: then it ended inside a record when it was opened."""
        grown = self._file.current_identity().size > self._file.size
        return grown and fault.kind in ("truncated_header", "truncated_body")

    def _conclude(self) -> Fault | None:
        """What is left to say where no more bytes come."""
        now = self._file.current_identity()
        if self._told:
            return None
        if self._reader.offset < self._file.size:
            return self._changed(self.position, self._file.size)
        if now.mtime_ns != self._file.identity.mtime_ns and now.size <= self._file.size:
            self._note(f"{display(self._file.path)}: the file was written to while it was read")
        return None

    def close(self) -> None:
        self._file.close()


class StreamFrames:
    """Bytes that come in pieces, in order. What they come from is for the subclasses to say.

    Args:
        path: Name for messages.
        options: How to read.
        start: Where to begin.
        head: The first bytes, to tell what a file is that is no TFRecord.
    """

    def __init__(self, path: str, options: ReadOptions, start: Position, head: bytes = b"") -> None:
        self._path = path
        self._options = options
        self._head = head
        self._fed = start.offset
        self._pieces: Iterator[bytes] | None = None
        self._process = os.getpid()
        self._decoder = self._decode_from(start)
        self._broken: CodecError | None = None
        self._over = False

    codec: Codec = "none"
    file_reader = None

    @property
    def compressed_bytes(self) -> int:
        return 0

    @property
    def restarts(self) -> Sequence[Restart]:
        return ()

    def _decode_from(self, start: Position) -> _core.Decoder:
        return _core.Decoder(
            offset=start.offset,
            record=start.record,
            verify=self._options.verify,
            salvage=self._options.salvage,
            max_record_bytes=self._options.max_record_bytes,
        )

    @property
    def position(self) -> Position:
        return Position(self._decoder.offset, self._decoder.record)

    def step(self) -> _core.Block | Fault | None:
        while True:
            found = self._decoder.next()
            if isinstance(found, _core.Fault):
                return self._explain(found)
            if found is not None or self._over:
                return found
            if self._decoder.finished:
                return self._codec_fault(self._broken, self.position) if self._broken else None
            try:
                self._feed()
            except CodecError as error:
                # First come the records and faults in what was fed already.
                self._broken = error
                self._decoder.finish()

    def _make_pieces(self, offset: int) -> Iterator[bytes]:
        """The pieces from this offset of the plain stream on. Asked for again when the process has forked."""
        raise NotImplementedError

    def _feed(self) -> None:
        if self._pieces is None or self._process != os.getpid():
            # The thread that made the pieces did not follow us through the fork.
            self._process = os.getpid()
            self._pieces = self._make_pieces(self._fed)
        piece = next(self._pieces, None)
        if piece is None:
            self._decoder.finish()
            return
        limit = self._options.max_expanded_bytes
        if limit is not None and self._fed + len(piece) > limit:
            piece = piece[: max(0, limit - self._fed)]
            self._pieces = _failing(
                CodecError(
                    "expansion_limit",
                    f"the file holds more than max_expanded_bytes={limit:,}",
                    self.compressed_bytes,
                )
            )
        self._head = self._head or piece[:_HEAD_BYTES]
        self._fed += len(piece)
        self._decoder.feed(piece)

    def _codec_fault(self, error: CodecError, at: Position) -> Fault:
        self._over = True
        return Fault(
            self._path,
            error.kind,
            at.record,
            at.offset,
            self._fed,
            str(error),
            compressed_offset=error.offset,
        )

    def _explain(self, found: _core.Fault) -> Fault:
        if self._broken and found.kind in TAIL_KINDS and found.end == self._fed:
            # Not the end of the file cut this record off, but the codec.
            return self._codec_fault(self._broken, Position(found.begin, found.record))
        fault = describe(self._path, found)
        if fault.offset == 0 and fault.kind in ("length_crc", "truncated_header") and self._head:
            return _perhaps_foreign(fault, self._head, self._options.compression, nothing_sound=False)
        return fault

    def close(self) -> None:
        self._over = True
        if isinstance(self._pieces, ReadAhead):
            self._pieces.close()


class PipeFrames(StreamFrames):
    """An uncompressed stream that can only be read forward."""

    def __init__(self, path: str, source: Input, options: ReadOptions, start: Position, head: bytes) -> None:
        self._source = source
        super().__init__(path, options, start, head)

    def _make_pieces(self, offset: int) -> Iterator[bytes]:
        return _skip(iter(self._source.chunk, b""), offset - self._source.position)


class GrowingFrames(StreamFrames):
    """An uncompressed file that somebody is still writing."""

    def __init__(
        self, file: LocalFile, options: ReadOptions, start: Position, patience_seconds: float
    ) -> None:
        self._file = file
        self._patience_seconds = patience_seconds
        super().__init__(file.path, options, start)

    def _make_pieces(self, offset: int) -> Iterator[bytes]:
        return _growing(self._file, offset, self._patience_seconds)


class InflatedFrames(StreamFrames):
    """A compressed file or pipe. Behind a damaged gzip member, salvage looks for the next one."""

    def __init__(
        self,
        path: str,
        source: Input,
        codec: Codec,
        options: ReadOptions,
        start: Position,
        note: Note,
    ) -> None:
        self._source = source
        self.codec = codec
        self._members = Members(
            source, codec, lambda text: note(f"{display(path)}: {text}"), salvage=options.salvage
        )
        super().__init__(path, options, start)

    def _make_pieces(self, offset: int) -> Iterator[bytes]:
        return ReadAhead(self._members.pieces_from(offset))

    @property
    def restarts(self) -> Sequence[Restart]:
        return self._members.restarts

    @property
    def compressed_bytes(self) -> int:
        return self._source.position

    def _codec_fault(self, error: CodecError, at: Position) -> Fault:
        fault = super()._codec_fault(error, at)
        pieces = None if error.kind == "expansion_limit" else self._members.following(self._fed)
        if pieces is not None:
            self._pieces = ReadAhead(pieces)
            self._decoder = self._decode_from(Position(self._fed, at.record + 1))
            self._broken = None
            self._over = False
        return fault


def _inflated(
    path: str,
    source: Input,
    codec: Codec,
    head: bytes,
    options: ReadOptions,
    start: Position,
    note: Note,
) -> Frames:
    found = detect(head)
    if len(head) > 1 and found != codec:
        what = "a plain TFRecord" if is_plain(head) else looks_like(head) or "something else"
        error = CodecError(
            "compressed_corrupt",
            f"was said to be {codec}, but begins like {found if found != 'none' else what}",
            0,
        )
        return _BrokenFrames(path, error, start)
    return InflatedFrames(path, source, codec, options, start, note)


class _BrokenFrames:
    """A file that is known to be wrong before it is read: one fault, then the end."""

    codec: Codec = "none"
    compressed_bytes = 0
    file_reader = None
    restarts: Sequence[Restart] = ()

    def __init__(self, path: str, error: CodecError, start: Position) -> None:
        self.position = start
        self._fault: Fault | None = Fault(
            path, error.kind, 0, 0, 0, str(error), compressed_offset=error.offset
        )

    def step(self) -> _core.Block | Fault | None:
        fault, self._fault = self._fault, None
        return fault

    def close(self) -> None:
        self._fault = None


def _perhaps_foreign(fault: Fault, head: bytes, stated: Codec | None, *, nothing_sound: bool) -> Fault:
    """The fault as `not_tfrecord`, when the bytes say that this never was one."""
    found = detect(head)
    looks = looks_like(head) if len(head) >= 4 else None
    if found != "none":
        looks = f"{found} data" + (", though it was said to be uncompressed" if stated == "none" else "")
    if looks is None and not (nothing_sound and fault.kind == "length_crc"):
        return fault
    if looks is not None:
        return foreign(fault.path, fault.end, looks)
    message = "not a TFRecord file, or its first header is damaged"
    return Fault(fault.path, "not_tfrecord", 0, 0, fault.end, message)


def next_of(reader: _core.FileReader, file: LocalFile) -> _core.Block | _core.Fault | None:
    """The next block or fault that `reader`, a reader of `file`, finds; None at the end."""
    try:  # and not `naming`, which costs as much as a block does
        while (found := reader.next()) is None and not reader.finished:
            pass
    except OSError as error:
        error.filename = display(file.path)
        raise
    return found


def _failing(error: CodecError) -> Iterator[bytes]:
    raise error
    yield


def _skip(pieces: Iterator[bytes], offset: int) -> Iterator[bytes]:
    """The pieces without their first `offset` bytes."""
    for piece in pieces:
        if offset >= len(piece):
            offset -= len(piece)
        else:
            yield piece[offset:]
            offset = 0


def _growing(file: LocalFile, offset: int, patience_seconds: float) -> Iterator[bytes]:
    """The bytes of a file that is being written, until it has not grown for a while."""
    deadline = time.monotonic() + patience_seconds
    while True:
        if data := file.read(1 << 18, offset):
            offset += len(data)
            deadline = time.monotonic() + patience_seconds
            yield data
            continue
        if file.current_identity().size < offset:
            raise CodecError("file_changed", "the file was truncated while it was followed", offset)
        if time.monotonic() >= deadline:
            return
        time.sleep(min(_POLL_SECONDS, max(0.0, deadline - time.monotonic())))
