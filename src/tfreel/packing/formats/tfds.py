"""Folders of TensorFlow Datasets: their records, copied into a data set of ours."""

from __future__ import annotations

import os

from tfreel.packing.formats import arrayrecord
from tfreel.packing.formats.copied import CopiedStream, copied
from tfreel.packing.formats.tfrecord import Options, of_folder, told
from tfreel.packing.source import Source
from tfreel.packing.tree import Directory, Tree
from tfreel.storage.paths import display
from tfreel.storage.tfds_folder import is_tfds_folder, read_tfds_folder

__all__ = ["Options", "opened", "recognised"]


def recognised(tree: Tree) -> bool:
    """Whether TensorFlow Datasets made this folder."""
    return isinstance(tree, Directory) and is_tfds_folder(tree.path)


def opened(tree: Tree, options: Options) -> Source:
    """The records of all splits. Those in ArrayRecord files are taken too."""
    if not recognised(tree):
        raise ValueError(
            f"{display(tree.path)}: no folder of TensorFlow Datasets: that has a dataset_info.json, as in"
            f" {display(os.path.join('mnist', '3.0.1'))}"
        )
    folder = read_tfds_folder(tree.path, formats=("tfrecord", "array_record"))
    origin = told(of_folder("tfds", folder), options)
    if folder.facts["fileFormat"] == "array_record":
        return CopiedStream(origin, arrayrecord.records_of)
    return copied(origin)
