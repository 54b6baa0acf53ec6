"""Pixels to bytes: what each format can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from tfreel import images

from pictures import ALPHA, colours


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_gives_every_value_back(channels: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, channels), dtype=np.uint8)
    assert np.array_equal(images.decode(images.encode(pixels), "keep"), pixels)
    assert images.encode(pixels) == images.encode(pixels)


@pytest.mark.parametrize("mode", ["RGB", "CMYK", "YCbCr", "HSV", "LAB", "P", "RGBX", "RGBA", "PA"])
def test_images_of_pillow_keep_their_colours_whatever_their_mode(mode: str) -> None:
    red = Image.new("RGB", (4, 4), (200, 10, 10))
    image = red.convert("P", palette=Image.Palette.ADAPTIVE) if mode in ("P", "PA") else red
    found = images.decode(images.encode(image.convert(mode)))
    assert np.abs(found.astype(int) - [200, 10, 10]).max() <= 5
    gray = images.decode(images.encode(red.convert("1").point(lambda _: 255)))
    assert (gray == 255).all()


def test_png_holds_sixteen_bits_of_gray() -> None:
    deep = np.array([[0, 65535]], np.uint16)
    assert np.array_equal(images.decode(images.encode(deep), "keep")[:, :, 0], deep)


@pytest.mark.parametrize("kind", ["jpeg", "webp"])
def test_lossy_formats_have_a_quality(kind: Any) -> None:
    rough, fine = (images.encode(colours(), kind, quality=quality) for quality in (10, 95))
    assert len(rough) < len(fine)
    assert np.abs(images.decode(fine).astype(int) - colours()).mean() < 6


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_format_says_how_the_camera_was_held(kind: Any, orientation: int) -> None:
    data = images.encode(colours(), kind, orientation=orientation)
    assert images.probe(data).orientation == orientation
    assert (data == images.encode(colours(), kind)) == (orientation == 1)
    with pytest.raises(ValueError, match="orientation goes from 1 to 8, not 9"):
        images.encode(colours(), kind, orientation=9)


@pytest.mark.parametrize(
    ("image", "kind", "why"),
    [
        (ALPHA, "jpeg", "jpeg cannot hold 4 channels of uint8"),
        (colours()[:, :, 0], "webp", "webp cannot hold 1 channels"),
        (colours().astype(np.float32), "png", "png cannot hold 3 channels of float32"),
        (colours().astype(np.uint16), "png", "png cannot hold 3 channels of uint16"),
        (np.zeros((0, 4, 3), np.uint8), "png", "an image is"),
        (colours(), "gif", "format must be one of png, jpeg, webp"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(image: Any, kind: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        images.encode(image, kind)
    with pytest.raises(ValueError, match="quality goes from 1 to 100, not 101"):
        images.encode(colours(), quality=101)
