"""Strings as the letters that they are in some encoding."""

from __future__ import annotations

import codecs
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.static import spec
from tfreel.tf.ops.text import rows_of, texts
from tfreel.tf.values.dtypes import DType, int32, int64, string
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec

_WRONG = "\ud800"  # no text has it: half of a letter, as UTF-16 counts them
codecs.register_error("tfreel.wrong", lambda error: (_WRONG, getattr(error, "end", 0)))
_HANDLERS = {"strict": "strict", "ignore": "ignore", "replace": "tfreel.wrong"}


def _letters(text: bytes, encoding: str, errors: str, replacement: int) -> str:
    if errors not in _HANDLERS:
        raise InvalidArgumentError(f"errors must be one of {sorted(_HANDLERS)}, not {errors!r}")
    try:
        return text.decode(encoding, _HANDLERS[errors]).replace(_WRONG, chr(replacement))
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"Invalid formatting on input string: {error}") from error
    except LookupError as error:
        raise InvalidArgumentError(f"Could not create converter for input encoding: {encoding}") from error


def _rows_spec(input: Any, dtype: DType) -> Any:
    shape = spec(input).shape
    if shape.rank == 0:
        return TensorSpec([None], dtype)
    return RaggedTensorSpec(shape.concatenate([None]), dtype, shape.rank, int64)


@operation(infer=lambda input, *args, **options: _rows_spec(input, string))
def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533
) -> Any:
    """The letters of each string, in the encoding that it has."""
    made = texts(input)
    found = [_letters(text, input_encoding, errors, replacement_char) for text in made.reshape(-1)]
    return rows_of([[each.encode(input_encoding) for each in text] for text in found], made.shape)


@operation(infer=lambda input, *args, **options: _rows_spec(input, int32))
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
) -> Any:
    """The numbers of the letters of each string."""
    made = texts(input)
    found = [
        [ord(each) for each in _letters(text, input_encoding, errors, replacement_char)]
        for text in made.reshape(-1)
    ]
    if replace_control_characters:
        others = [] if errors == "ignore" else [replacement_char]
        found = [[letter for each in row for letter in ([each] if each >= 32 else others)] for row in found]
    return rows_of(found, made.shape, np.int32)
