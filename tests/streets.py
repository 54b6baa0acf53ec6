"""Street scenes with cars, dogs and persons: drawn, with the box and the mask of everything in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

import tfreel
from tfreel.images import VOC_COLORMAP

from drawn import saved

WIDTH, HEIGHT = 480, 320
CLASSES = {7: "car", 12: "dog", 15: "person"}  # as VOC counts them
_PALETTE = [(int(r), int(g), int(b)) for r, g, b in VOC_COLORMAP]
_Draw = ImageDraw.ImageDraw


@dataclass(frozen=True, slots=True)
class Thing:
    """Something in a street: its class, and the pixels of it that are to be seen."""

    kind: int
    seen: npt.NDArray[np.bool_]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The columns and rows around it: left, top, right, bottom, where the last two are behind it."""
        rows, columns = np.nonzero(self.seen)
        return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1

    @property
    def run_lengths(self) -> list[int]:
        """How many pixels are outside, inside, outside …, column by column: as COCO has it."""
        flat = np.concatenate([[False], self.seen.T.reshape(-1), [False]])
        changes = np.nonzero(flat[1:] != flat[:-1])[0]
        return np.diff(np.concatenate([[0], changes, [self.seen.size]])).tolist()


@dataclass(frozen=True, slots=True)
class Street:
    """A picture of a street, and what is in it."""

    name: str
    picture: Image.Image
    things: list[Thing]

    @property
    def jpeg(self) -> bytes:
        return saved(self.picture, "JPEG")

    @property
    def ids(self) -> npt.NDArray[np.uint8]:
        """The class of each pixel."""
        ids = np.zeros((HEIGHT, WIDTH), np.uint8)
        for thing in self.things:
            ids[thing.seen] = thing.kind
        return ids

    @property
    def mask(self) -> bytes:
        """The classes as a PNG with the palette of VOC."""
        image = Image.fromarray(self.ids)
        image.putpalette([value for color in _PALETTE for value in color])
        return saved(image)

    def row(self) -> dict[str, Any]:
        """A record with boxes and a mask, under the names of the Object Detection API."""
        boxes = np.array([thing.box for thing in self.things], np.float32) / [WIDTH, HEIGHT, WIDTH, HEIGHT]
        sides = ("xmin", "ymin", "xmax", "ymax")
        return {
            "image/encoded": self.jpeg,
            "image/filename": self.name,
            "image/height": HEIGHT,
            "image/width": WIDTH,
            "image/segmentation/class/encoded": self.mask,
            "image/object/class/label": [thing.kind for thing in self.things],
            "image/object/class/text": [CLASSES[thing.kind] for thing in self.things],
            **{f"image/object/bbox/{side}": boxes[:, i].tolist() for i, side in enumerate(sides)},
        }


def streets(count: int, seed: int = 3) -> Iterator[Street]:
    """So many streets; the same seed draws the same ones."""
    source = np.random.default_rng(seed)
    for number in range(count):
        picture = _background(source)
        things: list[Thing] = []
        for place in range(source.integers(2, 5)):
            kind = int(source.choice(list(CLASSES)))
            x, y = WIDTH * (place + source.uniform(0.3, 0.7)) / 4, HEIGHT * source.uniform(0.62, 0.86)
            _put(picture, things, kind, (x, y, source.uniform(34, 60)), source)
        yield Street(f"street_{number:03d}.jpg", picture.filter(ImageFilter.GaussianBlur(0.6)), things)


def _put(
    picture: Image.Image,
    things: list[Thing],
    kind: int,
    place: tuple[float, float, float],
    source: np.random.Generator,
) -> None:
    """Puts something in front of all that is there."""
    stencil = Image.new("1", picture.size)
    color = tuple(int(value) for value in source.integers(40, 225, 3))
    paint = {7: _car, 12: _dog, 15: _person}[kind]
    paint(ImageDraw.Draw(picture), *place, color)
    paint(ImageDraw.Draw(stencil), *place, None)
    seen = np.asarray(stencil)
    things[:] = [Thing(other.kind, other.seen & ~seen) for other in things if (other.seen & ~seen).any()]
    things.append(Thing(kind, seen))


def _background(source: np.random.Generator) -> Image.Image:
    shade = np.linspace(0, 1, HEIGHT)[:, None, None]
    sky = source.uniform((90, 140, 200), (150, 190, 250))
    pixels = np.broadcast_to(sky + shade * 60, (HEIGHT, WIDTH, 3)).copy()
    picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    left = 0
    while left < WIDTH:
        width, top = int(source.integers(50, 100)), int(source.integers(40, 130))
        wall = tuple(int(value) for value in source.integers(120, 215, 3))
        draw.rectangle((left, top, left + width - 4, 200), fill=wall)
        for x in range(left + 8, left + width - 16, 18):
            for y in range(top + 10, 180, 24):
                draw.rectangle((x, y, x + 9, y + 13), fill=(70, 80, 100))
        left += width
    draw.rectangle((0, 196, WIDTH, 212), fill=(150, 148, 142))
    draw.rectangle((0, 212, WIDTH, HEIGHT), fill=(84, 86, 92))
    for x in range(10, WIDTH, 70):
        draw.rectangle((x, 262, x + 36, 267), fill=(225, 225, 215))
    return picture


