"""Label masks: class ids, the colours that stand for them, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_NAMED = 5


def _voc_colormap() -> npt.NDArray[np.uint8]:
    """Bit by bit: the lowest three bits of an id are the highest ones of red, green and blue, and so on."""
    colors = np.zeros((256, 3), np.uint8)
    ids = np.arange(256)
    for place in range(8):
        for channel in range(3):
            bit = ids >> (3 * place + channel) & 1
            colors[:, channel] |= (bit << (7 - place)).astype(np.uint8)
    colors.flags.writeable = False
    return colors


VOC_COLORMAP = _voc_colormap()
"""The 256 colours in which Pascal VOC, and many since, paint class ids; 255 is the border of objects."""


def labels_from_colors(image: npt.ArrayLike, colormap: npt.ArrayLike = VOC_COLORMAP) -> npt.NDArray[Any]:
    """The class ids that the colours of a mask stand for.

    Args:
        image: uint8 of (height, width, 3), as ``decode(data, "rgb")`` gives it.
        colormap: The colour of each id, (number of ids, 3).

    Returns:
        (height, width) of uint8, or of uint16 where there are more than 256 ids.

    Raises:
        ValueError: A colour is not in the map (the error names it), or twice.

    Example:
        >>> from tfreel import images
        >>> images.labels_from_colors([[[0, 0, 0], [128, 0, 0], [224, 224, 192]]])
        array([[  0,   1, 255]], dtype=uint8)
    """
    pixels, colors = np.asarray(image), np.asarray(colormap)
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError(f"a mask of colours is (height, width, 3), not {pixels.shape}")
    if colors.ndim != 2 or colors.shape[1] != 3 or not len(colors):
        raise ValueError(f"a colour map is (number of ids, 3), not {colors.shape}")
    known = _codes(colors)
    order = np.argsort(known, kind="stable")
    known = known[order]
    if (known[1:] == known[:-1]).any():
        twice = known[1:][known[1:] == known[:-1]][0]
        raise ValueError(f"the colour map has {_color(twice)} for more than one id")
    codes = _codes(pixels)
    places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    strange = known[places] != codes
    if strange.any():
        raise ValueError(_not_in_the_map(codes[strange]))
    return order[places].astype(np.uint8 if len(colors) <= 256 else np.uint16)


def _codes(colors: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """One number for each colour."""
    if colors.dtype.kind not in "iu" or (colors.size and (colors.min() < 0 or colors.max() > 255)):
        raise ValueError("colours are whole numbers from 0 to 255")
    codes: npt.NDArray[np.int64] = colors.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    return codes


def _color(code: np.int64) -> str:
    return f"({code >> 16}, {code >> 8 & 255}, {code & 255})"


def _not_in_the_map(codes: npt.NDArray[np.int64]) -> str:
    found, counts = np.unique(codes, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:_MOST_NAMED]
    named = ", ".join(f"{_color(found[i])} in {counts[i]:,} pixels" for i in common)
    more = f", and {len(found) - len(common):,} more" if len(found) > len(common) else ""
    return f"colours that are not in the map: {named}{more}; was the mask resized, or saved as JPEG?"


def label_values(ids: npt.ArrayLike) -> list[int]:
    """The class ids in a mask, each once, in order.

    Example:
        >>> tfreel.images.label_values([[0, 15, 15], [255, 0, 0]])
        [0, 15, 255]
    """
    found: list[int] = np.unique(np.asarray(ids)).tolist()
    return found
