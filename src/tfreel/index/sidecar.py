"""The index of one file, and its sidecar: a small permanent format, specified byte by byte in docs/format.md.

An index is a claim about a file. Everything read from a sidecar is checked before it is believed, and every
record that is read by its help is checked again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.compression import Codec
from tfreel.errors import StaleIndexError
from tfreel.records.members import Restart
from tfreel.storage.paths import INDEX_SUFFIX, display
from tfreel.storage.places import exists, read_whole
from tfreel.storage.publish import write_atomically
from tfreel.storage.url import Url

_MAGIC = b"TFREELIX"
_VERSION = 1
_CODECS: tuple[Codec, ...] = ("none", "gzip", "zlib")
_HEADER = struct.Struct("<8sIIQqQQ32sI")  # then a u32: the masked checksum of these bytes
_CHECK = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + _CHECK.size
ROW_BYTES = 8 + 8 + 4
_FRAME_BYTES = 16
_MOST_EXPANSION = 1040  # deflate makes 1032 bytes of one, at the most

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class FileIndex:
    """Where the records of one file lie.

    Attributes:
        codec: How the file is compressed; offsets are those of the uncompressed stream.
        size: Of the file, in bytes, when it was indexed.
        mtime_ns: Its modification time then.
        stream_bytes: Of the uncompressed stream.
        offsets: Of each record's first header byte.
        lengths: Of each payload.
        checksums: Of each payload, masked, as stored.
        restarts: Of a damaged file, where its compressed stream goes on; None for a sound one.
    """

    codec: Codec
    size: int
    mtime_ns: int
    stream_bytes: int
    offsets: U64
    lengths: U64
    checksums: U32
    restarts: tuple[Restart, ...] | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    @cached_property
    def fingerprint(self) -> bytes:
        """A hash of what the file holds, whatever its name, place or times."""
        digest = hashlib.sha256(np.ascontiguousarray(self.lengths, "<u8").data)
        digest.update(np.ascontiguousarray(self.checksums, "<u4").data)
        return digest.digest()

    def dated(self, mtime_ns: int) -> FileIndex:
        """The same, of a file of that time."""
        if mtime_ns == self.mtime_ns:  # and with the fingerprint, which takes long to compute
            return self
        return replace(self, mtime_ns=mtime_ns)

    def to_bytes(self) -> bytes:
        """The content of a sidecar."""
        codec = _CODECS.index(self.codec)
        header = _HEADER.pack(
            _MAGIC,
            _VERSION,
            codec,
            self.size,
            self.mtime_ns,
            self.stream_bytes,
            len(self),
            self.fingerprint,
            0,
        )
        columns = (
            self.offsets.astype("<u8").tobytes()
            + self.lengths.astype("<u8").tobytes()
            + self.checksums.astype("<u4").tobytes()
        )
        return header + _checksum(header) + columns + _checksum(columns)


class Header(NamedTuple):
    """What the first bytes of a sidecar say: all that has to be known of a file until somebody reads it."""

    codec: Codec
    size: int
    mtime_ns: int
    stream_bytes: int
    records: int
    fingerprint: bytes

    @property
    def sidecar_bytes(self) -> int:
        """How large the sidecar has to be."""
        return HEADER_BYTES + self.records * ROW_BYTES + _CHECK.size


def parse_header(content: bytes, path: str) -> Header:
    """What the header of a sidecar says, which is in front of `content`.

    Raises:
        StaleIndexError: It is damaged (`kind` is ``"index_corrupt"``).
    """
    head = content[: _HEADER.size]
    if len(content) < HEADER_BYTES or not head.startswith(_MAGIC):
        _damaged(path, "it is cut off, or not an index")
    if content[_HEADER.size : HEADER_BYTES] != _checksum(head):
        _damaged(path, "the checksum of its header does not match")
    _, version, codec, size, mtime_ns, stream_bytes, count, fingerprint, _ = _HEADER.unpack(head)
    if version != _VERSION or codec >= len(_CODECS):
        _damaged(path, f"its version {version} is not known here")
    return Header(_CODECS[codec], size, mtime_ns, stream_bytes, count, fingerprint)


def parse_sidecar(content: bytes, path: str) -> tuple[FileIndex, bytes]:
    """The index that a sidecar holds, and the fingerprint it promises.

    Raises:
        StaleIndexError: It is damaged (`kind` is ``"index_corrupt"``).
    """
    codec, size, mtime_ns, stream_bytes, count, fingerprint = parse_header(content, path)
    if len(content) < HEADER_BYTES + _CHECK.size:
        _damaged(path, "it is cut off, or not an index")
    columns = memoryview(content)[HEADER_BYTES : -_CHECK.size]  # large, and therefore never copied
    if len(columns) != count * ROW_BYTES:
        _damaged(path, f"it promises {count:,} records and holds {len(columns) // ROW_BYTES:,}")
    if content[-_CHECK.size :] != _checksum(columns):
        _damaged(path, "the checksum of its columns does not match")
    index = FileIndex(
        codec=codec,
        size=size,
        mtime_ns=mtime_ns,
        stream_bytes=stream_bytes,
        offsets=np.frombuffer(columns, "<u8", count).astype(np.uint64, copy=False),
        lengths=np.frombuffer(columns, "<u8", count, 8 * count).astype(np.uint64, copy=False),
        checksums=np.frombuffer(columns, "<u4", count, 16 * count).astype(np.uint32, copy=False),
    )
    check_columns(index, path)
    return index, fingerprint


def check_columns(index: FileIndex, path: str) -> None:
    """Refuses places that cannot be.

    The records of a sound file follow one another without a gap from the first byte of its stream to the
    last. An index that says otherwise would leave records out, or ask for memory that no record needs.
    """
    end = index.stream_bytes
    if not stream_fits(index):
        _damaged(path, "its stream is not one that a file of this size can hold")
    # From here on sums cannot overflow.
    if max(index.offsets.max(initial=0), index.lengths.max(initial=0)) > end:
        _damaged(path, "it places records past the end of the file")
    ends = index.offsets + index.lengths
    ends += np.uint64(_FRAME_BYTES)
    first, last = (index.offsets[0], ends[-1]) if len(index) else (0, 0)
    if first != 0 or last != end or not np.array_equal(index.offsets[1:], ends[:-1]):
        _damaged(path, "it leaves gaps between records, lets them overlap or ends before the file does")


def stream_fits(index: FileIndex | Header) -> bool:
    """Whether a file of this size can hold such a stream."""
    end = index.stream_bytes
    fits = end == index.size if index.codec == "none" else end <= index.size * _MOST_EXPANSION
    return fits and end < 1 << 62


def read_sidecar(path: str) -> tuple[FileIndex, bytes]:
    """The index in this sidecar, and the fingerprint it promises."""
    return parse_sidecar(read_whole(path), path)


def write_sidecar(data_path: str, index: FileIndex) -> str:
    """Puts the index beside its file, or into the cache directory; gives its path."""
    content = index.to_bytes()
    beside = data_path + INDEX_SUFFIX
    try:
        write_atomically(beside, content)
    except PermissionError:
        pass
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
    else:
        return beside
    cached = cached_path(data_path)
    write_atomically(cached, content)
    return cached


def find_sidecars(data_path: str, *, seen: bool = False) -> list[str]:
    """The sidecars of a file: beside it, and in the cache directory if it could not be written there.

    Args:
        data_path: The file.
        seen: Whether it is known that there is one beside it.
    """
    beside = data_path + INDEX_SUFFIX
    cached = cached_path(data_path)
    return [path for path in (beside, cached) if (seen and path is beside) or exists(path)]


def cached_path(data_path: str) -> str:
    """Where the index of a file goes whose directory cannot be written."""
    home = os.environ.get("TFREEL_CACHE_DIR")
    if not home:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "tfreel")
    whole = data_path if isinstance(data_path, Url) else os.path.realpath(data_path)
    name = hashlib.sha256(os.fsencode(whole)).hexdigest()[:32]
    return os.path.join(home, "index", name + INDEX_SUFFIX)


def _checksum(data: bytes | memoryview) -> bytes:
    return _CHECK.pack(_core.mask_crc(_core.crc32c(data)))


def _damaged(path: str, why: str) -> NoReturn:
    raise StaleIndexError(
        f"{display(path)}: the index is damaged: {why}; build it again", path=path, kind="index_corrupt"
    )
