"""NumPy's files: an array (.npy), or several by their names (.npz). Read row after row, never unpickled."""

from __future__ import annotations

import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from tokenize import TokenError  # of the parser for headers
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from tfreel.packing.source import digest
from tfreel.packing.tables.array_table import ArrayOptions, ArrayTable, RowArray
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display

# What a damaged or odd archive may bring about.
_READING = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError, OverflowError)
_LARGEST_TURNED_BYTES = 1 << 31  # an array in Fortran order is read as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ArrayOptions):
    """What can be said about files of NumPy.

    Attributes:
        name: What the feature of a .npy file is called.
    """

    name: str = "data"


def recognised(path: str) -> bool:
    """Whether it is called like one."""
    return path.lower().endswith((".npy", ".npz"))


def opened(path: str, options: Options) -> ArrayTable:
    """The arrays in a file.

    Raises:
        ValueError: It is no such file, or holds Python objects.
    """
    with closing(LocalFile(path)) as file:
        identity = digest(file.identity.size, file.identity.mtime_ns)
        is_zip = file.read(4, 0).startswith(b"PK")
    arrays = _members(path) if is_zip else {options.name: _of_file(path)}
    return ArrayTable(arrays, options, folder=os.path.dirname(os.path.abspath(path)), identity=identity)


def _of_file(path: str) -> RowArray:
    return NpyArray(lambda: open(path, "rb"), display(path), os.stat(path).st_size)


def _members(path: str) -> dict[str, RowArray]:
    name = display(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (ValueError, *_READING) as error:
        raise ValueError(f"{name}: is no sound .npz file: {error}") from None
    arrays: dict[str, RowArray] = {}
    for member in members:
        column = member.filename.removesuffix(".npy")
        if column in arrays:
            raise ValueError(f"{name}: two arrays are called {column!r}")
        arrays[column] = NpyArray(
            lambda member=member: _member(path, member),  # type: ignore[misc]
            f"{name}: {column}",
            member.file_size,
        )
    if not arrays:
        raise ValueError(f"{name}: there are no arrays in it")
    return arrays


def _member(path: str, member: zipfile.ZipInfo) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.open(member)  # stays open when the archive is closed
    except (ValueError, *_READING) as error:
        name = f"{display(path)}: {member.filename.removesuffix('.npy')}"
        raise ValueError(f"{name}: cannot be read: {error}") from None


class NpyArray:
    """An array in a file.

    Args:
        open_file: Opens it.
        name: What it is called in messages.
        size: How many bytes it is said to have.
    """

    def __init__(self, open_file: Callable[[], BinaryIO], name: str, size: int) -> None:
        self._open = open_file
        self._name = name
        with open_file() as file:
            try:
                self.shape, self._turned, self.dtype = _header(file)
                begin = file.tell()
            except (ValueError, OSError, EOFError, *_READING, TokenError) as error:
                raise ValueError(f"{name}: is no array of NumPy: {error}") from None
        needed = math.prod(self.shape) * self.dtype.itemsize
        if not self.dtype.hasobject and size - begin < needed:
            raise ValueError(
                f"{name}: is cut off: {needed:,} bytes of values are promised, {size - begin:,} there"
            )

    def parts(self, rows: int) -> Iterator[npt.NDArray[Any]]:
        """All rows, so many at a time."""
        with self._open() as file:
            _header(file)
            if self._turned and len(self.shape) > 1:
                yield from self._turned_parts(file, rows)
                return
            for begin in range(0, self.shape[0], rows):
                yield self._read(file, (min(rows, self.shape[0] - begin), *self.shape[1:]))

    def _turned_parts(self, file: BinaryIO, rows: int) -> Iterator[npt.NDArray[Any]]:
        if math.prod(self.shape) * self.dtype.itemsize > _LARGEST_TURNED_BYTES:
            raise ValueError(f"{self._name}: too large in Fortran order; np.ascontiguousarray turns it")
        whole = self._read(file, self.shape[::-1]).T
        yield from (whole[begin : begin + rows] for begin in range(0, len(whole), rows))

    def _read(self, file: BinaryIO, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        size = math.prod(shape) * self.dtype.itemsize
        try:
            data = file.read(size)
        except (EOFError, OSError, *_READING) as error:
            raise ValueError(f"{self._name}: {error}") from None
        if len(data) != size:
            raise ValueError(f"{self._name}: is cut off")
        return np.frombuffer(data, self.dtype).reshape(shape)


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(file)
    if version == (1, 0):
        return npy.read_array_header_1_0(file)
    if version == (2, 0):
        return npy.read_array_header_2_0(file)
    raise ValueError(f"the format version {version} is for arrays that cannot be features")
