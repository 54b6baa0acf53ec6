"""Readers: what some features ask for, read of one record or of many. They are kept, to be found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfreel.columns.batch import Batch, SequenceBatch
from tfreel.columns.parse import parse, parse_sequence
from tfreel.errors import MissingFeatureError, TfreelError
from tfreel.features.kinds import Feature
from tfreel.tf.errors import OpError, translated
from tfreel.tf.graphs.rows import Column
from tfreel.tf.ops.feature_keys import place_in_results, refuse_conflicts, text_of
from tfreel.tf.ops.readings import Reading, StepReading, Steps, context_reading, list_reading, reading_of


class Asked:
    """Some features, each with its reading.

    Attributes:
        native: What the parser is asked for, by name.
        readings: What is made of what it finds, by key.
    """

    def __init__(self, features: Mapping[Any, Any], reading: Callable[[str, Any], Reading]) -> None:
        self._names = {key: text_of(key) for key in features}
        found = {key: reading(self._names[key], each) for key, each in features.items()}
        refuse_conflicts({self._names[key]: each for key, each in features.items()})
        self.native: dict[str, Feature] = {self._names[key]: each.native for key, each in found.items()}
        self.readings = {key: found[key] for key in sorted(found, key=place_in_results(features))}

    def columns(self, batch: Batch, lengths: Mapping[str, Any] | None = None) -> dict[Any, Any]:
        """What was found, by key; of lists of items, with how many there are in each record."""
        if lengths is None:
            return {key: batch[self._names[key]] for key in self.readings}
        return {
            key: Steps(batch[name], lengths[name]) if isinstance(each, StepReading) else batch[name]
            for key, each in self.readings.items()
            for name in (self._names[key],)
        }

    def singles(self, columns: Mapping[Any, Any]) -> dict[Any, Any]:
        """The values of the first record."""
        return {key: each.rows(columns[key]).row(0) for key, each in self.readings.items()}

    def batches(self, columns: Mapping[Any, Any]) -> dict[Any, Any]:
        """The values of all records."""
        return {key: each.batch(columns[key]) for key, each in self.readings.items()}

    def rows(self, columns: Mapping[Any, Any]) -> list[Column]:
        """A column for each feature, in the order of their keys."""
        return [self.readings[key].rows(columns[key]) for key in sorted(self.readings)]

    def single_specs(self) -> dict[Any, Any]:
        """The specs of the values of one record."""
        return {key: each.single_spec() for key, each in self.readings.items()}

    def batch_specs(self, count: int | None) -> dict[Any, Any]:
        """The specs of the values of many."""
        return {key: each.batch_spec(count) for key, each in self.readings.items()}


class ExampleReader:
    """Reads what some features ask for of Examples."""

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self.asked = Asked(features, reading_of)

    def single(self, record: bytes) -> dict[Any, Any]:
        """The values of one record."""
        return self.asked.singles(self._parsed((record,), single=True))

    def batch(self, records: Any, example_names: Any) -> dict[Any, Any]:
        """The values of many records."""
        return self.asked.batches(self._parsed(records, example_names))

    def rows(self, records: Any) -> list[Column]:
        """A column for each feature, in the order of their keys."""
        return self.asked.rows(self._parsed(records))

    def _parsed(self, records: Any, names: Any = None, *, single: bool = False) -> dict[Any, Any]:
        try:
            return self.asked.columns(parse(records, self.asked.native))
        except OpError:
            raise
        except TfreelError as error:
            raise _told(error, self.asked.native, names, single=single) from error


class SequenceReader:
    """Reads what some features ask for of SequenceExamples."""

    def __init__(self, context: Mapping[Any, Any], lists: Mapping[Any, Any]) -> None:
        self.context = Asked(context, context_reading)
        self.lists = Asked(lists, list_reading)
        self.counted = [key for key, each in self.lists.readings.items() if isinstance(each, StepReading)]

    def single(self, record: bytes, name: Any) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, Any]]:
        """The values of one record: of the context, of the lists, and how long the lists are."""
        context, lists = self._parsed((record,), None if name is None else [name], single=True)
        lengths = {key: lists[key].lengths[:1].reshape(()) for key in self.counted}
        return self.context.singles(context), self.lists.singles(lists), lengths

    def batch(self, records: Any, names: Any) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, Any]]:
        """The values of many records."""
        context, lists = self._parsed(records, names)
        lengths = {key: lists[key].lengths for key in self.counted}
        return self.context.batches(context), self.lists.batches(lists), lengths

    def rows(self, records: Any) -> list[Column]:
        """A column for each feature: of the context, and then of the lists."""
        context, lists = self._parsed(records)
        return [*self.context.rows(context), *self.lists.rows(lists)]

    def _parsed(
        self, records: Any, names: Any = None, *, single: bool = False
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        try:
            found: SequenceBatch = parse_sequence(records, self.context.native, self.lists.native)
        except TfreelError as error:
            native = {**self.lists.native, **self.context.native}
            raise _told(error, native, names, single=single) from error
        return self.context.columns(found.context), self.lists.columns(found.sequences, found.lengths)


def _told(error: TfreelError, native: Mapping[str, Any], names: Any, *, single: bool) -> Exception:
    """The error as TensorFlow's: it names the example, and does not count where there is only one."""
    record = error.record
    text = str(error)
    if isinstance(error, MissingFeatureError):
        dtype = _KINDS[native[str(error.feature)].dtype]
        text = f"Feature: {error.feature} (data type: {dtype}) is required but could not be found. {text}"
    if single:
        text = _uncounted(text)
    if names is not None and len(names) and record is not None:
        text = f"Name: {text_of(names[record])}, {text}"
    made = translated(error)
    made.args = (text,)
    made.message = text  # type: ignore[attr-defined]
    return made


