"""`tf.io.parse_example` and `parse_single_example`: the features of serialized Examples as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.columns.strings import BytesColumn
from tfreel.tf.errors import InvalidArgumentError, OpError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, Records, Strings, is_column
from tfreel.tf.ops.readers import reader_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, string
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


def records_of(serialized: Any) -> Any:
    """Serialized messages, as an array of strings of any shape.

    Raises:
        ValueError: They are none.
    """
    if isinstance(serialized, BytesColumn):
        return serialized
    made = array(serialized)
    if made.size and made.dtype != object:
        found = as_dtype(made.dtype).name
        raise ValueError(f"Tensor conversion requested dtype string for Tensor with dtype {found}")
    return made


def records_in(column: Any) -> Any:
    """The serialized messages of a column with one in each row; None if there are not such."""
    if isinstance(column, Strings):
        return column.column
    if isinstance(column, Records):
        return column.picked
    if isinstance(column, Dense) and column.array.ndim == 1:
        return column.array.tolist()
    return None


def _single_rows(
    serialized: Any, features: Any, example_names: Any = None, name: Any = None
) -> list[Column] | None:
    records = records_in(serialized)
    if records is None or is_column(example_names):
        return None
    try:
        return reader_of(features).rows(records)
    except OpError:
        return None  # row by row, the records before the bad one are good, and it is known which one is bad


def _single_specs(
    serialized: TensorSpec, features: Any, example_names: Any = None, name: Any = None
) -> dict[Any, Any]:
    if serialized.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    require_strings(serialized)
    return reader_of(features).asked.single_specs()


def require_strings(serialized: TensorSpec) -> None:
    """Says that these can be no messages.

    Raises:
        TypeError: They are no strings.
    """
    if serialized.dtype != string:
        raise TypeError(
            f"Input 'serialized' has type {serialized.dtype.name} that does not match expected type string."
        )


def _specs(
    serialized: TensorSpec, features: Any, example_names: Any = None, name: Any = None
) -> dict[Any, Any]:
    if serialized.shape.rank == 0:
        return _single_specs(serialized, features)
    if serialized.shape.rank not in (1, None):
        raise ValueError(f"Input serialized must be a scalar or a vector, not of shape {serialized.shape}")
    require_strings(serialized)
    return reader_of(features).asked.batch_specs(serialized.shape[0])


@operation(infer=_single_specs, rows=_single_rows)
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: Any = None
) -> dict[Any, Any]:
    """`tf.io.parse_single_example`: the features of one serialized Example.

    Args:
        serialized: The Example, a scalar.
        features: What to read, by name.
        example_names: Is not used.
        name: Is not used.

    Raises:
        InvalidArgumentError: It is no Example, or does not have what is asked for.
        ValueError: It is no scalar, or the features are none.

    Example:
        >>> record = tf.train.Example(
        ...     features=tf.train.Features(
        ...         feature={"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))}
        ...     )
        ... ).SerializeToString()
        >>> tf.io.parse_single_example(record, {"label": tf.io.FixedLenFeature([], tf.int64)})
        {'label': <tf.Tensor: shape=(), dtype=int64, numpy=np.int64(7)>}
    """
    if type(serialized) is bytes:
        return reader_of(features).single(serialized)
    reader = reader_of(features)
    record = records_of(serialized)
    if record.ndim:
        raise ValueError("Input serialized must be a scalar")
    return reader.single(record.item())


@operation(infer=_specs, rows=_single_rows)
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: Any = None
) -> dict[Any, Any]:
    """`tf.io.parse_example`: the features of many serialized Examples.

    Args:
        serialized: The Examples, a vector. A scalar is parsed as by `parse_single_example`.
        features: What to read, by name.
        example_names: Names for them in error messages.
        name: Is not used.

    Raises:
        InvalidArgumentError: One is no Example, or does not have what is asked for.
        ValueError: These are no strings, or the features are none.
    """
    reader = reader_of(features)
    records = records_of(serialized)
    if records.ndim == 0:
        return reader.single(records.item())
    if records.ndim > 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {list(records.shape)}"
        )
    names = names_of(example_names, len(records))
    return reader.batch(records if isinstance(records, BytesColumn) else records.tolist(), names)


def names_of(example_names: Any, count: int) -> Array | None:
    """The names of examples, for error messages.

    Raises:
        InvalidArgumentError: There is not one for each.
    """
    if example_names is None:
        return None
    names = np.atleast_1d(array(example_names))
    if len(names) not in (0, count):
        raise InvalidArgumentError(
            f"Expected names have the same shape as serialized: [{len(names)}] and [{count}]"
        )
    return names


def parse_single_example_v1(
    serialized: Any, features: Any, name: Any = None, example_names: Any = None
) -> Any:
    """`parse_single_example` with the arguments in the order of the first generation."""
    return parse_single_example(serialized, features, example_names)


def parse_example_v1(serialized: Any, features: Any, name: Any = None, example_names: Any = None) -> Any:
    """`parse_example` with the arguments in the order of the first generation."""
    return parse_example(serialized, features, example_names)
