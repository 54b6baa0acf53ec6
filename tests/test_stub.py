"""The typed face of the extension says what the extension is: the same names, the same parameters."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tfreel import _core

STUB = ast.parse((Path(__file__).parent.parent / "src/tfreel/_core.pyi").read_text(encoding="utf-8"))
CLASSES = [node for node in STUB.body if isinstance(node, ast.ClassDef)]
FUNCTIONS = [node for node in STUB.body if isinstance(node, ast.FunctionDef)]

# Slots that every type has, or that the iterator gets from its C slots.
INHERITED = {"__iter__", "__next__"}


def parameters(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs) if argument.arg != "self"]


def runtime_parameters(function: object) -> list[str]:
    (signature, *_), *_ = function.__nb_signature__  # type: ignore[attr-defined]
    inside = signature[
        signature.index("(") + 1 : signature.rindex(") ->") if ") ->" in signature else signature.rindex(")")
    ]
    inside = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", inside))
    names = [part.strip().partition(":")[0].partition("=")[0].strip() for part in inside.split(",")]
    return [name for name in names if name not in ("self", "*", "/", "")]


def test_the_stub_names_exactly_what_the_extension_has() -> None:
    public = {name for name in vars(_core) if not name.startswith("__")}
    assert {node.name for node in (*CLASSES, *FUNCTIONS)} == public


@pytest.mark.parametrize("node", FUNCTIONS, ids=lambda node: node.name)
def test_functions_have_the_parameters_of_the_stub(node: ast.FunctionDef) -> None:
    assert runtime_parameters(getattr(_core, node.name)) == parameters(node)


@pytest.mark.parametrize("node", CLASSES, ids=lambda node: node.name)
def test_classes_have_the_members_of_the_stub(node: ast.ClassDef) -> None:
    cls = getattr(_core, node.name)
    stubbed = {member.name: member for member in node.body if isinstance(member, ast.FunctionDef)}
    ordinary = {
        name for name in vars(cls) if not re.fullmatch(r"__(doc|module|new|init|weakref\w*|nb_\w+)__", name)
    }
    assert set(stubbed) - {"__init__"} - INHERITED == ordinary - INHERITED
    for name, member in stubbed.items():
        found = vars(cls).get(name)
        if hasattr(found, "__nb_signature__"):
            assert runtime_parameters(found) == parameters(member), name