_KINDS = {"int64": "int64", "float32": "float", "bytes": "string"}


def _uncounted(text: str) -> str:
    for counted in (" in record 0", " of record 0"):
        text = text.replace(counted, "")
    return text.replace("record 0 is not", "Could not parse example input: not", 1)


# Readers by the features that they were made for: by their ids, which are kept from being used again, and by
# what they say, for who makes them anew each time.
_BY_ID: dict[tuple[Any, ...], tuple[Any, tuple[Any, ...]]] = {}
_BY_CONTENT: dict[Any, Any] = {}
_MOST_READERS = 64


def reader_of(features: Any) -> ExampleReader:
    """The reader for some features of Examples.

    Raises:
        ValueError: There are none, or they have no names.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features!r}")
    if not isinstance(features, Mapping):
        raise ValueError(f"Argument `features` must be a dict of features by their names. Got {features!r}")
    reader: ExampleReader = _kept(ExampleReader, features)
    return reader


def sequence_reader_of(context_features: Any, sequence_features: Any) -> SequenceReader:
    """The reader for some features of SequenceExamples.

    Raises:
        ValueError: There are none.
    """
    if not context_features and not sequence_features:
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have"
            " values."
        )
    reader: SequenceReader = _kept(SequenceReader, context_features or {}, sequence_features or {})
    return reader


def _kept(make: Callable[..., Any], *features: Mapping[Any, Any]) -> Any:
    """A reader, which is made only once: that takes longer than parsing some records."""
    given = tuple(each for part in features for each in part.values())
    key = (
        make,
        *(len(part) for part in features),
        *(key for part in features for key in part),
        *map(id, given),
    )
    known = _BY_ID.get(key)
    if known is not None:
        return known[0]
    content = _content(features)
    reader = None if content is None else _BY_CONTENT.get((make, content))
    if reader is None:
        reader = make(*features)
    if len(_BY_ID) >= _MOST_READERS:
        _BY_ID.clear()
        _BY_CONTENT.clear()
    _BY_ID[key] = reader, given
    if content is not None:
        _BY_CONTENT[make, content] = reader
    return reader


def _content(features: tuple[Mapping[Any, Any], ...]) -> Any:
    """Something hashable that is the same for features that say the same, if there is such a thing."""
    if not all(isinstance(each, tuple) for part in features for each in part.values()):
        return None
    content = tuple(
        tuple(
            (
                key,
                type(each),
                *((type(field), tuple(field) if type(field) is list else field) for field in each),
            )
            for key, each in part.items()
        )
        for part in features
    )
    try:
        hash(content)
    except TypeError:
        return None
    return content
