"""Pictures for the browser, made here: thumbnails, masks in colours, arrays as gray or colours."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.images.decode import Reading
from tfreel.images.encode import encode
from tfreel.images.headers import kind_of
from tfreel.images.labels import VOC_COLORMAP
from tfreel.images.resize import resize

# Served as they are, once their headers were looked at. Everything else is made into one of these, or is a
# download.
SAFE_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}
_MOST_PIXELS = 64_000_000
_MOST_SIDE = 2048  # of a picture that is made of an array or a mask
_MOST_CLASSES = 256
_VOID = 255


def thumbnail(data: bytes, size: int) -> tuple[bytes, str]:
    """An image no larger than `size` on each side, upright, and its type.

    Raises:
        DecodeError: It is no image, or damaged.
        UnsafeInputError: It has too many pixels.
    """
    reading = Reading(mode="rgb", orient=True, max_pixels=_MOST_PIXELS)
    pixels = reading.pixels(data, enough=size)
    height, width = pixels.shape[:2]
    scale = min(1.0, size / max(height, width))
    if scale < 1:
        small = resize(pixels, (max(1, round(height * scale)), max(1, round(width * scale))), antialias=True)
        pixels = np.clip(np.rint(small), 0, 255).astype(np.uint8)
    if kind_of(data).kind == "jpeg":
        return encode(pixels, "jpeg", quality=85), "image/jpeg"
    return encode(pixels, "png"), "image/png"


def mask_ids(data: bytes) -> npt.NDArray[Any]:
    """The class ids of a mask.

    Raises:
        ValueError: It holds no ids: a photo, for example.
        DecodeError: It is no image, or damaged.
        UnsafeInputError: It has too many pixels.
    """
    return Reading(mode="labels", max_pixels=_MOST_PIXELS).pixels(data)


def instance_ids(masks: list[bytes]) -> npt.NDArray[Any]:
    """One mask of many, one for each object: 1 for the first, 2 for the second, and so on.

    Raises:
        ValueError: They are not of one size, or are no masks.
        DecodeError: One is no image, or damaged.
        UnsafeInputError: One has too many pixels.
    """
    joined: npt.NDArray[Any] | None = None
    for number, data in enumerate(masks[: _MOST_CLASSES - 2], 1):
        ids = mask_ids(data)
        if joined is None:
            joined = np.zeros(ids.shape, np.uint8)
        if ids.shape != joined.shape:
            raise ValueError("the masks are not of one size")
        joined[ids != 0] = number
    if joined is None:
        raise ValueError("there is no mask")
    return joined


def colors_of(ids: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The ids as numbers of colours: those above 255 begin again at 1, for 0 is the background."""
    ids = ids.astype(np.int64)
    return np.where(ids < _MOST_CLASSES, ids, (ids - 1) % (_MOST_CLASSES - 1) + 1).astype(np.uint8)


def color_name(color: int) -> str:
    """The colour of an id, for style sheets: ``#800000``."""
    red, green, blue = VOC_COLORMAP[color].tolist()
    return f"#{red:02x}{green:02x}{blue:02x}"


def palette() -> list[str]:
    """The colours of masks and boxes, by number."""
    return [color_name(number) for number in range(_MOST_CLASSES)]


def mask_png(ids: npt.NDArray[Any]) -> bytes:
    """The ids in the colours of Pascal VOC; 0, the background, lets through what is below."""
    from PIL import Image

    image = Image.fromarray(colors_of(_reduced(ids)))
    image.putpalette(VOC_COLORMAP.tobytes())
    out = io.BytesIO()
    image.save(out, "PNG", transparency=0)
    return out.getvalue()


def classes_in(ids: npt.NDArray[Any], names: dict[int, str]) -> list[dict[str, Any]]:
    """The classes of a mask: id, name, colour and number of pixels of each, the background last."""
    found, counts = np.unique(ids, return_counts=True)
    rows: list[dict[str, Any]] = [
        {
            "id": int(number),
            "name": names.get(int(number), "void" if number == _VOID else ""),
            "color": color_name(int(colors_of(np.array([number]))[0])),
            "pixels": int(count),
        }
        for number, count in zip(found, counts, strict=True)
    ]
    return sorted(rows, key=lambda row: (row["id"] == 0, -row["pixels"]))[:_MOST_CLASSES]


def array_png(array: npt.NDArray[Any], plane: int = 0) -> bytes:
    """An array as a picture: bytes as they are, other numbers from the least, black, to the greatest, white.

    Args:
        array: Of two or more dimensions. (height, width), with 1, 3 or 4 channels behind or in front of them;
            of more dimensions, one plane is shown.
        plane: Which one, counted over all dimensions in front.

    Raises:
        ValueError: It is no picture.
    """
    return encode(_gray_or_rgb(_plane(array, plane)), "png")


def planes_in(shape: tuple[int, ...]) -> int:
    """How many pictures an array of this shape holds; 0 if it is no picture."""
    shape = _squeezed(shape)
    if len(shape) < 2 or 0 in shape:
        return 0
    if len(shape) == 2:
        return 1
    if shape[-1] in (3, 4):
        return int(np.prod(shape[:-3]))
    return 1 if len(shape) == 3 and shape[0] == 3 else int(np.prod(shape[:-2]))


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Without sides of 1 at the ends, as of (1, 28, 28, 1)."""
    sides = list(shape)
    while len(sides) > 2 and sides[-1] == 1:
        sides.pop()
    while len(sides) > 2 and sides[0] == 1:
        sides.pop(0)
    return tuple(sides)


def _plane(array: npt.NDArray[Any], plane: int) -> npt.NDArray[Any]:
    count = planes_in(array.shape)
    if not 0 <= plane < count:
        raise ValueError(f"plane {plane} of {count}")
    array = array.reshape(_squeezed(array.shape))
    if array.ndim == 3 and array.shape[0] == 3 and array.shape[-1] not in (3, 4):
        array = array.transpose(1, 2, 0)
    colours = array.ndim > 2 and array.shape[-1] in (3, 4)
    flat = array.reshape((-1, *array.shape[-3 if colours else -2 :]))
    return _reduced(flat[plane])


def _reduced(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """With some rows and columns left out, if there are too many."""
    step = [-(-side // _MOST_SIDE) for side in array.shape[:2]]
    return array[:: step[0], :: step[1]]


def _gray_or_rgb(plane: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    if plane.dtype == np.uint8:
        return np.ascontiguousarray(plane)
    values = plane.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros(plane.shape, np.uint8)
    low, high = values[finite].min(), values[finite].max()
    values = np.where(finite, values, low)
    scaled = (values - low) / (high - low) * 255 if high > low else np.zeros(values.shape)
    return np.rint(scaled).astype(np.uint8)
