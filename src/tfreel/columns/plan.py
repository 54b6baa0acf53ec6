"""Features as the core wants them, and the way back: its arrays as columns.

Every feature asks for one or more features of the record by their keys. A key that several ask for in the
same way is read once.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.batch import Column
from tfreel.columns.partitions import cut_into_rows
from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.sparse import Sparse
from tfreel.columns.strings import I64, BytesColumn
from tfreel.errors import FeatureMismatchError
from tfreel.features.kinds import (
    DType,
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

_KINDS: dict[DType, str] = {"int64": "int64", "float32": "float", "bytes": "bytes"}


class Raw(NamedTuple):
    """The arrays that the core makes of one feature; what it does not have is None."""

    values: npt.NDArray[Any]
    value_offsets: I64 | None
    unit_offsets: I64 | None
    step_offsets: I64 | None
    present: npt.NDArray[np.uint8] | None

    def flat(self, *shape: int) -> Flat:
        """All values, in this shape."""
        if self.value_offsets is not None:
            return BytesColumn(self.values, self.value_offsets, shape or None)
        return self.values.reshape(shape) if shape else self.values

    def rows(self, splits: str = "int64") -> Ragged:
        """The values row by row; of a feature list, step by step in every row."""
        if self.unit_offsets is None:
            raise ValueError("a fixed feature has no rows of its own")
        if self.step_offsets is None:
            return Ragged(
                self.flat(),
                self.unit_offsets,
                present=self.mask(len(self.unit_offsets) - 1),
                row_splits_dtype=splits,
            )
        steps = Ragged(self.flat(), self.unit_offsets, row_splits_dtype=splits)
        return Ragged(
            steps, self.step_offsets, present=self.mask(len(self.step_offsets) - 1), row_splits_dtype=splits
        )

    def mask(self, rows: int) -> npt.NDArray[np.bool_] | None:
        """Whether each row is there; None if all are."""
        if self.present is None:
            return None
        return np.unpackbits(self.present, count=rows, bitorder="little").astype(np.bool_)


class Found:
    """What the core found, by key."""

    __slots__ = ("arrays", "rows")

    def __init__(self, arrays: Mapping[str, tuple[Any, ...]], rows: int) -> None:
        self.arrays = arrays
        self.rows = rows

    def __getitem__(self, key: str) -> Raw:
        return Raw(*self.arrays[key])

    def column(self, name: str, build: Build | None) -> Column:
        """The column that a builder makes; without one, the values as they are."""
        if build is not None:
            return build(self)
        values: npt.NDArray[Any] = self.arrays[name][0]
        return values


Build: TypeAlias = Callable[[Found], Column]


@dataclass
class Plan:
    """What to ask the core for, and what to make of it.

    Attributes:
        in_lists: These are features of the feature lists of a SequenceExample.
        in_context: These are features of its context.
        padded: Steps of any number are filled up to an array; otherwise they are rows of any length.
        specs: What to ask for, by key.
        builders: For each feature, what makes its column of the arrays of all keys; None for single numbers,
            which are their column already.
        value_keys: For each feature, the key of its values.
    """

    in_lists: bool = False
    in_context: bool = False
    padded: bool = True
    specs: dict[str, _core.FeatureSpec] = field(default_factory=dict)
    builders: dict[str, Build | None] = field(default_factory=dict)
    value_keys: dict[str, str] = field(default_factory=dict)
    _shared: dict[str, DType] = field(default_factory=dict)

    def add(self, name: str, feature: Feature) -> None:
        """Takes up one feature.

        Raises:
            TypeError: It is none.
            ValueError: It does not go with the others, or not in this place.
        """
        if not isinstance(name, str):
            raise TypeError(f"features are named by str, not {type(name).__name__}")
        add = _ADDERS.get(type(feature))
        if add is None:
            raise TypeError(
                f"feature {name!r} must be a FixedLenFeature, VarLenFeature, RaggedFeature, SparseFeature or"
                f" FixedLenSequenceFeature, not {type(feature).__name__}"
            )
        self.builders[name] = add(self, name, feature)
        value_key = getattr(feature, "value_key", None)
        self.value_keys[name] = name if value_key is None else value_key

    def ask(self, key: str, dtype: DType, **options: Any) -> None:
        """Asks for a key that nothing else may ask for."""
        if key in self.specs:
            raise ValueError(f"two features ask for {key!r}, in different ways")
        self.specs[key] = _core.FeatureSpec(key, _KINDS[dtype], in_lists=self.in_lists, **options)

    def share(self, key: str, dtype: DType) -> None:
        """Asks for any number of values of a key, as others may too."""
        if self._shared.get(key) == dtype:
            return
        self.ask(key, dtype)
        self._shared[key] = dtype


def _add_fixed(plan: Plan, name: str, feature: FixedLenFeature) -> Build | None:
    if plan.in_lists:
        raise ValueError(f"feature list {name!r} cannot be a FixedLenFeature: use FixedLenSequenceFeature")
    default = feature.default_value
    plan.ask(
        name,
        feature.dtype,
        count=math.prod(feature.shape),
        required=default is None,
        default=None if default is None else np.array(default, object).ravel().tolist(),
        kindless_is_empty=plan.in_context,
    )
    if feature.shape == () and feature.dtype != "bytes":
        return None
    return lambda found: found[name].flat(found.rows, *feature.shape)


def _add_var_len(plan: Plan, name: str, feature: VarLenFeature) -> Build:
    plan.share(name, feature.dtype)
    return lambda found: Sparse.from_ragged(found[name].rows())


def _add_fixed_sequence(plan: Plan, name: str, feature: FixedLenSequenceFeature) -> Build:
    stride = math.prod(feature.shape)
    if plan.in_lists:
        if feature.default_value is not None:
            raise ValueError(f"feature list {name!r} cannot have a default_value")
        plan.ask(name, feature.dtype, count=stride, required=not feature.allow_missing)
    elif plan.in_context:
        raise ValueError(f"context feature {name!r} cannot be a FixedLenSequenceFeature")
    elif not feature.allow_missing:
        raise ValueError(
            f"feature {name!r}: a FixedLenSequenceFeature of an Example needs allow_missing=True"
        )
    else:
        plan.share(name, feature.dtype)

    def build(found: Found) -> Column:
        raw = found[name]
        offsets = raw.step_offsets
        if offsets is not None:
            flat = raw.flat(int(offsets[-1]), *feature.shape)
            items = Ragged(flat, offsets, present=raw.mask(len(offsets) - 1))
        else:
            items = _items(name, raw.rows(), feature.shape)
        return items.to_dense(feature.default_value) if plan.padded else items

    return build


def _items(name: str, rows: Ragged, shape: tuple[int, ...]) -> Ragged:
    """The values of each row in items of a shape."""
    stride = math.prod(shape)
    uneven = np.flatnonzero(rows.lengths % stride)
    if len(uneven):
        count = int(rows.lengths[uneven[0]])
        raise mismatch(name, int(uneven[0]), f"a multiple of {stride} values", f"{count} of them")
    values = rows.values
    if isinstance(values, BytesColumn):
        values = BytesColumn(values.data, values.offsets, (len(values) // stride, *shape))
    elif isinstance(values, np.ndarray):
        values = values.reshape(-1, *shape)
    return Ragged(values, rows.offsets // stride, present=rows.present)


def _add_sparse(plan: Plan, name: str, feature: SparseFeature) -> Build:
    if plan.in_lists or plan.in_context:
        raise ValueError(f"feature {name!r}: a SparseFeature is for Examples only")
    for key in feature.index_keys:
        plan.share(key, "int64")
    plan.share(feature.value_key, feature.dtype)

    def build(found: Found) -> Column:
        values = found[feature.value_key].rows()
        columns = [np.repeat(np.arange(found.rows), values.lengths)]
        for key in feature.index_keys:
            index = found[key].rows()
            differ = np.flatnonzero(index.lengths != values.lengths)
            if len(differ):
                i = int(differ[0])
                raise mismatch(
                    key,
                    i,
                    f"one for each of {int(values.lengths[i])} values",
                    f"{int(index.lengths[i])} positions",
                )
            columns.append(np.asarray(index.values))
        indices = np.stack(columns, axis=1)
        flat = values.flat_values
        if not feature.already_sorted:
            order = np.lexsort(columns[::-1])
            indices = indices[order]
            flat = flat[order] if isinstance(flat, np.ndarray) else flat.take(order)
        return Sparse(indices, flat, (found.rows, *feature.sizes), present=values.present)

    return build


def _add_ragged(plan: Plan, name: str, feature: RaggedFeature) -> Build:
    value_key = name if feature.value_key is None else feature.value_key
    plan.share(value_key, feature.dtype)
    for partition in feature.partitions:
        if not isinstance(partition, RaggedFeature.UniformRowLength):
            plan.share(partition.key, "int64")

    def build(found: Found) -> Column:
        column = found[value_key].rows(feature.row_splits_dtype)
        if not feature.partitions:
            return column
        return _partitioned(name, feature, column, found)

    return build


def _partitioned(name: str, feature: RaggedFeature, column: Ragged, found: Found) -> Ragged:
    """The values of each example (of a feature list: of each step) cut into rows of rows."""
    units = column.values if isinstance(column.values, Ragged) else column
    values: Flat | Ragged = units.flat_values
    counts = units.lengths
    splits = feature.row_splits_dtype

    def refuse(example: int, why: str) -> NoReturn:
        if units is not column:
            example = int(np.searchsorted(column.offsets, example, "right")) - 1
        raise mismatch(name, example, "rows that fit its values", why)

    for partition in reversed(feature.partitions):
        keys = None
        if not isinstance(partition, RaggedFeature.UniformRowLength):
            keys = found[partition.key].rows()
            if isinstance(keys.values, Ragged):
                if not np.array_equal(keys.offsets, column.offsets):
                    differ = int(np.argmax(keys.offsets != column.offsets)) - 1
                    raise mismatch(
                        name, differ, "a step for each of its partitions", "another number of steps"
                    )
                keys = keys.values
        values, counts = cut_into_rows(values, counts, partition, keys, splits, refuse)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    inner = Ragged(values, offsets, present=units.present, row_splits_dtype=splits)
    if units is column:
        return inner
    return Ragged(inner, column.offsets, present=column.present, row_splits_dtype=splits)


_ADDERS: dict[type, Any] = {
    FixedLenFeature: _add_fixed,
    VarLenFeature: _add_var_len,
    FixedLenSequenceFeature: _add_fixed_sequence,
    SparseFeature: _add_sparse,
    RaggedFeature: _add_ragged,
}


def mismatch(name: str, record: int, expected: str, found: str) -> FeatureMismatchError:
    """The error for a feature that is not what it should be."""
    error = FeatureMismatchError(
        f"feature {name!r} of record {record}: expected {expected}, found {found}",
        record=record,
        kind="feature_mismatch",
    )
    error.feature, error.expected, error.found = name, expected, found
    return error


def no_such_feature(name: str, names: Iterable[str]) -> str:
    """What to say where somebody named a feature that is none of these."""
    hint = similar(name, list(names)).replace("it has", "there are", 1)
    return f"no feature is called {name!r}; {hint}"


def similar(name: str, names: list[str]) -> str:
    """A hint at the names that there are, the nearest first."""
    if not names:
        return "the record has no features"
    # A record can have millions of names, of any length. A hint must not take longer than the parsing.
    count = len(names)
    # Sorted, because the order in a record is often one of chance.
    names = sorted(known if len(known) <= 100 else known[:99] + "…" for known in names[:1000])
    folded = {known.casefold(): known for known in reversed(names)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    tail = name.rpartition("/")[2].casefold()
    inside = [known for known in names if known.casefold() in name.casefold() or tail in known.casefold()]
    guess = folded[near[0]] if near else (max(inside, key=len) if inside else None)
    shown = ", ".join(map(repr, names[:8])) + (f" and {count - 8:,} more" if count > 8 else "")
    return f"it has {shown}" + (f" — did you mean {guess!r}?" if guess else "")
