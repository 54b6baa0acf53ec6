"""`tf.data.TFRecordDataset` and its like: datasets out of files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tfreel.tf.data.arguments import whole
from tfreel.tf.data.chunks import Stage
from tfreel.tf.data.dataset import AUTOTUNE, Dataset
from tfreel.tf.data.fed import Fed, is_fed
from tfreel.tf.data.interleaving import Interleaved
from tfreel.tf.data.sources import Paths, RecordsOfFiles, Slices
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import string
from tfreel.tf.values.handles import Handle
from tfreel.tf.values.shapes import TensorSpec

_CODECS = {"": None, "GZIP": "gzip", "ZLIB": "zlib", "NONE": "none"}


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as strings.

    Args:
        filenames: One name, a list or tensor of names, or a dataset of them. A name may be a pattern.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or nothing, and the file itself will tell.
        buffer_size: Taken, and not needed.
        num_parallel_reads: How many files to read by turns. Without it they come one behind the other.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        codec = codec_named(compression_type)
        reads = 1 if num_parallel_reads is None else whole(num_parallel_reads, "num_parallel_reads")
        names = filenames if isinstance(filenames, Dataset) else Dataset(_names_stage(filenames))
        if reads == 1:
            super().__init__(RecordsOfFiles(Paths(names.stage), codec))
            return
        slots = len(os.sched_getaffinity(0)) if reads == AUTOTUNE else reads

        def records(path: Any) -> Dataset:
            return Dataset(RecordsOfFiles(Paths(_names_stage(path)), codec))

        stage = Interleaved(names.stage, records, slots=slots, block_length=1, dataset=Dataset)
        super().__init__(stage)


def codec_named(compression: Any) -> str | None:
    """The codec that TensorFlow's name for it means; None if the file is to tell.

    Raises:
        ValueError: There is no such codec.
    """
    if compression is None:
        return None
    name = compression.value().item() if isinstance(compression, Handle) else compression
    name = (name.decode() if isinstance(name, bytes) else str(name)).upper()
    if name not in _CODECS:
        raise ValueError(f'compression_type must be "", "GZIP" or "ZLIB", not {compression!r}')
    return _CODECS[name]


def _names_stage(filenames: Any) -> Stage:
    if is_fed(filenames):
        return Fed(TensorSpec([], string), lambda: Slices(0, [_names(filenames)]))
    return Slices(0, [_names(filenames)])


def _names(filenames: Any) -> Any:
    """The names as a flat array of strings.

    Raises:
        TypeError: Something else is among them.
    """
    if isinstance(filenames, (str, bytes, os.PathLike)):
        filenames = [filenames]
    if isinstance(filenames, (list, tuple)):
        filenames = [os.fspath(each) if isinstance(each, os.PathLike) else each for each in filenames]
        if not filenames:
            return np.empty(0, object)
    made = array(filenames)
    if made.dtype != object:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements, not {made.dtype}")
    return made.reshape(-1)
