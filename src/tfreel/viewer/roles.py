"""What features are for: pictures, masks, boxes; told by their names and by what they hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from tfreel.inference.content import IMAGES
from tfreel.inference.profile import FeatureProfile
from tfreel.viewer.pictures import planes_in

_MASK_NAME = re.compile(r"(segmentation|mask|label_?map|annotation|panoptic|semantic)", re.IGNORECASE)
_INSTANCE_NAME = re.compile(r"(object|instance)s?/masks?(/|$)", re.IGNORECASE)
_SIDES = ("xmin", "ymin", "xmax", "ymax")
_LABELS = ("class/text", "label_name", "name", "class/label", "label", "labels", "category", "category_id")


def role_of(profile: FeatureProfile) -> str:
    """How the values of a feature are best shown: a word that the page knows."""
    kinds = set(profile.kinds)
    if not kinds:
        return "none"
    if kinds == {"bytes"}:
        return _bytes_role(profile)
    if "bytes" in kinds:
        return "mixed"
    most = profile.lengths[1] if profile.lengths else 0
    if profile.steps is None and most <= 1:
        return "number"
    return "numbers"


def _bytes_role(profile: FeatureProfile) -> str:
    contents = {kind for kind in profile.contents if kind != "empty"}
    if contents and contents <= IMAGES:
        return "mask" if is_mask_name(profile.name) and "jpeg" not in contents else "image"
    if contents == {"text"}:
        return "text"
    if contents == {"wav"}:
        return "audio"
    if contents and contents <= {"tensor", "npy"}:
        return "tensor"
    if profile.shape_from or (profile.array_shape and planes_in(profile.array_shape)):
        return "tensor"
    return "bytes"


def is_mask_name(name: str) -> bool:
    """Whether a feature of this name holds masks, if it holds images at all."""
    return _MASK_NAME.search(name) is not None


def is_instance_name(name: str) -> bool:
    """Whether a feature of this name holds a mask for each object."""
    return _INSTANCE_NAME.search(name) is not None


def overlays_of(profiles: Mapping[str, FeatureProfile]) -> dict[str, Any]:
    """What can be drawn over what: pictures, masks, and boxes with their labels.

    Boxes are four features, as the Object Detection API and tfreel write them, or one, as TensorFlow Datasets
    does: ymin, xmin, ymax, xmax of each object, one behind the other.
    """
    roles = {name: role_of(profile) for name, profile in profiles.items()}
    return {
        "images": [name for name, role in roles.items() if role == "image"],
        "masks": [name for name, role in roles.items() if role == "mask"],
        "boxes": [*_four_features(profiles), *_one_feature(profiles)],
    }


def _four_features(names: Collection[str]) -> list[dict[str, Any]]:
    found = []
    for name in names:
        if name.endswith("xmin"):
            prefix = name.removesuffix("xmin")
            sides = {side: prefix + side for side in _SIDES}
            if all(side in names for side in sides.values()):
                found.append({**sides, "labels": _label_of(prefix, names)})
    return found


def _one_feature(profiles: Mapping[str, FeatureProfile]) -> list[dict[str, Any]]:
    return [
        {"yxyx": name, "labels": _label_of(name.removesuffix("bbox"), profiles)}
        for name, profile in profiles.items()
        if name.endswith("bbox") and set(profile.kinds) == {"float32"}
    ]


def _label_of(prefix: str, names: Collection[str]) -> str | None:
    """The feature that names the objects: of the same family, text first."""
    roots = [prefix.removesuffix("bbox/"), prefix]
    return next((root + word for root in roots for word in _LABELS if root + word in names), None)
