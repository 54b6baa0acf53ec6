"""Pictures as they look: small gray copies, and hashes that change little where a picture does.

A copy has 16 × 16 pixels. Its hash has a bit for each of 64 places, which says whether it gets brighter to
the right there, and 64 more for downwards. Coding a picture anew, in another size or format, changes a few of
these bits; between two different photos, some forty or more of them differ. Drawings of small things on one
colour may agree in most; so what the hashes find is looked at once more in the copies.
"""

from __future__ import annotations

import tempfile
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from tfreel.errors import TfreelError
from tfreel.images.decode import Reading
from tfreel.images.headers import FORMATS
from tfreel.images.resize import resize
from tfreel.inference.content import content_of

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

SIDE = 16
_ENOUGH = 4 * SIDE  # pixels on a side that a JPEG is decoded to
_GRID = 9
_BRIGHTER = 2.0  # by so many steps of gray at least
_PLAIN = 16  # steps from the darkest to the brightest: below, there is nothing to compare
_ALIKE = 16.0  # the largest difference of two pixels, when both copies are equally bright
_READING = Reading(mode="gray", orient=True)


def is_picture(value: bytes) -> bool:
    """Whether this is an image of a format that can be decoded."""
    return content_of(value).kind in FORMATS


def copy_of(value: bytes) -> U8 | None:
    """The small copy of an encoded image; None if it cannot be decoded."""
    try:
        pixels = _READING.pixels(value, enough=(_ENOUGH, _ENOUGH))
        small = resize(pixels, (SIDE, SIDE), antialias=True)[:, :, 0]
    except (TfreelError, ValueError):
        return None
    return np.clip(np.rint(small), 0, 255).astype(np.uint8)


def is_plain(copies: U8) -> npt.NDArray[np.bool_]:
    """Which copies are all of one colour, or nearly."""
    flat = copies.reshape(len(copies), -1).astype(np.int64)
    plain: npt.NDArray[np.bool_] = flat.max(axis=1, initial=0) - flat.min(axis=1, initial=255) < _PLAIN
    return plain


def hashes_of(copies: U8) -> U64:
    """Two words for each copy."""
    grids = np.einsum("ij,njk,lk->nil", _SHRINK, copies.astype(np.float64), _SHRINK)
    right = grids[:, :-1, 1:] - grids[:, :-1, :-1] > _BRIGHTER
    down = grids[:, 1:, :-1] - grids[:, :-1, :-1] > _BRIGHTER
    bits = np.concatenate([right.reshape(len(copies), 64), down.reshape(len(copies), 64)], axis=1)
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(-1, 2)


def _shares(old: int, new: int) -> npt.NDArray[np.float64]:
    """Which part each of the old pixels has in each of the new ones."""
    edges = np.arange(new + 1) * (old / new)
    pixels = np.arange(old)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    shares: npt.NDArray[np.float64] = np.clip(overlap, 0, None) * (new / old)
    return shares


_SHRINK = _shares(SIDE, _GRID)


class Copies:
    """The copies of any number of pictures, on the disk."""

    def __init__(self) -> None:
        file = tempfile.TemporaryFile(prefix="tfreel-")  # noqa: SIM115 - close() closes it
        self._file = cast("BinaryIO", file)
        self.count = 0

    def add(self, copies: U8) -> None:
        """Adds some."""
        self._file.write(np.ascontiguousarray(copies).tobytes())
        self.count += len(copies)

    def look_alike(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Whether the copies with these numbers show the same, pair by pair."""
        if not len(first):
            return np.zeros(0, np.bool_)
        self._file.flush()
        stored = np.memmap(self._file, np.uint8, "r", shape=(self.count, SIDE * SIDE))
        differences = stored[first].astype(np.float32) - stored[second]
        differences -= differences.mean(axis=1, keepdims=True)
        alike: npt.NDArray[np.bool_] = np.abs(differences).max(axis=1) <= _ALIKE
        return alike

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()
