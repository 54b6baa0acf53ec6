"""`leaks`: sets of records in, what is in more than one of them out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import cast

from tfreel.errors import DecodeError
from tfreel.inference import infer_features
from tfreel.inference.content import IMAGES
from tfreel.profile.alike import BITS
from tfreel.profile.passes import require_names
from tfreel.profile.search import Search
from tfreel.profile.sets import files_of
from tfreel.profile.twins import Collector, Leaks
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import PathLike, Paths, folder_at
from tfreel.threads import thread_count

# Masks of many pictures are the same, and should be: all background, for example.
_MASK = re.compile(r"mask|segment|label", re.IGNORECASE)


def leaks(
    *sets: Paths | Mapping[str, Paths],
    features: Sequence[str] | None = None,
    distance: int | None = 8,
    within: bool = False,
    limit: int = 100,
    on_corrupt: OnCorrupt = "raise",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Leaks:
    """What is in more than one of some sets: training data in the test data, above all.

    Three things are looked for: records that are the same as a whole, whatever the order of their features;
    values of a feature that are the same, as the bytes of a picture under another label; and pictures that
    look the same, though they were coded anew in another size, quality or format. Cropped or turned pictures
    are not found.

    Two million records are kept in memory, at 50 bytes each, and any more on the disk. Of pictures, 70 bytes
    each are kept in memory and 256 on the disk.

    Args:
        *sets: Each as in `tfreel.read`, or a folder, of which all files of records are taken; or one mapping
            from names to these. One folder that `tfreel.pack` or TensorFlow Datasets made: its splits. A set
            alone is searched for what it has twice.
        features: The features with bytes whose values are compared. If not given, those that hold pictures,
            but for masks.
        distance: In how many of 128 bits the hashes of pictures may differ that look the same; None looks for
            no such pictures.
        within: What one set has twice counts as a leak, and is listed, too.
        limit: How many leaks to list. All are counted.
        on_corrupt: As in `tfreel.read`.
        threads: To read and decode with; all processors by default.
        progress: Called with the number of records and bytes read since the last call.

    Raises:
        CorruptError: A file is damaged, and was not to be.
        FeatureError: A feature does not hold bytes.
        ValueError: No record has a value of one of these features.

    Example:
        >>> tfreel.save("train.tfrecord", [{"id": i} for i in range(5)])
        >>> tfreel.save("test.tfrecord", [{"id": i} for i in range(4, 8)])
        >>> found = tfreel.profile.leaks("train.tfrecord", "test.tfrecord")
        >>> found.ok, found.overlaps
        (False, [Overlap(first='train', second='test', kind='record', feature=None, records=1)])
        >>> print(found.leaks[0].first.place, "=", found.leaks[0].second.place)
        train.tfrecord: record 4 = test.tfrecord: record 0
    """
    if distance is not None and not 0 <= distance < BITS // 4:
        raise ValueError(f"distance goes from 0 to {BITS // 4 - 1}, not {distance}")
    if limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    if isinstance(features, str):
        raise TypeError(f"features must be a list of names, not {features!r}")
    named = _named_sets(sets)
    files = [*named.values()]
    names = list(features) if features is not None else _pictures_in(files, on_corrupt)
    found = Leaks(features=names, within=within or len(named) == 1)
    collector = Collector(limit, within=found.within)
    with ExitStack() as stack:
        search = Search(names, near=distance is not None, threads=thread_count(threads), stack=stack)
        for number, (name, some) in enumerate(named.items()):
            found.sets[name] = search.add_set(number, some, on_corrupt, progress)
        if any(found.sets.values()) and (empty := search.empty_features()):
            raise ValueError(f"no record has a value of feature {empty[0]!r}: nothing was compared")
        search.collect_same(collector)
        found.complete = distance is None or search.collect_near(collector, distance)
        found.pictures, found.undecodable, found.plain = search.pictures, search.undecodable, search.plain
        found.faults = search.faults
    found.overlaps = collector.overlaps(list(named), names)
    found.leaks = list(collector.leaks(list(named), names, files))
    return found


def _named_sets(sets: Sequence[Paths | Mapping[str, Paths]]) -> dict[str, list[str]]:
    """The files of each set, by its name."""
    if not sets:
        raise ValueError("name at least one set of records")
    paths: dict[str, Paths]
    if len(sets) == 1 and isinstance(sets[0], Mapping):
        paths = dict(sets[0])
    elif any(isinstance(some, Mapping) for some in sets):
        raise TypeError("give one mapping of all sets, or each set by itself")
    else:
        paths = _splits_of(sets) or _with_names(sets)
    named = {}
    for name, some in paths.items():
        files = files_of(some)
        require_names(files)
        named[name] = cast("list[str]", files)
    return named


def _splits_of(sets: Sequence[Paths]) -> dict[str, Paths]:
    folder = folder_at(sets[0], None) if len(sets) == 1 else None
    if folder is None or len(folder.splits) < 2:
        return {}
    return {name: list[PathLike](folder.files(name)) for name in folder.splits}


def _with_names(sets: Sequence[Paths]) -> dict[str, Paths]:
    """Sets by the last part of their paths; by all of them, where these are the same."""
    texts = [
        os.fsdecode(some) if isinstance(some, (str, bytes, os.PathLike)) else f"set {i}"
        for i, some in enumerate(sets, 1)
    ]
    short = [os.path.basename(text.rstrip("/")).partition(".")[0] or text for text in texts]
    if len(set(short)) == len(sets):
        return dict(zip(short, sets, strict=True))
    if len(set(texts)) < len(sets):
        raise ValueError("a set is named twice: of course all of it is the same")
    return dict(zip(texts, sets, strict=True))


def _pictures_in(files: Sequence[Sequence[str]], on_corrupt: OnCorrupt) -> list[str]:
    """The features that hold pictures; masks only if there is nothing else."""
    found = {}
    for some in files:
        try:
            inferred = infer_features(some, on_corrupt=on_corrupt)
        except DecodeError:  # these are no Examples: they are compared as a whole
            return []
        for name, profile in inferred.profiles.items():
            if not IMAGES.isdisjoint(profile.contents):
                found[name] = True
    return [name for name in found if not _MASK.search(name)] or list(found)
