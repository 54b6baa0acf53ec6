"""Pascal VOC with masks: for each picture, a second one that tells the class of every pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfreel.errors import TfreelError
from tfreel.features.kinds import FixedLenFeature
from tfreel.packing.making import reason_of
from tfreel.packing.pictures.objects import PICTURE_FEATURES, picture_row, refuse_turning
from tfreel.packing.pictures.picture import PictureListing
from tfreel.packing.source import Item, RejectError, digest
from tfreel.packing.tree import Tree
from tfreel.packing.voc.classes import BACKGROUND, VOID, mask_classes
from tfreel.packing.voc.layout import Root, lists_of
from tfreel.packing.voc.masks import Ids, Masks
from tfreel.packing.voc.members import Member, members_of
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.packing.voc.source import Options

_MASK = "image/segmentation/class/encoded"
_FORMAT = "image/segmentation/class/format"


class Segmentation(PictureListing):
    """The pictures of VOC data sets, with masks."""

    kind = "voc"

    def __init__(self, tree: Tree, found: Sequence[Root], options: Options) -> None:
        super().__init__(tree, options)
        _check(options)
        self._options = options
        self.classes = mask_classes(options.classes)
        self._masks = Masks(self.classes, options.colormap, options.max_pixels)
        self._present: dict[int, tuple[str, ...]] = {}  # the classes in a mask, once it was looked at
        self.heavy = True  # each mask is decoded, and encoded again
        self._members = self._found(found)
        self.items = [
            Item(one.picture, self._bytes_of(one), one.split, problem=one.problem) for one in self._members
        ]
        if options.store == "encoded":
            text = FixedLenFeature([], "bytes")
            self.features = {**PICTURE_FEATURES, _MASK: text, _FORMAT: text}

    def _found(self, found: Sequence[Root]) -> list[Member]:
        lists = lists_of(self._tree, found, "Segmentation", self._options.lists)
        members: list[Member] = []
        for root, own in zip(found, lists, strict=True):
            taken, skipped = members_of(self._tree, root, own, root.masks, "mask")
            members.extend(taken)
            self.skipped.extend(skipped)
        place = {name: number for number, name in enumerate(self._tree.entries)}
        return sorted(members, key=lambda one: place.get(one.picture, len(place)))

    def _bytes_of(self, member: Member) -> int:
        names = () if member.problem else (member.picture, member.partner)
        return sum(self._tree.entries[name].bytes for name in names)

    def row(self, index: int) -> dict[str, object]:
        member = self._members[index]
        data = self._tree.read(member.picture)
        row, size = picture_row(self._pictures, data, member.picture, member.key)
        mask = self._tree.read(member.partner)
        try:
            ids = self._masks.ids(mask)
        except (RejectError, TfreelError, ValueError) as error:
            raise RejectError(f"its mask {display(member.partner)}: {reason_of(error)}") from None
        if ids.shape != (size.height, size.width):
            raise RejectError(
                f"its mask {display(member.partner)} has {ids.shape[1]} × {ids.shape[0]} pixels,"
                f" and it has {size.width} × {size.height}"
            )
        row[_MASK] = mask if self._options.masks == "keep" else self._encoded(ids, row)
        row[_FORMAT] = "png"
        self._present[index] = self._names(ids)
        return row

    def _encoded(self, ids: Ids, row: dict[str, object]) -> bytes:
        from tfreel import images

        if self._options.resize is not None:
            size = int(str(row["image/height"])), int(str(row["image/width"]))
            ids = images.resize(ids, size, method="nearest")
        return images.encode_labels(ids)

    def _names(self, ids: Ids) -> tuple[str, ...]:
        from tfreel import images

        values = images.label_values(ids)
        return tuple(self.classes[value] for value in values if value not in (BACKGROUND, VOID))

    def class_names(self, index: int) -> Sequence[str]:
        return self._present.get(index, ())

    def identity(self) -> str:
        return digest(self._tree.identity(), self._options, self.items)


def _check(options: Options) -> None:
    refuse_turning(options)
    if options.masks not in ("ids", "keep"):
        raise ValueError(f'masks must be "ids" or "keep", not {options.masks!r}')
    if options.masks == "keep" and options.resize is not None:
        raise ValueError('masks="keep" keeps masks in their size: with resize, let masks be "ids"')
