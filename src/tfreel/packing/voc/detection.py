"""Pascal VOC with boxes: the annotation of each picture, in the words of the Object Detection API."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfreel.errors import UnsafeInputError
from tfreel.features.kinds import Feature, RaggedFeature
from tfreel.packing.making import reason_of
from tfreel.packing.pictures.boxes import Box, Size, texts, whole_numbers
from tfreel.packing.pictures.objects import Annotated, ObjectListing
from tfreel.packing.source import Item, RejectError
from tfreel.packing.tree import Tree, confined
from tfreel.packing.voc.annotation import LARGEST_BYTES, Annotation, VocObject, parse_annotation
from tfreel.packing.voc.classes import ids_from_one
from tfreel.packing.voc.layout import Root, lists_of
from tfreel.packing.voc.members import Member, members_of
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.packing.voc.source import Options


@dataclass(frozen=True, slots=True)
class _Thing:
    label: int
    said: VocObject

    @property
    def name(self) -> str:
        return self.said.name

    def box(self, size: Size) -> Box:
        del size
        return self.said.bounds


@dataclass(frozen=True, slots=True)
class _Read:
    """A picture with its annotation, or what was wrong with that."""

    member: Member
    annotation: Annotation | None = None
    problem: str | None = None


class Detection(ObjectListing[_Thing]):
    """The pictures of VOC data sets, with boxes."""

    kind = "voc"

    def __init__(self, tree: Tree, found: Sequence[Root], options: Options) -> None:
        super().__init__(tree, options)
        lists = lists_of(tree, found, "Main", options.lists)
        members = [one for root, own in zip(found, lists, strict=True) for one in self._members(root, own)]
        read = [_read(tree, member) for member in members]
        self.classes = ids_from_one(_names(read), options.classes)
        ids = {name: number for number, name in self.classes.items()}
        self._said = {one.member.picture: one.annotation for one in read if one.annotation is not None}
        self._fill([_annotated(tree, one, ids) for one in read])

    def _members(self, root: Root, lists: Mapping[str, str]) -> list[Member]:
        members, skipped = members_of(self._tree, root, lists, root.annotations, "annotation")
        self.skipped.extend(skipped)
        return members

    def _more(self, things: Sequence[_Thing], size: Size, row: Mapping[str, object]) -> dict[str, object]:
        del size, row
        return {
            "image/object/difficult": whole_numbers([thing.said.difficult for thing in things]),
            "image/object/occluded": whole_numbers([thing.said.occluded for thing in things]),
            "image/object/truncated": whole_numbers([thing.said.truncated for thing in things]),
            "image/object/view": texts([thing.said.pose for thing in things]),
        }

    def _more_features(self) -> dict[str, Feature]:
        flags = ("image/object/difficult", "image/object/occluded", "image/object/truncated")
        return {**dict.fromkeys(flags, RaggedFeature("int64")), "image/object/view": RaggedFeature("bytes")}

    def remarks(self, index: int, row: dict[str, object]) -> Sequence[str]:
        picture = self.items[index].name
        return [*super().remarks(index, row), *_about_name(self._said[picture], picture)]


def _about_name(said: Annotation, picture: str) -> Iterator[str]:
    """Nothing is ever read by the name in an annotation. But another one may mean a mix-up."""
    name = said.filename
    if not name:
        return
    try:
        stem = posixpath.splitext(posixpath.basename(confined(name)))[0]
    except UnsafeInputError as error:
        yield f"the file name in its annotation was not followed: {error}"
        return
    own = posixpath.basename(picture)
    if stem not in (own, posixpath.splitext(own)[0]):
        yield f"its annotation is for {display(name[:200])!r}"


def _read(tree: Tree, member: Member) -> _Read:
    if member.problem is not None:
        return _Read(member, None, member.problem)
    try:
        return _Read(member, parse_annotation(tree.read(member.partner, LARGEST_BYTES)))
    except (RejectError, OSError) as error:
        return _Read(member, None, f"its annotation {display(member.partner)}: {reason_of(error)}")


def _names(read: Iterable[_Read]) -> set[str]:
    return {said.name for one in read if one.annotation for said in one.annotation.objects}


def _annotated(tree: Tree, read: _Read, ids: dict[str, int]) -> Annotated[_Thing]:
    member, said = read.member, read.annotation.objects if read.annotation else ()
    unknown = [one.name for one in said if one.name not in ids]
    problem = read.problem
    if unknown:
        problem = f"its class {unknown[0]!r} is not among {', '.join(map(repr, ids))}"
    size = 0 if problem else tree.entries[member.picture].bytes
    things = [] if problem else [_Thing(ids[one.name], one) for one in said]
    item = Item(member.picture, size, member.split, problem=problem)
    return Annotated(item, member.key, things, read.annotation.size if read.annotation else None)
