"""Statistics as plain values, for JSON. The keys are a promise: never rename one."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfreel.inference.content import is_text
from tfreel.profile.figures import Bytes, Common, CommonBytes, Images, Numbers

if TYPE_CHECKING:
    from tfreel.profile.statistics import FeatureStatistics, Statistics


def as_plain(found: Statistics) -> dict[str, Any]:
    """All of it."""
    return {
        **_group(found),
        "malformed": found.malformed,
        "report": found.report.to_dict(),
        "by": found.by,
        "groups": [{"value": group_value(value), **_group(group)} for value, group in found.groups.items()],
    }


def group_value(value: int | bytes | None) -> int | str | dict[str, str] | None:
    """The value that a group shares, as JSON has it."""
    return value if value is None or isinstance(value, int) else text_or_base64(value)


def text_or_base64(value: bytes) -> str | dict[str, str]:
    """Text as it is; anything else as an object with its bytes."""
    if not value or is_text(value):
        return value.decode()
    return {"base64": base64.b64encode(value).decode()}


def _group(found: Statistics) -> dict[str, Any]:
    return {
        "records": found.records,
        "bytes": found.bytes,
        "other_bytes": found.other_bytes,
        "features": {name: _feature(feature) for name, feature in found.features.items()},
        "lists": {name: _feature(feature) for name, feature in found.lists.items()},
    }


def _feature(feature: FeatureStatistics) -> dict[str, Any]:
    return {
        "present": feature.present,
        "absent": feature.absent,
        "empty": feature.empty,
        "kinds": dict(feature.kinds),
        "bytes": feature.bytes,
        "share": feature.share,
        "lengths": _numbers(feature.lengths),
        "steps": _numbers(feature.steps),
        "int64": _numbers(feature.int64),
        "float32": _numbers(feature.float32),
        "strings": _strings(feature.strings),
    }


def _numbers(numbers: Numbers | None) -> dict[str, Any] | None:
    if numbers is None:
        return None
    return {
        "count": numbers.count,
        "min": numbers.min,
        "max": numbers.max,
        "mean": numbers.mean,
        "std": numbers.std,
        "zeros": numbers.zeros,
        "nans": numbers.nans,
        "infinities": numbers.infinities,
        "negative_infinities": numbers.negative_infinities,
        "quantiles": {str(share): value for share, value in numbers.quantiles.items()},
        "quantile_error": numbers.quantile_error,
        "histogram": {"edges": numbers.histogram.edges, "counts": numbers.histogram.counts},
        **_distinct(numbers),
    }


def _strings(strings: Bytes | None) -> dict[str, Any] | None:
    if strings is None:
        return None
    return {
        "count": strings.count,
        "sizes": _numbers(strings.sizes),
        "contents": dict(strings.contents),
        "images": _images(strings.images),
        **_distinct(strings),
    }


def _images(images: Images | None) -> dict[str, Any] | None:
    if images is None:
        return None
    return {
        "count": images.count,
        "widths": _numbers(images.widths),
        "heights": _numbers(images.heights),
        "distinct_sizes": images.distinct_sizes,
        "distinct_exact": images.distinct_exact,
        "common": [_common(each) for each in images.common],
        "common_error": images.common_error,
    }


def _distinct(found: Numbers | Bytes) -> dict[str, Any]:
    return {
        "distinct": found.distinct,
        "distinct_exact": found.distinct_exact,
        "common": [_common(each) for each in found.common],
        "common_error": found.common_error,
    }


def _common(each: Common | CommonBytes) -> Mapping[str, Any]:
    if isinstance(each, CommonBytes):
        return {"value": text_or_base64(each.value), "size": each.size, "count": each.count}
    return {"value": each.value, "count": each.count}
