"""Pascal VOC: pictures with boxes around objects, or with masks, and lists that say what is for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tfreel.packing.coco import source as coco
from tfreel.packing.pictures.objects import ObjectOptions
from tfreel.packing.pictures.picture import PictureListing
from tfreel.packing.tree import Tree
from tfreel.packing.voc.layout import Root, laid_out, roots
from tfreel.packing.voc.loose import laid_out_loosely
from tfreel.packing.voc.masks import Color
from tfreel.packing.yolo import source as yolo


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ObjectOptions):
    """What can be said about a Pascal VOC data set.

    Attributes:
        task: ``"detection"`` takes the boxes of ``Annotations``, ``"segmentation"`` the masks of
            ``SegmentationClass``. By default boxes if there are any, else masks.
        lists: For each split, the list in ``ImageSets`` that it is made of: ``{"train": "trainval"}``. By
            default ``train``, ``val`` and ``test``, each for the split of that name.
        classes: The names of the classes, whose ids count from 1. By default the twenty of VOC, if there are
            no others, else those found, sorted.
        masks: ``"ids"`` stores masks as gray PNG files of class ids, which every decoder reads in the same
            way; ``"keep"`` stores the files with their palettes.
        colormap: The colours of masks that were saved as colours, by class ids. By default those of VOC.
    """

    task: Literal["detection", "segmentation"] | None = None
    lists: Mapping[str, str] | None = None
    classes: Sequence[str] | None = None
    masks: Literal["ids", "keep"] = "ids"
    colormap: Sequence[Color] | None = None


def recognised(tree: Tree) -> bool:
    """Whether there is a folder ``JPEGImages`` with its lists, annotations or masks beside it.

    Annotations in any other place are enough where nothing else is: that may have splits too.
    """
    if roots(tree):
        return True
    return bool(laid_out_loosely(tree)) and not (yolo.recognised(tree) or coco.recognised(tree))


def opened(tree: Tree, options: Options) -> PictureListing:
    """The pictures of all VOC data sets in a tree, or those with annotations in any other place.

    Raises:
        ValueError: There are none, or not for the task.
    """
    found = [laid_out(tree, root) for root in roots(tree)] or laid_out_loosely(tree)
    task = options.task or _task_for(found)
    if task == "detection" and options.masks != "ids":
        raise ValueError("how masks are stored is for the task segmentation; detection takes boxes")
    if task == "detection":
        from tfreel.packing.voc.detection import Detection

        listing: PictureListing = Detection(tree, found, options)
    elif task == "segmentation":
        from tfreel.packing.voc.segmentation import Segmentation

        listing = Segmentation(tree, found, options)
    else:
        raise ValueError(f'task must be "detection" or "segmentation", not {task!r}')
    if options.task is None and task == "detection" and any(root.masks for root in found):
        listing.notes.append('there are masks too: task="segmentation" packs them instead of boxes')
    return listing


def _task_for(found: Sequence[Root]) -> Literal["detection", "segmentation"]:
    if any(root.annotations for root in found):
        return "detection"
    if any(root.masks for root in found):
        return "segmentation"
    raise ValueError(
        "a VOC data set has JPEGImages, and beside it Annotations or SegmentationClass;"
        " or an XML file of the same name for each picture"
    )
