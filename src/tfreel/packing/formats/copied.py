"""Sources whose records are records already: they are copied as they are, into other splits and shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tfreel import _core
from tfreel.compression import detect
from tfreel.features.kinds import Feature
from tfreel.index.access import Records
from tfreel.inference import infer_features
from tfreel.packing.layout import check_split_name
from tfreel.packing.naming import Naming, require_feature
from tfreel.packing.source import Made, Remark, Source, Stream, digest
from tfreel.packing.stored import Stored
from tfreel.records.read import read
from tfreel.storage.places import open_file

_HEAD_BYTES = 1 << 12


@dataclass(slots=True)
class Origin:
    """Where records come from.

    Attributes:
        kind: The kind of the source.
        files: All files, in order, each with the split it belongs to.
        classes: The names of the classes, by their ids.
        label: The feature that holds the class.
        features: What to read the records with, where that is known for certain.
        skipped: What lies beside the files.
        notes: What the user should know.
    """

    kind: str
    files: Sequence[tuple[str, str | None]]
    classes: dict[int, str] = field(default_factory=dict)
    label: str | None = None
    features: Mapping[str, Feature] | None = None
    skipped: list[Remark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def identity(self) -> str:
        """What changes when a file does."""
        facts = ((path, split, open_file(path).identity) for path, split in self.files)
        return digest(*((path, split, file.size, file.mtime_ns) for path, split, file in facts))


def copied(origin: Origin) -> Source:
    """The source with the records of some TFRecord files.

    Raises:
        ValueError: There is no such feature as holds the class.
        DecodeError: They are no Examples.
    """
    _check_sample(origin)
    if all(_is_plain(path) for path, _ in origin.files):
        return CopiedRecords(origin)
    return CopiedStream(origin, _blocks_of)


def _check_sample(origin: Origin) -> None:
    """Refuses what no manifest could describe, before all of it is copied."""
    features = origin.features or infer_features([path for path, _ in origin.files])
    if origin.label is not None and features:  # or there are no records
        require_feature(origin.label, features)


def _is_plain(path: str) -> bool:
    return detect(open_file(path).read(_HEAD_BYTES, 0)) == "none"


def _blocks_of(path: str) -> Iterator[_core.Block]:
    return read(path).blocks()


class CopiedRecords(Stored):
    """The records of files that can be read in any order: nothing is spooled."""

    def __init__(self, origin: Origin) -> None:
        super().__init__(Records([path for path, _ in origin.files]))
        _take(self, origin)
        self._origin = origin

    def splits(self) -> list[str | None]:
        counts = self._records.counts()
        return [
            split for (_, split), count in zip(self._origin.files, counts, strict=True) for _ in range(count)
        ]

    def use(self, naming: Naming) -> None:
        _refuse(naming)

    def identity(self) -> str:
        return self._origin.identity()


class CopiedStream(Stream):
    """The records of files that are read from the front, such as compressed ones."""

    def __init__(
        self, origin: Origin, blocks_of: Callable[[str], Iterator[_core.Block | list[bytes]]]
    ) -> None:
        super().__init__()
        _take(self, origin)
        self._origin = origin
        self._blocks_of = blocks_of

    def chunks(self) -> Iterator[Callable[[], Made]]:
        for path, split in self._origin.files:
            for block in self._blocks_of(path):
                yield partial(Made, block, split=split)

    def use(self, naming: Naming) -> None:
        _refuse(naming)

    def identity(self) -> str:
        return self._origin.identity()


def _take(source: Source, origin: Origin) -> None:
    for split in {split for _, split in origin.files if split is not None}:
        check_split_name(split)
    source.kind = origin.kind  # type: ignore[misc]  # what it is to the user
    source.classes, source.label, source.notes = origin.classes, origin.label, origin.notes
    source.skipped = origin.skipped
    source.features = None if origin.features is None else dict(origin.features)


def _refuse(naming: Naming) -> None:
    if naming != Naming():
        raise ValueError("records are copied as they are: their features cannot have other names")
