"""Paths as TensorFlow takes them, and what the operating system says about them in TensorFlow's errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfreel.tf.errors import OpError, UnimplementedError, UnknownError, translated
from tfreel.tf.values.convert import scalar_bytes
from tfreel.tf.values.handles import Handle


def local(path: Any) -> str:
    """The path of a local file, of a str, bytes, a `pathlib.Path` or a tensor.

    Raises:
        TypeError: It is none of these.
        UnimplementedError: It is the address of something that is not local.
    """
    if isinstance(path, Handle):
        path = scalar_bytes(path)
    name = os.fsdecode(path)
    if name.startswith("file://"):
        return name.removeprefix("file://")
    scheme, found, _ = name.partition("://")
    if found and scheme.isalnum():
        raise UnimplementedError(
            f"File system scheme '{scheme}' not implemented (file: '{name}'); copy it to a local disk first"
        )
    return name


@contextmanager
def telling(path: str) -> Iterator[None]:
    """Turns errors of the operating system into TensorFlow's, which begin with the path."""
    try:
        yield
    except OSError as error:
        found = translated(error)
        kind = type(found) if isinstance(found, OpError) else UnknownError
        raise kind(f"{path}; {error.strerror or error}", path=path) from error
