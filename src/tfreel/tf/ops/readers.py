"""Readers: what some features ask for, read of one record or of many. They are kept, to be found again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfreel.columns.batch import Batch
from tfreel.columns.parse import parse
from tfreel.errors import MissingFeatureError, TfreelError
from tfreel.tf.errors import OpError, translated
from tfreel.tf.graphs.rows import Column
from tfreel.tf.ops import features as asked
from tfreel.tf.ops.readings import Reading, reading_of
from tfreel.tf.values.dtypes import as_dtype


class ExampleReader:
    """Reads what some features ask for."""

    def __init__(self, features: Mapping[Any, Any]) -> None:
        names = [_text(key) for key in features]
        readings = [reading_of(name, each) for name, each in zip(names, features.values(), strict=True)]
        _refuse_conflicts(dict(zip(names, features.values(), strict=True)))
        found = dict(zip(features, readings, strict=True))
        self._native = {name: each.native for name, each in zip(names, readings, strict=True)}
        self._names = dict(zip(features, names, strict=True))
        self.readings: dict[Any, Reading] = {key: found[key] for key in sorted(found, key=_place(features))}

    def parsed(self, records: Any, example_names: Any = None, *, single: bool = False) -> Batch:
        """The columns of some records.

        Raises:
            InvalidArgumentError: One of them is no Example, or does not have what is asked for.
        """
        try:
            return parse(records, self._native)
        except OpError:
            raise
        except TfreelError as error:
            raise self._told(error, example_names, single=single) from error

    def single(self, record: bytes) -> dict[Any, Any]:
        """The values of one record."""
        batch = self.parsed((record,), single=True)
        return {key: each.rows(batch[self._names[key]]).row(0) for key, each in self.readings.items()}

    def batch(self, records: Any, example_names: Any) -> dict[Any, Any]:
        """The values of many records."""
        batch = self.parsed(records, example_names)
        return {key: each.batch(batch[self._names[key]]) for key, each in self.readings.items()}

    def rows(self, records: Any) -> list[Column]:
        """A column for each feature, in the order of their keys."""
        batch = self.parsed(records)
        return [self.readings[key].rows(batch[self._names[key]]) for key in sorted(self.readings)]

    def _told(self, error: TfreelError, names: Any, *, single: bool) -> Exception:
        """The error as TensorFlow's: it names the example, and does not count where there is only one."""
        record = error.record
        text = str(error)
        if isinstance(error, MissingFeatureError):
            dtype = _KINDS[self._native[str(error.feature)].dtype]
            told = f"Feature: {error.feature} (data type: {dtype}) is required but could not be found."
            text = f"{told} {text}"
        if single:
            text = _uncounted(text)
        elif names is not None and len(names) and record is not None:
            text = f"Name: {_text(names[record])}, {text}"
        made = translated(error)
        made.args = (text,)
        made.message = text  # type: ignore[attr-defined]
        return made


_KINDS = {"int64": "int64", "float32": "float", "bytes": "string"}


def _uncounted(text: str) -> str:
    for counted in (" in record 0", " of record 0"):
        text = text.replace(counted, "")
    return text.replace("record 0 is not", "Could not parse example input: not", 1)


def _text(key: Any) -> str:
    if isinstance(key, bytes):
        return key.decode()
    if not isinstance(key, str):
        raise TypeError(f"features are named by strings, not {key!r}")
    return key


def _place(features: Mapping[Any, Any]) -> Any:
    """Where TensorFlow has a feature in its results: first sparse ones, then dense ones, then ragged ones."""

    def place(key: Any) -> tuple[int, str]:
        feature = features[key]
        if isinstance(feature, asked.VarLenFeature):
            group = 0
        elif isinstance(feature, (asked.FixedLenFeature, asked.FixedLenSequenceFeature)):
            group = 1
        else:
            own = isinstance(feature, asked.RaggedFeature) and feature.value_key in (None, key)
            group = 2 if own else 3
        return group, _text(key)

    return place


def _refuse_conflicts(features: Mapping[str, Any]) -> None:
    """A key can be read in one of three ways, and as one dtype."""
    ways: dict[str, Any] = {}
    for name, feature in features.items():
        for key, way in _keys_of(name, feature):
            if ways.setdefault(key, way) != way:
                raise ValueError(
                    f"Conflicting features for key {key!r}: it is asked for as {ways[key]} and as {way}"
                )


def _keys_of(name: str, feature: Any) -> list[tuple[str, tuple[Any, ...]]]:
    dtype = as_dtype(feature.dtype)
    if isinstance(feature, asked.VarLenFeature):
        return [(name, ("sparse", dtype))]
    if isinstance(feature, asked.SparseFeature):
        keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
        return [
            (feature.value_key, ("sparse", dtype)),
            *((key, ("sparse", as_dtype("int64"))) for key in keys),
        ]
    if isinstance(feature, asked.RaggedFeature):
        splits = feature.row_splits_dtype
        keys = [each.key for each in feature.partitions if hasattr(each, "key")]
        value_key = name if feature.value_key is None else feature.value_key
        return [
            (value_key, ("ragged", dtype, splits)),
            *((key, ("ragged", as_dtype("int64"), splits)) for key in keys),
        ]
    return [(name, ("dense", dtype))]


# Readers by the features that they were made for: by their ids, which are kept from being used again, and by
# what they say, for who makes them anew each time.
_BY_ID: dict[tuple[Any, ...], tuple[ExampleReader, tuple[Any, ...]]] = {}
_BY_CONTENT: dict[Any, ExampleReader] = {}
_MOST_READERS = 64


def reader_of(features: Any) -> ExampleReader:
    """The reader for some features; making one takes longer than parsing some records, so they are kept."""
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features!r}")
    given = tuple(features.values())
    key = (*features, *map(id, given))
    known = _BY_ID.get(key)
    if known is not None:
        return known[0]
    content = _content(features)
    reader = None if content is None else _BY_CONTENT.get(content)
    if reader is None:
        reader = ExampleReader(features)
    if len(_BY_ID) >= _MOST_READERS:
        _BY_ID.clear()
        _BY_CONTENT.clear()
    _BY_ID[key] = reader, given
    if content is not None:
        _BY_CONTENT[content] = reader
    return reader


def _content(features: Mapping[Any, Any]) -> Any:
    """Something hashable that is the same for features that say the same, if there is such a thing."""
    content = tuple(
        (key, type(each), *((type(part), tuple(part) if type(part) is list else part) for part in each))
        for key, each in features.items()
        if isinstance(each, tuple)
    )
    try:
        hash(content)
    except TypeError:
        return None
    return content if len(content) == len(features) else None
