"""Small truths about path names that every part of storage shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# The index of a file lies beside it, under its name and this.
INDEX_SUFFIX = ".tfreel-index"


def display(path: str | bytes) -> str:
    """The path for a message: control characters and undecodable bytes escaped, so that it stays one line."""
    text = os.fsdecode(path)
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(c: str) -> str:
    # An undecodable byte stands as one of 128 lone surrogates; any other has no bytes of its own.
    errors = "surrogateescape" if "\udc80" <= c <= "\udcff" else "surrogatepass"
    return c.encode("utf-8", errors).decode("latin-1").encode("unicode_escape").decode()


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Puts the path into errors of the system that come without one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = display(path)
        raise


def shard_name(prefix: str, index: int, count: int, suffix: str) -> str:
    """The name of one shard of a set, as TensorFlow Datasets and Beam write it."""
    return f"{prefix}-{index:05d}-of-{count:05d}{suffix}"


def split_suffix(path: str) -> tuple[str, str]:
    """``out/train.tfrecord.gz`` as ``out/train`` and ``.tfrecord.gz``: where a shard number goes."""
    head, tail = os.path.split(path)
    stem, dot, suffix = tail.lstrip(".").partition(".")
    hidden = tail[: len(tail) - len(tail.lstrip("."))]
    return os.path.join(head, hidden + stem), dot + suffix
