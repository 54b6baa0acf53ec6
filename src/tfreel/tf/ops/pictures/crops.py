"""Parts of images, and images with a frame around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError, OutOfRangeError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.graphs.rows import Column, Dense, is_column
from tfreel.tf.ops.pictures.resize import method_named, resized
from tfreel.tf.ops.pictures.shapes import images_of, sized_spec, spec_of
from tfreel.tf.ops.static import invalid_argument
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import float32
from tfreel.tf.values.handles import Array, is_promised
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.tensor import Tensor


def _whole(*numbers: Any) -> list[int]:
    return [int(array(each)) for each in numbers]


def _box_spec(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> TensorSpec:
    del offset_height, offset_width
    return sized_spec(image, target_height, target_width)


def _boxed(kernel: Callable[..., Array], *args: Any) -> Any:
    """What a kernel gives; of tensors without a value yet, a box that does not fit is told by the run."""
    if not is_promised(args):
        return Operation(kernel)(*args)

    def run(*values: Any) -> Array:
        with invalid_argument():
            return kernel(*values)

    return Operation(run, infer=_box_spec)(*args)


def _cropped(image: Any, *box: Any) -> Array:
    pixels = images_of(image)
    top, left, height, width = _whole(*box)
    if min(top, left) < 0:
        raise ValueError("offset_height and offset_width must be >= 0.")
    if min(height, width) <= 0:
        raise ValueError("target_height and target_width must be > 0.")
    if top + height > pixels.shape[-3] or left + width > pixels.shape[-2]:
        raise ValueError(
            "the box must lie within the image: offset + target must be <= its height and width."
        )
    return np.ascontiguousarray(pixels[..., top : top + height, left : left + width, :])


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """`tf.image.crop_to_bounding_box`: the part of an image in a box."""
    return _boxed(_cropped, image, offset_height, offset_width, target_height, target_width)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """`tf.image.pad_to_bounding_box`: the image in a larger one that is black elsewhere."""
    return _boxed(_padded_to, image, offset_height, offset_width, target_height, target_width)


def _padded_to(image: Any, *box: Any) -> Array:
    return _padded(images_of(image), *_whole(*box))


def _padded(pixels: Array, top: int, left: int, height: int, width: int) -> Array:
    if min(top, left) < 0:
        raise ValueError("offset_height and offset_width must be >= 0")
    if top + pixels.shape[-3] > height or left + pixels.shape[-2] > width:
        raise ValueError("height and width must be <= target - offset")
    made = np.zeros((*pixels.shape[:-3], height, width, pixels.shape[-1]), pixels.dtype)
    made[..., top : top + pixels.shape[-3], left : left + pixels.shape[-2], :] = pixels
    return made


def _target_spec(image: Any, target_height: Any, target_width: Any) -> TensorSpec:
    return sized_spec(image, target_height, target_width)


def _target_rows(image: Any, target_height: Any, target_width: Any) -> Column | None:
    if is_column(target_height) or is_column(target_width) or not isinstance(image, Dense):
        return None
    return Dense(_cut_or_padded(image.array, *_whole(target_height, target_width)))


@operation(infer=_target_spec, rows=_target_rows)
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Array:
    """`tf.image.resize_with_crop_or_pad`: the middle of the image, and black where it is too small."""
    return _cut_or_padded(images_of(image), *_whole(target_height, target_width))


def _cut_or_padded(pixels: Array, height: int, width: int) -> Array:
    if min(height, width) <= 0:
        raise ValueError("target_height and target_width must be > 0.")
    keys: list[slice] = []
    offsets = []
    for old, new in ((pixels.shape[-3], height), (pixels.shape[-2], width)):
        begin = max((old - new) // 2, 0)
        keys.append(slice(begin, begin + min(old, new)))
        offsets.append(max((new - old) // 2, 0))
    return _padded(pixels[..., keys[0], keys[1], :], offsets[0], offsets[1], height, width)


def _with_pad_spec(
    image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False
) -> TensorSpec:
    del antialias
    spec = sized_spec(image, target_height, target_width)
    return spec if method_named(method) == "nearest" else TensorSpec(spec.shape, float32)


@operation(infer=_with_pad_spec)
def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False
) -> Array:
    """`tf.image.resize_with_pad`: the whole image with its proportions, and black where it does not reach."""
    pixels = images_of(image)
    height, width = _whole(target_height, target_width)
    if min(height, width) <= 0:
        raise ValueError("target_height and target_width must be > 0.")
    sides, target = np.array(pixels.shape[-3:-1], np.float32), np.array((height, width), np.float32)
    exact = sides / (sides / target).max()
    top, left = (max(0, int(each)) for each in np.floor((target - exact) / np.float32(2)))
    inner = (int(np.floor(exact[0])), int(np.floor(exact[1])))
    if min(inner) < 1:
        raise InvalidArgumentError("output dimensions must be positive")
    batch = pixels if pixels.ndim == 4 else pixels[np.newaxis]
    made = _padded(resized(batch, inner, method_named(method), bool(antialias)), top, left, height, width)
    return made if pixels.ndim == 4 else made[0]


def _central_spec(image: Any, down: Any, across: Any) -> TensorSpec:
    spec = spec_of(image)
    if spec.shape.rank is None or isinstance(down, TensorSpec):
        return TensorSpec(None, spec.dtype)
    height, width = (
        None if side is None else side - 2 * _margin(side, float(fraction))
        for side, fraction in zip(spec.shape.as_list()[-3:-1], (down, across), strict=True)
    )
    return sized_spec(image, height, width)


@operation(infer=_central_spec)
def _central(image: Any, down: Any, across: Any) -> Array:
    pixels = images_of(image)
    if not 0 < float(down) <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    height, width = pixels.shape[-3:-1]
    top, left = _margin(height, float(down)), _margin(width, float(across))
    return np.ascontiguousarray(pixels[..., top : height - top, left : width - left, :])


def central_crop(image: Any, central_fraction: Any) -> Any:
    """`tf.image.central_crop`: the middle of an image, of which this fraction of each side is left."""
    if not isinstance(image, Tensor) or image.shape.rank not in (3, 4):
        return _central(image, central_fraction, central_fraction)
    return _central(image, *(_fraction(central_fraction, side) for side in image.shape[-3:-1]))


def _fraction(fraction: Any, side: int | None) -> Any:
    """As TensorFlow computes with it: of a size that it does not know beforehand, as a float32."""
    return float(np.float32(fraction)) if side is None and isinstance(fraction, float) else fraction


def _margin(side: int, fraction: float) -> int:
    return int((side - side * fraction) / 2)


def _boxes_spec(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> TensorSpec:
    del method, extrapolation_value
    count = spec_of(boxes).shape[0] if not isinstance(box_indices, TensorSpec) else box_indices.shape[0]
    sides = [None, None] if isinstance(crop_size, TensorSpec) else _whole(*crop_size)
    return TensorSpec([count, *sides, spec_of(image).shape[-1]], float32)


@operation(infer=_boxes_spec)
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Array:
    """`tf.image.crop_and_resize`: the parts of a batch of images in boxes, all in one size."""
    batch, places, owners = array(image), array(boxes, float32), array(box_indices)
    if batch.ndim != 4:
        raise InvalidArgumentError("input image must be 4-D")
    if places.ndim != 2 or places.shape[1] != 4 or owners.shape != places.shape[:1]:
        raise InvalidArgumentError("boxes must be (n, 4), with n box_indices")
    if method not in ("bilinear", "nearest"):
        raise InvalidArgumentError(f"method must be 'bilinear' or 'nearest', not {method!r}")
    height, width = _whole(*crop_size)
    if min(height, width) <= 0:
        raise InvalidArgumentError("crop dimensions must be positive")
    if owners.size and not 0 <= owners.min() <= owners.max() < len(batch):
        raise OutOfRangeError("box_index has values outside [0, batch_size)")
    made = np.full((len(places), height, width, batch.shape[3]), np.float32(extrapolation_value), np.float32)
    for place, owner, out in zip(places, owners, made, strict=True):
        _fill(batch[owner], place, out, method)
    return made


def _fill(image: Array, box: Array, out: Array, method: str) -> None:
    rows = _positions(box[0], box[2], image.shape[0], out.shape[0])
    columns = _positions(box[1], box[3], image.shape[1], out.shape[1])
    inside = np.ix_(
        (rows >= 0) & (rows <= image.shape[0] - 1), (columns >= 0) & (columns <= image.shape[1] - 1)
    )
    rows, columns = rows[inside[0].ravel()], columns[inside[1].ravel()]
    if method == "nearest":
        # As C rounds: halves away from zero.
        picked = image[np.floor(rows + 0.5).astype(int)][:, np.floor(columns + 0.5).astype(int)]
        out[inside] = picked.astype(np.float32)
        return
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    bottom, right = np.ceil(rows).astype(int), np.ceil(columns).astype(int)
    across, down = (
        (columns - left)[None, :, None].astype(np.float32),
        (rows - top)[:, None, None].astype(np.float32),
    )
    pixels = image.astype(np.float32)
    upper = pixels[top][:, left] + (pixels[top][:, right] - pixels[top][:, left]) * across
    lower = pixels[bottom][:, left] + (pixels[bottom][:, right] - pixels[bottom][:, left]) * across
    out[inside] = upper + (lower - upper) * down


def _positions(begin: Any, end: Any, old: int, new: int) -> Array:
    """Where in an image the new rows or columns lie."""
    last = np.float32(old - 1)
    if new == 1:
        return np.array([np.float32(0.5) * (begin + end) * last])
    step = (end - begin) * last / np.float32(new - 1)
    positions: Array = begin * last + np.arange(new, dtype=np.float32) * step
    return positions
