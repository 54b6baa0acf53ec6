"""What every source of data looks like to the one who packs it.

A source is either a `Listing`, whose items are known before any of them is made into a record, so that they
can be split, shuffled and dealt out to shards at once; or a `Stream`, which is read from the front, spooled,
and is a listing from then on.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.features.kinds import Feature
from tfreel.packing.naming import Naming


class RejectError(Exception):
    """Raised where an item cannot become a record: says why, in words for the user. The item is known."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to be said of an item, or of something else in a source: why it was left out, say.

    Attributes:
        name: Of what.
        text: What is to be said.
        lost: It may be, or hold, what was meant to be packed.
    """

    name: str
    text: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to be packed, as far as it is known before it is looked into.

    Attributes:
        name: What the user would call it, as in messages: a path in the source.
        bytes: About how much there is to read of it.
        split: The split that the source itself puts it in.
        label: The name of its class, if it has one.
        problem: Why it cannot become a record, if that is known already.
    """

    name: str
    bytes: int = 0
    split: str | None = None
    label: str | None = None
    problem: str | None = None


@dataclass(slots=True)
class Made:
    """What became of some items.

    Attributes:
        records: What to write, in the order of the items.
        rejects: The items that are not among them, and why.
        remarks: What else the user should know of an item.
        names: The names of the classes in each record; empty where nobody knows.
        split: The split that the source itself puts them in.
    """

    records: list[bytes] | _core.Block = field(default_factory=list)
    rejects: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    names: list[Sequence[str]] = field(default_factory=list)
    split: str | None = None

    @property
    def counts(self) -> Counter[str]:
        """How often each class is in the records."""
        return Counter(name for names in self.names for name in names)

    def block(self) -> _core.Block:
        """The records as they are to be written."""
        if not isinstance(self.records, _core.Block):
            self.records = _core.framed(self.records)
        return self.records


class Source(ABC):
    """Where data comes from.

    Attributes:
        kind: The name of the kind, as in ``kind=``.
        classes: The names of the classes, by their ids; empty where there are none.
        label: The feature that holds the id of the class, if there is one.
        skipped: What lies there and is no item, each with the reason: told to the user.
        notes: What else the user should know of the source, each a sentence.
        features: What to read the records with, where that is known for certain.
        naming: What the features are to be called.
    """

    kind: ClassVar[str]

    def __init__(self) -> None:
        self.classes: dict[int, str] = {}
        self.label: str | None = None
        self.skipped: list[Remark] = []
        self.notes: list[str] = []
        self.features: dict[str, Feature] | None = None
        self.naming = Naming()

    def use(self, naming: Naming) -> None:
        """Takes note of what the features are to be called.

        Raises:
            ValueError: They cannot have other names, or one that is to get another is not there.
        """
        self.naming = naming
        known = self.feature_names()
        if known is not None:
            naming.check(known)

    def feature_names(self) -> Collection[str] | None:
        """What the features are called before they get other names; None if nobody knows yet."""
        return self.features

    @abstractmethod
    def identity(self) -> str | None:
        """What changes when the content does; None if nobody can tell.

        What a crash left behind is used again only under the same identity.
        """


class Listing(Source):
    """A source whose items are all known.

    Attributes:
        items: All of them, in an order that does not depend on the machine.
        in_order: Reading them in another order than this would be slow.
        heavy: Making a record takes more than to read it: many threads are of use.
        unclear_splits: Why nobody can tell what splits there are; None if one can.
    """

    def __init__(self) -> None:
        super().__init__()
        self.items: Sequence[Item] = ()
        self.in_order = False
        self.heavy = True
        self.unclear_splits: str | None = None

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.items)

    def sizes(self) -> npt.NDArray[np.int64]:
        """About how much there is to read of each item."""
        return np.fromiter((item.bytes for item in self.items), np.int64, self.count)

    def record_sizes(self) -> npt.NDArray[np.int64]:
        """About how large the record of each item gets."""
        return self.sizes()

    def splits(self) -> list[str | None]:
        """The split that the source itself puts each item in."""
        return [item.split for item in self.items]

    @abstractmethod
    def row(self, index: int) -> dict[str, object]:
        """The row of one item, to be encoded. Several threads call this at the same time.

        Raises:
            RejectError: It cannot become a record.
            OSError: It cannot be read.
        """

    def read_ahead(self, indices: Sequence[int]) -> None:
        """Says which items this thread makes next, in this order."""

    def class_names(self, index: int) -> Sequence[str]:
        """The names of the classes of one item: of its objects, where it has several."""
        label = self.items[index].label
        return () if label is None else (label,)

    def remarks(self, index: int, row: dict[str, object]) -> Sequence[str]:
        """What the user should know of an item that became this row."""
        del index, row
        return ()

    def make(self, indices: Sequence[int]) -> Made:
        """The records of some items. Several threads call this at the same time."""
        from tfreel.packing.making import records_of

        return records_of(self, indices)


class Stream(Source):
    """A source that is read from the front."""

    @abstractmethod
    def chunks(self) -> Iterator[Callable[[], Made]]:
        """The work to do, piece by piece, of some megabytes each.

        What has to be read one after the other is read by the iterator, in one thread; each piece of work is
        then done in another. Records are written in the order of the pieces, which must be the same every
        time.
        """


def digest(*parts: object) -> str:
    """A short name for some facts: equal only for equal facts."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(repr(part).encode("utf-8", "surrogateescape") + b"\0")
    return found.hexdigest()
