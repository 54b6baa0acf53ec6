"""Compressed bytes in, plain bytes out, and back: gzip and zlib, with precise faults and bounded memory.

The deflate data itself is ISA-L's business (or zlib's, where ISA-L would lose output); the containers around
it are read here, because what is wrong with a file is usually wrong with its container: cut off, padded,
joined to another, not what it was said to be.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol, TypeAlias, cast

from tfreel import _core
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.storage.files import LocalFile

Codec: TypeAlias = Literal["none", "gzip", "zlib"]

_CODECS: dict[str, Codec] = {"none": "none", "": "none", "gzip": "gzip", "zlib": "zlib"}
_SUFFIXES: dict[str, Codec] = {".gz": "gzip", ".gzip": "gzip", ".zlib": "zlib", ".zz": "zlib"}

_OTHER_SUFFIXES = frozenset(
    {".zst", ".zstd", ".bz2", ".xz", ".lzma", ".lz4", ".br", ".snappy", ".sz", ".zip"}
)

_CHUNK_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b\x08"
_LONGEST_GZIP_TEXT = 1 << 16
_HEADER_BYTES = 12


def codec_named(name: str) -> Codec:
    """The codec of this name, in any case; TensorFlow's spellings are ours.

    Raises:
        ValueError: There is no such codec.
    """
    try:
        return _CODECS[name.lower()]
    except (KeyError, AttributeError):
        raise ValueError(f'unknown compression {name!r}: expected "none", "gzip" or "zlib"') from None


def codec_to_write(path: str) -> Codec:
    """The codec of a new file, by the suffix of its path.

    Raises:
        ValueError: The suffix promises what no reader of TFRecords knows.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _OTHER_SUFFIXES:
        raise ValueError(f"{display(path)}: TFRecords are compressed by gzip or zlib, not as {suffix}")
    return codec_for_path(path)


def codec_for_path(path: str) -> Codec:
    """The codec that the suffix of a path stands for."""
    lower = path.lower()
    return next((codec for suffix, codec in _SUFFIXES.items() if lower.endswith(suffix)), "none")


def detect(head: bytes) -> Codec:
    """The codec of a file that begins with `head`, told by its content."""
    if is_plain(head):
        return "none"
    if head.startswith(_GZIP_MAGIC[: max(2, min(3, len(head)))]):
        return "gzip"
    return "zlib" if _is_zlib_header(head[:2]) and not _is_damaged_header(head) else "none"


def is_plain(head: bytes) -> bool:
    """Whether `head` begins with a sound record header."""
    if len(head) < _HEADER_BYTES:
        return False
    return _core.mask_crc(_core.crc32c(head[:8])) == int.from_bytes(head[8:_HEADER_BYTES], "little")


def _is_damaged_header(head: bytes) -> bool:
    """Whether this is rather a damaged record header than zlib data: a likely length, and no deflate."""
    if int.from_bytes(head[:8], "little") >= 1 << 40:
        return False
    try:
        zlib.decompressobj().decompress(head)
    except zlib.error:
        return True
    return False


def _is_zlib_header(head: bytes) -> bool:
    return len(head) == 2 and head[0] & 0x8F == 0x08 and int.from_bytes(head, "big") % 31 == 0


