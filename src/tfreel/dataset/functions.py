"""Functions that users give: what they are called, and whether two of them do the same."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called, for people and for telling plans apart."""
    while not hasattr(function, "__qualname__") and callable(inner := getattr(function, "func", None)):
        function = inner  # of a partial, say
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def fingerprint_of(function: Callable[..., Any]) -> str:
    """A short name for what a function does: for its code, and for the values that it carries with it.

    What it finds by name when it is called, other functions and global values, has no part in it. What cannot
    be looked into, such as an open file, counts by its type. The names are the same in all processes with
    one version of Python, as long as what is carried is the same.
    """
    try:
        return _Digests().of(function).hex()[:16]
    except RecursionError:  # values nested deeper than anybody nests them
        return hashlib.sha256(name_of(function).encode()).hexdigest()[:16]


class _Digests:
    """Short names for values, whatever they are made of. What is met again has the name it had."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}  # with the value, or another could get its id

    def of(self, value: Any) -> bytes:
        """The name of a value."""
        if type(value) in _PLAIN:
            return _hashed(type(value), [repr(value).encode(errors="surrogatepass")])
        known = self._known.get(id(value))
        if known is None:
            self._known[id(value)] = value, b"in itself"  # of a function that calls itself, say
            known = self._known[id(value)] = value, self._made(value)
        return known[1]

    def _made(self, value: Any) -> bytes:
        if isinstance(value, (set, frozenset)):
            return _hashed(type(value), sorted(map(self.of, value)))
        array = _array_of(value)
        if array is not None:
            parts = [array.dtype.str.encode(), str(array.shape).encode(), array.tobytes()]
            return _hashed(type(value), parts)
        return _hashed(type(value), map(self.of, _members(value)))


def _hashed(kind: type, parts: Any) -> bytes:
    said = hashlib.sha256(kind.__qualname__.encode())
    for part in parts:
        said.update(len(part).to_bytes(8, "little") + part)
    return said.digest()


def _array_of(value: Any) -> Any:
    """An array, or a tensor of another library, as an array of plain numbers; None for all else."""
    if not hasattr(value, "__array__") or isinstance(value, type):
        return None
    try:
        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except Exception:  # noqa: BLE001 - on a device, say: then it is what it is made of
        return None
    return None if array.dtype.hasobject else np.ascontiguousarray(array)


def _members(value: Any) -> list[Any]:
    """What a value is made of."""
    if isinstance(value, CodeType):  # without lines and files, which change when others do
        return [value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars]
    if isinstance(value, FunctionType):
        cells = [_content(cell) for cell in value.__closure__ or ()]
        return [value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, BuiltinFunctionType):
        owner = value.__self__
        return [value.__qualname__, None if isinstance(owner, ModuleType) else owner]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if type(value) in (list, tuple):
        return list(value)
    if type(value) is dict:
        return [part for pair in value.items() for part in pair]
    if isinstance(value, type):
        return [value.__module__, value.__qualname__]
    if isinstance(value, ModuleType):
        return [value.__name__]
    if hasattr(value, "__wrapped__"):
        return [value.__wrapped__]
    return _parts_of_object(value)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def _parts_of_object(value: Any) -> list[Any]:
    """The parts by which an object is copied; else what it holds; else nothing, and its type says it all."""
    call = getattr(type(value), "__call__", None)  # noqa: B004 - what it is, not whether
    code = [call] if isinstance(call, FunctionType) else []
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - a file, a lock: whatever it says, it cannot be copied
        return [*code, getattr(value, "__qualname__", None), dict(getattr(value, "__dict__", {}))]
    if isinstance(reduced, str):
        return [*code, reduced]
    make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    return [*code, make, arguments, state, list(items or ()), list(pairs or ())]
