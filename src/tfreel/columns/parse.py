"""`tfreel.parse` and `tfreel.parse_sequence`: many examples in, columns out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.batch import Batch, SequenceBatch
from tfreel.columns.plan import Found, Plan, Raw, mismatch, similar
from tfreel.columns.strings import BytesColumn
from tfreel.errors import DecodeError, FeatureError, MissingFeatureError, TfreelError
from tfreel.features.kinds import Feature
from tfreel.storage.paths import display
from tfreel.threads import thread_count


@dataclass(frozen=True, slots=True)
class Picked:
    """Records in blocks or one by one, and the order in which they are meant.

    Attributes:
        views: Blocks, columns of bytes as their data and offsets, and whatever else holds bytes.
        order: Which of all records in them is the first, the second, …; None if they are in order.
    """

    views: Sequence[Any]
    order: npt.NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        if self.order is not None:
            return len(self.order)
        return sum(map(_size, self.views))

    def __getitem__(self, row: int) -> bytes:
        if self.order is not None:
            row = int(self.order[row])
        for view in self.views:
            size = _size(view)
            if row >= size:
                row -= size
            elif isinstance(view, tuple):
                data, offsets = view
                return bytes(data[offsets[row] : offsets[row + 1]])
            else:
                return view[row] if isinstance(view, _core.Block) else bytes(view)
        raise IndexError(row)


def _size(view: Any) -> int:
    if isinstance(view, tuple):
        return len(view[1]) - 1
    return len(view) if isinstance(view, _core.Block) else 1


Records: TypeAlias = Picked | _core.Block | BytesColumn | Iterable[Any]
Features: TypeAlias = Mapping[str, Feature]


def parse(records: Records, features: Features, *, threads: int | None = None) -> Batch:
    """The features of many serialized Examples, as columns.

    What is not asked for is not looked into.

    Args:
        records: Serialized Examples: an iterable of `bytes`, the result of `tfreel.open`, blocks of a
            reader, or a column of bytes.
        features: What to read, by name.
        threads: How many to use; all processors by default.

    Raises:
        DecodeError: A record is not a valid Example.
        MissingFeatureError: A record lacks a feature that is required.
        FeatureMismatchError: A feature is of another kind, or has another number of values.

    Example:
        >>> records = [tfreel.encode({"label": i, "name": f"no. {i}"}) for i in range(3)]
        >>> batch = tfreel.parse(
        ...     records,
        ...     {"label": tfreel.FixedLenFeature([], "int64"), "name": tfreel.FixedLenFeature([], "bytes")},
        ... )
        >>> batch["label"], batch["name"][2]
        (array([0, 1, 2]), b'no. 2')
    """
    plan = _planned("example", features)
    if not features:
        raise ValueError("no features are asked for")
    rows, found = _found(_picked(records), [plan], threads)
    return _batch(plan, found, rows)


def parse_sequence(
    records: Records,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    *,
    threads: int | None = None,
) -> SequenceBatch:
    """The features of many serialized SequenceExamples, as columns.

    Args:
        records: As in `parse`.
        context_features: What to read of the context: FixedLen, VarLen and Ragged features.
        sequence_features: What to read of the feature lists: FixedLenSequence, VarLen and Ragged features.
        threads: As in `parse`.

    Example:
        >>> records = [tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [3]]})]
        >>> context, sequences, lengths = tfreel.parse_sequence(
        ...     records,
        ...     {"id": tfreel.FixedLenFeature([], "int64")},
        ...     {"tokens": tfreel.RaggedFeature("int64")},
        ... )
        >>> context["id"], sequences["tokens"].to_list(), lengths["tokens"]
        (array([7]), [[[1, 2], [3]]], array([2]))
    """
    if not context_features and not sequence_features:
        raise ValueError("no features are asked for")
    context = _planned("context", context_features or {})
    lists = _planned("lists", sequence_features or {})
    rows, found = _found(_picked(records), [context, lists], threads, sequences=True)
    return _sequence_batch(context, lists, found, rows)


def parsed(
    records: Records,
    features: Features,
    sequence_features: Features,
    *,
    threads: int | None = None,
    padded: bool = True,
) -> Batch | SequenceBatch:
    """What `parse` or, if there are features of feature lists, `parse_sequence` gives. As in `request`."""
    if not padded:
        return parse_flat(
            records, features, sequence_features, sequences=bool(sequence_features), threads=threads
        )
    if sequence_features:
        return parse_sequence(records, features, sequence_features, threads=threads)
    return parse(records, features, threads=threads)


def parse_flat(
    records: Records,
    features: Features,
    sequence_features: Features,
    *,
    sequences: bool,
    threads: int | None = None,
) -> Batch:
    """The features of Examples, or of SequenceExamples, as columns of one type, whatever the records hold.

    What `parse` and `parse_sequence` would fill up to the longest row of the batch has rows of any length
    here. The features of feature lists stand beside the others.
    """
    picked = _picked(records)
    if not features and not sequence_features:
        return Batch({}, len(picked))
    if not sequences:
        plan = _planned("example", features, padded=False)
        rows, found = _found(picked, [plan], threads)
        return _batch(plan, found, rows)
    context = _planned("context", features)
    lists = _planned("lists", sequence_features, padded=False)
    rows, found = _found(picked, [context, lists], threads, sequences=True)
    return _sequence_batch(context, lists, found, rows).merged()


@dataclass(frozen=True, slots=True)
class Request:
    """What some features ask of the core, for those who ask it themselves.

    Attributes:
        specs: The features as the core wants them.
        sequences: Whether these are SequenceExamples.
        build: Makes the batch out of the arrays that the core gives, and the number of rows.
    """

    specs: list[_core.FeatureSpec]
    sequences: bool
    build: Callable[[list[Any], int], Batch | SequenceBatch]


def request(features: Features, sequence_features: Features, *, padded: bool = True) -> Request:
    """What `parse` asks of the core; `parse_sequence`, if there are features of feature lists.

    Args:
        features: As in `parse`.
        sequence_features: As in `parse_sequence`.
        padded: Fill up to the longest row of the batch what they fill up; otherwise it has rows of any
            length, which do not depend on what is read with them.
    """
    if not sequence_features:
        plan = _planned("example", features, padded=padded)
        return Request(list(plan.specs.values()), sequences=False, build=partial(_batch, plan))
    context, lists = _planned("context", features), _planned("lists", sequence_features, padded=padded)
    specs = [*context.specs.values(), *lists.specs.values()]
    return Request(specs, sequences=True, build=partial(_sequence_batch, context, lists))


# Plans by what they were made for: the features, known by their ids, which they keep from being used again.
_PLANS: dict[tuple[object, ...], tuple[Plan, tuple[Feature, ...]]] = {}
_MOST_PLANS = 64

_BYTES_PER_THREAD = 1 << 19  # with fewer bytes of records to parse, a thread would come too late


def _planned(
    place: Literal["example", "context", "lists"], features: Features, *, padded: bool = True
) -> Plan:
    """The plan for some features. Making one takes as long as parsing a hundred records, so they are kept."""
    if type(features) is not dict and not isinstance(features, Mapping):
        raise TypeError(f"features must be a dict of features by name, not {type(features).__name__}")
    asked = tuple(features.values())
    key = (place, padded, *features, *map(id, asked))
    known = _PLANS.get(key)
    if known is not None:
        return known[0]
    plan = Plan(in_lists=place == "lists", in_context=place == "context", padded=padded)
    for name, feature in features.items():
        plan.add(name, feature)
    if len(_PLANS) >= _MOST_PLANS:
        _PLANS.clear()
    _PLANS[key] = plan, asked
    return plan


def _picked(records: Records) -> Picked:
    if isinstance(records, Picked):
        return records
    if isinstance(records, _core.Block):
        return Picked((records,))
    if isinstance(records, BytesColumn) and records.ndim == 1:
        return Picked(((records.data, records.offsets),))
    if isinstance(records, (str, bytes, bytearray, memoryview)):
        raise TypeError("records must be many: put a single one into a list; paths go to tfreel.read first")
    blocks = getattr(records, "blocks", None)
    return Picked(tuple(blocks() if blocks is not None else records))


def _found(
    picked: Picked, plans: list[Plan], threads: int | None, *, sequences: bool = False
) -> tuple[int, list[Any]]:
    """The number of rows, and the arrays for each key of the plans."""
    found = _core.parse(
        picked.views,
        [spec for plan in plans for spec in plan.specs.values()],
        sequences=sequences,
        threads=thread_count if threads is None else thread_count(threads),
        bytes_per_thread=_BYTES_PER_THREAD,
        order=picked.order,
    )
    if isinstance(found, _core.ParseFault):
        keys = [(plan, key) for plan in plans for key in plan.specs]
        plan, key = keys[found.feature] if keys else (Plan(), "")
        raise _error(found, plan, key, picked)
    return found


def _batch(plan: Plan, arrays: list[Any], rows: int) -> Batch:
    found = Found(dict(zip(plan.specs, arrays, strict=True)), rows)
    return Batch({name: found.column(name, build) for name, build in plan.builders.items()}, rows)


def _sequence_batch(context: Plan, lists: Plan, arrays: list[Any], rows: int) -> SequenceBatch:
    steps = arrays[len(context.specs) :]
    by_key = dict(zip(lists.specs, steps, strict=True))
    lengths = {
        name: offsets[1:] - offsets[:-1]
        for name, key in lists.value_keys.items()
        if (offsets := Raw(*by_key[key]).step_offsets) is not None
    }
    return SequenceBatch(
        _batch(context, arrays[: len(context.specs)], rows), _batch(lists, steps, rows), lengths
    )


def _error(fault: _core.ParseFault, plan: Plan, key: str, picked: Picked) -> TfreelError:
    what = "SequenceExample" if plan.in_lists or plan.in_context else "Example"
    if fault.kind in ("proto_malformed", "record_too_large"):
        why = f"{fault.why} at byte {fault.byte}" if fault.why else "it is larger than 2 GiB"
        error = DecodeError(
            f"record {fault.row} is not a valid {what}: {why}", record=fault.row, kind=fault.kind
        )
        error.byte = fault.byte
        return error
    if fault.kind == "feature_missing":
        names = _core.feature_names(picked[fault.row], 2 if plan.in_lists else 1)
        noun = "feature list" if plan.in_lists else "feature"
        missing = MissingFeatureError(
            f"{noun} {key!r} is missing in record {fault.row}; {similar(key, names)}",
            record=fault.row,
            kind=fault.kind,
        )
        missing.feature = key
        return missing
    return _mismatch(fault, plan.specs[key])


def relocate(error: FeatureError | DecodeError, path: str, record: int, offset: int) -> None:
    """Lets an error, which counts the records it was given, say which record of which file it means."""
    text = str(error).replace(f"record {error.record}", f"record {record} of {display(path)}", 1)
    error.args = (text,)
    error.path, error.record, error.offset = path, record, offset


def _mismatch(fault: _core.ParseFault, spec: _core.FeatureSpec) -> FeatureError:
    where = f" in step {fault.step}" if spec.in_lists else ""
    if fault.kind == "feature_kind":
        found = f"{_amount(fault.found_count)} of kind {fault.found_kind}{where}"
        return mismatch(spec.name, fault.row, f"values of kind {spec.kind}", found)
    return mismatch(
        spec.name, fault.row, f"{_amount(spec.count or 0)} of kind {spec.kind}", f"{fault.found_count}{where}"
    )


def _amount(count: int) -> str:
    return f"{count} value" + ("" if count == 1 else "s")
