"""What leaks: pairs of records that are the same, or hold the same, and how many between which sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from tfreel import markup
from tfreel.inference.sample import Place
from tfreel.records.report import Fault

Kind: TypeAlias = Literal["record", "value", "near"]

_MOST_SHOWN = 20  # in a notebook
KINDS: tuple[Kind, ...] = ("record", "value", "near")


@dataclass(frozen=True, slots=True)
class Member:
    """A record of a set.

    Attributes:
        set: The name of the set.
        place: The file, and the number of the record in it.
    """

    set: str
    place: Place

    def to_dict(self) -> dict[str, Any]:
        """The member as plain values, for JSON."""
        return {"set": self.set, "path": self.place.path, "record": self.place.record}


@dataclass(frozen=True, slots=True)
class Leak:
    """Two records that should not both be there.

    Attributes:
        kind: ``"record"``: all of both is the same; ``"value"``: the bytes of one feature are; ``"near"``:
            the pictures in one feature look the same.
        feature: The feature, unless it is all of the record.
        distance: Of pictures that look the same, in how many of 128 bits their hashes differ.
        first: The one that comes first.
        second: The other.
    """

    kind: Kind
    feature: str | None
    distance: int
    first: Member
    second: Member

    def to_dict(self) -> dict[str, Any]:
        """The leak as plain values, for JSON."""
        return {
            "kind": self.kind,
            "feature": self.feature,
            "distance": self.distance,
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much two sets have in common, or one has twice.

    Attributes:
        first: The name of a set.
        second: The name of a later one; or the same, for what one set has more than once.
        kind: As of a `Leak`.
        feature: As of a `Leak`.
        records: Records of the second set that have a partner in the first; of pictures that look the same,
            the number of pairs.
    """

    first: str
    second: str
    kind: Kind
    feature: str | None
    records: int


@dataclass(slots=True)
class Leaks:
    """What `leaks` gives.

    Attributes:
        sets: How many records each set has, by name.
        features: The features whose values were compared.
        within: Whether what one set has twice counts, too.
        overlaps: How many there are, between which sets.
        leaks: The first of them, as many as were asked for.
        pictures: How many pictures were looked at.
        undecodable: Pictures that could not be decoded: these were compared by their bytes alone.
        plain: Pictures of one colour, also compared by their bytes alone.
        complete: False if there were too many pictures that look alike to count them all.
        faults: Damage that was passed over.
    """

    sets: dict[str, int] = field(default_factory=dict)
    features: list[str] = field(default_factory=list)
    within: bool = False
    overlaps: list[Overlap] = field(default_factory=list)
    leaks: list[Leak] = field(default_factory=list)
    pictures: int = 0
    undecodable: int = 0
    plain: int = 0
    complete: bool = True
    faults: list[Fault] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no set has what another one has; with `within`, nor anything twice."""
        return not any(self.within or overlap.first != overlap.second for overlap in self.overlaps)

    def __bool__(self) -> bool:
        """Whether anything leaks."""
        return not self.ok

    def _repr_html_(self) -> str:
        overlaps = [(o.first, o.second, o.kind, o.feature or "", f"{o.records:,}") for o in self.overlaps]
        titles = ("set", "and set", "kind", "feature", "records")
        listed = [
            (f"{leak.first.set}: {leak.first.place}", f"{leak.second.set}: {leak.second.place}", leak.kind)
            for leak in self.leaks[:_MOST_SHOWN]
        ]
        return markup.block(
            f"tfreel.profile.Leaks: {'none' if self.ok else 'found'}",
            _table(titles, overlaps),
            _table(("this", "and this", "kind"), listed),
        )

    def to_dict(self) -> dict[str, Any]:
        """What was found as plain values, for JSON."""
        return {
            "ok": self.ok,
            "sets": dict(self.sets),
            "features": list(self.features),
            "within": self.within,
            "overlaps": [asdict(overlap) for overlap in self.overlaps],
            "leaks": [leak.to_dict() for leak in self.leaks],
            "pictures": self.pictures,
            "undecodable": self.undecodable,
            "plain": self.plain,
            "complete": self.complete,
            "faults": [fault.to_dict() for fault in self.faults],
        }


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markup.table(titles, [[markup.safe(cell) for cell in row] for row in rows]) if rows else ""


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A record by numbers: of its set, of its file, and of itself in that; and a word of its content."""

    set: int
    file: int
    record: int
    content: int


@dataclass(frozen=True, slots=True, order=True)
class _Pair:
    """A leak by numbers. The order is that in which leaks are listed."""

    inside: bool
    kind: int
    feature: int
    second: Spot
    first: Spot
    distance: int


class Collector:
    """Counts pairs, and keeps the first of them.

    Args:
        limit: How many to keep.
        within: Whether to keep those inside of one set, too.
    """

    def __init__(self, limit: int, *, within: bool) -> None:
        self._limit = limit
        self._within = within
        self.counts: Counter[tuple[int, int, int, int]] = Counter()  # sets, kind, feature
        self._pairs: list[_Pair] = []

    def add_group(self, kind: Kind, feature: int, spots: Sequence[Spot]) -> None:
        """Counts records that are all the same, or have the same value; they are in order."""
        number = KINDS.index(kind)
        earlier: dict[int, list[Spot]] = {}  # of each set the first, and the first with another content
        for spot in spots:
            partners = [
                partner
                for some in earlier.values()
                if (partner := _partner(some, spot, any_content=kind == "record")) is not None
            ]
            for partner in partners:
                self.counts[partner.set, spot.set, number, feature] += 1
            if partners:
                self._keep(_Pair(partners[0].set == spot.set, number, feature, spot, partners[0], 0))
            known = earlier.setdefault(spot.set, [])
            if not known or (len(known) == 1 and known[0].content != spot.content):
                known.append(spot)

    def add_near(self, feature: int, first: Spot, second: Spot, distance: int) -> None:
        """Counts two pictures that look the same."""
        if second < first:
            first, second = second, first
        number = KINDS.index("near")
        self.counts[first.set, second.set, number, feature] += 1
        self._keep(_Pair(first.set == second.set, number, feature, second, first, distance))

    def _keep(self, pair: _Pair) -> None:
        if pair.inside and not self._within:
            return
        self._pairs.append(pair)
        if len(self._pairs) > 2 * self._limit + 100:
            self._pairs = sorted(self._pairs)[: self._limit]

    def overlaps(self, names: Sequence[str], features: Sequence[str]) -> list[Overlap]:
        """How many there are between which sets."""
        return [
            Overlap(names[a], names[b], KINDS[kind], _named(kind, feature, features), count)
            for (a, b, kind, feature), count in sorted(self.counts.items())
        ]

    def leaks(
        self, names: Sequence[str], features: Sequence[str], files: Sequence[Sequence[str]]
    ) -> Iterable[Leak]:
        """The first of them."""

        def member(spot: Spot) -> Member:
            return Member(names[spot.set], Place(files[spot.set][spot.file], spot.record))

        for pair in sorted(self._pairs)[: self._limit]:
            name = _named(pair.kind, pair.feature, features)
            yield Leak(KINDS[pair.kind], name, pair.distance, member(pair.first), member(pair.second))


def _named(kind: int, feature: int, features: Sequence[str]) -> str | None:
    return None if KINDS[kind] == "record" else features[feature]


def _partner(spots: Sequence[Spot], spot: Spot, *, any_content: bool) -> Spot | None:
    """The first that is a partner. Of records that are the same as a whole, that was told already."""
    return next((other for other in spots if any_content or other.content != spot.content), None)
