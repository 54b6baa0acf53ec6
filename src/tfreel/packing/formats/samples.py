"""The members of tar archives as samples: those whose names begin alike, up to the first dot."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfreel.packing.archives import Tar
from tfreel.packing.source import Remark


@dataclass(frozen=True, slots=True)
class Sample:
    """What begins with one key.

    Attributes:
        key: What the names of its members have in common, with the folder.
        members: Their names, by what follows the first dot.
    """

    key: str
    members: dict[str, str] = field(default_factory=dict)


def samples_of(tar: Tar, skipped: list[Remark]) -> list[Sample]:
    """The samples of an archive, in its order. What belongs to none is added to `skipped`."""
    found: dict[str, Sample] = {}
    for name in sorted(tar.entries, key=tar.offset):
        folder, base = posixpath.split(name)
        stem, dot, extension = base.partition(".")
        if not dot or not extension:
            skipped.append(Remark(name, "has no extension, and so is part of no sample"))
            continue
        if stem.startswith("__") and stem.endswith("__"):
            skipped.append(Remark(name, "is about the archive, and part of no sample"))
            continue
        sample = found.setdefault(posixpath.join(folder, stem), Sample(posixpath.join(folder, stem)))
        if extension.lower() in sample.members:
            skipped.append(Remark(name, f"is a second {extension.lower()!r} of its sample"))
        else:
            sample.members[extension.lower()] = name
    return list(found.values())


def usual_members(samples: Sequence[Sample]) -> list[str]:
    """The extensions that more than half of the samples have."""
    counts = Counter(extension for sample in samples for extension in sample.members)
    return [extension for extension, count in counts.items() if 2 * count > len(samples)]


def missing(sample: Sample, usual: Sequence[str], alike: frozenset[str]) -> Iterator[str]:
    """What a sample lacks that most others have. Of files that are alike, one is as good as another."""
    for extension in usual:
        if extension in sample.members or (extension in alike and alike & sample.members.keys()):
            continue
        yield extension
