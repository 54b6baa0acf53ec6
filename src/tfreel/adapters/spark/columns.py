"""Columns of Spark and features of records: which is which, in both directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

from tfreel.adapters.spark.options import RecordType
from tfreel.features.kinds import DType, Feature, FixedLenFeature, RaggedFeature, VarLenFeature
from tfreel.inference import FeatureProfile, InferredFeatures

BYTE_ARRAY = "byteArray"  # the name that the column of whole records has if nobody gives it another

_KINDS: dict[type[Any], DType] = {
    T.BooleanType: "int64",
    T.ByteType: "int64",
    T.ShortType: "int64",
    T.IntegerType: "int64",
    T.LongType: "int64",
    T.FloatType: "float32",
    T.DoubleType: "float32",
    T.StringType: "bytes",
    T.BinaryType: "bytes",
}
_PLAIN: dict[DType, Any] = {"int64": T.LongType(), "float32": T.FloatType(), "bytes": T.BinaryType()}
_CASTS = {
    "decimal": 'cast it to "double"',
    "timestamp": 'cast it to "long", which are seconds',
    "date": 'turn it into a number with "unix_date", or into text',
    "struct": "make its fields columns of their own",
    "map": 'take it apart with "map_keys" and "map_values"',
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of Spark, as a record sees it.

    Attributes:
        name: Of the column, and of the feature.
        dtype: The kind of its values.
        depth: 0 for single values, 1 for arrays, 2 for arrays of arrays: the steps of a feature list.
        type: Spark's type of one value.
    """

    name: str
    dtype: DType
    depth: int
    type: Any


def columns_of(schema: Any) -> list[Column]:
    """What the columns of a schema are.

    Raises:
        ValueError: One of them cannot be a feature.
    """
    return [_column(field.name, field.dataType) for field in schema.fields]


def _column(name: str, of: Any) -> Column:
    depth, element = 0, of
    while isinstance(element, T.ArrayType) and depth < 3:
        depth, element = depth + 1, element.elementType
    dtype = _KINDS.get(type(element))
    if dtype is None or depth > 2:
        word = element.typeName().partition("_")[0].partition("(")[0]
        advice = _CASTS.get(word, "an Example holds integers, floats and bytes, and arrays of them")
        raise ValueError(f"column {name!r} of type {of.simpleString()} cannot be a feature: {advice}")
    return Column(name, dtype, depth, element)


def record_type_of(columns: Iterable[Column], said: RecordType | None) -> RecordType:
    """What records with these columns are: what was said, or what it takes to hold them.

    Raises:
        ValueError: What was said cannot hold them.
    """
    columns = list(columns)
    nested = [column.name for column in columns if column.depth == 2]
    if said == "ByteArray" and [(column.dtype, column.depth) for column in columns] != [("bytes", 0)]:
        names = ", ".join(repr(column.name) for column in columns)
        raise ValueError(f"recordType ByteArray is for one column of binaries, not for {names}")
    if said == "Example" and nested:
        raise ValueError(
            f"column {nested[0]!r} holds arrays of arrays, which are feature lists: recordType must be"
            " SequenceExample"
        )
    return said or ("SequenceExample" if nested else "Example")


def inferred_schema(found: InferredFeatures, record_type: RecordType | None) -> Any:
    """The schema for what was seen in records.

    Raises:
        ValueError: There were no records, or they are not of the type that was said.
    """
    if not found.records:
        raise ValueError("there are no records to tell the columns from: give a schema, with .schema(…)")
    if record_type == "Example" and found.sequence_features:
        raise ValueError("these are SequenceExamples: leave the option recordType out, or say so")
    fields = [_field(name, found.profiles[name], depth=0) for name in found]
    fields += [_field(name, found.sequence_profiles[name], depth=2) for name in found.sequence_features]
    return T.StructType(fields)


def _field(name: str, profile: FeatureProfile, *, depth: int) -> Any:
    dtype = next(iter(profile.kinds))
    # Text, if all that was seen is: what is not will be an error that names its record.
    of = T.StringType() if set(profile.contents) <= {"text", "empty"} and dtype == "bytes" else _PLAIN[dtype]
    single = profile.lengths == (1, 1) and not profile.empty
    return T.StructField(name, _nested(of, depth or (0 if single else 1)))


def told_schema(features: Mapping[str, Feature]) -> Any:
    """The schema for features that were given.

    Raises:
        ValueError: One of them has no column.
    """
    fields = []
    for name, feature in features.items():
        simple = isinstance(feature, (FixedLenFeature, VarLenFeature)) or (
            isinstance(feature, RaggedFeature) and not feature.partitions
        )
        if not simple:
            raise ValueError(
                f"feature {name!r}: a {type(feature).__name__} of several features has no column here"
            )
        single = isinstance(feature, FixedLenFeature) and feature.shape == ()
        fields.append(T.StructField(name, _nested(_PLAIN[feature.dtype], 0 if single else 1)))
    return T.StructType(fields)


def byte_array_schema() -> Any:
    """The schema of whole records."""
    return T.StructType([T.StructField(BYTE_ARRAY, T.BinaryType())])


def _nested(of: Any, depth: int) -> Any:
    for _ in range(depth):
        of = T.ArrayType(of)
    return of


def selected(schema: Any, columns: tuple[str, ...] | None) -> Any:
    """Some columns of a schema, in that order.

    Raises:
        ValueError: There is no such column, or Spark cannot tell two of them apart.
    """
    from tfreel.columns.plan import no_such_feature

    known: dict[str, list[Any]] = {}  # a feature and a feature list may have one name
    for field in schema.fields:
        known.setdefault(field.name, []).append(field)
    for name in columns or ():
        if name not in known:
            raise ValueError(no_such_feature(name, known))
    found = schema.fields if columns is None else [field for name in columns for field in known[name]]
    same = Counter(field.name.casefold() for field in found)
    twice = next((field.name for field in found if same[field.name.casefold()] > 1), None)
    if twice is not None:
        raise ValueError(
            f"{twice!r} is there twice, perhaps in another case, which Spark does not tell apart:"
            " choose with the option columns"
        )
    return T.StructType(found)


def check_depths(columns: Iterable[Column], found: InferredFeatures) -> None:
    """Fails if a column is asked for as a feature, and is a feature list, or the other way round.

    It would be null in every row.

    Raises:
        ValueError: One is.
    """
    for column in columns:
        in_context, in_lists = column.name in found, column.name in found.sequence_features
        if column.depth < 2 and in_lists and not in_context:
            raise ValueError(f"{column.name!r} is a feature list: its column must be array<array<…>>")
        if column.depth == 2 and in_context and not in_lists:
            raise ValueError(f"{column.name!r} is no feature list: its column must be array<…>, or single")


def features_for(columns: Iterable[Column]) -> tuple[dict[str, Feature], dict[str, Feature]]:
    """How to parse records for these columns: of the record, and of its feature lists.

    Rows of any length, also for single values: of those that are missing, Spark is told that they are null.
    """
    columns = list(columns)
    return (
        {column.name: RaggedFeature(column.dtype) for column in columns if column.depth < 2},
        {column.name: RaggedFeature(column.dtype) for column in columns if column.depth == 2},
    )
