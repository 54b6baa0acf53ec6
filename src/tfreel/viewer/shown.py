"""Values as JSON for the page: short ones for a table, all that can be said for the page of a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from tfreel.inference.content import IMAGES, NAMES, Content, content_of
from tfreel.inference.profile import FeatureProfile
from tfreel.storage.paths import display
from tfreel.viewer.pictures import planes_in
from tfreel.viewer.roles import is_instance_name, is_mask_name
from tfreel.viewer.values import Row, array_of

MOST_FEATURES = 1000  # a record may have any number of them
_CELL_VALUES = 8
_CELL_TEXT = 200
_PAGE_VALUES = 2000
_PAGE_ITEMS = 200
_PAGE_STEPS = 500
_PAGE_TEXT = 20_000
_HEX_BYTES = 512
_SAFE_INTEGER = 1 << 53  # JavaScript has no others


def number(value: Any) -> int | float | str:
    """A number for JSON, which has no NaN, and for JavaScript, which has no large integers."""
    if isinstance(value, (int, np.integer)):
        return int(value) if abs(int(value)) <= _SAFE_INTEGER else str(int(value))
    if math.isfinite(value):
        # As it was written: 0.1, and not what float32 makes of it.
        return float(str(value)) if isinstance(value, np.floating) else float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def name_of(name: str) -> str:
    """A name as JSON can hold it."""
    return display(name) if any("\ud800" <= c <= "\udfff" for c in name) else name


def cell(value: Any, name: str) -> dict[str, Any]:
    """The values of a feature, shortened for a table."""
    if value is None:
        return {"kind": "none", "count": 0}
    if isinstance(value, list):
        shown = [_item(item, name, _CELL_TEXT) for item in value[:_CELL_VALUES]]
        return {"kind": "bytes", "count": len(value), "items": shown}
    return {
        "kind": value.dtype.name,
        "count": len(value),
        "values": [number(one) for one in value[:_CELL_VALUES]],
    }


def steps_cell(steps: list[Any], name: str) -> dict[str, Any]:
    """A feature list, shortened for a table."""
    return {"kind": "steps", "count": len(steps), "steps": [cell(value, name) for value in steps[:2]]}


def _item(item: bytes, name: str, most_text: int) -> dict[str, Any]:
    content = content_of(item)
    shown: dict[str, Any] = {
        "content": content.kind,
        "called": NAMES[content.kind],
        "bytes": len(item),
        "view": _view(content, name),
        **_facts(content),
    }
    if content.kind == "text":
        text = item.decode()
        shown["text"], shown["cut"] = text[:most_text], len(text) > most_text
    return shown


def _facts(content: Content) -> dict[str, Any]:
    facts = {
        "width": content.width,
        "height": content.height,
        "dtype": content.dtype,
        "shape": None if content.shape is None else list(content.shape),
    }
    return {key: value for key, value in facts.items() if value is not None}


def _view(content: Content, name: str) -> str:
    if content.kind in IMAGES and content.kind != "heic":
        return "mask" if content.kind == "png" and is_mask_name(name) else "image"
    if content.kind == "wav":
        return "audio"
    return {"text": "text", "empty": "empty"}.get(content.kind, "hex")


def features_shown(row: Row, profiles: Mapping[str, FeatureProfile]) -> list[dict[str, Any]]:
    """All features of a record, each as what it is."""
    return [_feature(row, name, profiles.get(name)) for name in islice(row.features, MOST_FEATURES)]


def _feature(row: Row, name: str, profile: FeatureProfile | None) -> dict[str, Any]:
    value = row.features[name]
    shown: dict[str, Any] = {"name": name_of(name), **_values(value, name, _PAGE_VALUES)}
    array = array_of(row, name, profile)
    if array is not None and (array.ndim > 1 or isinstance(value, list)):
        shown["array"] = {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "planes": planes_in(array.shape),
            "values": [number(one) for one in array.reshape(-1)[:_CELL_VALUES]],
        }
    if shown["kind"] == "bytes" and is_instance_name(name):
        shown["instances"] = True
    return shown


def _values(value: Any, name: str, most: int) -> dict[str, Any]:
    if value is None:
        return {"kind": "none", "count": 0}
    if isinstance(value, list):
        items = [
            {**_item(item, name, _PAGE_TEXT), "hex": item[:_HEX_BYTES].hex()} for item in value[:_PAGE_ITEMS]
        ]
        return {"kind": "bytes", "count": len(value), "items": items}
    shown = {
        "kind": value.dtype.name,
        "count": len(value),
        "values": [number(one) for one in value[:most]],
    }
    return {**shown, **_summary(value)} if len(value) > 1 else shown


def _summary(values: Any) -> dict[str, Any]:
    """The least, the greatest and the mean, of what is finite; and a line through all of them."""
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if not len(finite):
        return {}
    facts: dict[str, Any] = {
        "least": number(finite.min()),
        "greatest": number(finite.max()),
        "mean": number(float(finite.mean(dtype=np.float64))),
    }
    if len(values) > _PAGE_VALUES:  # the page has not all of them, and still shall draw the whole line
        places = np.linspace(0, len(values) - 1, _PAGE_VALUES).astype(np.int64)
        facts["line"] = [number(one) for one in values[places]]
    return facts


def lists_shown(row: Row) -> list[dict[str, Any]]:
    """All feature lists of a record: the values of each step."""
    shown = []
    for name, steps in islice(row.lists.items(), MOST_FEATURES):
        each = max(1, _PAGE_VALUES // max(1, min(len(steps), _PAGE_STEPS)))
        shown.append(
            {
                "name": name_of(name),
                "count": len(steps),
                "steps": [_values(value, name, each) for value in steps[:_PAGE_STEPS]],
            }
        )
    return shown


def bytes_shown(data: bytes) -> dict[str, Any]:
    """A record that is no Example."""
    return {**_item(data, "", _PAGE_TEXT), "hex": data[:_HEX_BYTES].hex()}
