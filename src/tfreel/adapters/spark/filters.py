"""Filters of Spark in, conditions of ours out, where both mean exactly the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import datasource as spark
from pyspark.sql.types import BooleanType

from tfreel.adapters.spark.columns import Column
from tfreel.columns.wording import name_in_words, value_in_words

_SIGNS: dict[type[Any], str] = {
    spark.EqualTo: "==",
    spark.GreaterThan: ">",
    spark.GreaterThanOrEqual: ">=",
    spark.LessThan: "<",
    spark.LessThanOrEqual: "<=",
}
# True of every value: a row has one, or it is null to Spark, whether the feature is absent or an empty list.
_ANY_VALUE = {"int64": f">= {-(1 << 63)}", "bytes": '>= ""'}


def condition_for(filter_: spark.Filter, columns: Iterable[Column]) -> str | None:
    """The condition that is true for the same rows; None if there is none.

    Only single values are compared: Spark has no filter for what is in an array.
    """
    path = getattr(filter_, "attribute", ())
    column = next((c for c in columns if (c.name,) == path and c.depth == 0), None)
    name = None if column is None else name_in_words(column.name)
    if column is None or name is None:
        return None
    if isinstance(filter_, (spark.IsNull, spark.IsNotNull)):
        asked = _ANY_VALUE.get(column.dtype)
        turned = "not " if isinstance(filter_, spark.IsNull) else ""
        return None if asked is None else f"{turned}{name} {asked}"
    if isinstance(filter_, spark.In):
        literals = [_literal(value, column) for value in filter_.value]
        return None if None in literals else f"{name} in [{', '.join(map(str, literals))}]"
    sign = _SIGNS.get(type(filter_))
    literal = None if sign is None else _literal(filter_.value, column)
    if sign is None or literal is None:
        return None
    if column.dtype == "float32" and sign in (">", ">="):
        return None  # to Spark NaN is greater than all numbers, to us it is neither greater nor less
    return f"{name} {sign} {literal}"


def _literal(value: Any, column: Column) -> str | None:
    return None if isinstance(column.type, BooleanType) else value_in_words(value, column.dtype)
