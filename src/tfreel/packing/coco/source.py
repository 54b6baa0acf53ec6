"""COCO: pictures, and JSON files that say which objects are in them, and where."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tfreel.errors import UnsafeInputError
from tfreel.features.kinds import Feature, RaggedFeature
from tfreel.packing.coco.annotations import (
    CocoImage,
    CocoObject,
    Document,
    begins_like_coco,
    looks_like_coco,
    read_document,
)
from tfreel.packing.coco.masks import mask_of
from tfreel.packing.pictures.boxes import Size, floats, texts, whole_numbers
from tfreel.packing.pictures.lookup import Lookup
from tfreel.packing.pictures.objects import Annotated, ObjectListing, ObjectOptions
from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.pictures.splits import SPLITS
from tfreel.packing.source import Item, RejectError, Remark
from tfreel.packing.tree import Tree
from tfreel.storage.paths import display

# What COCO and Roboflow call files of objects, and COCO its others.
_NAMES = re.compile(r"(?:^|/)(?:instances[^/]*|[^/]*coco)\.json$")
_OTHER_NAMES = re.compile(r"(?:^|/)(?:captions|person_keypoints)_[^/]*\.json$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ObjectOptions):
    """What can be said about a COCO data set.

    Attributes:
        annotations: The JSON files to take. By default those called ``instances_….json``, if there are any,
            else all that are of this kind.
        instance_masks: Also store a mask for each object.
    """

    annotations: str | Sequence[str] | None = None
    instance_masks: bool = False


def recognised(tree: Tree) -> bool:
    """Whether there are pictures, and a JSON file of this kind, whole or not: a cut one is an error here."""
    return bool(tree.names(suffix=SUFFIXES)) and bool(_annotation_files(tree))


def opened(tree: Tree, options: Options) -> Coco:
    """The pictures that the JSON files of a tree speak of.

    Raises:
        ValueError: There are no such files, or they are not sound.
        UnsafeInputError: One is too large, or nested too deeply.
    """
    return Coco(tree, options)


def _likely(tree: Tree) -> list[str]:
    """The JSON files that may be COCO's by their places and names: instances first of all."""
    files = tree.names(suffix=".json")
    instances = [path for path in files if posixpath.basename(path).startswith("instances")]
    top = min((path.count("/") for path in files), default=0)
    others = [
        path
        for path in files
        if path.count("/") == top
        or posixpath.basename(path).endswith("coco.json")
        or posixpath.basename(posixpath.dirname(path)).lower() in ("annotations", "labels")
    ]
    return instances or others


def _annotation_files(tree: Tree) -> list[str]:
    """The JSON files to take: those that have all lists, or should have them by their names.

    Where there are none, those that lack something are taken, for pictures are not all that is there.
    """
    likely = _likely(tree)
    found = [path for path in likely if _NAMES.search(path) or looks_like_coco(tree, path)]
    return found or [path for path in likely if _OTHER_NAMES.search(path) or begins_like_coco(tree, path)]


