"""Features in a Python file: found by reading it, without running a line; or by running it, if that is asked.

A file that is read may be a whole training script: what counts is a dict of features in it, wherever it
stands, also inside of a function. Values are worked out from literals, names and simple sums.
"""

from __future__ import annotations

import ast
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tfreel.profile.asked import is_feature
from tfreel.profile.spec_values import Reader, Scope, is_feature_dict
from tfreel.storage.paths import display

_LARGEST_BYTES = 1 << 22
# The names that people give to such a dict, the most common ones first.
_USUAL = ("features", "feature_description", "features_description", "feature_spec", "features_dict")


@dataclass(frozen=True, slots=True)
class SpecFile:
    """The features in a Python file.

    Attributes:
        features: By name; of SequenceExamples, those of the context.
        sequence_features: Those of feature lists; None if the file has none.
        name: What the dict is called there.
        line: Where it stands; None if the file was run.
    """

    features: Mapping[str, Any]
    sequence_features: Mapping[str, Any] | None
    name: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    line: int | None
    features: Any  # the dict, or the place in the text that it is to be read from


def read_features(path: str, *, name: str | None = None) -> SpecFile:
    """The features that a Python file defines, found by reading it. Nothing in it is run.

    Args:
        path: The file.
        name: What the dict is called, if there are several.

    Raises:
        ValueError: There is no such dict, there are several, or it can be known only by running the file.
    """
    tree = _parsed(path)
    reader = Reader(path)
    found = [_Candidate(name, node.lineno, (node, scope)) for name, node, scope in _dicts(tree)]
    chosen, lists = _chosen(path, found, name)
    features = reader.dict_of(*chosen.features)
    sequence = None if lists is None else reader.dict_of(*lists.features)
    return SpecFile(features, sequence, chosen.name, chosen.line)


def run_features(path: str, *, name: str | None = None, tensorflow: bool = False) -> SpecFile:
    """The features that a Python file defines, found by running it: with all that it does besides.

    Args:
        path: The file. It is run as a module, not as ``__main__``.
        name: What the dict is called, if there are several.
        tensorflow: ``import tensorflow`` means `tfreel.tf`.

    Raises:
        ValueError: There is no such dict, there are several, or the file fails.
    """
    code = compile(_source(path), path, "exec")
    namespace: dict[str, Any] = {"__name__": "features", "__file__": path}
    with _tensorflow_is_ours() if tensorflow else _nothing_changed():
        try:
            exec(code, namespace)  # noqa: S102 - the user named the file, and asked to run it
        except Exception as error:
            raise ValueError(
                f"{display(path)}: running it failed: {type(error).__name__}: {error}"
            ) from error
    dicts = [
        _Candidate(key, None, value)
        for key, value in namespace.items()
        if isinstance(value, Mapping) and value and all(map(is_feature, value.values()))
    ]
    chosen, lists = _chosen(path, dicts, name)
    return SpecFile(chosen.features, None if lists is None else lists.features, chosen.name)


def _source(path: str) -> bytes:
    with open(path, "rb") as file:
        source = file.read(_LARGEST_BYTES + 1)
    if len(source) > _LARGEST_BYTES:
        raise ValueError(
            f"{display(path)}: more than {_LARGEST_BYTES:,} bytes are no Python file of features"
        )
    return source


def _parsed(path: str) -> ast.Module:
    try:
        return ast.parse(_source(path), path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {line}: " if line else ""
        raise ValueError(f"{display(path)}: {where}not Python: {error}") from None


def _dicts(tree: ast.Module) -> Iterator[tuple[str, ast.Dict, Scope]]:
    """The dicts of features in the text, with their names, and what names mean there."""
    queue: deque[tuple[ast.AST, Scope]] = deque([(tree, Scope(tree.body))])
    while queue:
        owner, scope = queue.popleft()
        for node in _own_nodes(owner):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                queue.append((node, Scope(node.body, scope)))
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and is_feature_dict(node.value):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                yield _target_name(target), node.value, scope
            elif isinstance(node, ast.Call):
                for name, value in _arguments(node):
                    if is_feature_dict(value):
                        yield name, value, scope


def _own_nodes(owner: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a function or module, but not those of functions inside of it."""
    stack = list(ast.iter_child_nodes(owner))[::-1]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stack += list(ast.iter_child_nodes(node))[::-1]


def _target_name(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else "features"


def _arguments(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    yield from (("features", value) for value in call.args)
    yield from ((keyword.arg or "features", keyword.value) for keyword in call.keywords)


def _chosen(path: str, found: Sequence[_Candidate], name: str | None) -> tuple[_Candidate, _Candidate | None]:
    """The dict that is meant; with one that is called a context, the one for sequences."""
    if name is not None:
        named = [one for one in found if one.name == name]
        if not named:
            raise ValueError(f"{display(path)}: no dict of features is called {name!r}; {_known(found)}")
        return named[-1], None
    context = [one for one in found if "context" in one.name.lower()]
    lists = [one for one in found if "sequence" in one.name.lower()]
    if len(lists) == 1 and len(context) <= 1 and len(found) <= 2:
        return (context or [_Candidate("context_features", None, _nothing(lists[0]))])[0], lists[0]
    for usual in _USUAL if len(found) > 1 else ():
        named = [one for one in found if one.name == usual]
        if len(named) == 1:
            return named[0], None
    if len(found) != 1:
        raise ValueError(
            f"{display(path)}: {_known(found)}"
            + (
                "; say which with name="
                if found
                else ": expected features = {'label': FixedLenFeature(…), …}"
            )
        )
    return found[0], None


def _nothing(one: _Candidate) -> Any:
    """A context without features, in the form of this candidate."""
    return (ast.Dict([], []), Scope([])) if isinstance(one.features, tuple) else {}


def _known(found: Sequence[_Candidate]) -> str:
    if not found:
        return "there is no dict of features in it"
    named = [one.name if one.line is None else f"{one.name} (line {one.line})" for one in found[:10]]
    return f"there are {', '.join(named)}" if len(found) > 1 else f"there is {named[0]}"


@contextmanager
def _tensorflow_is_ours() -> Iterator[None]:
    """While this lasts, ``import tensorflow`` gives `tfreel.tf`, also where TensorFlow is installed."""
    from importlib import import_module

    names = ("", ".compat", ".compat.v1", ".io", ".train", ".data", ".image")
    ours = {f"tensorflow{name}": import_module(f"tfreel.tf{name}") for name in names}
    others = {key: module for key, module in sys.modules.items() if key.partition(".")[0] == "tensorflow"}
    for key in others:
        del sys.modules[key]
    sys.modules.update(ours)
    try:
        yield
    finally:
        for key in [key for key in sys.modules if key.partition(".")[0] == "tensorflow"]:
            del sys.modules[key]
        sys.modules.update(others)


@contextmanager
def _nothing_changed() -> Iterator[None]:
    yield
