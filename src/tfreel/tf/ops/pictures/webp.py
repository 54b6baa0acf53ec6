"""WebP to frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfreel.errors import TfreelError
from tfreel.images.decode import MAX_PIXELS
from tfreel.images.pillow import opened
from tfreel.tf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_MOST_BYTES = 1 << 29


def decode(data: bytes, channels: int, *, first_only: bool) -> npt.NDArray[np.uint8]:
    """The frames in four dimensions, or the first one in three; with alpha if the file has it.

    Raises:
        InvalidArgumentError: It is damaged, or has other channels than are asked for.
    """
    try:
        image: Any = opened("webp", data, MAX_PIXELS)
        count = 1 if first_only else getattr(image, "n_frames", 1)
        if image.width * image.height * len(image.getbands()) * count > _MOST_BYTES:
            raise InvalidArgumentError(
                f"{count} frames of {image.width} × {image.height} pixels are too many"
            )
        frames = [_frame(image, number) for number in range(count)]
    except (TfreelError, OSError, EOFError) as error:
        raise InvalidArgumentError(f"Invalid WebP data, size {len(data)}: {error}") from error
    if channels not in (0, frames[0].shape[2]):
        raise InvalidArgumentError("Number of channels requested does not match input")
    return frames[0] if first_only else np.stack(frames)


def _frame(image: ImageFile, number: int) -> npt.NDArray[np.uint8]:
    image.seek(number)
    return np.array(image)