class Coco(ObjectListing[CocoObject]):
    """The pictures of a COCO data set."""

    kind = "coco"

    def __init__(self, tree: Tree, options: Options) -> None:
        super().__init__(tree, options)
        self._with_masks = options.instance_masks
        paths = self._paths(options.annotations)
        documents = [read_document(tree, path, segmentations=self._with_masks) for path in paths]
        self.classes = _merged(documents)
        self._lookup = Lookup(tree)
        self._taken: dict[str, str] = {}
        found = [self._one(one, image) for one in documents for image in one.images]
        self.notes.extend(f"{display(one.path)}: {one.lost}" for one in documents if one.lost)
        self.skipped.extend(self._left_out(paths))
        self._fill(found)

    def _paths(self, wanted: str | Sequence[str] | None) -> list[str]:
        if wanted is not None:
            return [self._file(name) for name in ([wanted] if isinstance(wanted, str) else wanted)]
        found = _annotation_files(self._tree)
        if not found:
            raise ValueError("there is no JSON file with lists of images, annotations and categories")
        return found

    def _file(self, name: str) -> str:
        try:
            return self._tree.find(name)
        except RejectError as error:
            raise ValueError(f"annotations: {error}") from None

    def _one(self, document: Document, image: CocoImage) -> Annotated[CocoObject]:
        split = _split_of(document.path)
        name, problem = image.where, image.problem
        if image.file_name:
            try:
                name = self._lookup.find(image.file_name, _folders(document.path))
            except (UnsafeInputError, RejectError) as error:
                problem = problem or f"its picture {error}"
        other = self._taken.setdefault(name, image.where)
        if other != image.where:
            # Of the picture there is an item already, and no two of them may have the same name.
            problem = problem or f"is of {display(name)}, as {display(other)} is"
            name = image.where
        size = 0 if problem else self._tree.entries[name].bytes
        return Annotated(Item(name, size, split, problem=problem), str(image.id), image.objects, image.size)

    def _left_out(self, paths: Sequence[str]) -> Iterator[Remark]:
        for name in self._tree.entries:
            if name in paths or name in self._taken:
                continue
            if name.lower().endswith(SUFFIXES):
                yield Remark(name, "no annotation file speaks of it")
            elif name.lower().endswith(".json"):
                yield Remark(name, "not taken; annotations= says what is")
            else:
                yield Remark(name, "not a picture")

    def _more(self, things: Sequence[CocoObject], size: Size, row: Mapping[str, object]) -> dict[str, object]:
        more = {
            "image/object/area": floats([thing.area for thing in things]),
            "image/object/is_crowd": whole_numbers([thing.crowd for thing in things]),
        }
        if self._with_masks:
            more["image/object/mask"] = texts([self._mask(thing, size, row) for thing in things])
        return more

    def _mask(self, thing: CocoObject, size: Size, row: Mapping[str, object]) -> bytes:
        from tfreel import images

        if size.width * size.height > self._options.max_pixels:
            raise RejectError(f"has more than {self._options.max_pixels:,} pixels: too many for masks")
        try:
            mask = mask_of(thing.segmentation, size)
        except RejectError as error:
            raise RejectError(f"an object ({thing.name!r}) {error}") from None
        if self._options.resize is not None:
            to = int(str(row["image/height"])), int(str(row["image/width"]))
            mask = images.resize(mask, to, method="nearest")
        return images.encode_labels(mask)

    def _more_features(self) -> dict[str, Feature]:
        more: dict[str, Feature] = {
            "image/object/area": RaggedFeature("float32"),
            "image/object/is_crowd": RaggedFeature("int64"),
        }
        return {**more, "image/object/mask": RaggedFeature("bytes")} if self._with_masks else more


def _merged(documents: Sequence[Document]) -> dict[int, str]:
    """The categories of all files, which must not contradict each other."""
    classes: dict[int, str] = {}
    for document in documents:
        for number, name in document.categories.items():
            if classes.setdefault(number, name) != name:
                raise ValueError(
                    f"category {number} is {classes[number]!r}, but {name!r} in {display(document.path)}:"
                    " pack these files one by one"
                )
    return dict(sorted(classes.items()))


def _words(path: str) -> Iterator[str]:
    """What may tell the split that a file is for: the words of its name, and the folder that it is in."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    yield from re.split(r"[^a-z]+", stem.lower())
    yield posixpath.basename(posixpath.dirname(path)).lower()


def _split_of(path: str) -> str | None:
    return next((SPLITS[word] for word in _words(path) if word in SPLITS), None)


def _folders(path: str) -> Iterator[str]:
    """Where the pictures may be that a file speaks of, the likeliest first."""
    here = posixpath.dirname(path)
    above = posixpath.dirname(here)
    part = posixpath.splitext(posixpath.basename(path))[0].rpartition("_")[2]  # instances_train2017
    for base in (above, here):
        yield posixpath.join(base, part)
        yield posixpath.join(base, "images", part)
    for base in (here, above):
        yield posixpath.join(base, "images")
        yield posixpath.join(base, "data")
        yield base
