"""The record files of a folder, for engines that are given folders: only those that count."""

from __future__ import annotations

import errno
import os

from tfreel.commits.folders import TEMPORARY, folder_at
from tfreel.commits.store_folders import is_unfinished
from tfreel.storage import names
from tfreel.storage.paths import display
from tfreel.storage.places import is_directory, join, listed
from tfreel.storage.url import Url


def files_in(path: str) -> list[str]:
    """The record files of a folder: those that the manifest lists, or all that are not hidden.

    Raises:
        FileNotFoundError: There are none.
        IsADirectoryError: There are folders in it, which nobody would read.
    """
    folder = names.folder_at(path, None) or folder_at(path)  # of TensorFlow Datasets too; or of ours
    if folder is not None:
        return folder.files()
    found = _in_store(path) if isinstance(path, Url) else _here(path)
    files = [join(path, name) for name in found if not name.endswith(names.SIDECAR_SUFFIXES)]
    if not files:
        unfinished = is_directory(join(path, TEMPORARY))
        why = "; a job that was to write some did not finish" if unfinished else ""
        raise FileNotFoundError(errno.ENOENT, f"there are no record files in it{why}", display(path))
    return sorted(files, key=names.natural_key)


def _here(path: str) -> list[str]:
    found = [name for name in os.listdir(path) if name[0] not in "._"]
    for name in found:
        if os.path.isdir(os.path.join(path, name)):
            raise IsADirectoryError(
                errno.EISDIR,
                f"holds the folder {display(name)!r}; name the files, as in"
                f" {display(os.path.join(path, '*', '*'))!r}",
                display(path),
            )
    return found


def _in_store(path: Url) -> list[str]:
    return [name for name in listed(path) if name and name[0] not in "._" and not is_unfinished(name)]
