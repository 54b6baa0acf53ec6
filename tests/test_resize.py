"""Images in another size: the laws, and the formula step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tfreel import images

from pictures import colours

SIDES = st.integers(1, 40)


@given(SIDES, SIDES, st.sampled_from([1, 2, 3, 4, 5]), st.sampled_from(["u1", "f4", "i8"]))
def test_resizing_to_the_same_size_changes_nothing(
    height: int, width: int, channels: int, dtype: str
) -> None:
    image = np.random.default_rng(height * width).integers(0, 256, (height, width, channels)).astype(dtype)
    for method in ("bilinear", "nearest"):
        assert np.array_equal(images.resize(image, (height, width), method=method), image)  # type: ignore[arg-type]


@given(SIDES, SIDES, SIDES, SIDES)
def test_the_nearest_pixel_is_never_a_new_value(
    height: int, width: int, to_height: int, to_width: int
) -> None:
    mask = np.random.default_rng(height).integers(0, 60000, (height, width)).astype(np.uint16)
    small = images.resize(mask, (to_height, to_width), method="nearest")
    assert (small.shape, small.dtype) == ((to_height, to_width), np.uint16)
    assert set(small.ravel()) <= set(mask.ravel())


@given(SIDES, SIDES, SIDES, SIDES)
@settings(max_examples=50)
def test_bilinear_resizing_follows_the_formula(
    height: int, width: int, to_height: int, to_width: int
) -> None:
    image = np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    found = images.resize(image, (to_height, to_width))
    assert found.dtype == np.float32
    assert np.array_equal(found, by_formula(image, to_height, to_width))


def by_formula(image: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[np.float32]:
    """In NumPy, where no step is fused with another."""
    (top, bottom, down), (left, right, across) = (
        places(*sides) for sides in zip(image.shape, (height, width), strict=False)
    )
    values = image.astype(np.float32)
    across, down = across[None, :, None], down[:, None, None]
    upper, lower = (
        values[rows][:, left] + (values[rows][:, right] - values[rows][:, left]) * across
        for rows in (top, bottom)
    )
    result: npt.NDArray[np.float32] = upper + (lower - upper) * down
    return result


def places(old: int, new: int) -> Any:
    at = (np.arange(new, dtype="f4") + np.float32(0.5)) * (np.float32(old) / np.float32(new)) - np.float32(
        0.5
    )
    low, high = np.maximum(np.floor(at), 0), np.minimum(np.ceil(at), old - 1)
    return low.astype(int), high.astype(int), at - np.floor(at)


def test_batches_and_masks_are_resized_as_single_images_are() -> None:
    batch = np.stack([colours(seed=i) for i in range(3)])
    for options in ({}, {"method": "nearest"}, {"antialias": True}):
        found = images.resize(batch, (7, 11), **options)  # type: ignore[arg-type]
        assert found.shape == (3, 7, 11, 3)
        for one, image in zip(found, batch, strict=True):
            assert np.array_equal(one, images.resize(image, (7, 11), **options))  # type: ignore[arg-type]
            plane = images.resize(image[:, :, 1], (7, 11), **options)  # type: ignore[arg-type]
            assert np.array_equal(one[:, :, 1], plane)


def test_one_number_is_the_length_of_the_shorter_side() -> None:
    assert images.resize(colours(20, 30), 10).shape == (10, 15, 3)
    assert images.resize(colours(30, 20), 256).shape == (384, 256, 3)
    assert images.resize(colours(1, 300), 1).shape == (1, 300, 3)


def test_antialiasing_averages_all_pixels() -> None:
    stripes = np.zeros((16, 16, 1), np.uint8)
    stripes[:, ::2] = 200
    assert np.ptp(images.resize(stripes, (4, 4), antialias=True)) < 30
    with Image.fromarray(colours()) as image:
        expected = np.asarray(image.resize((9, 8), Image.Resampling.BILINEAR))
    assert np.array_equal(images.resize(colours(), (8, 9), antialias=True), expected)
    precise = images.resize(colours().astype(np.float32), (8, 9), antialias=True)
    assert 0 < np.abs(precise - expected).max() <= 1.01


def test_views_of_images_are_resized_as_their_copies() -> None:
    view = colours(40, 60)[::2, ::-2]
    assert np.array_equal(images.resize(view, (9, 9)), images.resize(view.copy(), (9, 9)))


@pytest.mark.parametrize(
    ("image", "size", "options", "error"),
    [
        (np.zeros(3), (1, 1), {}, ValueError),
        (np.zeros((0, 3, 3)), (1, 1), {}, ValueError),
        (np.zeros((1, 1, 1, 1, 1)), (1, 1), {}, ValueError),
        (colours(), (0, 1), {}, ValueError),
        (colours(), (1, 2, 3), {}, TypeError),
        (colours(), 1.5, {}, TypeError),
        (colours(), (1, 1), {"method": "cubic"}, ValueError),
        (colours(), (1, 1), {"method": "nearest", "antialias": True}, ValueError),
    ],
)
def test_what_cannot_be_resized_is_refused(
    image: Any, size: Any, options: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        images.resize(image, size, **options)
