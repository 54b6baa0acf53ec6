"""Rows with every kind of value, to be unpacked in every way."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

import tfreel

if TYPE_CHECKING:
    from pathlib import Path

MOST, LEAST = 2**63 - 1, -(2**63)
ROWS: list[dict[str, Any]] = [
    {
        "i": LEAST,
        "f": 0.1,
        "text": 'a,"b"\nc',
        "many": [1, 2],
        "words": ["x", "y"],
        "raw": b"\xff\0",
        "some": 5,
    },
    {"i": MOST, "f": 1e-45, "text": "", "many": np.array([], np.int64), "words": ["z"], "raw": b""},
    {"i": 0, "f": float("-inf"), "text": " é", "words": ["w"], "raw": b"ok"},
]


def image(kind: str, shade: int = 0) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 6), (shade, shade, shade)).save(out, kind)
    return out.getvalue()


def write_pets(path: Path) -> Path:
    """Records with pictures, masks, classes, and names that want care."""
    names = [
        "train/cat.jpg",
        "../../etc/passwd",
        "cat.jpg",
        "a:b?.jpeg",
        "CON",
        "x" * 300,
        "..",
        "",
    ]
    rows: list[dict[str, Any]] = [
        {
            "image/encoded": image("JPEG" if i % 2 else "PNG", i),
            "image/filename": name,
            "image/class/text": ["cat", "dog/../x"][i % 2],
            "image/class/label": i % 2,
            "box": [0.1, 0.2],
            "mask": image("PNG", 255),
        }
        for i, name in enumerate(names)
    ]
    del rows[5]["mask"]
    tfreel.save(path, rows)
    return path
