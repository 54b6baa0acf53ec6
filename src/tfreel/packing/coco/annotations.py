"""The JSON files of COCO: three long lists, of categories, of images, and of annotations that name both.

Nothing in them can be trusted to be there, or to be what it should. What is wrong with an image or with one
of its objects is a problem of that image; what belongs to no image is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tfreel.errors import UnsafeInputError
from tfreel.packing.making import reason_of
from tfreel.packing.pictures.boxes import Box, Size
from tfreel.packing.source import RejectError
from tfreel.packing.tree import Tree
from tfreel.storage.paths import display

ImageId: TypeAlias = int | str
_PARTS = ("images", "annotations", "categories")
_BEGINNING = re.compile(rb'\s*\{\s*"(?:info|licenses|images|annotations|categories)"\s*:\s*[\[{]')
_LIST = re.compile(rb'"(?:images|annotations|categories)"\s*:\s*\[')


@dataclass(frozen=True, slots=True)
class CocoObject:
    """What an annotation says of an object."""

    label: int
    name: str
    bounds: Box
    area: float
    crowd: int
    segmentation: Any

    def box(self, size: Size) -> Box:
        """Where it is, in pixels."""
        del size
        return self.bounds


@dataclass(slots=True)
class CocoImage:
    """What a file says of an image.

    Attributes:
        where: The place in the file, for messages.
        id: Its id; None if it has none that can be used.
        file_name: What it says the file is called; empty if it does not.
        size: Its width and height, as text; None if that is not said.
        objects: What is in it.
        problem: What is wrong with any of this.
    """

    where: str
    id: ImageId | None
    file_name: str
    size: tuple[str, str] | None = None
    objects: list[CocoObject] = field(default_factory=list)
    problem: str | None = None


@dataclass(slots=True)
class Document:
    """What one JSON file says.

    Attributes:
        path: The file.
        categories: The names of the classes, by their ids.
        images: All images, with what is in them.
        lost: What is said of an image that is not there: the first such case, and how many there are.
    """

    path: str
    categories: dict[int, str]
    images: list[CocoImage]
    lost: str | None = None


def looks_like_coco(tree: Tree, path: str) -> bool:
    """Whether a JSON file has the three lists, as far as can be told without understanding all of it."""
    try:
        data = tree.read(path)
    except (RejectError, OSError):
        return False
    return all(f'"{part}"'.encode() in data for part in _PARTS)


def begins_like_coco(tree: Tree, path: str) -> bool:
    """Whether the first thing in a JSON file is one of the lists, or what COCO has before them."""
    try:
        data = tree.read(path)
    except (RejectError, OSError):
        return False
    return bool(_BEGINNING.match(data)) and bool(_LIST.search(data))


def read_document(tree: Tree, path: str, *, segmentations: bool) -> Document:
    """What a JSON file says.

    Args:
        tree: Where it is.
        path: Its name there.
        segmentations: Keep the outlines of objects, which are most of it.

    Raises:
        ValueError: It is not what COCO writes.
        UnsafeInputError: It is too large, or nested too deeply.
    """
    try:
        data = tree.read(path)
    except RejectError as error:
        raise UnsafeInputError(f"{display(path)} {error}", kind="too_large") from None
    parts = _parsed(data, path, segmentations=segmentations)
    document = Document(path, _categories(parts["categories"], path), _images(parts["images"], path))
    _take_annotations(document, parts["annotations"])
    return document


def _parsed(data: bytes, path: str, *, segmentations: bool) -> dict[str, list[Any]]:
    def without_outline(found: dict[str, Any]) -> dict[str, Any]:
        # At once, not in the end: a gigabyte of corners would be tens of gigabytes of Python objects.
        found.pop("segmentation", None)
        return found

    try:
        parts = json.loads(data, object_hook=None if segmentations else without_outline)
    except RecursionError:
        raise UnsafeInputError(f"{display(path)} is nested too deeply", kind="too_deep") from None
    except ValueError as error:
        raise ValueError(f"{display(path)} is not sound JSON: {reason_of(error)}") from None
    lists = {name: value for name, value in _items(parts) if isinstance(value, list)}
    missing = [part for part in _PARTS if part not in lists]
    if missing:
        raise ValueError(
            f"{display(path)} is no COCO file: it has no list {missing[0]!r}; kind= says what else it is"
        )
    return lists


def _items(found: Any) -> Iterable[tuple[str, Any]]:
    return found.items() if isinstance(found, dict) else ()


def _categories(found: list[Any], path: str) -> dict[int, str]:
    names: dict[int, str] = {}
    for place, category in enumerate(found):
        number = category.get("id") if isinstance(category, dict) else None
        name = category.get("name") if isinstance(category, dict) else None
        if type(number) is not int or not isinstance(name, str) or not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"{display(path)}: categories[{place}] must have a number 'id' and a 'name'")
        if names.setdefault(number, name) != name:
            raise ValueError(f"{display(path)}: category {number} is {names[number]!r} and {name!r}")
    return names


def _images(found: list[Any], path: str) -> list[CocoImage]:
    images = []
    seen: set[ImageId] = set()
    for place, image in enumerate(found):
        one = _image(image, f"{path}: images[{place}]")
        if one.id is not None and one.id in seen:
            one.problem = f"there is another image of the id {one.id!r}"
            one.id = None
        elif one.id is not None:
            seen.add(one.id)
        images.append(one)
    return images


def _image(found: Any, where: str) -> CocoImage:
    if not isinstance(found, dict):
        return CocoImage(where, None, "", problem="is not an object")
    number, name = found.get("id"), found.get("file_name")
    if type(number) not in (int, str):
        return CocoImage(where, None, "", problem="has no 'id' that is a number or text")
    if not isinstance(name, str) or not name:
        return CocoImage(where, number, "", problem="has no 'file_name'")
    return CocoImage(where, number, name, _size(found.get("width"), found.get("height")))


def _size(width: Any, height: Any) -> tuple[str, str] | None:
    if not is_number(width) or not is_number(height):
        return None
    return f"{width:.18g}", f"{height:.18g}"  # 20 for 20.0, which some write


def _take_annotations(document: Document, found: list[Any]) -> None:
    by_id = {image.id: image for image in document.images if image.id is not None}
    lost = 0
    for place, annotation in enumerate(found):
        key: Any = annotation.get("image_id") if isinstance(annotation, dict) else None
        image = by_id.get(key) if type(key) in (int, str) else None
        if image is None:
            lost += 1
            document.lost = document.lost or f"annotations[{place}] is of {_some(key)}"
            continue
        try:
            image.objects.append(_object(annotation, document.categories))
        except RejectError as error:
            image.problem = image.problem or f"annotations[{place}] {error}"
    if lost:
        document.lost = f"{lost:,} annotations are of no image that is there: {document.lost}"


def _some(key: object) -> str:
    return "none" if key is None else f"image {display(str(key)[:40])}"


def _object(found: dict[str, Any], categories: dict[int, str]) -> CocoObject:
    category = found.get("category_id")
    if type(category) is not int or category not in categories:
        raise RejectError(f"is of category {display(str(category)[:40])}, which is not there")
    box = found.get("bbox")
    if not isinstance(box, list) or len(box) != 4 or not all(map(is_number, box)):
        raise RejectError("has no 'bbox' of four numbers")
    left, top, width, height = map(float, box)
    area = found.get("area", width * height)
    if not is_number(area):
        raise RejectError("has an 'area' that is no number")
    crowd = found.get("iscrowd", 0)
    if crowd not in (0, 1):
        raise RejectError("has an 'iscrowd' that is neither 0 nor 1")
    bounds = Box(left, top, left + width, top + height)
    outline = found.get("segmentation")
    return CocoObject(category, categories[category], bounds, float(area), int(crowd), outline)


def is_number(value: object) -> bool:
    """Whether this is a number that one can compute with."""
    return isinstance(value, (int, float)) and type(value) is not bool and -1e18 < value < 1e18
