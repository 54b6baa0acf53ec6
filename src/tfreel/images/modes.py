"""From an image as Pillow has it to the array that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.inference.content import NAMES

if TYPE_CHECKING:
    from PIL.Image import Image

Mode: TypeAlias = Literal["rgb", "gray", "keep", "labels"]
Array: TypeAlias = npt.NDArray[Any]

MODES: tuple[Mode, ...] = ("rgb", "gray", "keep", "labels")
_SHORT = ("I;16", "I;16L", "I;16B", "I;16N")
_PLAIN = ("L", "LA", "RGB", "RGBA")
_PLAINER = {"1": "L", "La": "LA", "PA": "RGBA", "RGBa": "RGBA", "RGBX": "RGB"}


def kept(image: Image) -> Array:
    """What the file holds, with one to four channels; colours where it has a palette or inks."""
    if image.mode in _SHORT:
        return np.asarray(image).astype(np.uint16)[:, :, None]
    if image.mode in ("I", "F"):
        return np.array(image)[:, :, None]
    if image.mode not in _PLAIN:
        has_alpha = image.mode == "P" and "transparency" in image.info
        image = image.convert("RGBA" if has_alpha else _PLAINER.get(image.mode, "RGB"))
    pixels = np.array(image)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def rgb(image: Image) -> Array:
    """Three channels of 8 bits. Transparency is left out, not blended; of 16 bits the upper 8 stay."""
    pixels = _bytes(image)
    if pixels.shape[2] <= 2:
        return np.repeat(pixels[:, :, :1], 3, axis=2)
    return np.ascontiguousarray(pixels[:, :, :3])


def gray(image: Image) -> Array:
    """One channel of 8 bits; of colours, their luminance as libpng computes it."""
    pixels = _bytes(image)
    if pixels.shape[2] <= 2:
        return np.ascontiguousarray(pixels[:, :, :1])
    # The weights of libpng, which rounds down: what TensorFlow gives for one channel.
    weighed = pixels[:, :, :3].astype(np.uint32) @ np.array([9797, 19234, 3737], np.uint32)
    return (weighed >> 15).astype(np.uint8)[:, :, None]


def _bytes(image: Image) -> Array:
    pixels = kept(image)
    if pixels.dtype == np.uint16:
        return (pixels >> 8).astype(np.uint8)
    if pixels.dtype != np.uint8:
        raise ValueError(f'the image holds {pixels.dtype} numbers, not colours: mode="keep" gives them')
    return pixels


def labels(image: Image, kind: str, bits: int) -> Array:
    """The numbers that pixels are stored as, in two dimensions: of a palette, its indices.

    Raises:
        ValueError: It stores colours, or what is left of them after a compression that changes values.
    """
    if kind == "jpeg" or image.info.get("compression") in ("jpeg", "tiff_jpeg", "webp"):
        raise ValueError(
            f"{NAMES[kind]} image with lossy compression as labels: its values are not those that were"
            " stored; use PNG for masks"
        )
    if image.mode == "P":
        return np.array(image)
    if image.mode == "1":
        return np.array(image).astype(np.uint8)
    if image.mode in _SHORT:
        return np.asarray(image).astype(np.uint16)
    if image.mode == "L":
        # Gray of 2 or 4 bits has been spread to 0 … 255, and is put together again.
        return np.array(image) // (255 // ((1 << bits) - 1) if bits in (2, 4) else 1)
    if image.mode in ("I", "F"):
        dtype = np.asarray(image).dtype
        raise ValueError(
            f"{NAMES[kind]} image of {dtype} numbers as labels, which have 16 bits at most;"
            ' mode="keep" gives them'
        )
    raise ValueError(
        f"{NAMES[kind]} image of mode {image.mode} as labels: it holds colours, not class ids; if they stand"
        ' for classes, decode(data, "rgb") and labels_from_colors(pixels, colormap) give the ids'
    )
