"""Masks of class ids: whatever way a PNG file stores them, the ids come out, or an error.

The files of VOC have a palette, so that people see colours where programs should see ids. A decoder that puts
the colours in place of the ids ruins the labels without a word; gray files have nothing to mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.inference.content import NAMES
from tfreel.packing.source import RejectError

Ids = npt.NDArray[Any]
Color = tuple[int, int, int]

_MOST_NAMED = 8


class Masks:
    """Reads masks. Threads may share it.

    Args:
        known: The ids that stand for something.
        colormap: The colour of each id, for masks that were saved as colours; None for those of VOC.
        max_pixels: The most that are allowed.
    """

    def __init__(self, known: Collection[int], colormap: Sequence[Color] | None, max_pixels: int) -> None:
        self._known = frozenset(known)
        self._colormap = None if colormap is None else np.array(colormap, np.int64)
        self._max_pixels = max_pixels

    def ids(self, data: bytes) -> Ids:
        """The class ids of a mask, in two dimensions.

        Raises:
            RejectError: It cannot hold ids, or holds some that stand for nothing.
            DecodeError: It is no image, or damaged.
            UnsafeInputError: It has too many pixels.
            ValueError: It has colours that stand for nothing.
        """
        from tfreel import images

        stored = images.probe(data, max_pixels=self._max_pixels)
        if stored.format != "png":
            raise RejectError(
                f"it is a {NAMES[stored.format]} file; masks are PNG files, which keep class ids"
            )
        if stored.palette or stored.channels < 3:
            ids: Ids = images.decode(data, "labels", max_pixels=self._max_pixels)
        else:
            colors = images.decode(data, "rgb", max_pixels=self._max_pixels)
            colormap = images.VOC_COLORMAP if self._colormap is None else self._colormap
            ids = images.labels_from_colors(colors, colormap)
        self._refuse_unknown(images.label_values(ids))
        return ids

    def _refuse_unknown(self, values: Sequence[int]) -> None:
        strange = [str(value) for value in values if value not in self._known]
        if strange:
            named = ", ".join(strange[:_MOST_NAMED]) + (", …" if len(strange) > _MOST_NAMED else "")
            raise RejectError(f"it has the values {named}, which stand for no class")
