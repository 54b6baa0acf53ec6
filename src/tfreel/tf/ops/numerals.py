"""Numbers in strings: read with to_number, written with as_string; and tensors as text, for printing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.operators import in_rows
from tfreel.tf.ops.static import spec
from tfreel.tf.ops.text import each_text, texts
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, float32, string
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

_WHOLE = re.compile(rb"\s*[+-]?[0-9]+\s*")
_DECIMAL = re.compile(
    rb"\s*[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|(?i:inf(inity)?|nan))\s*"
)
_HEX = re.compile(rb"\s*[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]+([pP][+-]?[0-9]+)?\s*")
_READ = ("float32", "float64", "int32", "int64", "uint32", "uint64")


def _refused(text: bytes) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"StringToNumberOp could not correctly convert string: {text.decode('utf-8', 'replace')}"
    )


def _whole(text: bytes, limits: Any) -> int:
    if not _WHOLE.fullmatch(text):
        raise _refused(text)
    number = int(text)
    if not limits.min <= number <= limits.max:
        raise _refused(text)
    return number


def _decimal(text: bytes) -> float:
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEX.fullmatch(text):
        return float.fromhex(text.decode())
    raise _refused(text)


@operation(infer=lambda input, out_type=float32: TensorSpec(spec(input).shape, out_type), of_ragged=in_rows)
def to_number(input: Any, out_type: Any = float32) -> Array:
    """The number that each string tells."""
    wanted, made = as_dtype(out_type), texts(input)
    if wanted.name not in _READ:
        raise InvalidArgumentError(f"strings are read as {', '.join(_READ)}, not as {wanted.name}")
    if wanted.is_integer:
        limits = np.iinfo(wanted.numpy)
        return each_text(lambda text: _whole(text, limits), made, wanted.numpy)
    with np.errstate(over="ignore"):
        return each_text(_decimal, made, np.float64).astype(wanted.numpy)


def _float_text(number: Any, style: str, precision: int) -> str:
    if not np.isfinite(number):
        return "nan" if np.isnan(number) else "inf" if number > 0 else "-inf"
    return format(float(number), f".{6 if precision < 0 else precision}{style}")


def _number_text(number: Any, style: str, precision: int) -> str:
    if isinstance(number, (bool, np.bool_)):
        return "true" if number else "false"
    if isinstance(number, np.integer):
        return str(int(number))
    if isinstance(number, np.complexfloating):
        return (
            "(" + ",".join(_float_text(part, style, precision) for part in (number.real, number.imag)) + ")"
        )
    return _float_text(number, style, precision)


def _filled(text: str, width: int, fill: str) -> bytes:
    if fill == "0":
        return text.zfill(width).encode()
    return (text.ljust(width) if fill == "-" else text.rjust(width)).encode()


@operation(infer=lambda input, *args, **options: TensorSpec(spec(input).shape, string), of_ragged=in_rows)
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> Array:
    """Each number as text."""
    made = array(input)
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if fill not in ("", " ", "0", "+", "-"):
        raise InvalidArgumentError(f'Fill argument not supported: "{fill}"')
    if precision >= 0 and made.dtype.kind not in "fc":
        raise InvalidArgumentError(f"precision not supported for datatype {as_dtype(made.dtype).name}")
    if made.dtype == object:
        return made
    style = "e" if scientific else "g" if shortest else "f"
    found = np.empty(made.shape, object)
    for at in np.ndindex(made.shape):
        found[at] = _filled(_number_text(made[at], style, precision), max(width, 0), fill)
    return found


def printed(value: Any, summarize: int = 3) -> str:
    """A tensor as `tf.print` writes it: the first and last few of each dimension, or all for -1."""
    return _printed(array(value), summarize, 1).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _printed(made: Array, summarize: int, indent: int) -> str:
    if not made.ndim:
        return _printed_one(made[()])
    count = len(made)
    rows = [np.asarray(made[i], made.dtype) for i in _shown(count, summarize)]
    parts = [_printed(row, summarize, indent + 1) for row in rows]
    if 0 <= summarize < (count + 1) // 2 and count > 2 * summarize:
        parts.insert(summarize, "...")
    between = " " if made.ndim == 1 else "\n" * (made.ndim - 1) + " " * indent
    return "[" + between.join(parts) + "]"


def _shown(count: int, summarize: int) -> list[int]:
    if summarize < 0 or count <= 2 * summarize:
        return list(range(count))
    return [*range(summarize), *range(count - summarize, count)]


def _printed_one(value: Any) -> str:
    if isinstance(value, bytes):
        return '"' + value.decode("utf-8", "surrogateescape") + '"'
    if isinstance(value, np.bool_):
        return str(int(value))
    if isinstance(value, np.floating):
        return _shortest(value)
    return str(value)


def _shortest(value: Any) -> str:
    """The fewest digits that tell the number, without a point that is not needed."""
    text = np.format_float_positional(value, trim="-") if np.isfinite(value) else str(value)
    return text if len(text) < 12 else f"{value:g}"


@operation(infer=lambda *args, **options: TensorSpec([], string))
def _formatted(template: str, inputs: Any, placeholder: str, summarize: int) -> bytes:
    pieces = template.split(placeholder)
    filled = [pieces[0]]
    for each, piece in zip(inputs, pieces[1:], strict=True):
        filled += [_printed(array(each), summarize, 1), piece]
    return "".join(filled).encode("utf-8", "surrogateescape")


def format_(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Any = None) -> Any:
    """A text with tensors in the places of its placeholders.

    Raises:
        ValueError: There are more tensors than places, or fewer.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(given):
        raise ValueError(
            f"The template expects {template.count(placeholder)} tensors, but the inputs has {len(given)}."
        )
    return _formatted(template, list(given), placeholder, summarize)
