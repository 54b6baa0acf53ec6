"""WebDataset: samples in tar archives, each of several files with one key."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfreel.packing.archives import TAR_SUFFIXES, Tar
from tfreel.packing.formats.file_splits import note_on, splits_told
from tfreel.packing.formats.members import PICKLES, features_of, number_of
from tfreel.packing.formats.samples import Sample, missing, samples_of, usual_members
from tfreel.packing.labels import class_ids
from tfreel.packing.pictures.picture import SUFFIXES, PictureOptions, Pictures, about_end
from tfreel.packing.source import Item, Listing, RejectError, Remark, digest
from tfreel.packing.tree import Directory, Tree
from tfreel.storage.paths import display

_PICTURES = frozenset(suffix.removeprefix(".") for suffix in SUFFIXES)
_USUAL = _PICTURES | {"cls", "json", "txt", "npy", "npz"}
_LOOKED_AT = 1000  # samples, to learn which members of JSON are fractions


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(PictureOptions):
    """What can be said about samples in tar archives.

    Attributes:
        classes: The names of the classes, in the order of their ids.
        leave: Extensions of files to leave out.
    """

    classes: Sequence[str] | None = None
    leave: Sequence[str] = ()


def recognised(thing: Tree | Sequence[str]) -> bool:
    """Whether these are archives with several files of one key."""
    if isinstance(thing, Tar):
        samples = samples_of(thing, [])
        several = sum(len(sample.members) > 1 for sample in samples)
        return 0 < len(samples) <= 2 * several and not _USUAL.isdisjoint(usual_members(samples))
    names: Sequence[str] = list(thing.entries) if isinstance(thing, Directory) else []
    names = names if isinstance(thing, Tree) else thing
    return len(names) > 0 and all(name.lower().endswith(TAR_SUFFIXES) for name in names)


def opened(thing: Tree | Sequence[str], options: Options) -> WebDataset:
    """The samples of an archive, of several, or of all in a folder."""
    if isinstance(thing, Tar):
        return WebDataset([thing], options)
    if isinstance(thing, Tree):
        named = [name for name in thing.entries if name.lower().endswith(TAR_SUFFIXES)]
        source = WebDataset([Tar(os.path.join(thing.path, name)) for name in named], options)
        source.skipped += thing.skipped
        source.skipped += [Remark(name, "no tar archive") for name in thing.entries if name not in named]
        return source
    return WebDataset([Tar(path) for path in thing], options)


class WebDataset(Listing):
    """The samples of tar archives."""

    kind = "webdataset"

    def __init__(self, tars: Sequence[Tar], options: Options) -> None:
        super().__init__()
        self._tars = tars
        self._pictures = Pictures(options)
        self._leave = frozenset(extension.lower().removeprefix(".") for extension in options.leave)
        self._samples: list[tuple[Tar, Sample]] = []
        self._fractions: set[str] = set()
        splits = splits_told([tar.path for tar in tars])
        self.notes += note_on(splits)
        for tar in tars:
            self._add(tar)
        everything = [sample for _, sample in self._samples]
        self._usual = usual_members(everything)
        self.in_order = any(tar.in_order for tar in tars)
        self.label = self._label_feature(everything)
        self._labels = [self._label(tar, sample) for tar, sample in self._samples]
        self._named_classes = options.classes is not None
        self._name_classes(options.classes)
        split_of = {id(tar): split for tar, split in zip(tars, splits, strict=True)}
        self.items = [
            self._item(index, tar, sample, split_of[id(tar)])
            for index, (tar, sample) in enumerate(self._samples)
        ]
        self._learn_fractions()

    def _add(self, tar: Tar) -> None:
        skipped = [*tar.skipped]
        found = samples_of(tar, skipped)
        for sample in found:
            for extension in self._leave & sample.members.keys():
                del sample.members[extension]
        self._samples += [(tar, sample) for sample in found if sample.members]
        self.skipped += [Remark(self._named(tar, remark.name), remark.text) for remark in skipped]

    def _named(self, tar: Tar, name: str) -> str:
        return name if len(self._tars) == 1 else f"{display(tar.path)}/{name}"

    def _label_feature(self, samples: Sequence[Sample]) -> str | None:
        if not any("cls" in sample.members for sample in samples):
            return None
        pictured = any(not _PICTURES.isdisjoint(sample.members) for sample in samples)
        return "image/class/label" if pictured else "label"

    def _label(self, tar: Tar, sample: Sample) -> int | None:
        """The class, which must be known before samples are shared out."""
        if "cls" not in sample.members:
            return None
        try:
            return number_of(tar.read(sample.members["cls"], 64))
        except (RejectError, OSError):
            return None  # which is said when the sample is made

    def _name_classes(self, classes: Sequence[str] | None) -> None:
        found = {str(label) for label in self._labels if label is not None and label >= 0}
        self.classes = class_ids(found, classes) if self.label is not None else {}

    def _item(self, index: int, tar: Tar, sample: Sample, split: str | None) -> Item:
        label = self._labels[index]
        return Item(
            self._named(tar, sample.key),
            sum(tar.entries[name].bytes for name in sample.members.values()),
            split,
            None if label is None else self.classes.get(label, str(label)),
            _problem(sample),
        )

    def _learn_fractions(self) -> None:
        """JSON does not tell 1 from 1.0: a member that is a fraction somewhere is one everywhere."""
        step = 1 if self.in_order else max(1, len(self._samples) // _LOOKED_AT)
        for tar, sample in self._samples[::step][:_LOOKED_AT]:
            for extension in ("json", "jsn"):
                if extension in sample.members:
                    self._fractions.update(_fractions(tar, sample.members[extension]))

    def row(self, index: int) -> dict[str, object]:
        tar, sample = self._samples[index]
        picture = next((extension for extension in sample.members if extension in _PICTURES), None)
        row: dict[str, object] = {}
        own: dict[str, object] = {}
        for extension, name in sample.members.items():
            data = tar.read(name)
            try:
                if extension == picture:
                    own.update(self._pictures.features(data, name))
                elif extension == "cls":
                    own[str(self.label)] = number_of(data)
                else:
                    row.update(self._as_fractions(features_of(extension, data)))
            except RejectError as error:
                raise RejectError(f"its {extension!r} {error}") from None
        return self._joined(row, own, sample)

    def _as_fractions(self, features: dict[str, object]) -> dict[str, object]:
        return {
            name: _as_float(value) if name in self._fractions else value for name, value in features.items()
        }

    def _joined(self, row: dict[str, object], own: dict[str, object], sample: Sample) -> dict[str, object]:
        """What files say of themselves goes before what JSON says of them, but for the name."""
        name = row.get("image/filename", own.get("image/filename"))
        label = self.label
        if self._named_classes and label in own and own[label] not in self.classes:
            raise RejectError(f"its 'cls' is {own[label]}, and there are {len(self.classes)} classes")
        if label in row and label in own and row[label] != own[label]:
            raise RejectError(f"its 'cls' is {own[label]}, and its JSON says {row[label]}")
        if label in own and "image/class/text" not in row and isinstance(own[label], int):
            row = {**row, **self._class_text(own[label])}
        joined = {**row, **own}
        if name is not None:
            return {**joined, "image/filename": name}
        return {"key": sample.key, **joined}

    def _class_text(self, label: object) -> dict[str, object]:
        text = self.classes.get(label) if isinstance(label, int) else None
        if text is None or text == str(label):
            return {}
        return {"image/class/text" if self.label == "image/class/label" else "class": text}

    def class_names(self, index: int) -> Sequence[str]:
        label = self._labels[index]
        return () if label is None else (self.classes.get(label, str(label)),)

    def remarks(self, index: int, row: dict[str, object]) -> Sequence[str]:
        _, sample = self._samples[index]
        lacks = missing(sample, self._usual, _PICTURES)
        return [*about_end(row), *(f"has no {name!r}, as others have" for name in lacks)]

    def identity(self) -> str:
        return digest(*(tar.identity() for tar in self._tars))


def _problem(sample: Sample) -> str | None:
    pickles = sorted(name for name in sample.members if name.rpartition(".")[2] in PICKLES)
    if not pickles:
        return None
    first = pickles[0]
    return f"has a pickle ({first}), which is a program and is never run; leave=[{first!r}] packs the rest"


def _fractions(tar: Tar, name: str) -> Iterator[str]:
    try:
        features = features_of("json", tar.read(name))
    except (RejectError, OSError):
        return  # which is said when the sample is made
    for feature, value in features.items():
        first = value[0] if isinstance(value, list) else value
        if isinstance(first, float):
            yield feature


def _as_float(value: object) -> object:
    if isinstance(value, list):
        return [float(item) if isinstance(item, int) else item for item in value]
    return float(value) if isinstance(value, int) else value
