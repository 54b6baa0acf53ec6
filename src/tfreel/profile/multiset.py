"""Two sets compared by content: which records, and how often, but not where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from tfreel.inference.sample import Place, path_of
from tfreel.profile.changes import Change, Content, Difference, described, differing
from tfreel.profile.groups import ENTRY, Entries, Groups, runs_of
from tfreel.profile.pairs import pair_by_feature
from tfreel.profile.passes import entries_of, records_at, require_names
from tfreel.records.frames import ReadOptions
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt, read

_Files = Sequence[str | BinaryIO]

_MOST_PAIRED = 1000  # records of either set of which a partner with other values is looked for


def compare_sets(
    a: _Files,
    b: _Files,
    *,
    content: bool,
    limit: int,
    on_corrupt: OnCorrupt,
    threads: int,
    progress: Progress | None,
) -> Difference:
    """What only one of two sets has. The arguments are those of `diff`.

    Raises:
        ValueError: There is a stream among the files.
    """
    require_names([*a, *b])
    found = Difference(unordered=True)
    with Groups() as groups:
        counts = []
        for number, files in enumerate((a, b)):
            counts.append(0)
            for file_number, file in enumerate(files):
                reader = read([file], on_corrupt=on_corrupt)
                for block in reader.blocks():
                    groups.add(entries_of(block, number, file_number, content=content, threads=threads))
                    counts[-1] += len(block)
                    if progress is not None:
                        progress(len(block), block.nbytes)
                found.faults += reader.report.faults
        found.records_a, found.records_b = counts
        only_a, only_b = _Leftovers(0, limit), _Leftovers(1, limit)
        for part in groups.sorted_parts():
            only_a.take(part)
            only_b.take(part)
    found.removed, found.added = only_a.count, only_b.count
    found.equal = found.records_a - found.removed
    _describe(found, (a, only_a), (b, only_b), limit, ReadOptions(salvage=on_corrupt != "raise"))
    return found


class _Leftovers:
    """The entries of one set that the other does not have, or not as often: how many, and the first."""

    def __init__(self, set_number: int, limit: int) -> None:
        self._set = set_number
        self._most = max(limit, _MOST_PAIRED)
        self.count = 0
        self.first: Entries = np.empty(0, ENTRY)

    def take(self, entries: Entries) -> None:
        """Looks through sorted entries."""
        left = entries[_surplus(entries, self._set)]
        self.count += len(left)
        both = np.concatenate([self.first, left])
        order = np.lexsort((both["record"], both["file"]))
        self.first = both[order[: self._most]]


def _surplus(entries: Entries, set_number: int) -> npt.NDArray[np.bool_]:
    """Which of sorted entries are of this set, and have no partner in the other."""
    runs = runs_of(entries)
    mine: npt.NDArray[np.bool_] = entries["set"] == set_number
    if not len(entries):
        return mine
    sizes = np.diff(runs)
    others = np.repeat(np.add.reduceat(~mine, runs[:-1], dtype=np.int64), sizes)
    seen: npt.NDArray[np.int64] = np.cumsum(mine) - mine  # of mine, before each entry
    rank: npt.NDArray[np.int64] = seen - np.repeat(seen[runs[:-1]], sizes)
    surplus: npt.NDArray[np.bool_] = mine & (rank >= others)
    return surplus


def _describe(
    found: Difference,
    a: tuple[_Files, _Leftovers],
    b: tuple[_Files, _Leftovers],
    limit: int,
    options: ReadOptions,
) -> None:
    """Lists what is left, in pairs where two records are one thing with other values."""
    few = all(left.count <= _MOST_PAIRED for _, left in (a, b))
    most = _MOST_PAIRED if few and found.removed and found.added else limit
    old, new = (_Listed(files, left.first[:most], options) for files, left in (a, b))
    pairs = dict(pair_by_feature(old.contents, new.contents, ordered=False)) if few else {}
    known = set(pairs.values())
    found.changed = len(pairs)
    found.removed -= len(pairs)
    found.added -= len(pairs)
    for i, content in enumerate(old.contents):
        if i in pairs:
            partner = new.contents[pairs[i]]
            names = differing(content, partner)
            found.count(names)
            features = described(content, partner, names)
            found.changes.append(Change("changed", old.places[i], new.places[pairs[i]], features))
        else:
            found.changes.append(Change("removed", old.places[i], None, (), content.words()))
    for j, content in enumerate(new.contents):
        if j not in known:
            found.changes.append(Change("added", None, new.places[j], (), content.words()))
    del found.changes[limit:]


class _Listed:
    """Some records, with where they are and what they hold."""

    def __init__(self, files: _Files, entries: Entries, options: ReadOptions) -> None:
        self.places = [Place(path_of(files[int(e["file"])]), int(e["record"])) for e in entries]
        self.contents = [Content(record) for record in records_at(files, entries, options)]
