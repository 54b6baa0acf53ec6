r"""Regular expressions over strings.

TensorFlow matches with RE2, this with Python's `re`. The two agree on what both know. RE2 also takes
``[[:alpha:]]``, ``\pN`` and ``\z``, which Python does not know. Bytes that are not UTF-8 are matched one by
one.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.operators import in_rows
from tfreel.tf.ops.static import spec
from tfreel.tf.ops.text import each_text, texts
from tfreel.tf.values.dtypes import bool_, string
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

_PYTHON_ONLY = re.compile(r"\(\?(?:[=!]|<[=!]|P=|\()")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    if _PYTHON_ONLY.search(pattern):
        raise InvalidArgumentError(
            f"Invalid pattern: {pattern}, error: lookaround and references back are not known"
        )
    try:
        return re.compile(_ends_as_in_re2(pattern), re.ASCII if pattern.isascii() else 0)
    except re.error as error:
        raise InvalidArgumentError(f"Invalid pattern: {pattern}, error: {error}") from error


def _ends_as_in_re2(pattern: str) -> str:
    """The pattern with ``$`` meaning the end only, not the place before a line break at the end."""
    if "$" not in pattern or "(?m" in pattern:
        return pattern
    return re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\$", lambda m: r"\Z" if m[0] == "$" else m[0], pattern)


def _one(value: Any) -> str:
    made = texts(value)
    if made.ndim:
        raise InvalidArgumentError(f"a pattern must be one string, not of shape {list(made.shape)}")
    return _text(made.item())


@operation(infer=lambda input, pattern: TensorSpec(spec(input).shape, bool_), of_ragged=in_rows)
def regex_full_match(input: Any, pattern: Any) -> Array:
    """Whether a pattern matches the whole of each string."""
    wanted = _compiled(_one(pattern))
    return each_text(lambda text: wanted.fullmatch(_text(text)) is not None, texts(input), np.bool_)


@operation(
    infer=lambda input, pattern, rewrite, replace_global=True: TensorSpec(spec(input).shape, string),
    of_ragged=in_rows,
)
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Array:
    r"""The strings with what a pattern matches rewritten: ``\0`` is the match, ``\1`` its first group."""
    wanted, template = _compiled(_one(pattern)), _one(rewrite)
    asked = [int(each) for each in re.findall(r"\\(\d)", template)]
    if asked and max(asked) > wanted.groups:
        return texts(input)  # RE2 leaves the text alone

    def rewritten(match: re.Match[str]) -> str:
        return re.sub(r"\\(\d|\\)", lambda m: "\\" if m[1] == "\\" else match[int(m[1])] or "", template)

    count = 0 if replace_global else 1
    return each_text(lambda text: _bytes(wanted.sub(rewritten, _text(text), count=count)), texts(input))
