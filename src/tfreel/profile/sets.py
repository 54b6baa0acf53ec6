"""Sets of records, as people name them: files, patterns, or folders, with a manifest or without."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from typing import BinaryIO

from tfreel.storage.names import (
    SIDECAR_SUFFIXES,
    Paths,
    folder_at,
    is_stream,
    natural_key,
    refuse_data,
    resolve,
)
from tfreel.storage.paths import display
from tfreel.storage.url import place

# What files of records are called: train.tfrecord, data.tfrecords.gz, coco.record-00000-of-00010.
_RECORDS = re.compile(r"\.(tf_?)?records?\b|\.tfr\b|tfrecords?\b|-\d{5,}-of-\d{5,}", re.IGNORECASE)


def files_of(paths: Paths) -> list[str | BinaryIO]:
    """The files that `paths` names; of a folder that says nothing of itself, the files of records in it.

    Raises:
        FileNotFoundError: There is no such file, or no file of records in the folder.
    """
    if not isinstance(paths, (str, bytes, os.PathLike)):
        if is_stream(paths) or not isinstance(paths, Iterable):
            return resolve(paths)
        refuse_data(paths)
        return [file for path in paths for file in files_of(path)]
    name = place(paths)
    if os.path.isdir(name) and folder_at(name, None) is None:
        return list(_records_in(name))
    return resolve(paths)


def _records_in(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        found = [
            entry.path
            for entry in entries
            if entry.is_file()
            and not entry.name.startswith(".")
            and not entry.name.endswith(SIDECAR_SUFFIXES)
            and _RECORDS.search(entry.name)
        ]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no files of records in this folder", display(folder))
    return sorted(found, key=natural_key)
