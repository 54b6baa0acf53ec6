"""What differs, as values: two records feature by feature, and all changes between two sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from tfreel import markup
from tfreel.errors import DecodeError
from tfreel.examples.decode import decode_sequence
from tfreel.inference.sample import Place
from tfreel.inference.words import bytes_cell, cell, steps_cell
from tfreel.records.report import Fault

Kind: TypeAlias = Literal["changed", "removed", "added", "moved"]
Name: TypeAlias = tuple[bool, str]  # whether it is of a feature list, and what it is called

_MOST_FEATURES = 10_000
_MOST_SHOWN = 20  # in a notebook
_MOST_FEATURES_SHOWN = 4
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """How one feature of a record differs.

    Attributes:
        feature: Its name; None for all bytes of a record that is no Example.
        old: Its values in a few words; None if it was absent.
        new: Its values in a few words; None if it is absent.
        note: Where they differ, when the words do not show it.
    """

    feature: str | None
    old: str | None
    new: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One record that differs.

    Attributes:
        kind: ``"changed"``; ``"removed"``, which only A has; ``"added"``, which only B has; or ``"moved"``.
        old: Where it is in A: file, and number in it.
        new: Where it is in B.
        features: Of a changed record, what differs.
        content: Of any other, what it holds, in a few words.
    """

    kind: Kind
    old: Place | None
    new: Place | None
    features: tuple[FeatureChange, ...] = ()
    content: str = ""


