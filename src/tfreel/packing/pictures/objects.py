"""Pictures with objects in them: what sources of boxes have in common."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tfreel.features.kinds import Feature, FixedLenFeature
from tfreel.packing.pictures.boxes import (
    FEATURES,
    Box,
    Size,
    box_features,
    size_of,
    texts,
    whole_numbers,
    within,
)
from tfreel.packing.pictures.picture import FILE_FEATURES, PictureListing, PictureOptions, Pictures
from tfreel.packing.source import Item, digest
from tfreel.packing.tree import Tree
from tfreel.storage.paths import display

# What a record says of the picture itself, if it is kept as a file.
PICTURE_FEATURES: Mapping[str, Feature] = {
    **FILE_FEATURES,
    "image/key/sha256": FixedLenFeature([], "bytes"),
    "image/source_id": FixedLenFeature([], "bytes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOptions(PictureOptions):
    """What can be said about pictures with objects.

    Attributes:
        clip: Cut boxes off at the edge of their picture, and leave out objects of which nothing remains. By
            default, a picture with such a box is refused.
    """

    clip: bool = False


class Thing(Protocol):
    """An object in a picture, as its source has it."""

    @property
    def label(self) -> int:
        """The id of its class."""

    @property
    def name(self) -> str:
        """The name of its class."""

    def box(self, size: Size) -> Box:
        """Where it is in a picture of this size, in pixels."""


ThingT = TypeVar("ThingT", bound=Thing)


@dataclass(frozen=True, slots=True)
class Annotated(Generic[ThingT]):
    """A picture, or one that should be there, and the objects in it.

    Attributes:
        item: What the one who packs sees of it.
        source_id: What the source calls it.
        things: The objects.
        size: The width and height that the source says it has, as text; None if it does not say so.
    """

    item: Item
    source_id: str
    things: Sequence[ThingT] = ()
    size: tuple[str, str] | None = None


class ObjectListing(PictureListing, Generic[ThingT]):
    """A source of pictures with objects. What is known of the objects is read when it is opened."""

    def __init__(self, tree: Tree, options: ObjectOptions) -> None:
        super().__init__(tree, options)
        refuse_turning(options)
        self._options = options
        self._annotated: Sequence[Annotated[ThingT]] = ()
        self._kept: dict[int, tuple[str, ...]] = {}  # names of what clipping left, where it took something
        self.label = "image/object/class/label"

    def _fill(self, annotated: Sequence[Annotated[ThingT]]) -> None:
        """Takes over what was found, in the order of the tree, which is the quickest to read."""
        place = {name: number for number, name in enumerate(self._tree.entries)}
        self._annotated = sorted(annotated, key=lambda found: place.get(found.item.name, len(place)))
        self.items = [found.item for found in self._annotated]
        if self._options.store == "encoded":
            self.features = {**PICTURE_FEATURES, **FEATURES, **self._more_features()}

    def row(self, index: int) -> dict[str, object]:
        found = self._annotated[index]
        data = self._tree.read(found.item.name)
        row, size = picture_row(self._pictures, data, found.item.name, found.source_id)
        kept: list[ThingT] = []
        boxes: list[Box] = []
        for number, thing in enumerate(found.things, 1):
            box = within(thing.box(size), size, f"object {number} ({thing.name!r})", clip=self._options.clip)
            if box is not None:
                kept.append(thing)
                boxes.append(box)
        if len(kept) < len(found.things):
            self._kept[index] = tuple(thing.name for thing in kept)
        row.update(box_features(boxes))
        row["image/object/class/label"] = whole_numbers([thing.label for thing in kept])
        row["image/object/class/text"] = texts([thing.name for thing in kept])
        row.update(self._more(kept, size, row))
        return row

    @abstractmethod
    def _more(self, things: Sequence[ThingT], size: Size, row: Mapping[str, object]) -> dict[str, object]:
        """What else this source knows of the objects of a picture of this size, which became this row."""

    @abstractmethod
    def _more_features(self) -> dict[str, Feature]:
        """How that is to be read."""

    def class_names(self, index: int) -> Sequence[str]:
        kept = self._kept.get(index)
        return [thing.name for thing in self._annotated[index].things] if kept is None else kept

    def remarks(self, index: int, row: dict[str, object]) -> Sequence[str]:
        kept = self._kept.get(index)
        lost = 0 if kept is None else len(self._annotated[index].things) - len(kept)
        left_out = [f"{lost} of its objects lie outside or are empty, and are left out"] if lost else []
        return [*super().remarks(index, row), *left_out, *self._about_size(index, row)]

    def _about_size(self, index: int, row: dict[str, object]) -> Iterator[str]:
        said = self._annotated[index].size
        width, height = str(row.get("image/width")), str(row.get("image/height"))
        # Of a picture that is stored in another size, the annotation cannot know.
        if self._options.resize is None and said not in (None, (width, height)):
            claim = display(" × ".join(text[:40] for text in said or ()))
            yield f"its annotation says {claim} pixels, and it has {width} × {height}"

    def identity(self) -> str:
        return digest(self._tree.identity(), self._options, sorted(self.classes.items()), self.items)


def picture_row(pictures: Pictures, data: bytes, name: str, source_id: str) -> tuple[dict[str, object], Size]:
    """What a record says of a picture itself, with what TensorFlow's scripts add; and its size.

    Raises:
        RejectError: It is no picture.
        DecodeError: It is damaged.
    """
    row = pictures.features(data, name)
    size = size_of(data)
    if row.get("image/height") is None:  # of a format that says so only deep inside
        row.update({"image/height": size.height, "image/width": size.width})
    row["image/source_id"] = source_id
    encoded = row.get("image/encoded")
    if isinstance(encoded, bytes):
        row["image/key/sha256"] = hashlib.sha256(encoded).hexdigest()
    return row, size


def refuse_turning(options: PictureOptions) -> None:
    """Boxes and masks belong to pictures as they are stored: to turn one without the other is no use.

    Raises:
        ValueError: It was asked for.
    """
    if options.orient:
        raise ValueError("orient=True turns pictures, but not the boxes and masks that belong to them")
