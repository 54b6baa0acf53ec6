"""`tf.io.parse_sequence_example` and `parse_single_sequence_example`: SequenceExamples as tensors."""

from __future__ import annotations

from typing import Any, TypeAlias

from tfreel.columns.strings import BytesColumn
from tfreel.tf.errors import InvalidArgumentError, OpError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, is_column
from tfreel.tf.ops.parsing import names_of, records_in, records_of, require_strings
from tfreel.tf.ops.readers import sequence_reader_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import int64
from tfreel.tf.values.shapes import TensorSpec

Tensors: TypeAlias = dict[Any, Any]


def _single_specs(
    serialized: TensorSpec, context_features: Any = None, sequence_features: Any = None, *_: Any, **__: Any
) -> tuple[Tensors, Tensors]:
    if serialized.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    require_strings(serialized)
    reader = sequence_reader_of(context_features, sequence_features)
    return reader.context.single_specs(), reader.lists.single_specs()


def _single_rows(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: Any = None,
) -> list[Column] | None:
    records = records_in(serialized)
    if records is None or is_column(example_name):
        return None
    try:
        return sequence_reader_of(context_features, sequence_features).rows(records)
    except OpError:
        return None  # row by row, the records before the bad one are good, and it is known which one is bad


@operation(infer=_single_specs, rows=_single_rows)
def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: Any = None,
) -> tuple[Tensors, Tensors]:
    """`tf.io.parse_single_sequence_example`: the features of one serialized SequenceExample.

    Args:
        serialized: The SequenceExample, a scalar.
        context_features: What to read of its context, by name.
        sequence_features: What to read of its feature lists, by name.
        example_name: A name for it in error messages.
        name: Is not used.

    Returns:
        The tensors of the context, and those of the feature lists.

    Raises:
        InvalidArgumentError: It is no SequenceExample, or does not have what is asked for.
        ValueError: It is no scalar, or the features are none.
    """
    reader = sequence_reader_of(context_features, sequence_features)
    record = records_of(serialized)
    if record.ndim:
        raise ValueError("Input serialized must be a scalar")
    context, lists, _ = reader.single(record.item(), _name_of(example_name))
    return context, lists


def _name_of(example_name: Any) -> Any:
    return None if example_name is None else array(example_name).item()


def _specs(
    serialized: TensorSpec, context_features: Any = None, sequence_features: Any = None, *_: Any, **__: Any
) -> tuple[Tensors, Tensors, Tensors]:
    reader = sequence_reader_of(context_features, sequence_features)
    if serialized.shape.rank == 0:
        context, lists = _single_specs(serialized, context_features, sequence_features)
        return context, lists, {key: TensorSpec([], int64) for key in reader.counted}
    if serialized.shape.rank not in (1, None):
        raise ValueError(f"Input serialized must be a scalar or a vector, not of shape {serialized.shape}")
    require_strings(serialized)
    count = serialized.shape[0]
    lengths = {key: TensorSpec([count], int64) for key in reader.counted}
    return reader.context.batch_specs(count), reader.lists.batch_specs(count), lengths


@operation(infer=_specs)
def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: Any = None,
) -> tuple[Tensors, Tensors, Tensors]:
    """`tf.io.parse_sequence_example`: the features of many serialized SequenceExamples.

    Args:
        serialized: The SequenceExamples, a vector; or one.
        context_features: What to read of their contexts, by name.
        sequence_features: What to read of their feature lists, by name.
        example_names: Names for them in error messages.
        name: Is not used.

    Returns:
        The tensors of the contexts, those of the feature lists, and of FixedLenSequenceFeatures the number of
        items in each.

    Raises:
        InvalidArgumentError: One is no SequenceExample, or does not have what is asked for.
        ValueError: These are no strings, or the features are none.
    """
    reader = sequence_reader_of(context_features, sequence_features)
    records = records_of(serialized)
    if records.ndim == 0:
        return reader.single(records.item(), _name_of(example_names))
    if records.ndim > 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {list(records.shape)}"
        )
    names = names_of(example_names, len(records))
    return reader.batch(records if isinstance(records, BytesColumn) else records.tolist(), names)
