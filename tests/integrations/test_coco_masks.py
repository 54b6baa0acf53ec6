"""Masks of COCO: the same pixels as COCO's own tools give, for outlines of all shapes."""

from __future__ import annotations

import numpy as np
import pytest

from tfreel.packing.coco.masks import mask_of
from tfreel.packing.pictures.boxes import Size

coco_mask = pytest.importorskip("pycocotools.mask")

# Its own code is older than NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept:DeprecationWarning")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("grid", [0, 1, 2], ids=["any points", "whole pixels", "half pixels"])
def test_polygons_cover_the_same_pixels(seed: int, grid: int) -> None:
    random = np.random.default_rng([seed, grid])
    for _ in range(20):
        width, height = (int(side) for side in random.integers(1, 60, 2))
        corners = random.uniform(-0.1, 1.1, (int(random.integers(3, 9)), 2)) * [width, height]
        if grid:
            corners = np.round(corners * grid) / grid
        polygon = corners.ravel().tolist()
        expected = coco_mask.decode(coco_mask.frPyObjects([polygon], height, width)[0])
        np.testing.assert_array_equal(mask_of([polygon], Size(width, height)), expected)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 1.0])
def test_runs_as_text_give_the_mask_back(density: float) -> None:
    random = np.random.default_rng(7)
    for _ in range(50):
        height, width = (int(side) for side in random.integers(1, 99, 2))
        mask = (random.random((height, width)) < density).astype(np.uint8)
        runs = coco_mask.encode(np.asfortranarray(mask))
        found = mask_of({"size": [height, width], "counts": runs["counts"].decode()}, Size(width, height))
        np.testing.assert_array_equal(found, mask)
