"""`encode` and `encode_labels`: arrays in, the bytes of an image out."""

from __future__ import annotations

import io
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.images.headers import ORIENTATION

Format: TypeAlias = Literal["png", "jpeg", "webp"]

# Modes of Pillow that hold what an array of such a shape means; I and F are refused by their dtype.
_PLAIN_MODES = ("L", "LA", "RGB", "RGBA", "I", "I;16", "F")
_CHANNELS = {"png": (1, 2, 3, 4), "jpeg": (1, 3), "webp": (3, 4)}


def encode(
    image: npt.ArrayLike,
    format: Format = "png",  # noqa: A002 - as in Pillow
    *,
    quality: int = 95,
    orientation: int = 1,
) -> bytes:
    r"""The bytes of an image.

    Args:
        image: uint8 of (height, width) or (height, width, channels); PNG has 1 to 4 channels, JPEG 1 or 3,
            WebP 3 or 4. PNG also holds uint16 of one channel. Or an image of Pillow, of any mode.
        format: ``"png"`` keeps every value; ``"jpeg"`` and ``"webp"`` do not.
        quality: Of JPEG and WebP, from 1 to 100.
        orientation: How a camera was held, from 1 (upright) to 8: a note in EXIF, as `probe` finds it.

    Raises:
        ValueError: The format cannot hold such an array.

    Example:
        >>> import numpy as np
        >>> tfreel.images.encode(np.zeros((2, 3, 3), np.uint8), "jpeg")[:3]
        b'\xff\xd8\xff'
    """
    pixels = np.asarray(_in_colours(image))
    if format not in _CHANNELS:
        raise ValueError(f"format must be one of {', '.join(_CHANNELS)}, not {format!r}")
    if not 1 <= quality <= 100:
        raise ValueError(f"quality goes from 1 to 100, not {quality}")
    if not 1 <= orientation <= 8:
        raise ValueError(f"orientation goes from 1 to 8, not {orientation}")
    if pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ValueError(f"an image is (height, width) or (height, width, channels), not {pixels.shape}")
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    deep = pixels.dtype == np.uint16 and format == "png" and channels == 1
    if channels not in _CHANNELS[format] or not (deep or pixels.dtype == np.uint8):
        raise ValueError(f"{format} cannot hold {channels} channels of {pixels.dtype}")
    plain = pixels[:, :, 0] if pixels.ndim == 3 and channels == 1 else pixels
    return _saved(plain, format, quality, orientation)


def _in_colours(image: Any) -> Any:
    """An image of Pillow with channels that mean red, green and blue, or gray; anything else as it is."""
    mode = getattr(image, "mode", None)
    if mode in (None, *_PLAIN_MODES) or not hasattr(image, "convert"):
        return image
    gray = {"1": "L", "La": "LA"}.get(mode)
    return image.convert(gray or ("RGBA" if image.has_transparency_data else "RGB"))


def encode_labels(ids: npt.ArrayLike) -> bytes:
    """A mask of class ids as a gray PNG, from which ``decode(data, "labels")`` gives the same ids back.

    It has 8 bits, or 16 where an id is above 255. The same ids give the same bytes.

    Args:
        ids: Whole numbers of (height, width), from 0 to 65535.

    Raises:
        TypeError: They are not whole numbers.
        ValueError: They are not in two dimensions, or too large or negative.

    Example:
        >>> png = tfreel.images.encode_labels([[0, 1], [2, 255]])
        >>> tfreel.images.decode(png, "labels").tolist()
        [[0, 1], [2, 255]]
    """
    array = np.asarray(ids)
    if array.dtype.kind not in "iub":
        raise TypeError(f"class ids are whole numbers, not {array.dtype}")
    if array.ndim != 2 or not array.size:
        raise ValueError(f"a mask is (height, width), not {array.shape}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > 0xFFFF:
        raise ValueError(f"class ids go from 0 to 65535, and these from {low} to {high}")
    return _saved(array.astype(np.uint8 if high <= 0xFF else np.uint16), "png")


def _saved(pixels: npt.NDArray[Any], name: Format, quality: int = 100, orientation: int = 1) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    options: dict[str, Any] = {} if name == "png" else {"quality": quality}
    if orientation != 1:
        options["exif"] = exif = Image.Exif()
        exif[ORIENTATION] = orientation
    Image.fromarray(np.ascontiguousarray(pixels)).save(out, name.upper(), **options)
    return out.getvalue()
