"""A small data set in the layout of Pascal VOC: pictures, masks with its palette, and lists of splits."""

from __future__ import annotations

import os
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ids: TypeAlias = npt.NDArray[np.uint8]
_Flags: TypeAlias = npt.NDArray[np.bool_]

# As VOC counts its classes. The colours are those in the pictures; masks have the colours of the palette.
_CLASSES = {7: (60, 80, 170), 12: (150, 100, 60), 15: (220, 170, 140)}  # car, dog, person
_BORDER = 255  # where an object ends, and nobody wanted to say at which pixel
_HEIGHT, _WIDTH = 72, 96
_VALIDATION_EVERY = 3
_FOLDERS = (("JPEGImages",), ("SegmentationClass",), ("ImageSets", "Segmentation"))


def draw_scenes(folder: str, count: int, seed: int) -> dict[str, Ids]:
    """Makes a VOC data set for segmentation.

    Args:
        folder: Where.
        count: How many pictures.
        seed: The same seed draws the same pictures.

    Returns:
        The class ids that were drawn, by the name of the picture.
    """
    places = [os.path.join(folder, *path) for path in _FOLDERS]
    for place in places:
        os.makedirs(place)
    pictures, masks, lists = places
    source = np.random.default_rng(seed)
    drawn = {}
    for number in range(count):
        name = f"2007_{number:06d}"
        drawn[name], pixels = _scene(source)
        _save_picture(os.path.join(pictures, f"{name}.jpg"), pixels)
        _save_mask(os.path.join(masks, f"{name}.png"), drawn[name])
    names = list(drawn)
    validation = names[::_VALIDATION_EVERY]
    _save_list(os.path.join(lists, "train.txt"), [name for name in names if name not in validation])
    _save_list(os.path.join(lists, "val.txt"), validation)
    return drawn


def mask_path(folder: str, name: str) -> str:
    """Where the mask of a picture is."""
    return os.path.join(folder, "SegmentationClass", f"{name}.png")


def _scene(source: np.random.Generator) -> tuple[Ids, npt.NDArray[np.uint8]]:
    """Up to three things on a meadow, the later ones in front; with a border around each."""
    ids = np.zeros((_HEIGHT, _WIDTH), np.uint8)
    pixels = np.full((_HEIGHT, _WIDTH, 3), source.uniform(70, 140, 3))
    for number in source.choice(list(_CLASSES), source.integers(1, 4), replace=False):
        inside = _ellipse(source)
        ids[_grown(inside)] = _BORDER
        ids[inside] = number
        pixels[inside] = _CLASSES[int(number)]
    noise = source.normal(0, 10, pixels.shape)
    return ids, np.clip(pixels + noise, 0, 255).astype(np.uint8)


def _ellipse(source: np.random.Generator) -> _Flags:
    rows, columns = np.mgrid[:_HEIGHT, :_WIDTH]
    y = (rows - source.uniform(0.25, 0.75) * _HEIGHT) / source.uniform(10, 24)
    x = (columns - source.uniform(0.2, 0.8) * _WIDTH) / source.uniform(10, 30)
    inside: _Flags = x**2 + y**2 < 1
    return inside


def _grown(inside: _Flags) -> _Flags:
    """The same and two pixels around it."""
    wide = np.pad(inside, 2)
    grown = np.zeros_like(inside)
    for down in range(5):
        for right in range(5):
            grown |= wide[down : down + _HEIGHT, right : right + _WIDTH]
    return grown


def _save_picture(path: str, pixels: npt.NDArray[np.uint8]) -> None:
    from tfreel import images

    with open(path, "xb") as file:
        file.write(images.encode(pixels, "jpeg", quality=90))


def _save_mask(path: str, ids: Ids) -> None:
    """As VOC does: ids as indices of a palette. `images.encode_labels` would write them as gray."""
    from PIL import Image

    from tfreel.images import VOC_COLORMAP

    image = Image.frombytes("P", (_WIDTH, _HEIGHT), ids.tobytes())
    image.putpalette(VOC_COLORMAP.tobytes())
    image.save(path)


def _save_list(path: str, names: list[str]) -> None:
    with open(path, "x", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in names)
