"""A data set for an object store: packed on this machine, then sent, the manifest last."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tfreel.storage.dataset_folder import MANIFEST_NAME, read_folder
from tfreel.storage.paths import display
from tfreel.storage.places import exists, join, remove
from tfreel.storage.remote.stores import store_of
from tfreel.storage.url import Url


@contextmanager
def folder_for(out: str, *, force: bool) -> Iterator[str]:
    """A folder of this machine to pack into. If `out` is a URL, what is in it in the end is sent there.

    Raises:
        FileExistsError: There is a data set already.
    """
    if not isinstance(out, Url):
        yield out
        return
    manifest = join(out, MANIFEST_NAME)
    if not force and exists(manifest):
        raise FileExistsError(errno.EEXIST, "exists already; force=True replaces it", display(out))
    with tempfile.TemporaryDirectory(prefix="tfreel-") as scratch:
        folder = os.path.join(scratch, "packed")
        yield folder
        _send(folder, out)


def _send(folder: str, out: Url) -> None:
    """Sends all files of a folder. If that fails, nothing of it is left behind."""
    names = sorted(os.listdir(folder), key=lambda name: (name == MANIFEST_NAME, name))
    old = _take_back(out)
    sent: list[Url] = []
    try:
        for name in names:
            url = out.within(name)
            store_of(url).write(url, os.path.join(folder, name), replace=True)
            sent.append(url)
    except BaseException:
        for url in reversed(sent):
            with suppress(OSError):
                remove(url)
        raise
    for name in old - set(names):
        with suppress(FileNotFoundError):
            remove(out.within(name))


def _take_back(out: Url) -> set[str]:
    """Removes the manifest of the data set that is there, and gives the names of its files."""
    if not exists(out.within(MANIFEST_NAME)):
        return set()
    names = {shard.name for shard in read_folder(out).shards()}
    remove(out.within(MANIFEST_NAME))
    return names
