"""The search for what is there twice: all records of all sets pass by once, and are then brought together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from tfreel import _core
from tfreel.columns.parse import parse, relocate
from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.errors import DecodeError, FeatureError
from tfreel.features.kinds import RaggedFeature
from tfreel.profile.alike import near_pairs
from tfreel.profile.groups import ENTRY, Entries, Groups, runs_of
from tfreel.profile.passes import entries_of
from tfreel.profile.pictures import SIDE, U8, U64, Copies, copy_of, hashes_of, is_picture, is_plain
from tfreel.profile.twins import Collector, Kind, Spot
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt, read
from tfreel.records.report import Fault
from tfreel.threads import in_order

_MOST_NEAR = 1_000_000  # pairs of pictures that look the same


@dataclass(frozen=True, slots=True)
class _Values:
    """What one feature has in one block.

    Attributes:
        entries: One for each value.
        pictured: The entries of those that are pictures with something to see.
        copies: Of these.
        pictures: How many values are pictures.
        undecodable: How many of those could not be decoded.
    """

    entries: Entries
    pictured: Entries
    copies: U8
    pictures: int = 0
    undecodable: int = 0


class _Feature:
    """What is known of one feature in all sets."""

    def __init__(self, stack: ExitStack) -> None:
        self.values = stack.enter_context(Groups())
        self.copies = stack.enter_context(closing(Copies()))
        self.is_empty = True
        self._pictured: list[Entries] = [np.empty(0, ENTRY)]
        self._hashes: list[U64] = [np.empty((0, 2), np.uint64)]

    def add(self, found: _Values) -> None:
        """Takes note of what is in one block."""
        self.is_empty = self.is_empty and not len(found.entries)
        self.values.add(found.entries)
        self.copies.add(found.copies)
        self._pictured.append(found.pictured)
        self._hashes.append(hashes_of(found.copies))

    def near(self, distance: int, threads: int) -> Iterator[tuple[Spot, Spot, int]]:
        """Pairs of pictures that look the same, though their bytes differ.

        Raises:
            OverflowError: There are too many that might.
        """
        pictured = np.concatenate(self._pictured)
        firsts = np.sort(np.unique(pictured["digest"], axis=0, return_index=True)[1])
        for pairs in near_pairs(np.concatenate(self._hashes)[firsts], distance, threads):
            first, second = firsts[pairs[:, 0]], firsts[pairs[:, 1]]
            alike = self.copies.look_alike(first, second)
            for i in np.flatnonzero(alike):
                yield _spot(pictured[first[i]]), _spot(pictured[second[i]]), int(pairs[i, 2])


class Search:
    """All that is known of all sets.

    Args:
        features: The features to look at, by name.
        near: Whether to look at pictures.
        threads: How many to work with.
        stack: Where to leave what has to be closed.
    """

    def __init__(self, features: Sequence[str], *, near: bool, threads: int, stack: ExitStack) -> None:
        self._names = features
        self._near = near
        self._threads = threads
        self._records = stack.enter_context(Groups())
        self._features = [_Feature(stack) for _ in features]
        self.pictures = 0
        self.undecodable = 0
        self.plain = 0
        self.faults: list[Fault] = []

    def add_set(
        self, number: int, files: Sequence[str], on_corrupt: OnCorrupt, progress: Progress | None
    ) -> int:
        """Reads a set; how many records it has.

        Raises:
            CorruptError: A file is damaged, and was not to be.
            FeatureError: A feature holds something else than bytes.
        """
        count = 0
        for entries, values in in_order(self._pieces(number, files, on_corrupt, progress), self._threads):
            count += len(entries)
            self._records.add(entries)
            for feature, found in zip(self._features, values, strict=True):
                feature.add(found)
                self.pictures += found.pictures
                self.undecodable += found.undecodable
                self.plain += found.pictures - found.undecodable - len(found.pictured)
        return count

    def _pieces(
        self, number: int, files: Sequence[str], on_corrupt: OnCorrupt, progress: Progress | None
    ) -> Iterator[Callable[[], tuple[Entries, list[_Values]]]]:
        for file_number, file in enumerate(files):
            reader = read([file], on_corrupt=on_corrupt)
            for block in reader.blocks():
                yield partial(self._look, block, file, number, file_number)
                if progress is not None:
                    progress(len(block), block.nbytes)
            self.faults += reader.report.faults

    def _look(
        self, block: _core.Block, path: str, number: int, file_number: int
    ) -> tuple[Entries, list[_Values]]:
        entries = entries_of(block, number, file_number, content=True)
        if not self._names:
            return entries, []
        try:
            batch = parse(block, {name: RaggedFeature("bytes") for name in self._names}, threads=1)
        except (FeatureError, DecodeError) as error:
            row = error.record or 0
            relocate(error, path, block.first_record + row, int(block.offsets[row]))
            raise
        return entries, [self._values(entries, cast("Ragged", batch[name])) for name in self._names]

    def _values(self, entries: Entries, column: Ragged) -> _Values:
        values = cast("BytesColumn", column.values)
        of_values = entries[np.repeat(np.arange(len(entries)), np.diff(column.offsets))]
        of_values["digest"] = _core.digests([(values.data, values.offsets)], content=False).reshape(-1, 2)
        filled = values.lengths > 0  # that nothing is the same as nothing tells nothing
        pictured, copies = of_values[:0], np.empty((0, SIDE, SIDE), np.uint8)
        if not self._near:
            return _Values(of_values[filled], pictured, copies)
        pictures = [i for i in np.flatnonzero(filled).tolist() if is_picture(cast("bytes", values[i]))]
        made = {i: copy for i in pictures if (copy := copy_of(cast("bytes", values[i]))) is not None}
        if made:
            copies = np.stack(list(made.values()))
            shown = ~is_plain(copies)
            pictured, copies = of_values[list(made)][shown], copies[shown]
        return _Values(of_values[filled], pictured, copies, len(pictures), len(pictures) - len(made))

    def empty_features(self) -> list[str]:
        """The features that have no value in any record."""
        return [name for name, feature in zip(self._names, self._features, strict=True) if feature.is_empty]

    def collect_same(self, collector: Collector) -> None:
        """Brings together the same records and the same values."""
        _collect(collector, "record", 0, self._records)
        for number, feature in enumerate(self._features):
            _collect(collector, "value", number, feature.values)

    def collect_near(self, collector: Collector, distance: int) -> bool:
        """Brings together pictures that look the same; False if there are too many of them."""
        count = 0
        for number, feature in enumerate(self._features):
            try:
                for first, second, bits in feature.near(distance, self._threads):
                    collector.add_near(number, first, second, bits)
                    count += 1
                    if count == _MOST_NEAR:
                        return False
            except OverflowError:
                return False
        return True


def _collect(collector: Collector, kind: Kind, feature: int, groups: Groups) -> None:
    for part in groups.sorted_parts():
        runs = runs_of(part)
        for group in np.flatnonzero(np.diff(runs) > 1).tolist():
            spots = [_spot(entry) for entry in part[runs[group] : runs[group + 1]]]
            collector.add_group(kind, feature, spots)


def _spot(entry: Entries) -> Spot:
    return Spot(int(entry["set"]), int(entry["file"]), int(entry["record"]), int(entry["content"]))
