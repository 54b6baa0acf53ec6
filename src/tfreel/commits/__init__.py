"""What many processes write and one publishes: sets of shards, and folders. For engines with tasks.

Workers write each attempt at a task under a name of its own, where nobody looks, and say what they wrote as a
`Part`. The driver chooses, takes its choice down, and gives names; the manifest comes last. Whoever dies
where, there is all of it or nothing, and the next one tidies up.
"""

from __future__ import annotations

from tfreel.commits.folders import Job
from tfreel.commits.listing import files_in
from tfreel.commits.parts import Part
from tfreel.commits.sets import NewSet
from tfreel.commits.store_folders import StoreJob
from tfreel.commits.store_sets import NewStoreSet
from tfreel.storage.url import Url

__all__ = ["Job", "NewSet", "NewStoreSet", "Part", "StoreJob", "begin_job", "files_in", "new_set"]


def begin_job(path: str, *, suffix: str, replace: bool) -> Job | StoreJob:
    """A new writing of a folder, on this machine or in a store.

    Raises:
        FileExistsError: What is there may not be replaced, or added to.
    """
    if isinstance(path, Url):
        return StoreJob.begin(path, suffix=suffix, replace=replace)
    return Job.begin(path, suffix=suffix, replace=replace)


def new_set(
    path: str,
    *,
    replace: bool = False,
    compression: str | None = None,
    level: int | None = None,
    durable: bool = True,
) -> NewSet | NewStoreSet:
    """A new set of shards, on this machine or in a store."""
    if isinstance(path, Url):
        return NewStoreSet(path, replace=replace, compression=compression, level=level)
    return NewSet(path, replace=replace, compression=compression, level=level, durable=durable)