def _car(draw: _Draw, x: float, y: float, size: float, color: Any) -> None:
    dark, glass = (1, 1) if color is None else ((25, 25, 28), (190, 215, 230))
    paint = 1 if color is None else color
    draw.rounded_rectangle((x - size, y - 0.45 * size, x + size, y), 8, fill=paint)
    top, half = y - 0.95 * size, 0.55 * size
    draw.polygon(
        [
            (x - half, top),
            (x + half, top),
            (x + 0.8 * size, y - 0.4 * size),
            (x - 0.8 * size, y - 0.4 * size),
        ],
        fill=paint,
    )
    draw.polygon(
        [
            (x - 0.48 * size, top + 5),
            (x + 0.48 * size, top + 5),
            (x + 0.64 * size, y - 0.46 * size),
            (x - 0.64 * size, y - 0.46 * size),
        ],
        fill=glass,
    )
    for middle in (x - 0.55 * size, x + 0.55 * size):
        draw.ellipse(
            (middle - 0.22 * size, y - 0.22 * size, middle + 0.22 * size, y + 0.22 * size), fill=dark
        )


def _dog(draw: _Draw, x: float, y: float, size: float, color: Any) -> None:
    paint = 1 if color is None else color
    size *= 0.6
    draw.ellipse((x - size, y - 1.1 * size, x + 0.7 * size, y - 0.35 * size), fill=paint)
    draw.ellipse((x + 0.35 * size, y - 1.6 * size, x + 1.1 * size, y - 0.85 * size), fill=paint)
    draw.line((x - 0.9 * size, y - 0.8 * size, x - 1.35 * size, y - 1.4 * size), fill=paint, width=5)
    for leg in (-0.75, -0.45, 0.2, 0.5):
        draw.rectangle((x + leg * size, y - 0.6 * size, x + (leg + 0.14) * size, y), fill=paint)


def _person(draw: _Draw, x: float, y: float, size: float, color: Any) -> None:
    paint, skin = (1, 1) if color is None else (color, (222, 178, 146))
    draw.rounded_rectangle((x - 0.32 * size, y - 1.3 * size, x + 0.32 * size, y - 0.5 * size), 6, fill=paint)
    draw.ellipse((x - 0.2 * size, y - 1.75 * size, x + 0.2 * size, y - 1.3 * size), fill=skin)
    for side in (-0.26, 0.04):
        draw.rectangle((x + side * size, y - 0.5 * size, x + (side + 0.2) * size, y), fill=paint)


def voc_folder(root: Path, shown: list[Street]) -> Path:
    """A data set as Pascal VOC has it, for segmentation."""
    home = root / "VOCdevkit" / "VOC2012"
    for folder in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (home / folder).mkdir(parents=True)
    for street in shown:
        (home / "JPEGImages" / street.name).write_bytes(street.jpeg)
        (home / "SegmentationClass" / street.name).with_suffix(".png").write_bytes(street.mask)
    names = [street.name.removesuffix(".jpg") + "\n" for street in shown]
    (home / "ImageSets" / "Segmentation" / "train.txt").write_text("".join(names[1:]))
    (home / "ImageSets" / "Segmentation" / "val.txt").write_text(names[0])
    return root


def coco_folder(root: Path, shown: list[Street]) -> Path:
    """A data set as COCO has it, with an outline for each object."""
    (root / "annotations").mkdir(parents=True)
    (root / "train2017").mkdir()
    objects: list[dict[str, Any]] = []
    for number, street in enumerate(shown, 1):
        (root / "train2017" / street.name).write_bytes(street.jpeg)
        for thing in street.things:
            left, top, right, bottom = thing.box
            objects.append(
                {
                    "id": len(objects) + 1,
                    "image_id": number,
                    "category_id": thing.kind,
                    "bbox": [left, top, right - left, bottom - top],
                    "segmentation": {"size": [HEIGHT, WIDTH], "counts": thing.run_lengths},
                    "area": int(thing.seen.sum()),
                    "iscrowd": 0,
                }
            )
    images = [
        {"id": number, "file_name": street.name, "width": WIDTH, "height": HEIGHT}
        for number, street in enumerate(shown, 1)
    ]
    said = {
        "images": images,
        "annotations": objects,
        "categories": [{"id": number, "name": name} for number, name in CLASSES.items()],
    }
    (root / "annotations" / "instances_train2017.json").write_text(json.dumps(said))
    return root


def street_file(path: Path, shown: list[Street]) -> Path:
    """Records with both boxes and masks."""
    tfreel.save(path, [street.row() for street in shown])
    return path
