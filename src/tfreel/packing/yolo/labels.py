"""The label files of YOLO: a line for each object, of its class and where it is, in parts of the picture."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfreel.packing.pictures.boxes import Box
from tfreel.packing.source import RejectError
from tfreel.storage.paths import display

LARGEST_BYTES = 64 << 20  # a picture full of outlines has a few hundred kilobytes
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)
_CLASS = re.compile(r"(\d{1,9})(?:\.0*)?", re.ASCII)
_SHORTEST_OUTLINE = 7  # a class and three corners


@dataclass(frozen=True, slots=True)
class YoloObject:
    """What a line says: the number of a class, counted from 0, and a box in parts of the picture."""

    line: int
    number: int
    bounds: Box


def parse_labels(data: bytes, *, keypoints: bool = False) -> tuple[YoloObject, ...]:
    """The objects of a label file.

    A line of five numbers has a box, by its middle and its sides. A longer one has an outline, of which the
    box is taken; or a box and key points, which are left out.

    Raises:
        RejectError: It is no label file; names the line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RejectError(f"line {data.count(10, 0, error.start) + 1} is not text") from None
    lines = ((number, line.split()) for number, line in enumerate(text.split("\n"), 1))
    return tuple(_object(number, words, keypoints=keypoints) for number, words in lines if words)


def resembles_labels(data: bytes) -> bool:
    """Whether a line has as many numbers as a box. Such a file is to be refused if it is not sound."""
    lines = data.decode("utf-8", "replace").split("\n")
    return any(sum(bool(_NUMBER.fullmatch(word)) for word in line.split()) >= 4 for line in lines)


def _object(line: int, words: list[str], *, keypoints: bool) -> YoloObject:
    label = _CLASS.fullmatch(words[0])
    if label is None:
        raise RejectError(f"line {line} begins with {_shown(words[0])}, which is no class number")
    strange = next((word for word in words[1:] if not _NUMBER.fullmatch(word)), None)
    if strange is not None:
        raise RejectError(f"line {line} has {_shown(strange)}, which is no number")
    numbers = [float(word) for word in words[1:]]
    if len(words) == 5 or (keypoints and len(words) > 5):
        x, y, width, height = numbers[:4]
        box = Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
    elif len(words) >= _SHORTEST_OUTLINE and len(words) % 2:
        across, down = numbers[::2], numbers[1::2]
        box = Box(min(across), min(down), max(across), max(down))
    else:
        raise RejectError(
            f"line {line} has {len(words)} numbers; a class with a box has 5, and with an outline 7, 9, 11 …"
        )
    return YoloObject(line, int(label[1]), box)


def _shown(word: str) -> str:
    return repr(display(word[:40]))
