"""Which pictures of a Pascal VOC data set belong to a task, and in which split."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.pictures.splits import split_on_the_way
from tfreel.packing.source import Remark
from tfreel.packing.tree import Tree
from tfreel.packing.voc.layout import Root, listed
from tfreel.storage.paths import display


@dataclass(frozen=True, slots=True)
class Member:
    """A picture of a task, or one that should be there.

    Attributes:
        key: What lists call it.
        split: That it is listed for, or lies in.
        picture: The file; or a place in a list, if there is none.
        partner: The annotation or mask that belongs to it.
        problem: Why it cannot be packed.
    """

    key: str
    split: str | None
    picture: str
    partner: str
    problem: str | None = None


def members_of(
    tree: Tree, root: Root, lists: Mapping[str, str], partners: Mapping[str, str], what: str
) -> tuple[list[Member], list[Remark]]:
    """The pictures of a task, and those that are left out.

    Args:
        tree: Where the data set is.
        root: The data set.
        lists: The list files by their splits. Without any, all pictures that have a partner are taken, and
            their folders may be splits.
        partners: The annotations or masks, by their keys.
        what: What those are called.
    """
    if lists:
        members = list(_listed(tree, root, lists, partners, what))
        reason = "in no list"
    else:
        both = [(key, path) for key, path in root.pictures.items() if key in partners]
        members = [Member(key, split_on_the_way(path), path, partners[key]) for key, path in both]
        reason = f"has no {what}"
    taken = {member.key for member in members}
    left = [Remark(path, reason) for key, path in root.pictures.items() if key not in taken]
    lonely = [
        Remark(path, "there is no picture for it")
        for key, path in partners.items()
        if key not in root.pictures and key not in taken
    ]
    return members, [*root.odd, *left, *lonely]


def _listed(
    tree: Tree, root: Root, lists: Mapping[str, str], partners: Mapping[str, str], what: str
) -> Iterator[Member]:
    splits: dict[str, str] = {}
    for split, path in lists.items():
        for number, line in enumerate(listed(tree, path), 1):
            key = _key(root, line)
            picture, partner = root.pictures.get(key), partners.get(key)
            # What has no picture of its own is called by its place: no two items may have the same name.
            place = f"{path}: entry {number}"
            if key in splits:
                where = "twice" if splits[key] == split else f"for {splits[key]} and for {split}"
                yield Member(key, split, place, "", f"{display(line)!r} is listed {where}")
            elif picture is None:
                yield Member(key, split, place, "", f"there is no picture {display(line)!r}")
            elif partner is None:
                yield Member(key, split, picture, "", f"has no {what}")
            else:
                yield Member(key, split, picture, partner)
            splits.setdefault(key, split)


def _key(root: Root, line: str) -> str:
    """What a list calls a picture; some put the suffix there too."""
    stem, suffix = posixpath.splitext(line)
    return stem if line not in root.pictures and suffix.lower() in SUFFIXES else line
