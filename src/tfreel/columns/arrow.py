"""What both ways of the Arrow exchange share: types as Arrow's C data interface writes them.

Nothing here needs pyarrow. `arrow_export` describes our columns in these words and the extension makes the
C structs; `arrow_import` reads the structs of others into the same words, and then into columns.
See https://arrow.apache.org/docs/format/CDataInterface.html.
"""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

NULLABLE = 2
TENSOR = b"arrow.fixed_shape_tensor"
EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_METADATA = b"ARROW:extension:metadata"

# The types whose buffer is a NumPy array as it is.
NUMBERS: dict[str, np.dtype[Any]] = {
    "c": np.dtype(np.int8),
    "C": np.dtype(np.uint8),
    "s": np.dtype(np.int16),
    "S": np.dtype(np.uint16),
    "i": np.dtype(np.int32),
    "I": np.dtype(np.uint32),
    "l": np.dtype(np.int64),
    "L": np.dtype(np.uint64),
    "e": np.dtype(np.float16),
    "f": np.dtype(np.float32),
    "g": np.dtype(np.float64),
}

# Arrow's letter for each unit of time that both know.
UNITS = {"s": "s", "ms": "m", "us": "u", "ns": "n"}


class Field(NamedTuple):
    """A type with a name. The extension reads and returns tuples of this form.

    Attributes:
        format: The type, in the letters of the C data interface.
        name: Of the column; of no interest inside of lists.
        flags: `NULLABLE` or 0.
        metadata: As in the C data interface: pairs of strings with their lengths.
        children: What the rows consist of.
        dictionary: The type of the values, where the column holds only their numbers.
    """

    format: str
    name: str
    flags: int
    metadata: bytes | None
    children: list[Field]
    dictionary: Field | None = None


class Data(NamedTuple):
    """The rows of a `Field`, as the extension wants them."""

    length: int
    null_count: int
    buffers: tuple[npt.NDArray[Any] | None, ...]
    children: list[Data]


class Tensor(NamedTuple):
    """How the numbers of one row are to be read: their shape in memory, and the order of its dimensions."""

    shape: tuple[int, ...]
    permutation: tuple[int, ...]


def tensor_metadata(shape: tuple[int, ...]) -> bytes:
    """The metadata of a field whose rows are tensors of that shape."""
    description = json.dumps({"shape": shape}, separators=(",", ":")).encode()
    pairs = (EXTENSION_NAME, TENSOR, EXTENSION_METADATA, description)
    return struct.pack("=i", 2) + b"".join(struct.pack("=i", len(text)) + text for text in pairs)


def tensor_of(metadata: bytes | None) -> Tensor | None:
    """The shape that a field's metadata gives to its rows; None if it gives none."""
    found = _pairs(metadata)
    if found.get(EXTENSION_NAME) != TENSOR:
        return None
    description = json.loads(found[EXTENSION_METADATA])
    shape = tuple(int(size) for size in description["shape"])
    permutation = description.get("permutation") or range(len(shape))
    return Tensor(shape, tuple(int(i) for i in permutation))


def extension_of(metadata: bytes | None) -> str | None:
    """The name of the extension type that a field is of; None if it is of a plain type."""
    name = _pairs(metadata).get(EXTENSION_NAME)
    return None if name is None else name.decode(errors="replace")


def _pairs(metadata: bytes | None) -> dict[bytes, bytes]:
    if metadata is None:
        return {}
    (count,) = struct.unpack_from("=i", metadata)
    texts, at = [], 4
    for _ in range(2 * count):
        (size,) = struct.unpack_from("=i", metadata, at)
        texts.append(metadata[at + 4 : at + 4 + size])
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2], strict=True))
