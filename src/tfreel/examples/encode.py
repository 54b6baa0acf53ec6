"""`tfreel.encode` and `tfreel.encode_sequence`: Python values in, serialized messages out.

The core understands ordinary values. What it does not understand it hands to `adapt` here, which makes
ordinary values of it or says what is wrong with it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.examples.tensor import Tensor, expand

_MOST_PRINTED_BITS = 256  # of a number with thousands of digits, Python refuses to print any


def encode(row: Mapping[str, Any]) -> bytes:
    """The serialized ``tf.train.Example`` of a row: a mapping from names of features to values.

    A value is an int, bool, float, str, bytes, a NumPy scalar or array, or nested lists and tuples of one
    kind, which are written flat; ``None`` stands for no feature. The same row always gives the same bytes,
    whatever the order of its keys.

    Args:
        row: The features.

    Raises:
        TypeError: A value cannot be a feature, mixes kinds, or is empty without a kind.
        ValueError: A number does not fit int64 or float32, or text is not valid Unicode.

    Example:
        >>> record = tfreel.encode({"label": 7, "box": [0.25, 0.5], "name": "cat", "note": None})
        >>> tfreel.decode(record)
        {'box': array([0.25, 0.5 ], dtype=float32), 'label': array([7]), 'name': [b'cat']}
    """
    return encoder.encode(row if type(row) is dict else _as_dict(row, "a row"))


def encode_sequence(context: Mapping[str, Any], feature_lists: Mapping[str, Any]) -> bytes:
    """The serialized ``tf.train.SequenceExample`` of a context and its feature lists.

    Args:
        context: The features that hold for the whole sequence, as in `encode`.
        feature_lists: From names to lists of rows: each row is the value of one step, as in `encode`. An
            empty row is of the kind of the others, and ``None`` a row without a kind.

    Raises:
        TypeError: As in `encode`; also if rows of one list are of different kinds.
        ValueError: As in `encode`.

    Example:
        >>> record = tfreel.encode_sequence({"id": 7}, {"words": [["a", "b"], [], ["c"]]})
        >>> tfreel.decode_sequence(record)
        ({'id': array([7])}, {'words': [[b'a', b'b'], [], [b'c']]})
    """
    return encoder.encode_sequence(
        context if type(context) is dict else _as_dict(context, "the context"),
        feature_lists if type(feature_lists) is dict else _as_dict(feature_lists, "the feature lists"),
    )


def _as_dict(row: object, what: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise TypeError(f"{what} must be a mapping from names to values, not {type(row).__name__}")
    return dict(row)


def adapt(name: str, value: object) -> object:
    """Something the core understands in place of a value it does not.

    Raises:
        TypeError: The value cannot be in a feature.
        ValueError: It could, but for its size.
    """
    if isinstance(value, (bytearray, memoryview)):
        return _adapt_buffer(name, value)
    if isinstance(value, (int, float, str)):  # the core takes these, unless they do not fit
        _refuse_value(name, value)
    if isinstance(value, (np.ndarray, np.generic)):
        return _adapt_array(name, value)
    if isinstance(value, Tensor):
        raise TypeError(f"feature {name!r}: a tensor is a feature of its own and cannot be in a list")
    if value is None:
        raise TypeError(f"feature {name!r}: None among values; only a whole feature can be None")
    raise TypeError(f"feature {name!r}: a value cannot be of type {type(value).__name__}{_hint(value)}")


def _hint(value: object) -> str:
    if hasattr(value, "__array__"):
        return "; np.asarray(value) makes an array of it"
    if isinstance(value, (dt.date, dt.timedelta)):
        kind = "timedelta64" if isinstance(value, dt.timedelta) else "datetime64"
        return f"; np.{kind}(value) is stored as nanoseconds, and str(value) as text"
    return ""


def _adapt_buffer(name: str, value: bytearray | memoryview) -> bytes:
    if isinstance(value, memoryview) and (value.itemsize != 1 or value.ndim > 1):
        raise TypeError(
            f"feature {name!r}: a memoryview must be of single bytes; np.asarray(value) keeps numbers"
        )
    return bytes(value)


def _refuse_value(name: str, value: float | str) -> NoReturn:
    if isinstance(value, str):
        problem = "text with lone surrogates has no UTF-8 form; encode it to bytes first"
    elif isinstance(value, float):
        problem = f"{value!r} does not fit float32"
    elif value.bit_length() > _MOST_PRINTED_BITS:
        problem = f"a number of {value.bit_length()} bits does not fit int64"
    else:
        problem = f"{value} does not fit int64"
    raise ValueError(f"feature {name!r}: {problem}")


def _adapt_array(name: str, value: npt.NDArray[Any] | np.generic) -> object:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"feature {name!r}: a masked array may lack values; filled() says what stands for them"
        )
    array = np.asarray(value)
    kind = array.dtype.kind
    if kind in "biuf":
        return _adapt_numbers(name, array)
    if kind in "mM":
        return _adapt_times(name, array)
    if kind in "SUT":
        return array.ravel().tolist() or np.array([], np.bytes_)
    if kind == "O":
        return array.ravel().tolist()
    return _adapt_foreign(name, array)


def _adapt_numbers(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind != "f" or array.dtype.itemsize in (4, 8):
        return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float32, order="C")
    for lost in array[np.isinf(rounded) & np.isfinite(array)].flat:
        raise ValueError(f"feature {name!r}: {lost!s} does not fit float32")
    return rounded


def _adapt_times(name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if np.isnat(array).any():
        raise ValueError(f"feature {name!r}: NaT has no place among nanoseconds")
    if array.dtype.kind == "m" and np.datetime_data(array.dtype)[0] in ("Y", "M", "generic"):
        raise TypeError(f"feature {name!r}: {array.dtype} has no fixed length in nanoseconds")
    try:
        nanoseconds = array.astype(f"{array.dtype.kind}8[ns]", order="C")
        exact = bool((nanoseconds.astype(array.dtype) == array).all())
    except OverflowError:  # of newer NumPy; an older one counts on past the end, and does not come back
        exact = False
    if not exact:
        raise ValueError(f"feature {name!r}: a {array.dtype} is no whole number of nanoseconds within int64")
    return nanoseconds.view(np.int64)


def _adapt_foreign(name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Number formats of the package ml_dtypes, all of which float32 holds exactly."""
    if array.dtype.name.startswith(("bfloat16", "float8")):
        return array.astype(np.float32, order="C")
    raise TypeError(f"feature {name!r}: values cannot be of dtype {array.dtype}")


encoder = _core.Encoder(adapt, expand, Tensor)
