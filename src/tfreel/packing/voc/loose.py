"""Annotations of Pascal VOC without its folders: beside the pictures, or in folders of any other names.

So labelImg and its like write them, and so they are handed on: ``images`` and ``annotations``, or all in one.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.source import RejectError, Remark
from tfreel.packing.tree import Tree
from tfreel.packing.voc.annotation import LARGEST_BYTES
from tfreel.packing.voc.layout import Root
from tfreel.storage.paths import display

# They say what a file is. The rest of its path is what a picture and its annotation have in common.
_PICTURES = frozenset({"images", "image", "imgs", "img", "jpegimages", "pictures", "photos"})
_ANNOTATIONS = frozenset({"annotations", "annotation", "annots", "labels", "label", "xmls", "xml"})
_BEGINNING = re.compile(rb"<annotation[\s>]")
_BEGINNING_BYTES = 4096


def laid_out_loosely(tree: Tree) -> list[Root]:
    """The pictures of a tree and the annotations of the same names, as a data set; none without such."""
    pictures, odd_pictures = _keyed(tree.names(suffix=SUFFIXES))
    annotations, odd_annotations = _keyed(tree.names(suffix=".xml"))
    annotations = _matched(annotations, pictures)
    if not any(key in pictures and _is_annotation(tree, path) for key, path in annotations.items()):
        return []
    return [Root("", pictures, annotations, {}, [*odd_pictures, *odd_annotations])]


def _keyed(names: Iterable[str]) -> tuple[dict[str, str], list[Remark]]:
    """Files by their paths, without suffix and the folders that say what they are; and those in the way."""
    files: dict[str, str] = {}
    others = []
    for name in names:
        *folders, own = posixpath.splitext(name)[0].split("/")
        telling = [folder for folder in folders if folder.lower() not in _PICTURES | _ANNOTATIONS]
        key = "/".join([*telling, own])
        if key in files:
            others.append(Remark(name, f"{display(files[key])} has the same name"))
        else:
            files[key] = name
    return files, others


def _matched(annotations: Mapping[str, str], pictures: Mapping[str, str]) -> dict[str, str]:
    """Annotations by the keys of their pictures: where folders differ, the only one of that name is meant."""
    homes: dict[str, list[str]] = {}
    for key in pictures:
        homes.setdefault(posixpath.basename(key), []).append(key)
    counts = Counter(map(posixpath.basename, annotations))
    matched = {}
    for key, path in annotations.items():
        own = posixpath.basename(key)
        alone = key not in pictures and counts[own] == 1 and len(homes.get(own, ())) == 1
        matched[homes[own][0] if alone else key] = path
    return matched


def _is_annotation(tree: Tree, path: str) -> bool:
    try:
        data = tree.read(path, LARGEST_BYTES)
    except (RejectError, OSError):
        return False
    return bool(_BEGINNING.search(data, 0, _BEGINNING_BYTES))