class CodecError(Exception):
    """A compressed stream is not sound. `kind` is a fault kind; `offset` counts compressed bytes."""

    def __init__(self, kind: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.offset = offset


class Input:
    """Compressed bytes in order, with a position, look-ahead, and a way back where the source has one."""

    def __init__(self, read: Callable[[int, int], bytes], *, rewindable: bool, offset: int = 0) -> None:
        self._read = read
        self.rewindable = rewindable
        self._ahead = b""
        self._fetched = offset
        self.member = 0  # where the gzip member that is being read began
        self.reread_bytes = 0  # what going back has cost so far

    @classmethod
    def of_file(cls, file: LocalFile) -> Input:
        """The bytes of a regular file."""
        return cls(file.read, rewindable=True)

    @classmethod
    def of_stream(cls, stream: BinaryIO, head: bytes = b"") -> Input:
        """The bytes of an open stream, of which `head` was read already."""
        read = getattr(stream, "read1", stream.read)  # read1 returns what is there, read waits for all
        source = cls(lambda size, _: read(size), rewindable=False, offset=len(head))
        source._ahead = head
        return source

    @property
    def position(self) -> int:
        """How many bytes were taken."""
        return self._fetched - len(self._ahead)

    def chunk(self) -> bytes:
        """The next bytes, as many as come easily; none at the end."""
        ahead, self._ahead = self._ahead, b""
        return ahead or self._fetch(_CHUNK_BYTES)

    def exactly(self, size: int) -> bytes:
        """The next `size` bytes; fewer only at the end."""
        while len(self._ahead) < size and (more := self._fetch(_CHUNK_BYTES)):
            self._ahead += more
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        return taken

    def give_back(self, data: bytes) -> None:
        """Puts bytes back that were taken last."""
        self._ahead = data + self._ahead

    def rewind(self, position: int) -> None:
        """Goes back to an earlier position of a rewindable source."""
        self.reread_bytes += self._fetched - position
        self._ahead = b""
        self._fetched = position

    def _fetch(self, size: int) -> bytes:
        data = self._read(size, self._fetched)
        self._fetched += len(data)
        return data


class _Inflater(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def _fast_inflater() -> _Inflater:
    from isal import igzip_lib

    return cast("_Inflater", igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE))


def _inflate_errors() -> tuple[type[Exception], ...]:
    from isal import igzip_lib

    return cast("tuple[type[Exception], ...]", (igzip_lib.error, zlib.error))


class _CarefulInflater:
    """Raw deflate by zlib, losing no byte of output that comes before damage.

    A decompressor that meets bad data throws away what the same call had already produced. This one goes back
    to where the call began and feeds it byte by byte; the error comes with the next call.
    """

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._full = False
        self._failure: zlib.error | None = None

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def needs_input(self) -> bool:
        return not (self._inflater.unconsumed_tail or self._full or self._failure or self.eof)

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if self._failure:
            raise self._failure
        data = self._inflater.unconsumed_tail + data
        before = self._inflater.copy()
        try:
            out = self._inflater.decompress(data, max_length)
        except zlib.error as error:
            self._failure = error
            return b"".join(until_error(before, data))
        self._full = len(out) == max_length
        return out


def until_error(inflater: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """All that comes out before damage, byte by byte in: a larger step would lose what it made."""
    try:
        for i in range(len(data)):
            yield inflater.decompress(data[i : i + 1])
    except zlib.error:
        return


def _inflate_raw(source: Input) -> Iterator[bytes]:
    """The output of one run of deflate data, to its end mark; before a fault, all that comes before it."""
    start = source.position
    produced = 0
    skip = 0
    errors = _inflate_errors()
    inflater = _fast_inflater() if source.rewindable else _CarefulInflater()
    full = False
    while not inflater.eof:
        # ISA-L asks for input even when it holds the last bytes itself and only lacked room for the output.
        hungry = inflater.needs_input and not full
        data = source.chunk() if hungry else b""
        if hungry and not data:
            raise CodecError(
                "compressed_truncated", "the compressed stream ends before its end mark", source.position
            )
        try:
            out = inflater.decompress(data, _CHUNK_BYTES)
        except errors as error:
            if isinstance(inflater, _CarefulInflater):
                raise CodecError(
                    "compressed_corrupt", f"the compressed data is damaged ({error})", source.position
                ) from None
            inflater, skip, full = _CarefulInflater(), produced, False
            source.rewind(start)
            continue
        full = len(out) == _CHUNK_BYTES
        if skip:
            dropped = min(skip, len(out))
            skip -= dropped
            out = out[dropped:]
        produced += len(out)
        if out:
            yield out
    source.give_back(inflater.unused_data)


def inflate(source: Input, codec: Codec, note: Callable[[str], None]) -> Iterator[bytes]:
    """The plain bytes of a gzip or zlib stream, in pieces.

    Raises:
        CodecError: The stream is damaged, cut off or followed by something else. All that could be inflated
        came first.
    """
    return _inflate_gzip(source, note) if codec == "gzip" else _inflate_zlib(source)


def _inflate_gzip(source: Input, note: Callable[[str], None]) -> Iterator[bytes]:
    while True:
        _read_gzip_header(source)
        yield from _inflate_member(source)
        head = source.exactly(len(_GZIP_MAGIC))
        if not head:
            return
        source.give_back(head)
        if not head.startswith(_GZIP_MAGIC[:2]):
            _pass_over_padding(source, note)
            return


def _inflate_member(source: Input) -> Iterator[bytes]:
    from isal import isal_zlib

    crc = size = 0
    for out in _inflate_raw(source):
        crc = isal_zlib.crc32(out, crc)
        size += len(out)
        yield out
    trailer = source.exactly(8)
    if len(trailer) < 8:
        raise CodecError("compressed_truncated", "the gzip stream ends inside its trailer", source.position)
    if trailer != crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"):
        raise CodecError(
            "compressed_corrupt", "the gzip trailer does not match the data before it", source.position
        )


def _read_gzip_header(source: Input) -> None:
    source.member = source.position
    header = bytearray(_header_bytes(source, 10))
    if not header.startswith(_GZIP_MAGIC):
        raise CodecError(
            "compressed_corrupt", "the gzip header is damaged, or not of a deflate stream", source.position
        )
    flags = header[3]
    if flags & 0xE0:
        raise CodecError("compressed_corrupt", "the gzip header sets reserved flags", source.position)
    if flags & 0x04:
        header += _header_bytes(source, 2)
        header += _header_bytes(source, int.from_bytes(header[-2:], "little"))
    for flag in (0x08, 0x10):  # name, comment
        if flags & flag:
            header += _header_text(source)
    if flags & 0x02 and int.from_bytes(_header_bytes(source, 2), "little") != zlib.crc32(header) & 0xFFFF:
        raise CodecError("compressed_corrupt", "the gzip header does not match its checksum", source.position)


def _header_bytes(source: Input, size: int) -> bytes:
    data = source.exactly(size)
    if len(data) < size:
        raise CodecError("compressed_truncated", "the gzip stream ends inside its header", source.position)
    return data


def _header_text(source: Input) -> bytes:
    data = source.exactly(_LONGEST_GZIP_TEXT)
    end = data.find(b"\0") + 1
    if not end:
        kind = "compressed_truncated" if len(data) < _LONGEST_GZIP_TEXT else "compressed_corrupt"
        raise CodecError(kind, "the gzip header holds a name or comment without end", source.position)
    source.give_back(data[end:])
    return data[:end]


def _pass_over_padding(source: Input, note: Callable[[str], None]) -> None:
    start = source.position
    while data := source.chunk():
        if data.strip(b"\0"):
            raise CodecError("trailing_garbage", "something that is not gzip follows the gzip stream", start)
    note(f"{source.position - start} zero bytes follow the gzip stream")


def _inflate_zlib(source: Input) -> Iterator[bytes]:
    from isal import isal_zlib

    header = source.exactly(2)
    if len(header) < 2:
        raise CodecError("compressed_truncated", "the zlib stream ends inside its header", source.position)
    if not _is_zlib_header(header):
        raise CodecError(
            "compressed_corrupt", "this is not a zlib header (raw deflate data is not supported)", 0
        )
    if header[1] & 0x20:
        raise CodecError("compressed_corrupt", "the zlib stream needs a preset dictionary", 0)
    check = 1
    for out in _inflate_raw(source):
        check = isal_zlib.adler32(out, check)
        yield out
    trailer = source.exactly(4)
    if len(trailer) < 4:
        raise CodecError("compressed_truncated", "the zlib stream ends inside its trailer", source.position)
    if trailer != check.to_bytes(4, "big"):
        raise CodecError(
            "compressed_corrupt", "the zlib trailer does not match the data before it", source.position
        )
    if source.exactly(1):
        raise CodecError("trailing_garbage", "something follows the zlib stream", source.position - 1)


def find_gzip_member(source: Input) -> bool:
    """Moves to the next place that looks like the start of a gzip member; False when there is none."""
    data = source.chunk()
    while data:
        found = data.find(_GZIP_MAGIC)
        if found >= 0:
            source.give_back(data[found:])
            return True
        # The magic may lie across two chunks.
        keep = data[-(len(_GZIP_MAGIC) - 1) :]
        more = source.chunk()
        if not more:
            return False
        data = keep + more
    return False


class Deflater:
    """Plain bytes in, one gzip or zlib stream out.

    Without a level, ISA-L compresses: several times as fast as zlib, files a few percent larger. Levels 0 to
    9 are zlib's.
    """

    def __init__(self, codec: Codec, level: int | None) -> None:
        from isal import isal_zlib

        wbits = zlib.MAX_WBITS + (16 if codec == "gzip" else 0)
        self._deflater: Any
        if level is None:
            self._deflater = isal_zlib.compressobj(2, isal_zlib.DEFLATED, wbits)
        else:
            self._deflater = zlib.compressobj(level, zlib.DEFLATED, wbits, 9)

    def compress(self, data: bytes) -> bytes:
        """Takes `data`; gives what is ready."""
        return cast("bytes", self._deflater.compress(data))

    def flush(self) -> bytes:
        """Makes everything taken so far readable."""
        return cast("bytes", self._deflater.flush(zlib.Z_SYNC_FLUSH))

    def finish(self) -> bytes:
        """Ends the stream."""
        return cast("bytes", self._deflater.flush(zlib.Z_FINISH))


def checked_level(level: int | None) -> int | None:
    """The level, if it is one.

    Raises:
        ValueError: It is not.
    """
    if level is not None and (isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= 9):
        raise ValueError(f"level must be 0 to 9, or None for the fast default; got {level!r}")
    return level
