"""Where things lie in a Pascal VOC data set: pictures, annotations, masks, and the lists of splits."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfreel.packing.making import reason_of
from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.source import RejectError, Remark
from tfreel.packing.tree import Tree
from tfreel.storage.paths import display

_LARGEST_LIST_BYTES = 256 << 20
_FLAGGED = re.compile(r"(\S+)\s+(-1|0|1)")
_PICTURES = "JPEGImages"
_BESIDE = ("ImageSets", "Annotations", "SegmentationClass")


def roots(tree: Tree) -> list[str]:
    """The folders that are VOC data sets, each with a slash at the end: ``VOCdevkit/VOC2007/`` or so."""
    found: dict[str, set[str]] = {}
    for name in tree.entries:
        folders = name.split("/")[:-1]
        for depth, folder in enumerate(folders):
            if folder == _PICTURES or folder in _BESIDE:
                found.setdefault("".join(part + "/" for part in folders[:depth]), set()).add(folder)
    return [root for root, parts in found.items() if _PICTURES in parts and len(parts) > 1]


def keyed(tree: Tree, folder: str, suffixes: str | tuple[str, ...]) -> tuple[dict[str, str], list[Remark]]:
    """The files of a folder by their paths in it, without suffix; and those that are not to be had so."""
    files: dict[str, str] = {}
    others = []
    for name in tree.names(folder):
        key = posixpath.splitext(name[len(folder) + 1 :])[0]
        if not name.lower().endswith(suffixes):
            others.append(Remark(name, "not of the kind that belongs here"))
        elif key in files:
            others.append(Remark(name, f"{files[key]} has the same name but for the suffix"))
        else:
            files[key] = name
    return files, others


@dataclass(frozen=True, slots=True)
class Root:
    """One data set: its files by their keys, such as ``2007_000027``."""

    path: str
    pictures: Mapping[str, str]
    annotations: Mapping[str, str]
    masks: Mapping[str, str]
    odd: Sequence[Remark]


def laid_out(tree: Tree, root: str) -> Root:
    """What a data set holds."""
    pictures, odd_pictures = keyed(tree, f"{root}{_PICTURES}", SUFFIXES)
    annotations, odd_annotations = keyed(tree, f"{root}Annotations", ".xml")
    masks, odd_masks = keyed(tree, f"{root}SegmentationClass", SUFFIXES)
    return Root(root, pictures, annotations, masks, [*odd_pictures, *odd_annotations, *odd_masks])


def lists_of(
    tree: Tree, found: Sequence[Root], folder: str, wanted: Mapping[str, str] | None
) -> list[dict[str, str]]:
    """The list files of each data set, by the splits they stand for.

    Args:
        tree: Where they are.
        found: The data sets.
        folder: Of the lists of a task: ``Main`` or ``Segmentation``.
        wanted: For each split, the name of its list; by default those of the same name.

    Raises:
        ValueError: A list that was asked for is not there.
    """
    if wanted is None:
        return [_usual_lists(tree, root.path, folder) for root in found]
    lists = [_lists_named(tree, root.path, folder, wanted) for root in found]
    for split, name in wanted.items():
        if not any(split in own for own in lists):
            raise ValueError(f"there is no list {display(name)!r} in ImageSets/{folder}")
    return lists


def _usual_lists(tree: Tree, root: str, folder: str) -> dict[str, str]:
    for place in (f"{root}ImageSets/{folder}/", f"{root}ImageSets/"):
        known = {split: f"{place}{split}.txt" for split in ("train", "val", "test")}
        found = {split: path for split, path in known.items() if path in tree}
        # What is in both is in this list too. Alone, it is what there is to train with.
        both = f"{place}trainval.txt"
        if both in tree and "train" not in found and "val" not in found:
            found = {"train": both, **found}
        if found:
            return found
    return {}


def _lists_named(tree: Tree, root: str, folder: str, wanted: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for split, name in wanted.items():
        file = name if name.endswith(".txt") else f"{name}.txt"
        for path in (f"{root}ImageSets/{folder}/{file}", f"{root}ImageSets/{file}"):
            if path in tree:
                found.setdefault(split, path)
    return found


def listed(tree: Tree, path: str) -> list[str]:
    """The keys in a list. The lists of a class say in a second column whether that is in a picture.

    Raises:
        ValueError: It is not text, or too long.
    """
    try:
        text = tree.read(path, _LARGEST_LIST_BYTES).decode("utf-8-sig")
    except (UnicodeDecodeError, RejectError) as error:
        raise ValueError(f"{display(path)}: {reason_of(error)}") from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    flagged = [_FLAGGED.fullmatch(line) for line in lines]
    if all(flagged):
        return [found[1] for found in flagged if found and found[2] != "-1"]
    return lines
