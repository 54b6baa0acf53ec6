"""Functions that users give: what they are called, and whether two of them do the same."""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from tfreel.dataset.plan import digest


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called, for people and for telling plans apart."""
    while not hasattr(function, "__qualname__") and callable(inner := getattr(function, "func", None)):
        function = inner  # of a partial, say
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def fingerprint_of(function: Callable[..., Any]) -> str:
    """A short name for what a function does: for its code, and for the values that it carries with it.

    What it finds by name when it is called, other functions and global values, has no part in it. The names
    are the same in all processes with one version of Python.
    """
    said = hashlib.sha256()
    for part in _parts(function, set()):
        said.update(f"{len(part)}:{part}".encode(errors="surrogatepass"))
    return said.hexdigest()[:16]


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """What a value is made of, down to what has a plain form."""
    yield type(value).__qualname__
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield repr(value)
        return
    if id(value) in seen:  # a function that calls itself
        return
    seen = {*seen, id(value)}
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield from (value.dtype.str, str(value.shape), digest(value))
        return
    for member in _members(value):
        yield from _parts(member, seen)


def _members(value: Any) -> list[Any]:
    if isinstance(value, CodeType):  # without lines and files, which change when others do
        return [value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars]
    if isinstance(value, FunctionType):
        cells = [_content(cell) for cell in value.__closure__ or ()]
        return [value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    call = getattr(type(value), "__call__", None)  # noqa: B004 - what it is, not whether
    if not isinstance(call, FunctionType):
        return [getattr(value, "__qualname__", None) or _pickled(value)]
    return [call, *_carried(value)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def _carried(value: Any) -> list[Any]:
    """What an object that can be called carries with it."""
    if is_dataclass(value):
        return [getattr(value, each.name) for each in fields(value) if each.compare]
    return [getattr(value, "__dict__", None) or _pickled(value)]


def _pickled(value: Any) -> Any:
    try:
        return pickle.dumps(value, protocol=4)
    except Exception:  # noqa: BLE001 - whatever it is, it has no form that could be compared
        return None
