"""What the files of a sample hold, by their extensions: JSON, numbers, text, arrays, or just bytes.

Nothing is ever unpickled: a pickle is a program.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.examples.tensor import Tensor, tensor
from tfreel.packing.source import RejectError
from tfreel.packing.tree import LARGEST_FILE_BYTES

PICKLES = frozenset({"pyd", "pickle", "pkl", "pth", "pt"})
_NUMBERS = frozenset({"cls2", "class", "count", "index", "inx", "id"})
_TEXTS = frozenset({"txt", "text", "transcript"})


def features_of(extension: str, data: bytes) -> dict[str, object]:
    """The features that a file of a sample becomes.

    Args:
        extension: All that follows the first dot of its name: ``json``, ``mask.png``.
        data: Its content.

    Raises:
        RejectError: It is not what its extension says.
    """
    name, _, kind = extension.rpartition(".")
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(data, name)
    if kind in _NUMBERS:
        return {name or kind: number_of(data)}
    if kind in _TEXTS:
        return {name or "text": data}
    return {name or kind: data}


def number_of(data: bytes) -> int:
    """The whole number in a file.

    Raises:
        RejectError: There is none.
    """
    try:
        return int(data)
    except ValueError:
        raise RejectError(f"holds no whole number, but {data[:40]!r}") from None


def flattened(value: Any, name: str) -> Iterator[tuple[str, object]]:
    """JSON as features: what is in an object is named ``object/member``, and what is null is absent.

    Lists of one kind of values are lists; any other list is kept as the JSON text that it is.
    """
    if isinstance(value, dict):
        for key, member in value.items():
            yield from flattened(member, f"{name}/{key}" if name else key)
    elif isinstance(value, list):
        kinds = {type(item) for item in value}
        if kinds and kinds <= {bool, int}:
            yield name, [int(item) for item in value]
        elif kinds and kinds <= {bool, int, float}:
            yield name, [float(item) for item in value]
        elif kinds == {str}:
            yield name, value
        elif kinds:
            yield name, json.dumps(value, ensure_ascii=False)
    elif value is not None:
        yield name, int(value) if isinstance(value, bool) else value


def _json(data: bytes, name: str) -> dict[str, object]:
    try:
        value = json.loads(data)
        return dict(flattened(value, name if isinstance(value, dict) else name or "json"))
    except (ValueError, RecursionError) as error:
        raise RejectError(f"is no JSON: {error}") from None


def _npy(data: bytes, name: str) -> dict[str, object]:
    return {name or "npy": _tensor(lambda: np.load(io.BytesIO(data), allow_pickle=False))}


def _npz(data: bytes, name: str) -> dict[str, object]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            if sum(member.file_size for member in arrays.zip.infolist()) > LARGEST_FILE_BYTES:
                raise RejectError("unpacks to more than a record can hold")
            return {
                f"{name or 'npz'}/{key}": _tensor(partial(arrays.__getitem__, key)) for key in arrays.files
            }
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise RejectError(f"holds no arrays: {error}") from None


def _tensor(load: Callable[[], npt.NDArray[Any]]) -> Tensor:
    try:
        return tensor(load())
    except (ValueError, TypeError, EOFError, OSError, MemoryError, zipfile.BadZipFile) as error:
        raise RejectError(f"holds no array of numbers: {error}") from None


_READERS: Mapping[str, Callable[[bytes, str], dict[str, object]]] = {
    "json": _json,
    "jsn": _json,
    "npy": _npy,
    "npz": _npz,
}
