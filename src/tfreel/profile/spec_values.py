"""Values in the text of a program, worked out without running it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from tfreel.features.kinds import RaggedFeature
from tfreel.profile.asked import FEATURE_NAMES, PARTITIONS, SomeDefault
from tfreel.storage.paths import display

_DTYPES = frozenset(
    {"int64", "float32", "string", "bytes", "int32", "int16", "int8", "uint8", "uint16", "float64", "bool"}
)
_BUILTIN_DTYPES = {"int": "int64", "float": "float32", "bytes": "bytes", "str": "bytes"}
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_DEEPEST = 50
_LARGEST = 1 << 31


def is_feature_dict(node: ast.expr | None) -> TypeGuard[ast.Dict]:
    """Whether this is a dict with a feature among its values."""
    return isinstance(node, ast.Dict) and any(_called(value) in FEATURE_NAMES for value in node.values)


def _called(node: ast.expr) -> str:
    """The last part of the name of what is called; empty if nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    return _last(node.func)


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


class Scope:
    """What names mean in a function or a module: the last value that is given to each."""

    def __init__(self, body: Sequence[ast.stmt], outer: Scope | None = None) -> None:
        self._outer = outer
        self._values: dict[str, ast.expr] = {}
        for statement in body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self._values[target.id] = statement.value

    def find(self, name: str) -> tuple[ast.expr, Scope] | None:
        """The value of a name, and where it is to be read; None if that is not known."""
        if name in self._values:
            return self._values[name], self
        return None if self._outer is None else self._outer.find(name)


class AsWritten:
    """A feature as the text has it: its class is called as the feature, its fields are the arguments.

    It is not checked: what is wrong with it is for others to say.
    """

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({inside})"


_FIELDS: dict[str, dict[str, Any]] = {
    "FixedLenFeature": {"shape": None, "dtype": None, "default_value": None},
    "VarLenFeature": {"dtype": None},
    "FixedLenSequenceFeature": {
        "shape": None,
        "dtype": None,
        "allow_missing": False,
        "default_value": None,
    },
    "SparseFeature": {
        "index_key": None,
        "value_key": None,
        "dtype": None,
        "size": None,
        "already_sorted": False,
    },
    "RaggedFeature": {
        "dtype": None,
        "value_key": None,
        "partitions": (),
        "row_splits_dtype": "int32",
        "validate": False,
    },
}
_CLASSES = {name: type(name, (AsWritten,), {}) for name in _FIELDS}


class Reader:
    """Works out values. What it does not understand is an error that names the line.

    Args:
        path: The file, for errors.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._depth = 0

    def dict_of(self, node: ast.Dict, scope: Scope) -> dict[str, Any]:
        """The features of a dict."""
        found: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:  # **others
                others = self.value(value, scope)
                if not isinstance(others, dict):
                    raise self._puzzled(value)
                found.update(others)
            else:
                found[self.value(key, scope)] = self.value(value, scope)
        return found

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise self._puzzled(node)
            return self._value(node, scope)
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, scope: Scope) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.value(part, scope) for part in node.elts]
        if isinstance(node, ast.Dict):
            return self.dict_of(node, scope)
        if isinstance(node, ast.Name):
            return self._named(node, scope)
        if isinstance(node, ast.Attribute) and node.attr in _DTYPES:
            return node.attr
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._number(node.operand, scope)
        if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
            return self._sum(node, scope)
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        raise self._puzzled(node)

    def _named(self, node: ast.Name, scope: Scope) -> Any:
        found = scope.find(node.id)
        if found is not None:
            return self.value(*found)
        if node.id in _BUILTIN_DTYPES or node.id in _DTYPES:  # from tensorflow import int64
            return _BUILTIN_DTYPES.get(node.id, node.id)
        raise self._puzzled(node)

    def _number(self, node: ast.expr, scope: Scope) -> Any:
        number = self.value(node, scope)
        if not isinstance(number, (int, float)) or abs(number) > _LARGEST:
            raise self._puzzled(node)
        return number

    def _sum(self, node: ast.BinOp, scope: Scope) -> Any:
        try:
            return _SUMS[type(node.op)](self._number(node.left, scope), self._number(node.right, scope))
        except ZeroDivisionError:
            raise self._puzzled(node) from None

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        name = _last(node.func)
        if name in PARTITIONS and len(node.args) + len(node.keywords) == 1:
            inside = [*node.args, *(keyword.value for keyword in node.keywords)]
            return getattr(RaggedFeature, name)(self.value(inside[0], scope))
        if name not in _FIELDS:
            raise self._puzzled(node)
        fields = dict(_FIELDS[name])
        if len(node.args) > len(fields) or any(isinstance(one, ast.Starred) for one in node.args):
            raise self._puzzled(node)
        given = dict(zip(fields, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in fields:
                raise self._puzzled(node)
            given[keyword.arg] = keyword.value
        for field, value in given.items():
            fields[field] = self._field(field, value, scope)
        made = _CLASSES[name]()
        vars(made).update(fields)
        return made

    def _field(self, field: str, node: ast.expr, scope: Scope) -> Any:
        try:
            return self.value(node, scope)
        except ValueError:
            if field != "default_value":
                raise
            return SomeDefault()

    def _puzzled(self, node: ast.expr) -> ValueError:
        try:
            text = ast.unparse(node)
        except RecursionError:
            text = "an expression"
        shown = text if len(text) <= 60 else text[:59] + "…"
        return ValueError(
            f"{display(self._path)}: line {node.lineno}: {shown} can be known only by running the file;"
            " run_features does"
        )
