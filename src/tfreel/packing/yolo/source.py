"""YOLO: pictures, and for each a text file of the same name, with a line for each object."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tfreel.features.kinds import Feature
from tfreel.packing.making import reason_of
from tfreel.packing.pictures.boxes import Box, Size
from tfreel.packing.pictures.objects import Annotated, ObjectListing, ObjectOptions
from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.source import Item, RejectError, Remark
from tfreel.packing.tree import Tree
from tfreel.packing.yolo.config import Config, find_config, has_config, is_name_file
from tfreel.packing.yolo.labels import LARGEST_BYTES, YoloObject, parse_labels, resembles_labels
from tfreel.packing.yolo.splits import divided
from tfreel.storage.paths import display


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ObjectOptions):
    """What can be said about a YOLO data set.

    Attributes:
        config: The YAML file with the names of classes and the splits. By default the one that is there.
        classes: The names of the classes, in the order of their numbers. By default those of the YAML file,
            or of ``classes.txt`` or ``obj.names``.
    """

    config: str | None = None
    classes: Sequence[str] | None = None


def recognised(tree: Tree) -> bool:
    """Whether there are pictures with label files: in ``images`` and ``labels``, or with names of classes.

    A YAML file with names and splits says what label files are. Without one, one of them must look like it,
    with all its lines or not; or none says anything, as those of nothing but background.
    """
    pictures = tree.names(suffix=SUFFIXES)
    told = has_config(tree)
    labels = [path for path in map(label_of, filter(_in_images, pictures)) if path in tree]
    if not labels and (told or any(is_name_file(name) for name in tree.entries)):
        labels = [path for path in map(label_of, pictures) if path in tree]
    return bool(labels) and (told or _look_like_labels(tree, labels))


def _look_like_labels(tree: Tree, paths: Sequence[str]) -> bool:
    said = False
    for path in paths:
        try:
            data = tree.read(path, LARGEST_BYTES)
        except (RejectError, OSError):
            continue
        if resembles_labels(data):
            return True
        said = said or bool(data.strip())
    return not said


def opened(tree: Tree, options: Options) -> Yolo:
    """The pictures of a YOLO data set.

    Raises:
        ValueError: What it says of itself is not understood.
    """
    return Yolo(tree, options)


def _in_images(name: str) -> bool:
    return "images" in name.split("/")[:-1]


def label_of(picture: str) -> str:
    """Where the labels of a picture are: in ``labels`` where it is in ``images``, else beside it."""
    folders = posixpath.splitext(picture)[0].split("/")
    for place in range(len(folders) - 2, -1, -1):
        if folders[place] == "images":
            folders[place] = "labels"
            break
    return "/".join(folders) + ".txt"


@dataclass(frozen=True, slots=True)
class _Thing:
    label: int
    name: str
    bounds: Box

    def box(self, size: Size) -> Box:
        left, top, right, bottom = self.bounds
        return Box(left * size.width, top * size.height, right * size.width, bottom * size.height)


class Yolo(ObjectListing[_Thing]):
    """The pictures of a YOLO data set. Those without labels show the background alone."""

    kind = "yolo"

    def __init__(self, tree: Tree, options: Options) -> None:
        super().__init__(tree, options)
        config = find_config(tree, options.config)
        names = config.names if options.classes is None else dict(enumerate(options.classes))
        division = divided(tree, config, self._own_pictures())
        self.skipped.extend(division.skipped)
        self.notes.extend(division.notes)
        read = {name: _read(tree, name, config, names) for name in division.splits if name in tree}
        self.classes = {number + 1: name for number, name in (names or _numbers(read)).items()}
        problems = division.problems
        found = division.splits.items()
        self._fill([self._one(name, split, problems.get(name), read.get(name, ())) for name, split in found])
        self.skipped.extend(_lonely_labels(tree))

    def _own_pictures(self) -> list[str]:
        """All pictures; or only those in folders called images, if there are such."""
        pictures = self._tree.names(suffix=SUFFIXES)
        apart = [name for name in pictures if _in_images(name)]
        if not apart:
            return pictures
        self.skipped += [Remark(name, "not in images") for name in pictures if not _in_images(name)]
        return apart

    def _one(
        self, name: str, split: str | None, problem: str | None, read: str | Sequence[YoloObject]
    ) -> Annotated[_Thing]:
        problem = problem or (read if isinstance(read, str) else None)
        things = [] if isinstance(read, str) else [self._thing(one) for one in read]
        size = 0 if problem else self._tree.entries[name].bytes
        return Annotated(Item(name, size, split, problem=problem), posixpath.splitext(name)[0], things)

    def _thing(self, said: YoloObject) -> _Thing:
        return _Thing(said.number + 1, self.classes[said.number + 1], said.bounds)

    def _more(self, things: Sequence[_Thing], size: Size, row: Mapping[str, object]) -> dict[str, object]:
        del things, size, row
        return {}

    def _more_features(self) -> dict[str, Feature]:
        return {}


def _read(tree: Tree, picture: str, config: Config, names: Mapping[int, str]) -> str | Sequence[YoloObject]:
    """The objects in a picture, or what is wrong with its labels."""
    path = label_of(picture)
    if path not in tree:
        return ()
    try:
        found = parse_labels(tree.read(path, LARGEST_BYTES), keypoints=config.keypoints)
    except (RejectError, OSError) as error:
        return f"its labels {display(path)}: {reason_of(error)}"
    for one in found:
        if names and one.number not in names:
            return f"its labels {display(path)}: line {one.line} is of class {one.number}, which has no name"
    return found


def _numbers(read: Mapping[str, str | Sequence[YoloObject]]) -> dict[int, str]:
    """Classes without names are called by their numbers."""
    found = {one.number for objects in read.values() if not isinstance(objects, str) for one in objects}
    return {number: str(number) for number in sorted(found)}


def _lonely_labels(tree: Tree) -> Iterator[Remark]:
    expected = {label_of(name) for name in tree.names(suffix=SUFFIXES)}
    for name in tree.names(suffix=".txt"):
        if "labels" in name.split("/")[:-1] and name not in expected and not is_name_file(name):
            yield Remark(name, "there is no picture for it")
