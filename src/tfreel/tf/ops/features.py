"""What to read of records, as TensorFlow says it: FixedLenFeature, VarLenFeature and others."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from tfreel.features import kinds
from tfreel.tf.values.dtypes import as_dtype, float32, int32, int64, string


class FixedLenFeature(NamedTuple):
    """The same number of values in every example: a tensor of this shape.

    Attributes:
        shape: Of the values; ``[]`` for one.
        dtype: `tf.int64`, `tf.float32` or `tf.string`.
        default_value: What stands for it where an example lacks it. Without one it is required.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values: a SparseTensor."""

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """Any number of items of one shape: a tensor, padded to the longest in a batch.

    Attributes:
        shape: Of one item.
        dtype: As in `FixedLenFeature`.
        allow_missing: Let examples lack it. In plain Examples it must be True.
        default_value: What to pad with.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Positions in one feature and values in another: a SparseTensor of a known shape.

    Attributes:
        index_key: The feature with the positions; a list of them for more dimensions.
        value_key: The feature with the values.
        dtype: Of the values.
        size: Of the dimension that the positions count; a list for a list of them.
        already_sorted: The positions are in order.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: bool


class RaggedFeature(_RaggedFields):
    """Any number of values, perhaps in rows of rows: a RaggedTensor; of one example, its inside.

    Attributes:
        dtype: As in `FixedLenFeature`.
        value_key: The feature with the values; the name it is asked for by, if None.
        partitions: How the values are cut into rows, the outermost first: `RowSplits`, `RowLengths`,
            `RowStarts`, `RowLimits` or `ValueRowIds` of a feature, or `UniformRowLength`.
        row_splits_dtype: `tf.int32` or `tf.int64`.
        validate: Kept for TensorFlow's sake: partitions are always checked here.
    """

    __slots__ = ()

    RowSplits = kinds.RaggedFeature.RowSplits
    RowLengths = kinds.RaggedFeature.RowLengths
    RowStarts = kinds.RaggedFeature.RowStarts
    RowLimits = kinds.RaggedFeature.RowLimits
    ValueRowIds = kinds.RaggedFeature.ValueRowIds
    UniformRowLength = kinds.RaggedFeature.UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: Any = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> Self:
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key!r}")
        if as_dtype(dtype) not in (float32, int64, string):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {dtype!r}")
        if as_dtype(row_splits_dtype) not in (int32, int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {row_splits_dtype!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"Argument `partitions` must be a list or tuple; got {partitions!r}")
        for each in partitions:
            if not isinstance(each, _PARTITIONS):
                raise TypeError(f"`partitions` must be a list of RaggedFeature's partitions; got {each!r}")
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(
            cls, as_dtype(dtype), value_key, tuple(partitions), as_dtype(row_splits_dtype), validate
        )


_PARTITIONS = (
    RaggedFeature.RowSplits,
    RaggedFeature.RowLengths,
    RaggedFeature.RowStarts,
    RaggedFeature.RowLimits,
    RaggedFeature.ValueRowIds,
    RaggedFeature.UniformRowLength,
)
