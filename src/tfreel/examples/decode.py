"""`tfreel.decode` and `tfreel.decode_sequence`: serialized messages in, arrays and bytes out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

from tfreel import _core
from tfreel.errors import DecodeError
from tfreel.examples.tensor import restore

Value: TypeAlias = npt.NDArray[Any] | list[bytes] | None


def decode(record: bytes | bytearray | memoryview, *, tensors: bool = True) -> dict[str, Value]:
    """The features of a serialized ``tf.train.Example``.

    Args:
        record: The message.
        tensors: Give arrays that were stored by `tensor` back as such. With ``False`` the three features that
            they are made of are left as they are.

    Returns:
        From names, in the order of the record, to values: a one-dimensional array of int64 or float32, a list
        of ``bytes``, or ``None`` for a feature without a kind.

    Raises:
        DecodeError: The record is not a valid message.

    Example:
        >>> tfreel.decode(tfreel.encode({"label": 7, "name": "cat"}))
        {'label': array([7]), 'name': [b'cat']}
    """
    found = _decoder.decode(_given(record), tensors)
    if isinstance(found, _core.Malformed):
        raise decode_error(found, "Example")
    return found


def decode_sequence(
    record: bytes | bytearray | memoryview, *, tensors: bool = True
) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    """Context and feature lists of a serialized ``tf.train.SequenceExample``.

    Args:
        record: The message.
        tensors: As in `decode`, for the context.

    Returns:
        The context as `decode` gives features, and from names to lists of such values, one for each step.

    Raises:
        DecodeError: The record is not a valid message.

    Example:
        >>> tfreel.decode_sequence(tfreel.encode_sequence({"id": 7}, {"steps": [[1, 2], [3]]}))
        ({'id': array([7])}, {'steps': [array([1, 2]), array([3])]})
    """
    found = _decoder.decode_sequence(_given(record), tensors)
    if isinstance(found, _core.Malformed):
        raise decode_error(found, "SequenceExample")
    return found


def _given(record: Any) -> Any:
    if record is None:  # which the core would refuse in words of its own
        raise TypeError("expected bytes, bytearray or memoryview, got None")
    return record


def decode_error(found: _core.Malformed, message: str) -> DecodeError:
    """What to raise for a record that is not a valid message of that name."""
    error = DecodeError(f"not a valid {message}: {found.why}, at byte {found.byte}", kind="proto_malformed")
    error.byte = found.byte
    return error


_decoder = _core.ExampleDecoder(restore)
