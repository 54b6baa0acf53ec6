"""A folder of apples and oranges: drawn, but as unruly as photographs.

Colour alone hardly tells them apart: apples are red, yellow or green, orange lies between red and yellow, and
what they lie on may have any colour.
"""

from __future__ import annotations

import os
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Picture: TypeAlias = npt.NDArray[np.uint8]
_Field: TypeAlias = npt.NDArray[np.float64]
_Color: TypeAlias = tuple[float, float, float]

KINDS = ("apple", "orange")
_APPLES: tuple[_Color, ...] = ((190, 25, 35), (130, 15, 30), (125, 170, 45), (205, 195, 70))
_ORANGES: tuple[_Color, ...] = ((245, 140, 20), (235, 120, 10), (250, 160, 50))
_STEM: _Color = (85, 55, 25)
_LEAF: _Color = (60, 120, 40)
_PNG_SHARE = 0.2


def draw_fruit(folder: str, count: int, seed: int) -> None:
    """Makes a folder with a folder of pictures for each kind of fruit, and two files that are no pictures.

    Args:
        folder: Where.
        count: How many pictures of both kinds together.
        seed: The same seed draws the same pictures.
    """
    source = np.random.default_rng(seed)
    for kind in KINDS:
        os.makedirs(os.path.join(folder, kind))
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        suffix = "png" if source.random() < _PNG_SHARE else "jpg"
        path = os.path.join(folder, kind, f"{kind}_{number // len(KINDS):03d}.{suffix}")
        _save(path, picture(kind, source))
    _write(os.path.join(folder, "readme.txt"), b"Apples and oranges, drawn by tfreel demo.\n")
    _write(os.path.join(folder, ".DS_Store"), bytes(16))


def _save(path: str, pixels: Picture) -> None:
    from tfreel import images

    _write(path, images.encode(pixels, "png" if path.endswith(".png") else "jpeg", quality=90))


def _write(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)


def picture(kind: str, source: np.random.Generator) -> Picture:
    """One apple or orange, somewhere on something, of 56 to 80 pixels a side."""
    height, width = source.integers(56, 81, 2)
    pixels = _background(source, int(height), int(width))
    x, y = _around(source, int(height), int(width))
    (_paint_apple if kind == "apple" else _paint_orange)(pixels, x, y, source)
    light = source.uniform(0.75, 1.15)
    noise = source.normal(0, source.uniform(4, 14), pixels.shape)
    return np.clip(pixels * light + noise, 0, 255).astype(np.uint8)


def _background(source: np.random.Generator, height: int, width: int) -> _Field:
    """A wall above, a table below, each of any colour that runs into another."""
    pixels = np.empty((height, width, 3))
    edge = int(height * source.uniform(0.4, 0.9))
    for rows in (slice(None, edge), slice(edge, None)):
        part = pixels[rows]
        left, right = source.uniform(20, 230, (2, 3))
        across = np.linspace(0, 1, width)[None, :, None]
        part[:] = left * (1 - across) + right * across
    return pixels


def _around(source: np.random.Generator, height: int, width: int) -> tuple[_Field, _Field]:
    """For each pixel, its place seen from the middle of the fruit, in radii and turned a little."""
    radius = min(height, width) * source.uniform(0.26, 0.42)
    rows, columns = np.mgrid[:height, :width]
    x = (columns - width * source.uniform(0.4, 0.6)) / radius
    y = (rows - height * source.uniform(0.42, 0.62)) / (radius * source.uniform(0.9, 1.05))
    angle = source.uniform(-0.5, 0.5)
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def _paint_apple(pixels: _Field, x: _Field, y: _Field, source: np.random.Generator) -> None:
    dent = 0.3 * np.exp(-((x / 0.35) ** 2)) * (y < 0)  # where the stem grows
    color = np.array(_APPLES[source.integers(len(_APPLES))]) + source.normal(0, 12, 3)
    cheek = np.array(_APPLES[source.integers(2)])  # red where the sun was
    ripe = source.uniform(0, 0.5) * np.clip(0.5 + x, 0, 1)[..., None]
    _paint(pixels, np.hypot(x, y) + dent, x, y, color * (1 - ripe) + cheek * ripe)
    stem = (np.abs(x - 0.15 * (y + 0.7) ** 2) < 0.07) & (y < -0.6) & (y > -1.15)
    pixels[stem] = _STEM
    if source.random() < 0.5:
        pixels[((x - 0.35) / 0.32) ** 2 + ((y + 0.98 + 0.3 * x) / 0.14) ** 2 < 1] = _LEAF


def _paint_orange(pixels: _Field, x: _Field, y: _Field, source: np.random.Generator) -> None:
    color = np.array(_ORANGES[source.integers(len(_ORANGES))]) + source.normal(0, 12, 3)
    pores = source.normal(0, 9, x.shape)[..., None]
    _paint(pixels, np.hypot(x, y), x, y, color + pores)
    if source.random() < 0.3:
        pixels[np.hypot(x, y + 0.8) < 0.1] = _LEAF  # what is left of the stem


def _paint(pixels: _Field, distance: _Field, x: _Field, y: _Field, color: _Field) -> None:
    """A round thing, lit from the upper left."""
    inside = distance < 1
    lit = 1.05 - 0.45 * np.clip(distance, 0, 1) ** 2 - 0.15 * (x + y)
    shine = 90 * np.exp(-(((x + 0.4) ** 2 + (y + 0.4) ** 2) / 0.03))
    shaded = color * lit[..., None] + shine[..., None]
    pixels[inside] = shaded[inside]
