"""Strings out of strings: the operations of `tf.strings`."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError, OutOfRangeError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.ops.operators import in_rows
from tfreel.tf.ops.static import has_specs, invalid_argument, spec, whole_numbers
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, int32, int64, string
from tfreel.tf.values.handles import Array, RaggedValue, SparseValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, SparseTensorSpec


def texts(value: Any) -> Array:
    """The array of strings that a value is.

    Raises:
        InvalidArgumentError: It is a tensor of another dtype.
        TypeError: It is another value.
    """
    made = array(value) if isinstance(value, np.ndarray) else array(value, string)
    if made.dtype != object:
        raise InvalidArgumentError(f"expected a string tensor, not one of {as_dtype(made.dtype).name}")
    return made


def each_text(function: Callable[[bytes], Any], made: Array, dtype: Any = object) -> Array:
    """What a function makes of every string."""
    found = np.empty(made.shape, dtype)
    flat = found.reshape(-1)
    for i, text in enumerate(made.reshape(-1)):
        flat[i] = function(text)
    return found


def _same_shape(dtype: Any) -> Callable[..., TensorSpec]:
    return lambda input, *args, **options: TensorSpec(spec(input).shape, dtype)


_TEXT_TO_TEXT = _same_shape(string)


def _characters(text: bytes) -> int:
    return sum((byte & 0xC0) != 0x80 for byte in text)


def _check_unit(unit: str) -> bool:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f'unit must be "BYTE" or "UTF8_CHAR", not {unit!r}')
    return unit == "UTF8_CHAR"


@operation(infer=_same_shape(int32), of_ragged=in_rows)
def length(input: Any, unit: str = "BYTE") -> Array:
    """The number of bytes, or of characters, of each string."""
    return each_text(_characters if _check_unit(unit) else len, texts(input), np.int32)


def _cut(text: bytes, pos: int, length: int, *, characters: bool) -> bytes:
    starts = [i for i, byte in enumerate(text) if (byte & 0xC0) != 0x80] if characters else range(len(text))
    total = len(starts)
    begin = pos + total if pos < 0 else pos
    if not 0 <= begin <= total:
        raise InvalidArgumentError(f"pos {pos} out of range for string {text!r}")
    end = total if length < 0 else min(begin + length, total)
    bounds = [*starts, len(text)]
    return text[bounds[begin] : bounds[end]]


@operation(of_ragged=in_rows)
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Array:
    """The part of each string from a position on, of a length."""
    characters = _check_unit(unit)
    with invalid_argument():
        made, begins, lengths = np.broadcast_arrays(texts(input), array(pos), array(len))
    found = np.empty(made.shape, object)
    for at in np.ndindex(made.shape):
        found[at] = _cut(made.item(at), int(begins[at]), int(lengths[at]), characters=characters)
    return found


def rows_of(parts: list[list[Any]], shape: tuple[int, ...], dtype: Any = object) -> Any:
    """Lists of strings, or of numbers, as one row for each value of a tensor of this shape."""
    values = np.empty(sum(map(len, parts)), dtype)
    values[:] = [each for row in parts for each in row]
    if not shape:
        return values
    found: Any = RaggedValue(values, _splits(list(map(len, parts))))
    for i in range(len(shape) - 1, 0, -1):
        found = RaggedValue(found, _splits([shape[i]] * int(np.prod(shape[:i]))))
    return found


def _splits(lengths: list[int]) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _split_spec(input: Any, *args: Any, **options: Any) -> Any:
    shape = spec(input).shape
    if shape.rank == 0:
        return TensorSpec([None], string)
    return RaggedTensorSpec(shape.concatenate([None]), string, shape.rank, int64)


@operation(infer=_split_spec)
def split(input: Any, sep: Any = None, maxsplit: int = -1) -> Any:
    """The parts of each string between separators; without one, between white space."""
    made = texts(input)
    mark = b"" if sep is None else bytes(texts(sep).item())
    parts = [text.split(mark or None, maxsplit) for text in made.reshape(-1)]
    return rows_of(parts, made.shape)


@operation(infer=_split_spec)
def bytes_split(input: Any) -> Any:
    """The bytes of each string."""
    made = texts(input)
    return rows_of([[text[i : i + 1] for i in range(len(text))] for text in made.reshape(-1)], made.shape)


@operation(infer=lambda *args, **options: SparseTensorSpec([None, None], string))
def string_split(
    source: Any = None,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: Any = None,
) -> SparseValue:
    """The parts of strings as first-generation code has them: every byte of `sep` separates."""
    mark = b" " if sep is None and delimiter is None else texts(delimiter if sep is None else sep).item()
    rows = [_apart(text, mark, skip_empty=skip_empty) for text in texts(source).reshape(-1)]
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.empty(len(places), object)
    values[:] = [text for row in rows for text in row]
    shape = np.array([len(rows), max(map(len, rows), default=0)], np.int64)
    return SparseValue(np.array(places, np.int64).reshape(-1, 2), values, shape)


def _apart(text: bytes, marks: bytes, *, skip_empty: bool) -> list[bytes]:
    if not marks:
        return [text[i : i + 1] for i in range(len(text))]
    for mark in marks[1:]:
        text = text.replace(bytes([mark]), marks[:1])
    parts = text.split(marks[:1])
    return [part for part in parts if part] if skip_empty else parts


@operation()
def join(inputs: Any, separator: str | bytes = "") -> Array:
    """The strings of some tensors one behind the other; a single string goes with all of the others."""
    parts = [texts(each) for each in inputs]
    shapes = {each.shape for each in parts if each.ndim}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"Input shapes do not match: {sorted(shapes)}")
    shape = shapes.pop() if shapes else ()
    mark = separator.encode() if isinstance(separator, str) else separator
    found = np.empty(shape, object)
    for at in np.ndindex(shape):
        found[at] = mark.join(each.item(at) if each.ndim else each.item() for each in parts)
    return found


def _join_spec(inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "") -> TensorSpec:
    known = spec(inputs).shape
    if known.rank is None or has_specs(axis):
        return TensorSpec(None, string)
    axes = range(known.rank) if axis is None else [each % known.rank for each in whole_numbers(axis)]
    kept = [1 if i in axes else size for i, size in enumerate(known) if keepdims or i not in axes]
    return TensorSpec(kept, string)


@operation(infer=_join_spec)
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str | bytes = "") -> Array:
    """The strings along some axes one behind the other."""
    made = texts(inputs)
    axes = list(reversed(range(made.ndim))) if axis is None else whole_numbers(axis, "axis")
    for each in axes:
        if not -made.ndim <= each < made.ndim:
            raise OutOfRangeError(
                f"Invalid reduction dimension {each} for input with {made.ndim} dimension(s)"
            )
    axes = [each % made.ndim for each in axes]
    mark = separator.encode() if isinstance(separator, str) else separator
    others = [i for i in range(made.ndim) if i not in axes]
    rows = np.transpose(made, [*others, *reversed(axes)])
    shape = [made.shape[i] for i in others]
    found = np.empty(shape, object)
    for at in np.ndindex(*shape):
        found[at] = mark.join(np.atleast_1d(rows[at]).reshape(-1).tolist())
    return (
        found.reshape([1 if i in axes else size for i, size in enumerate(made.shape)]) if keepdims else found
    )


def _cased(name: str, of_bytes: Callable[[bytes], bytes], of_text: Callable[[str], str]) -> Operation:
    def kernel(input: Any, encoding: str = "") -> Array:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")

        def changed(text: bytes) -> bytes:
            return of_text(text.decode("utf-8", "replace")).encode()

        return each_text(changed if encoding else of_bytes, texts(input))

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"`tf.strings.{name}`: the same letters in {name} case."
    return Operation(kernel, infer=_TEXT_TO_TEXT, of_ragged=in_rows)


lower = _cased("lower", bytes.lower, str.lower)
upper = _cased("upper", bytes.upper, str.upper)


@operation(infer=_TEXT_TO_TEXT, of_ragged=in_rows)
def strip(input: Any) -> Array:
    """The strings without white space around them."""
    return each_text(bytes.strip, texts(input))


@operation(infer=lambda input, pad=False: TensorSpec(spec(input).shape, string))
def encode_base64(input: Any, pad: bool = False) -> Array:
    """The strings in letters that are safe in names of files and pages; `pad` fills them up with ``=``."""
    return each_text(lambda text: urlsafe_b64encode(text).rstrip(b"" if pad else b"="), texts(input))


@operation(infer=lambda input: TensorSpec(spec(input).shape, string))
def decode_base64(input: Any) -> Array:
    """The strings that `encode_base64` made letters of."""
    return each_text(_decoded, texts(input))


_LETTERS = rb"[A-Za-z0-9_-]"
_BASE64 = re.compile(rb"(?:%b{4})*(?:%b{2}(?:==)?|%b{3}=?)?" % ((_LETTERS,) * 3))


def _decoded(text: bytes) -> bytes:
    if not _BASE64.fullmatch(text):
        raise InvalidArgumentError("Invalid character found in base64.")
    return urlsafe_b64decode(text.rstrip(b"=") + b"==")  # more than enough
