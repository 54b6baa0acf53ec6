"""Where every public name of `tf` comes from. Nothing is imported before it is asked for.

A namespace (`tf.io`, `tf.image`, …) is a module of three lines that looks its names up here. The page of the docs about
compatibility is made of this table too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

# By namespace, by the module in which names are defined. `name=other` is known under another name there; a name alone
# in braces is a namespace, or whatever else is a module itself.
TABLE: dict[str, dict[str, str]] = {
    "tf": {
        "values.dtypes": (
            "DType as_dtype bool=bool_ complex64 complex128 double=float64 float16 float32 float64 half=float16"
            " int8 int16 int32 int64 string uint8 uint16 uint32 uint64"
        ),
        "values.shapes": "TensorShape TensorSpec",
        "values.specs": "RaggedTensorSpec SparseTensorSpec",
        "values.tensor": "Tensor",
        "values.sparse": "SparseTensor",
        "values.ragged": "RaggedTensor",
        "ops.arrays": (
            "constant ensure_shape eye fill identity linspace meshgrid newaxis one_hot ones ones_like range rank"
            " sequence_mask shape size zeros zeros_like stop_gradient=identity"
        ),
        "ops.conversion": "convert_to_tensor",
        "ops.casting": "bitcast cast saturate_cast",
        "ops.shaping": (
            "broadcast_to concat expand_dims pad repeat reshape reverse roll split squeeze stack tile transpose unstack"
        ),
        "ops.selection": (
            "argmax argmin argsort boolean_mask gather gather_nd searchsorted slice=slice_ sort"
            " tensor_scatter_nd_update unique unique_with_counts where"
        ),
        "ops.operators": (
            "abs=absolute add divide equal greater greater_equal less less_equal logical_and logical_not logical_or"
            " maximum minimum multiply negative not_equal pow=power subtract"
        ),
        "ops.math": (
            "acos add_n asin atan atan2 clip_by_value cos cosh cumsum exp floor matmul round sigmoid sign sin sinh sqrt"
            " square tan tanh truediv"
        ),
        "ops.reductions": (
            "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
        ),
    },
    "tf.data": {
        "data.chunks": "INFINITE_CARDINALITY=INFINITE UNKNOWN_CARDINALITY=UNKNOWN",
        "data.dataset": "AUTOTUNE Dataset Iterator=DatasetIterator",
        "data.options": "Options ThreadingOptions",
        "data.records": "TFRecordDataset",
        "values.specs": "DatasetSpec",
    },
    "tf.io": {
        "ops.features": ("FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature"),
        "ops.parsing": "parse_example parse_single_example",
    },
    "tf.math": {
        "ops.math": (
            "acos add_n asin atan atan2 bincount ceil cos cosh cumsum divide_no_nan exp expm1 floor floormod is_finite"
            " is_inf is_nan log log1p mod=floormod reciprocal rint round rsqrt sigmoid sign sin sinh softmax sqrt"
            " square squared_difference tan tanh truediv"
        ),
        "ops.operators": (
            "abs=absolute add divide equal floordiv greater greater_equal less less_equal logical_and logical_not"
            " logical_or logical_xor maximum minimum multiply negative not_equal pow=power subtract"
        ),
        "ops.reductions": (
            "count_nonzero reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod"
            " reduce_std reduce_sum reduce_variance"
        ),
        "ops.selection": "argmax argmin top_k",
    },
    "tf.ragged": {
        "ops.ragged_made": "boolean_mask constant range=ragged_range stack",
        "ops.ragged_math": "map_flat_values",
        "values.ragged": "RaggedTensor",
    },
    "tf.sparse": {
        "ops.sparse_parts": "concat expand_dims from_dense reorder reset_shape reshape retain slice=sliced to_dense",
        "values.sparse": "SparseTensor",
    },
}

# The namespaces within a namespace.
WITHIN: dict[str, tuple[str, ...]] = {
    "tf": ("data", "errors", "io", "math", "ragged", "sparse"),
    "tf.data": ("experimental",),
}


def _origins(namespace: str) -> dict[str, tuple[str, str]]:
    """For each name of a namespace, the module it is defined in, and its name there."""
    found = {}
    for module, names in TABLE[namespace].items():
        for entry in names.split():
            name, _, there = entry.partition("=")
            found[name] = (f"tfreel.tf.{module}", there or name)
    return found


def names_of(namespace: str) -> list[str]:
    """The names in a namespace, those of namespaces within it among them."""
    return sorted([*_origins(namespace), *WITHIN.get(namespace, ())])


def namespace(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a module needs to be a namespace: its ``__getattr__``, ``__dir__`` and ``__all__``.

    Args:
        module: Its name; ``tfreel.tf.io`` is `tf.io`.
    """
    known_as = module.removeprefix("tfreel.")
    origins = _origins(known_as)
    names = names_of(known_as)

    def find(name: str) -> Any:
        if name in WITHIN.get(known_as, ()):
            return import_module(f"{module}.{name}")
        origin = origins.get(name)
        if origin is None:
            from tfreel.tf.compatibility import absent

            raise absent(known_as, name)
        found = getattr(import_module(origin[0]), origin[1])
        setattr(sys.modules[module], name, found)
        return found

    return find, lambda: names, names
