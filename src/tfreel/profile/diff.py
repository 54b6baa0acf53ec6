"""`diff`: two sets of records in, what differs out."""

from __future__ import annotations

from contextlib import closing

from tfreel.profile.changes import Difference
from tfreel.profile.multiset import compare_sets
from tfreel.profile.sets import files_of
from tfreel.profile.sides import Side
from tfreel.profile.walk import Walk
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import Paths
from tfreel.threads import thread_count


def diff(
    a: Paths,
    b: Paths,
    *,
    unordered: bool = False,
    exact: bool = False,
    limit: int = 100,
    on_corrupt: OnCorrupt = "raise",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Difference:
    """In which records and features two sets differ, whatever their shards and compression.

    Records are compared as Examples, of which neither the order of the features nor the way in which numbers
    are packed counts: writers differ in these. Numbers are equal if their bits are. Records of other kinds
    are compared by their bytes. A record that was put in or taken out is found by its content, if it is
    followed within some 65,000 records (or 128 MiB) by one that both sides have.

    Args:
        a: The old records, as in `tfreel.read`; or a folder, of which all files of records are taken.
        b: The new ones.
        unordered: Compare them as sets: which records, and how often, but not where.
        exact: Compare bytes. Then Examples that were encoded anew can differ, too.
        limit: How many changes to list. All are counted.
        on_corrupt: As in `tfreel.read`.
        threads: To read and hash with; all processors by default.
        progress: Called with the number of records and bytes read since the last call.

    Raises:
        CorruptError: A file is damaged, and was not to be.

    Example:
        >>> tfreel.save("a.tfrecord", [{"id": i, "label": 0} for i in range(5)])
        >>> tfreel.save("b.tfrecord", [{"label": int(i == 3), "id": i} for i in range(1, 5)])
        >>> found = tfreel.profile.diff("a.tfrecord", "b.tfrecord")
        >>> found.same, found.equal, found.changed, found.removed
        (False, 3, 1, 1)
        >>> found.changes[1].features
        (FeatureChange(feature='label', old='0', new='1', note=''),)
    """
    if limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    files = files_of(a), files_of(b)
    count = thread_count(threads)
    if unordered:
        return compare_sets(
            *files, content=not exact, limit=limit, on_corrupt=on_corrupt, threads=count, progress=progress
        )
    one, other = (
        Side(some, on_corrupt=on_corrupt, content=not exact, threads=count, progress=progress)
        for some in files
    )
    with closing(one), closing(other):
        return Walk(one, other, limit).to_end()
