"""Sets of shards in object stores that many processes write, and one publishes: `NewSet` from afar.

Workers write parts into a hidden folder beside the set. The driver takes down its decision as one object of a
fixed name, which only one driver at a time can do, and carries it out: the store copies the parts to their
names, the manifest comes last, and then the decision goes, and the parts. A driver that finds a decision
carries it out, whether its owner is dead or slow: both do the same, and whoever is late finds no parts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from tfreel.commits.marks import Mark, new_key, take_away
from tfreel.commits.parts import Part
from tfreel.commits.sets import Parts
from tfreel.errors import TfreelError
from tfreel.records.shards import files_of_set, refuse_file, refuse_set
from tfreel.storage.manifest import MANIFEST_SUFFIX, Shard, manifest_of
from tfreel.storage.paths import display, shard_name, split_suffix
from tfreel.storage.places import copy, listed, read_whole
from tfreel.storage.publish import forget_index, write_atomically
from tfreel.storage.remote.stores import ChangedError, store_of
from tfreel.storage.url import Url

_DECISION = "decision.json"
_ATTEMPTS = 20  # each time it was another driver that came in between


class NewStoreSet:
    """A set of shards in the making, in a store. For the driver.

    Args:
        path: As in `tfreel.ShardedWriter`.
        replace: Whether there may be such a set, which then goes when this one comes.
        compression: Of the objects; by default told from the suffix.
        level: As in `tfreel.Writer`.
    """

    def __init__(
        self, path: Url, *, replace: bool = False, compression: str | None = None, level: int | None = None
    ) -> None:
        self.path = path
        self.paths: list[str] = []
        self._replace = replace
        self._mark = Mark(_place(path), new_key())
        suffix = split_suffix(path)[1]
        self.parts = Parts(self._mark.place, suffix, compression, level, durable=False, key=self._mark.key)

    def begin(self) -> None:
        """Says that it is at work. What an earlier driver left is settled first.

        Raises:
            FileExistsError: There is such a set.
        """
        settle(self.path)
        refuse_file(self.path)
        if not self._replace:
            refuse_set(self.path)
        self._mark.put()
        _remove_parts(self._mark.place, but_of={self._mark.key, *self._mark.others()})

    def publish(self, parts: Iterable[Part]) -> None:
        """Makes a set of parts, the first of each task, in their order; and ends the work."""
        chosen: dict[int, Part] = {}
        for part in parts:
            chosen.setdefault(part.task, part)
        ordered = [chosen[task] for task in sorted(chosen)] or [self._nothing()]
        _require_parts(self._mark.place, ordered)  # as long as nothing is changed
        decision = {"key": self._mark.key, "parts": [asdict(part) for part in ordered]}
        self._decide(json.dumps(decision).encode())
        self.paths = _carry_out(self.path, decision)
        self._mark.clear()

    def abort(self) -> None:
        """Removes all parts, unless it was decided to publish them."""
        if self._mark.is_there() and not _is_decided(self.path, self._mark.key):
            _remove_parts(self._mark.place, of=self._mark.key)
            self._mark.clear()

    def _nothing(self) -> Part:
        """The one part of a set without records."""
        with self.parts.writer(0) as out:
            pass
        return Part.of(0, out)

    def _decide(self, content: bytes) -> None:
        url = self._mark.place.within(_DECISION)
        for _ in range(_ATTEMPTS):
            if not self._replace:
                refuse_set(self.path)
            try:
                store_of(url).swap(url, content, None)
            except ChangedError:
                if not _is_decided(self.path, self._mark.key):
                    settle(self.path)
                    continue
            return
        raise FileExistsError(f"{display(self.path)}: other processes are writing this set")


def settle(path: Url) -> None:
    """Carries out what another driver decided."""
    decision = _decision(path)
    if decision is not None:
        _carry_out(path, decision)


def _place(path: Url) -> Url:
    return path.beside(f".{os.path.basename(path)}.parts")


def _decision(path: Url) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(read_whole(_place(path).within(_DECISION)))
    except FileNotFoundError:
        return None
    return found


def _carry_out(path: Url, decision: dict[str, Any]) -> list[str]:
    """Does what was decided, however much of it was done before. Gives the paths of the shards."""
    place, key = _place(path), decision["key"]
    parts = [Part(**part) for part in decision["parts"]]
    prefix, suffix = split_suffix(path)
    names = [path.renamed(shard_name(prefix, i, len(parts), suffix)) for i in range(len(parts))]
    try:
        _require_parts(place, parts)
        take_away(path + MANIFEST_SUFFIX)  # without which what is there counts as none
        for part, name in zip(parts, names, strict=True):
            copy(place.within(part.name), name)
            forget_index(name)
    except (FileNotFoundError, TfreelError) as error:
        if not _is_decided(path, key):  # somebody else was quicker, and has removed the parts
            return list(names)
        decision_url = display(place.within(_DECISION))
        raise TfreelError(
            f"{error}; delete {decision_url!r} to give up this set", path=path, kind="part_lost"
        ) from None
    _remove_others(path, names)
    shards = [
        Shard(os.path.basename(n), part.records, part.bytes) for n, part in zip(names, parts, strict=True)
    ]
    write_atomically(path + MANIFEST_SUFFIX, manifest_of(shards))
    if _is_decided(path, key):
        take_away(place.within(_DECISION))  # before the parts: whoever finds it must find them
    _remove_parts(place, of=key)
    take_away(place.within(key))
    return list(names)


def _is_decided(path: Url, key: str) -> bool:
    """Whether there still is the decision of this driver: it goes when it was carried out."""
    decision = _decision(path)
    return decision is not None and decision["key"] == key


def _remove_others(path: Url, names: list[Url]) -> None:
    """Removes the shards of an older set."""
    for old in files_of_set(path):
        if old not in names:
            take_away(path.renamed(old))
            forget_index(path.renamed(old))


def _require_parts(place: Url, parts: list[Part]) -> None:
    sizes = listed(place)
    for part in parts:
        if sizes.get(part.name) != part.bytes:
            name = place.within(part.name)
            raise TfreelError(
                f"{display(name)}: is not what a worker wrote there", path=name, kind="part_lost"
            )


def _remove_parts(place: Url, *, of: str | None = None, but_of: set[str] | None = None) -> None:
    """Removes the parts of one driver, or of all but some."""
    for name in listed(place):
        key = Parts.key_in(name)
        if key is not None and (key == of if but_of is None else key not in but_of):
            take_away(place.within(name))
