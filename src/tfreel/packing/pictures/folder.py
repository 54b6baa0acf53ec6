"""Pictures in folders: a folder for each class, or all in one with labels from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tfreel.features.kinds import FixedLenFeature
from tfreel.packing.labels import Labels, TableLabels, class_ids, in_order, labelling
from tfreel.packing.pictures.picture import (
    FILE_FEATURES,
    SUFFIXES,
    PictureListing,
    PictureOptions,
    is_picture,
)
from tfreel.packing.pictures.splits import listed_splits, mixture, split_folders, split_in, split_lists
from tfreel.packing.source import Item, Remark, digest
from tfreel.packing.tree import Below, FileList, Tree

_CLASS_FEATURES = {
    "image/class/label": FixedLenFeature([], "int64"),
    "image/class/text": FixedLenFeature([], "bytes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(PictureOptions):
    """What can be said about a folder of pictures.

    Attributes:
        labels: Where the class of a picture comes from; see `tfreel.packing.labels`. By default the folder it
            is in. For a list of files, a list or an array of labels, one for each.
        classes: The names of the classes, in the order of their ids; by default those found, sorted.
    """

    labels: Labels = None
    classes: Sequence[str] | None = None


def recognised(files: Tree | Sequence[str]) -> bool:
    """Whether there are pictures."""
    names = files.entries if isinstance(files, Tree) else files
    return any(name.lower().endswith(SUFFIXES) for name in names)


def opened(files: Tree | Sequence[str], options: Options) -> ImageFolder:
    """The pictures of a tree; or of a list of files, which may come with a list of labels.

    Raises:
        ValueError: The lists are not of the same length.
        TypeError: The labels are in no order.
    """
    labels = in_order(options.labels)
    if isinstance(files, Tree):
        if labels is not None:
            options = replace(options, labels=labels)
        return ImageFolder(_unwrapped(files) if options.labels in (None, "folder") else files, options)
    tree = FileList(files)
    if labels is not None:
        if isinstance(options.labels, (set, frozenset)):
            raise TypeError("labels must be in the order of the files, and a set has none: give a list")
        if len(labels) != len(files):
            raise ValueError(f"there are {len(files):,} files and {len(labels):,} labels")
        options = replace(options, labels=dict(zip(tree.entries, labels, strict=True)))
    return ImageFolder(tree, options)


def _unwrapped(tree: Tree) -> Tree:
    """The folder with the class folders in it, if that is all there is: archives often have one around."""
    pictures = [name for name in tree.entries if is_picture(tree, name)]
    heads = {name.partition("/")[0] for name in pictures}
    if len(heads) != 1 or split_folders(pictures) or any(name.count("/") < 2 for name in pictures):
        return tree
    return _unwrapped(Below(tree, heads.pop()))


class ImageFolder(PictureListing):
    """The pictures of a tree, and the class of each."""

    kind = "images"

    def __init__(self, tree: Tree, options: Options) -> None:
        super().__init__(tree, options)
        lists = split_lists(tree)
        names = [name for name in tree.entries if name not in lists and self._is_picture(name)]
        top = split_folders(names)
        folders = top or split_folders(names, depth=1)
        if not (folders or lists or options.labels == "folder"):
            self.unclear_splits = mixture(names)
        if self.unclear_splits and options.labels is None:
            advice = 'leave the others out, or labels="folder" takes the first folders for classes'
            raise ValueError(f"{self.unclear_splits}: {advice}")
        splits = {name: split_in(name, folders) for name in names}
        if lists:
            splits.update(listed_splits(tree, lists, names))
            self.skipped += [Remark(name, "in no list") for name, split in splits.items() if split is None]
            names = [name for name in names if splits[name] is not None]
        label_of = labelling(options.labels, names, below=1 if top else 0)
        found = {name: label_of(name) for name in names}
        if isinstance(label_of, TableLabels) and (absent := label_of.absent()) is not None:
            self.notes.append(absent)
        self.classes = class_ids((label.name for label in found.values()), options.classes)
        self._ids = {label: number for number, label in self.classes.items()}
        self.items = [
            Item(
                name,
                tree.entries[name].bytes,
                splits[name],
                found[name].name,
                found[name].problem or self._unknown(found[name].name),
            )
            for name in names
        ]
        self.label = "image/class/label" if self.classes else None
        if options.store == "encoded":
            self.features = {**FILE_FEATURES, **(_CLASS_FEATURES if self.classes else {})}
        if self.items and not self.classes:
            self.notes.append("the pictures are in no class folders, and have no labels; labels= gives some")

    def _unknown(self, label: str | None) -> str | None:
        if label is None or label in self._ids:
            return None
        return f"its class {label!r} is not among {', '.join(map(repr, self._ids))}"

    def _is_picture(self, name: str) -> bool:
        if is_picture(self._tree, name):
            return True
        self.skipped.append(Remark(name, "not a picture"))
        return False

    def row(self, index: int) -> dict[str, object]:
        item = self.items[index]
        row = self._pictures.features(self._tree.read(item.name), item.name)
        if item.label is not None:
            row["image/class/label"] = self._ids[item.label]
            row["image/class/text"] = os.fsencode(item.label)
        return row

    def identity(self) -> str:
        return digest(
            self._tree.identity(), sorted(self.classes.items()), [item.label for item in self.items]
        )
