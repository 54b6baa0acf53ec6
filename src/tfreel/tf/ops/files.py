"""Whole files: read, written, and found by patterns."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.files.matching import matched
from tfreel.tf.files.paths import local, telling
from tfreel.tf.graphs.deeds import Action
from tfreel.tf.graphs.operations import operation
from tfreel.tf.values import dtypes
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


def _scalar(value: Any, what: str) -> bytes:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    made = array(value, dtypes.string)
    if made.ndim:
        raise InvalidArgumentError(f"{what} tensor must be scalar, but had shape: {list(made.shape)}")
    found: bytes = made.item()
    return found


@operation(infer=lambda filename: TensorSpec([], dtypes.string))
def read_file(filename: Any) -> Array:
    """The bytes of a file."""
    path = local(_scalar(filename, "Input filename"))
    with telling(path), open(path, "rb") as file:
        return np.array(file.read(), object)


def _write(filename: Any, contents: Any) -> None:
    path = local(_scalar(filename, "Input filename"))
    data = _scalar(contents, "Contents")
    with telling(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Action:
    """Writes a file, and makes the folders for it."""
    action: Action = Action.now(_write, filename, contents)
    return action


@operation(infer=lambda pattern: TensorSpec([None], dtypes.string))
def matching_files(pattern: Any) -> Array:
    """The files that one or more patterns mean, sorted."""
    patterns = array(pattern, dtypes.string)
    if patterns.ndim > 1:
        raise InvalidArgumentError(
            f"Input patterns tensor must be scalar or vector, but had shape: {list(patterns.shape)}"
        )
    return np.array(matching_names(patterns), object)


def matching_names(pattern: Any) -> list[bytes]:
    """The names of the files that one or more patterns mean, sorted."""
    patterns = array(pattern, dtypes.string)
    return sorted(os.fsencode(path) for each in patterns.reshape(-1) for path in matched(each))
