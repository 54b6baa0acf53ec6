"""Rows with every kind of value, to be unpacked in every way."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

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