@dataclass(slots=True)
class Difference:
    """What `diff` gives: how much differs, and the first of it.

    Attributes:
        unordered: Whether A and B were compared as sets.
        records_a: How many A has.
        records_b: How many B has.
        equal: Records that are the same in both.
        reencoded: Of these, how many are other bytes with the same content. Not counted for sets.
        changed: Records with other values.
        removed: Records that only A has.
        added: Records that only B has.
        moved: Records that are in both, but elsewhere.
        changes: The first of these, as many as were asked for.
        features: In how many changed records each feature differs.
        faults: Damage that was passed over.
    """

    unordered: bool = False
    records_a: int = 0
    records_b: int = 0
    equal: int = 0
    reencoded: int = 0
    changed: int = 0
    removed: int = 0
    added: int = 0
    moved: int = 0
    changes: list[Change] = field(default_factory=list)
    features: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.changed or self.removed or self.added or self.moved)

    @property
    def reordered(self) -> bool:
        """Whether the order is all that differs."""
        return bool(self.moved) and not (self.changed or self.removed or self.added)

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return not self.same

    def count(self, names: Iterable[Name]) -> None:
        """Takes note of the features that differ in one record."""
        for _, name in names:
            if name in self.features or len(self.features) < _MOST_FEATURES:
                self.features[name] = self.features.get(name, 0) + 1

    def _repr_html_(self) -> str:
        kinds = ("equal", "changed", "removed", "added", "moved")
        counts = ", ".join(f"{getattr(self, kind):,} {kind}" for kind in kinds if getattr(self, kind))
        rows = []
        for change in self.changes[:_MOST_SHOWN]:
            features = change.features or (FeatureChange(None, change.content, None),)
            rows += [(change.kind, change.old, change.new, f.feature, f.old, f.new) for f in features]
        titles = ("", "in A", "in B", "feature", "was", "is")
        cells = [[markup.safe("" if cell is None else cell) for cell in row] for row in rows]
        title = f"tfreel.profile.Difference: {'the same' if self.same else 'different'}"
        return markup.block(title, markup.note(counts), markup.table(titles, cells) if rows else "")

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain values, for JSON."""
        counts = ("records_a", "records_b", "equal", "reencoded", "changed", "removed", "added", "moved")
        return {
            "same": self.same,
            "unordered": self.unordered,
            **{name: getattr(self, name) for name in counts},
            "features": dict(self.features),
            "changes": [asdict(change) for change in self.changes],
            "faults": [fault.to_dict() for fault in self.faults],
        }


class Content:
    """What a record holds: features by name, with those of lists apart from those of the context."""

    __slots__ = ("_keys", "features", "record")

    def __init__(self, record: bytes) -> None:
        self.record = record
        self._keys: dict[Name, Any] | None = None
        self.features: dict[Name, Any] | None = None
        try:
            context, lists = decode_sequence(record)
        except DecodeError:
            return
        if context or lists:
            self.features = {(False, name): value for name, value in context.items()}
            self.features |= {(True, name): steps for name, steps in lists.items()}

    @property
    def keys(self) -> Mapping[Name, Any]:
        """For each feature, something that is equal just where its values are."""
        if self._keys is None:
            self._keys = {name: _key(value) for name, value in (self.features or {}).items()}
        return self._keys

    def words(self) -> str:
        """All of it in a few words."""
        if self.features is None:
            return bytes_cell(self.record)
        shown = [
            f"{_shortened(name[1])}: {_words(name, value)}"
            for name, value in sorted(self.features.items())[:_MOST_FEATURES_SHOWN]
        ]
        more = len(self.features) - len(shown)
        return ", ".join(shown) + (f", … {more:,} more" if more > 0 else "")


_NOTHING = object()


def differing(old: Content, new: Content) -> list[Name]:
    """The features in which two records differ; none if one of them has none, and their bytes differ."""
    if old.features is None or new.features is None:
        return []
    names = {**old.features, **new.features}
    return sorted(name for name in names if old.keys.get(name, _NOTHING) != new.keys.get(name, _NOTHING))


def described(old: Content, new: Content, names: Iterable[Name]) -> tuple[FeatureChange, ...]:
    """How two records differ in these features."""
    if old.features is None or new.features is None:
        note = _bytes_note(old.record, new.record)
        return (FeatureChange(None, bytes_cell(old.record), bytes_cell(new.record), note),)
    changes = []
    for name in names:
        was = _words(name, old.features[name]) if name in old.features else None
        now = _words(name, new.features[name]) if name in new.features else None
        note = "" if was is None or now is None else _note(old.features[name], new.features[name])
        changes.append(FeatureChange(name[1], was, now, note))
    return tuple(changes)


def _key(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(item if isinstance(item, bytes) else _key(item) for item in value)
    # By their bits: then NaN is equal to itself, and minus zero is not zero.
    return None if value is None else (value.dtype.str, value.shape, value.tobytes())


def _words(name: Name, value: Any) -> str:
    return steps_cell(value) if name[0] else cell(value)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _note(old: Any, new: Any) -> str:
    """Where two values differ, if there are too many of them to see it."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return _array_note(old, new)
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"{len(old):,} and {len(new):,} values"
        i = next(i for i in range(len(old)) if _key([old[i]]) != _key([new[i]]))
        if isinstance(old[i], bytes) and isinstance(new[i], bytes):
            where = f"value {i:,}: " if len(old) > 1 else ""
            return where + _bytes_note(old[i], new[i])
        return f"from step {i:,} on"
    return "another kind of values"


def _array_note(old: Any, new: Any) -> str:
    if old.dtype != new.dtype:
        return f"{old.dtype} and {new.dtype}"
    if old.shape != new.shape:
        return f"{old.size:,} and {new.size:,} values"
    if old.size == 1:
        return ""
    width = old.dtype.itemsize
    bits = [np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, width) for array in (old, new)]
    differ = (bits[0] != bits[1]).any(axis=1)
    return f"{int(differ.sum()):,} of {old.size:,} values, from {int(differ.argmax()):,} on"


def _bytes_note(old: bytes, new: bytes) -> str:
    both = min(len(old), len(new))
    one, other = (np.frombuffer(value, np.uint8, both) for value in (old, new))
    differ = one != other
    return f"from byte {int(differ.argmax()) if differ.any() else both:,} on"
