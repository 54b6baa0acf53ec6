"""What the user should know of images, though nothing is wrong with them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType

import tfreel
from tfreel.errors import TfreelWarning
from tfreel.tf.graphs import programs

_OURS = str(Path(tfreel.__file__).parent)

PALETTE = (
    "this PNG has a palette: you get its colours, as in TensorFlow, not class ids; for a"
    ' segmentation mask use tfreel.images.decode(data, "labels")'
)
NO_FAST_DCT = (
    "without simplejpeg the pixels of a JPEG differ by a few steps from TensorFlow's (they are those of"
    ' dct_method="INTEGER_ACCURATE"); for the very same: pip install "tfreel[jpeg]"'
)


def other_kind(function: str, name: str) -> str:
    """That bytes went to a decoder named after another format."""
    return (
        f"these bytes are a {name}, and decoded as one; {function} accepts them, as in TensorFlow, but"
        " tf.io.decode_image makes it clear that any format may come"
    )


def say(text: str) -> None:
    """Warns where the user called; Python shows a text once for each such place.

    Of what datasets do, in threads or not, the place is this one: once is enough for all of them.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        if frame.f_globals.get("__name__") == programs.__name__:
            frame = None
        else:
            frame, level = frame.f_back, level + 1
    warnings.warn(text, TfreelWarning, stacklevel=1 if frame is None else level)
