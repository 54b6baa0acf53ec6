"""Ray's conditions for rows in our words, as far as both mean the same.

A condition of ours is asked first, so that rejected rows are not decoded; Ray's own is asked of what is left.
So what cannot be said, or might mean something else, is left out: but no row may be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfreel.columns.wording import name_in_words, value_in_words
from tfreel.features.kinds import FixedLenFeature

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def columns_of(predicate: Any, names: list[str]) -> list[str]:
    """The columns that Ray's condition names."""
    found: dict[str, None] = {}

    def look(expression: Any) -> None:
        if type(expression).__name__ == "ColumnExpr":
            found[expression.name] = None
        for child in _children(expression):
            look(child)

    look(predicate)
    return [name for name in found if name in names]


def _children(expression: Any) -> list[Any]:
    parts = [getattr(expression, name, None) for name in ("left", "right", "operand", "expr")]
    return [part for part in (*parts, *getattr(expression, "args", ())) if hasattr(part, "to_pyarrow")]


def condition_of(predicate: Any, features: Mapping[str, Any]) -> str | None:
    """What of Ray's condition can be asked of records; None if nothing can."""
    operation = _operation(predicate)
    if operation == "and":
        sides = [condition_of(side, features) for side in (predicate.left, predicate.right)]
        return " and ".join(side for side in sides if side is not None) or None
    return _exact(predicate, features)


def _exact(predicate: Any, features: Mapping[str, Any]) -> str | None:
    """The very same condition; None if it cannot be said."""
    operation = _operation(predicate)
    if operation in ("and", "or"):
        sides = [_exact(side, features) for side in _sides(predicate, operation)]
        return None if None in sides else f"({f' {operation} '.join(filter(None, sides))})"
    if operation == "not":
        inner = _exact(predicate.operand, features)
        return None if inner is None else f"(not {inner})"
    if operation in _SIGNS:
        return _comparison(operation, predicate.left, predicate.right, features)
    if operation in ("in", "not_in"):
        return _membership(operation, predicate, features)
    return None


def _sides(predicate: Any, operation: str) -> Iterator[Any]:
    """All that an operation joins, side by side: Ray has two at a time, and ours may be only so deep."""
    for side in (predicate.left, predicate.right):
        yield from _sides(side, operation) if _operation(side) == operation else [side]


def _operation(expression: Any) -> str:
    operation = getattr(expression, "op", None)
    return str(getattr(operation, "value", operation))


def _comparison(operation: str, left: Any, right: Any, features: Mapping[str, Any]) -> str | None:
    if type(left).__name__ == "LiteralExpr":
        left, right, operation = right, left, _TURNED[operation]
    if type(left).__name__ != "ColumnExpr" or type(right).__name__ != "LiteralExpr":
        return None
    name, value = name_in_words(left.name), _literal(right.value, features.get(left.name))
    return None if name is None or value is None else f"({name} {_SIGNS[operation]} {value})"


def _membership(operation: str, predicate: Any, features: Mapping[str, Any]) -> str | None:
    given = getattr(predicate.right, "value", None)
    if type(predicate.left).__name__ != "ColumnExpr" or not isinstance(given, (list, tuple)) or not given:
        return None
    name = name_in_words(predicate.left.name)
    values = [_literal(value, features.get(predicate.left.name)) for value in given]
    if name is None or None in values:
        return None
    word = "in" if operation == "in" else "not in"
    return f"({name} {word} [{', '.join(filter(None, values))}])"


def _literal(value: Any, feature: Any) -> str | None:
    """A value that is compared with a feature of which every record has one; None if it is another case."""
    single = isinstance(feature, FixedLenFeature) and feature.shape == ()
    return value_in_words(value, feature.dtype) if single else None
