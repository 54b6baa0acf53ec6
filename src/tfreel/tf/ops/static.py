"""What is known of arguments before there are values: sizes, axes; and errors of NumPy as TensorFlow's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.rows import Column, Dense, Strings, is_column
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


@contextmanager
def invalid_argument() -> Iterator[None]:
    """Turns what NumPy says of arguments that do not fit into TensorFlow's error."""
    try:
        yield
    except (ValueError, IndexError, OverflowError) as error:
        raise InvalidArgumentError(str(error)) from error


def whole_numbers(value: Any, what: str = "sizes") -> list[int]:
    """The numbers of a vector of whole numbers, such as a shape; a scalar is a vector of one.

    Raises:
        InvalidArgumentError: It is no vector, or they are not whole.
    """
    made = array(value)
    if made.ndim > 1:
        raise InvalidArgumentError(f"{what} must be 1-D, not of shape {list(made.shape)}")
    if made.size and made.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what} must be whole numbers, not {as_dtype(made.dtype).name}")
    return [int(each) for each in made.reshape(-1)]


def one_number(value: Any, what: str) -> int:
    """The whole number that a scalar tensor holds, such as an axis.

    Raises:
        InvalidArgumentError: It is no scalar, or not whole.
    """
    made = array(value)
    if made.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what} must be a whole number, not {as_dtype(made.dtype).name}")
    if made.size != 1:
        raise InvalidArgumentError(f"{what} must be a scalar, not of shape {list(made.shape)}")
    return int(made.reshape(()))


def known_sizes(shape: Any) -> list[int | None] | None:
    """The sizes that an argument tells, as far as they are known: None in place of promises and of -1."""
    if isinstance(shape, TensorSpec):
        length = shape.shape[0] if shape.shape.rank == 1 else None
        return None if length is None else [None] * length
    if isinstance(shape, (list, tuple)):
        return [None if isinstance(each, TensorSpec) or int(each) < 0 else int(each) for each in shape]
    return [None if size < 0 else size for size in whole_numbers(shape)]


def has_specs(*arguments: Any) -> bool:
    """Whether anything in some arguments is promised."""
    return any(
        has_specs(*each) if isinstance(each, (list, tuple)) else isinstance(each, TensorSpec)
        for each in arguments
    )


def spec(argument: Any) -> TensorSpec:
    """The spec of an argument, which may be a value."""
    if isinstance(argument, TensorSpec):
        return argument
    if has_specs(argument):
        return TensorSpec([len(argument)], next(each.dtype for each in argument if has_specs(each)))
    made = array(argument)
    return TensorSpec(made.shape, made.dtype)


def unranked(argument: Any) -> TensorSpec:
    """The dtype of an argument, and nothing of its shape."""
    return TensorSpec(None, spec(argument).dtype)


def dense(column: Any) -> Array | None:
    """The array of a column whose rows have one shape, else None."""
    if isinstance(column, Strings):
        return column.column.to_numpy()
    return column.array if isinstance(column, Dense) else None


def row_axis(axis: int) -> int:
    """An axis of the rows, in an array of many."""
    return axis + 1 if axis >= 0 else axis


def no_columns(*arguments: Any) -> bool:
    """Whether arguments are the same for all rows."""
    return not any(
        no_columns(*each) is False if isinstance(each, (list, tuple)) else is_column(each)
        for each in arguments
    )


def same_for_all(column: Any) -> Any:
    """The value that all rows of a column, or of columns in a list, have; None if they differ."""
    if isinstance(column, (list, tuple)):
        found = [same_for_all(each) for each in column]
        return None if any(each is None for each in found) else found
    if not is_column(column):
        return column
    rows: Column = column
    made = dense(rows)
    if made is None or not len(made) or not np.all(made == made[:1]):
        return None
    return rows.row(0)
