"""Columns in, NumPy files out: `.npz` with an array for each column, or a single `.npy`.

Numbers of one shape are one array, short texts one of ``str``. What has another number of values in each
record is several arrays: ``name/values`` and ``name/row_splits``, as in `tfreel.Ragged`, and ``name/present``
where records lack it. Values that are bytes are ``name/bytes`` and ``name/offsets``, as in
`tfreel.BytesColumn`. There are no objects in any of them, so that nobody needs ``allow_pickle``.
"""

from __future__ import annotations

import io
import math
import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import Batch
from tfreel.columns.batch import Column as Values
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import as_rows
from tfreel.columns.strings import BytesColumn
from tfreel.inference.content import is_text
from tfreel.storage.paths import naming
from tfreel.storage.url import Url
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import Sink, TargetFile, Wishes

_LONGEST_TEXT = 256
_CHUNK_BYTES = 4 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same data


class Spool:
    """An array that grows along its first dimension, on disk: its length is known only at the end."""

    def __init__(self, folder: str | None) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - lives as long as the spool
        self.dtype: np.dtype[Any] | None = None
        self.inner: tuple[int, ...] = ()
        self.length = 0

    def add(self, array: npt.NDArray[Any]) -> None:
        """Adds rows.

        Raises:
            ValueError: They are of another shape than those before.
        """
        if self.dtype is None:
            self.dtype, self.inner = array.dtype, array.shape[1:]
        if (array.dtype, array.shape[1:]) != (self.dtype, self.inner):
            raise ValueError(
                f"rows of {array.dtype} {array.shape[1:]} among rows of {self.dtype} {self.inner}"
            )
        self._file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        self.length += len(array)

    def chunks(self) -> Iterator[npt.NDArray[Any]]:
        """All of it, a part at a time."""
        self._file.seek(0)
        dtype = self.dtype or np.dtype(np.int64)
        row = max(1, math.prod(self.inner)) * dtype.itemsize
        while data := self._file.read(max(1, _CHUNK_BYTES // row) * row):
            yield np.frombuffer(data, dtype).reshape(-1, *self.inner)

    def close(self) -> None:
        """Lets go of the file, which then is no more."""
        self._file.close()

    def header(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The dtype and shape of the whole."""
        return self.dtype or np.dtype(np.int64), (self.length, *self.inner)


class _Grown:
    """One column: its arrays by the end of their names."""

    def __init__(self, column: Column, folder: str | None) -> None:
        self._column = column
        self._folder = folder
        self._spools: dict[str, Spool] = {}
        self._ends: dict[str, int] = {}
        self._rows = 0
        self._some_absent = False
        self._longest = 0
        self._all_text = column.is_text

    def add(self, values: Values) -> None:
        """Adds the values of some records."""
        rows = as_rows(values)
        if isinstance(rows, Ragged):
            present = np.ones(len(rows), np.bool_) if rows.present is None else rows.present
            self._some_absent |= not present.all()
            self._spool("/present").add(present)
        self._add(rows, "row_splits")
        self._rows += len(rows)

    def _add(self, rows: Any, splits: str) -> None:
        if isinstance(rows, Ragged):
            rows = rows.trimmed()
            self._offsets(f"/{splits}", rows.offsets)
            self._add(rows.values, f"inner_{splits}")
        elif isinstance(rows, BytesColumn):
            self._add_bytes(rows)
        elif "/row_splits" in self._spools:
            self._spool("/values").add(rows)
        else:
            self._spool("").add(rows)

    def _add_bytes(self, rows: BytesColumn) -> None:
        begin, end = int(rows.offsets[0]), int(rows.offsets[-1])
        self._spool("/bytes").add(rows.data[begin:end])
        self._offsets("/offsets", rows.offsets)
        if self._all_text:
            texts = BytesColumn(rows.data, rows.offsets).to_list()
            self._longest = max(self._longest, max(map(len, texts), default=0))
            self._all_text = self._longest <= _LONGEST_TEXT and all(map(is_text, texts))
        self._shape = rows.shape[1:]

    def _offsets(self, end: str, offsets: npt.NDArray[np.int64]) -> None:
        """Adds offsets that begin at nought to those that are there."""
        spool = self._spool(end)
        if not spool.length:
            spool.add(np.zeros(1, np.int64))
        last = self._ends.get(end, 0)
        spool.add(offsets[1:] - offsets[0] + last)
        self._ends[end] = int(offsets[-1] - offsets[0]) + last

    def close(self) -> None:
        """Lets go of all that is on disk."""
        for spool in self._spools.values():
            spool.close()

    def _spool(self, end: str) -> Spool:
        if end not in self._spools:
            self._spools[end] = Spool(self._folder)
        return self._spools[end]

    def arrays(self) -> Iterator[tuple[str, npt.NDArray[Any] | Spool]]:
        """The arrays that the column has become, with the ends of their names."""
        spools = dict(self._spools)
        if "/present" in spools and not self._some_absent:
            del spools["/present"]
        if "/bytes" in spools and self._all_text:
            texts = _Texts(spools.pop("/bytes"), spools.pop("/offsets"), self._shape)
            yield ("/values" if "/row_splits" in spools else ""), texts.array()
        yield from spools.items()


class _Texts:
    """Short texts, as an array of ``str``."""

    def __init__(self, data: Spool, offsets: Spool, shape: tuple[int, ...]) -> None:
        self._data = b"".join(chunk.tobytes() for chunk in data.chunks())
        self._offsets = np.concatenate(list(offsets.chunks()))
        self._inner = shape

    def array(self) -> npt.NDArray[np.str_]:
        """All of them."""
        bounds = self._offsets.tolist()
        texts = [self._data[a:b].decode() for a, b in pairwise(bounds)]
        return np.array(texts, np.str_).reshape(-1, *self._inner)


class Arrays(TargetFile):
    """A NumPy file, or an archive of them."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column], *, archive: bool) -> None:
        if not archive and len(columns) != 1:
            told = (
                f"not {len(columns)}: say which, or" if columns else "and a source without records has none:"
            )
            raise ValueError(f"a .npy file holds one column, {told} write .npz")
        super().__init__(wishes, columns)
        self._archive = archive
        folder = None if isinstance(wishes.path, Url) else os.path.dirname(wishes.path) or "."
        self._grown = {column.name: _Grown(column, folder) for column in columns}

    def write(self, batch: Batch) -> None:
        """Adds records."""
        for name, grown in self._grown.items():
            try:
                with naming(self.file.path):  # the files that arrays grow in have no names
                    grown.add(batch[name])
            except ValueError as error:
                raise ValueError(f"feature {name!r}: {error}") from None

    def publish(self) -> None:
        """Puts the arrays into the file, and makes it appear."""
        arrays = ((name + end, array) for name, grown in self._grown.items() for end, array in grown.arrays())
        with naming(self.file.path):
            if self._archive:
                self._write_archive(arrays)
            else:
                self._write_single(list(arrays))
            self._close()
        super().publish()

    def abort(self) -> None:
        """Leaves nothing."""
        self._close()
        super().abort()

    def _close(self) -> None:
        for grown in self._grown.values():
            grown.close()

    def _write_archive(self, arrays: Iterator[tuple[str, Any]]) -> None:
        with zipfile.ZipFile(Sink(self.file), "w", allowZip64=True) as archive:
            for name, array in arrays:
                entry = zipfile.ZipInfo(name + ".npy", _EPOCH)
                with archive.open(entry, "w", force_zip64=True) as member:
                    for part in _npy(array):
                        member.write(part)

    def _write_single(self, arrays: list[tuple[str, Any]]) -> None:
        if len(arrays) > 1:
            made = ", ".join(name for name, _ in arrays)
            raise ValueError(f"the column is more than one array ({made}): write .npz")
        for part in _npy(arrays[0][1]) if arrays else _npy(np.empty(0, np.int64)):
            self.file.write(part)


def _npy(array: npt.NDArray[Any] | Spool) -> Iterator[bytes]:
    """The bytes of a .npy file."""
    dtype, shape = array.header() if isinstance(array, Spool) else (array.dtype, array.shape)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    )
    yield head.getvalue()
    for chunk in array.chunks() if isinstance(array, Spool) else [array]:
        yield chunk.tobytes()
