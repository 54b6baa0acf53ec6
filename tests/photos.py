"""Small pictures for tests, drawn by Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path


def picture(seed: int = 0, size: tuple[int, int] = (12, 16), form: str = "png", **options: Any) -> bytes:
    """A picture of noise: (height, width)."""
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, form, **options)
    return out.getvalue()


def photo_folder(root: Path, counts: dict[str, int], form: str = "png") -> Path:
    """A folder for each class, with so many pictures in it."""
    for number, (name, count) in enumerate(counts.items()):
        (root / name).mkdir(parents=True)
        for i in range(count):
            (root / name / f"{i}.{form}").write_bytes(picture(1000 * number + i, form=form))
    return root
