"""Elements as bytes, and back: for caches on disk. Nothing in such bytes is ever executed."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.columns.batch import Batch, SequenceBatch
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse
from tfreel.columns.strings import BytesColumn
from tfreel.errors import DecodeError

_HEADER = struct.Struct("<Q")


def pack(element: Any) -> bytes:
    """An element as bytes: what it is made of as JSON, then the bytes of its arrays.

    Raises:
        TypeError: It is made of something else than arrays, numbers, strings, dicts, lists and tuples.
    """
    buffers: list[bytes] = []
    outline = json.dumps(_outline(element, buffers)).encode()
    return b"".join([_HEADER.pack(len(outline)), outline, *buffers])


def unpack(packed: bytes) -> Any:
    """What `pack` was given.

    Raises:
        DecodeError: These are other bytes.
    """
    try:
        (size,) = _HEADER.unpack_from(packed)
        outline = json.loads(packed[_HEADER.size : _HEADER.size + size])
        return _Buffers(packed, _HEADER.size + size).build(outline)
    except (struct.error, ValueError, KeyError, TypeError, IndexError) as error:
        raise DecodeError(f"this is not an element that was kept: {error}") from None


def _outline(value: Any, buffers: list[bytes]) -> Any:
    """What a value is made of; its bytes are added to `buffers`."""
    if value is None or type(value) in (bool, int, float, str):
        return {"plain": value}
    for kind, members in _PARTS.items():
        if type(value) is kind:
            return {kind.__name__: [_outline(member, buffers) for member in members(value)]}
    if type(value) is dict:
        return {"dict": [[_name(key), _outline(member, buffers)] for key, member in value.items()]}
    if isinstance(value, bytes):
        buffers.append(value)
        return {"bytes": len(value)}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcSUmM":
        array = np.asarray(value)
        buffers.append(array.tobytes())
        single = isinstance(value, np.generic)
        return {"array": [array.dtype.str, None if single else list(array.shape), len(buffers[-1])]}
    raise TypeError(
        f"a cache in a directory cannot keep {type(value).__name__}: cache before it is made, or in memory"
    )


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a cache in a directory keeps dicts with names, not with {type(key).__name__}")
    return key


# The parts of each kind, in the order in which its constructor below takes them.
_PARTS: dict[type, Callable[[Any], list[Any]]] = {
    list: list,
    tuple: list,
    Batch: lambda batch: [dict(batch.items()), batch.num_rows],
    SequenceBatch: lambda batch: [batch.context, batch.sequences, batch.lengths],
    BytesColumn: lambda column: list(column.__reduce__()[1]),  # trimmed, as they are to be pickled
    Ragged: lambda column: list(column.__reduce__()[1]),
    Sparse: lambda column: (
        [column.indices, column.values, list(column.dense_shape), column.present]
        if column.has_positions
        else [column.to_ragged()]
    ),
}

_KINDS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "Batch": lambda parts: Batch(*parts),
    "SequenceBatch": lambda parts: SequenceBatch(*parts),
    "BytesColumn": lambda parts: BytesColumn(*parts),
    "Ragged": lambda parts: Ragged(parts[0], parts[1], present=parts[2], row_splits_dtype=parts[3]),
    "Sparse": lambda parts: Sparse.from_ragged(*parts) if len(parts) == 1 else _placed(*parts),
}


def _placed(indices: Any, values: Any, shape: list[int], present: Any) -> Sparse:
    return Sparse(indices, values, tuple(shape), present=present)


class _Buffers:
    """The bytes of the arrays, taken one after the other."""

    def __init__(self, packed: bytes, begin: int) -> None:
        self._packed = packed
        self._begin = begin

    def build(self, outline: Any) -> Any:
        ((kind, content),) = outline.items()
        if kind == "plain":
            return content
        if kind == "dict":
            return {name: self.build(member) for name, member in content}
        if kind == "bytes":
            return self._take(content)
        if kind == "array":
            dtype, shape, size = content
            array = np.frombuffer(self._take(size), np.dtype(dtype))
            return array[0] if shape is None else array.reshape(shape).copy()
        return _KINDS[kind]([self.build(member) for member in content])

    def _take(self, size: int) -> bytes:
        taken = self._packed[self._begin : self._begin + size]
        if len(taken) != size:
            raise ValueError("it ends too early")
        self._begin += size
        return taken
