"""Small pictures and masks, drawn by Pillow, as the files that data sets are made of."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image


def jpeg(width: int = 20, height: int = 10, color: tuple[int, int, int] = (200, 30, 30)) -> bytes:
    return saved(Image.new("RGB", (width, height), color), "JPEG")


def saved(image: Image.Image, form: str = "PNG") -> bytes:
    out = io.BytesIO()
    image.save(out, form)
    return out.getvalue()


def palette_mask(ids: Sequence[Sequence[int]], colors: Sequence[tuple[int, int, int]]) -> bytes:
    image = Image.fromarray(np.array(ids, np.uint8))
    image.putpalette([value for color in colors for value in color])
    return saved(image)


def put(root: Path, files: dict[str, bytes | str]) -> Path:
    """Writes files under a folder, and makes the folders that they are in."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
