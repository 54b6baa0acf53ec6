"""Text and bytes of Python, one made of the other: `tf.compat.as_bytes` and its like."""

from __future__ import annotations

from typing import Any


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """The bytes of text; bytes as they are.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"expected bytes or text, not {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The text that bytes mean; text as it is.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"expected bytes or text, not {bytes_or_text!r}")


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """The text that bytes mean, or what `str` says of anything else."""
    return value.decode(encoding) if isinstance(value, bytes) else str(value)
