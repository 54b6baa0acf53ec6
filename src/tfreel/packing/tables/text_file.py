"""The bytes of a text file in UTF-8, piece by piece, as often as wanted; gzip too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfreel.compression import CodecError, Input, detect, inflate
from tfreel.inference.content import NAMES, content_of
from tfreel.packing.source import digest
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display

PIECE_BYTES = 1 << 20
_HEAD_BYTES = 1 << 12
_DELIMITERS = (",", "\t", ";", "|")
_MARK = b"\xef\xbb\xbf"  # that programs of Windows put before UTF-8
_OTHERS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


class TextFile:
    """A text file.

    Raises:
        ValueError: It is no text in UTF-8, as far as its first bytes tell.
        OSError: It cannot be read, or is no regular file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = display(path)
        self._file = LocalFile(path)
        # Two bytes of magic begin no text.
        self._codec = detect(self._file.read(16, 0))
        self.head = next(self.pieces(_HEAD_BYTES), b"")[:_HEAD_BYTES]
        _refuse_binary(self.name, self.head)

    def identity(self) -> str:
        """What changes when the content does."""
        return digest(self._file.identity.size, self._file.identity.mtime_ns)

    def pieces(self, size: int = PIECE_BYTES, *, skip: int = 0) -> Iterator[bytes]:
        """All of it but the first `skip` bytes, in pieces of about this size, none of them empty."""
        for piece in self._without_mark(size):
            if len(piece) > skip:
                yield piece[skip:]
            skip = max(0, skip - len(piece))

    def cut(self, sizes: Sequence[int], *, skip: int = 0) -> Iterator[bytes]:
        """All of it but the first `skip` bytes, in pieces of exactly these sizes.

        Raises:
            ValueError: There is less: somebody cut the file off.
        """
        pieces = self.pieces(skip=skip)
        rest = b""
        for size in sizes:
            while len(rest) < size:
                piece = next(pieces, b"")
                if not piece:
                    raise self.changed()
                rest += piece
            data, rest = rest[:size], rest[size:]
            yield data

    def changed(self) -> ValueError:
        """The error for a file that is not what it was."""
        return ValueError(f"{self.name}: changed while it was read")

    def _without_mark(self, size: int) -> Iterator[bytes]:
        plain = self._inflated() if self._codec == "gzip" else self._plain(size)
        first = next(plain, b"")
        while len(first) < len(_MARK) and (more := next(plain, b"")):
            first += more
        yield first.removeprefix(_MARK)
        yield from plain

    def _plain(self, size: int) -> Iterator[bytes]:
        offset = 0
        while data := self._file.read(size, offset):
            offset += len(data)
            yield data

    def _inflated(self) -> Iterator[bytes]:
        try:
            for data in inflate(Input.of_file(self._file), "gzip", lambda _: None):
                if data:
                    yield data
        except CodecError as error:
            raise ValueError(f"{self.name}: {error}") from None


def delimiter_of(path: str, head: bytes) -> str:
    """The delimiter that the first line has most of; by its name a TSV file has tabs."""
    if path.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    line = head.replace(b"\r", b"\n").lstrip(b"\n").partition(b"\n")[0]
    return max(_DELIMITERS, key=lambda delimiter: line.count(delimiter.encode()))


def _refuse_binary(name: str, head: bytes) -> None:
    for mark, encoding in _OTHERS:
        if head.startswith(mark):
            raise ValueError(not_utf8(name, encoding))
    zeros = head.count(b"\0")
    # Of plain English in UTF-16 without a mark, every other byte is zero.
    if zeros and not (any(head[::2]) and any(head[1::2])):
        raise ValueError(not_utf8(name, "UTF-16"))
    kind = content_of(head).kind
    if kind not in ("binary", "text", "empty"):
        raise ValueError(f"{name}: is {NAMES[kind]}, not text")
    # A few stray ones further on spoil the rows they are in, and no others.
    if zeros * 10 > len(head) or b"\0" in head.partition(b"\n")[0]:
        raise ValueError(f"{name}: is binary data, not text")


def not_utf8(name: str, encoding: str) -> str:
    """What to say of a file in another encoding."""
    return f"{name}: is text in {encoding}; save it as UTF-8, or: iconv -f {encoding} -t UTF-8 {name}"
