"""How the values of an example look in JSON: all of them."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

from tfreel.inference.content import content_of


def features_json(features: Mapping[str, Any], *, full: bool) -> dict[str, Any]:
    """Features as JSON has them: every feature a list, None for one without a kind."""
    return {name: values_json(value, full=full) for name, value in features.items()}


def values_json(value: Any, *, full: bool) -> list[Any] | None:
    """The values of a feature: numbers, texts, and an object for each bytes value that is no text."""
    if value is None:
        return None
    if isinstance(value, list):
        return [bytes_json(item, full=full) for item in value]
    if value.dtype.kind == "i":
        return list(value.tolist())
    return [_float_json(item) for item in value]


def _float_json(item: Any) -> float | str:
    number = float(str(item))  # the shortest decimal that means this float32: 0.1, not 0.10000000149011612
    if math.isfinite(number):
        return number
    # JSON has no such numbers. These are the words that protobuf has for them.
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def bytes_json(value: bytes, *, full: bool) -> str | dict[str, Any]:
    """Text as a string; else an object that says what it is, with `full` also its bytes."""
    content = content_of(value)
    if content.kind in ("text", "empty"):
        return value.decode()
    found: dict[str, Any] = {"content": content.kind, "bytes": len(value)}
    if content.width and content.height:
        found |= {"width": content.width, "height": content.height}
    if content.dtype is not None:
        found |= {"dtype": content.dtype, "shape": list(content.shape or ())}
    if full:
        found["base64"] = base64.b64encode(value).decode()
    return found
