"""The specs of batches and of their rows."""

from __future__ import annotations

from typing import Any

from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import DatasetSpec, RaggedTensorSpec, SparseTensorSpec


def with_first(spec: Any, size: int | None) -> Any:
    """The spec of a batch of what a spec stands for.

    Raises:
        TypeError: It stands for a dataset, of which no batch can be made.
    """
    if isinstance(spec, DatasetSpec):
        raise TypeError(
            "Batching of datasets, as window gives them, is not supported: flat_map makes elements of them"
        )
    shape = [size, *spec.shape] if spec.shape.rank is not None else None
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(shape, spec.dtype)
    return TensorSpec(shape, spec.dtype)


def without_first(spec: Any) -> Any:
    """The spec of the rows of what a spec stands for."""
    shape = spec.shape[1:]
    if isinstance(spec, RaggedTensorSpec):
        if not spec.ragged_rank:
            return TensorSpec(shape, spec.dtype)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)
