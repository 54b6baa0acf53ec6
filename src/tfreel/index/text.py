"""The text index of DALI and the ``tfrecord`` package: offset and framed size of each record, a line each."""

from __future__ import annotations

import os
from typing import NoReturn

import numpy as np

from tfreel import _core
from tfreel.errors import StaleIndexError
from tfreel.index.sidecar import FileIndex, check_columns
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display
from tfreel.storage.publish import write_atomically
from tfreel.storage.url import Url

TEXT_SUFFIX = ".idx"

_FRAME_BYTES = 16
_HEADER_BYTES = 12


def write_text_index(data_path: str, index: FileIndex) -> str:
    """Writes the text index of a plain file beside it. Gives its path."""
    if index.codec != "none":
        raise ValueError(
            f"{display(data_path)}: a text index knows no compression; it can describe plain files only"
        )
    lines = [
        f"{offset} {length + _FRAME_BYTES}\n"
        for offset, length in zip(index.offsets.tolist(), index.lengths.tolist(), strict=True)
    ]
    path = data_path + TEXT_SUFFIX
    write_atomically(path, "".join(lines).encode())
    return path


def read_text_index(data_path: str) -> FileIndex:
    """The index in the text file beside a plain file, each line checked against the header it points to.

    Raises:
        StaleIndexError: It is damaged, or does not belong to the file.
    """
    if isinstance(data_path, Url):
        raise ValueError(  # noqa: TRY004 - not the type is wrong
            f"{display(data_path)}: a text index is for files of this machine"
        )
    path = data_path + TEXT_SUFFIX
    rows = _parse(path)
    file = LocalFile(data_path)
    offsets = np.array([offset for offset, _ in rows], np.uint64)
    lengths = np.array([size - _FRAME_BYTES for _, size in rows], np.uint64)
    checksums = np.zeros(len(rows), np.uint32)
    end = max((offset + size for offset, size in rows), default=0)
    if end != file.size:
        _refuse(path, f"it covers {end:,} bytes, the file has {file.size:,}", "index_stale")
    index = FileIndex("none", file.size, file.identity.mtime_ns, file.size, offsets, lengths, checksums)
    check_columns(index, path)
    for i, (offset, size) in enumerate(rows):
        checksums[i] = _checked_footer(file, path, i, offset, size)
    return index


def _parse(path: str) -> list[tuple[int, int]]:
    rows = []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if len(fields) != 2 or not all(field.isdigit() and len(field) < 20 for field in fields):
                _refuse(path, f"line {number} is not an offset and a size", "index_corrupt")
            offset, size = int(fields[0]), int(fields[1])
            if size < _FRAME_BYTES or offset + size >= 1 << 63:
                _refuse(path, f"line {number} cannot be the place of a record", "index_corrupt")
            rows.append((offset, size))
    return rows


def _checked_footer(file: LocalFile, path: str, record: int, offset: int, size: int) -> int:
    header = file.read(_HEADER_BYTES, offset)
    if len(header) < _HEADER_BYTES or int.from_bytes(header[:8], "little") != size - _FRAME_BYTES:
        _refuse(
            path, f"record {record} is not at byte {offset} of {os.path.basename(file.path)}", "index_stale"
        )
    if _core.mask_crc(_core.crc32c(header[:8])) != int.from_bytes(header[8:], "little"):
        _refuse(path, f"there is no record at byte {offset} of {os.path.basename(file.path)}", "index_stale")
    return int.from_bytes(file.read(4, offset + size - 4), "little")


def _refuse(path: str, why: str, kind: str) -> NoReturn:
    raise StaleIndexError(f"{display(path)}: {why}", path=path, kind=kind)
