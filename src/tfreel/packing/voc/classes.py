"""The classes of Pascal VOC, and ids for others."""

from __future__ import annotations

from collections.abc import Sequence

VOC = (
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
)
BACKGROUND, VOID = 0, 255


def ids_from_one(found: set[str], classes: Sequence[str] | None = None) -> dict[int, str]:
    """The names of classes by their ids: as given, else those of VOC, else sorted; 0 is for the background.

    Raises:
        ValueError: A name was given twice.
    """
    if classes is not None and len(set(classes)) < len(classes):
        raise ValueError(f"classes holds a name twice: {', '.join(classes)}")
    if classes is None:
        classes = VOC if found <= set(VOC) else sorted(found)
    return dict(enumerate(classes, 1))


def mask_classes(classes: Sequence[str] | None) -> dict[int, str]:
    """What the values of a mask stand for."""
    return {BACKGROUND: "background", **ids_from_one(set(), classes), VOID: "void"}
