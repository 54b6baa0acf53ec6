"""Features: what is wanted of an example, said before it is read."""

from tfreel.features.kinds import (
    DTYPES,
    DType,
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    dtype_named,
)

__all__ = [
    "DTYPES",
    "DType",
    "Feature",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "dtype_named",
]
