"""`tf.SparseTensor`: values at positions, and nothing between them."""

from __future__ import annotations

from typing import Any

from tfreel.tf.ops import operators
from tfreel.tf.ops import sparse_parts as parts
from tfreel.tf.values.dtypes import DType, as_dtype
from tfreel.tf.values.handles import Handle, SparseValue, stands_for
from tfreel.tf.values.shapes import TensorShape
from tfreel.tf.values.tensor import Tensor


@stands_for(SparseValue)
class SparseTensor(Handle):
    """Values and their positions in a dense shape.

    Args:
        indices: A row for each value.
        values: The values.
        dense_shape: Of the tensor in which they stand.

    Example:
        >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])).numpy().tolist()
        [[0, 5], [6, 0]]
    """

    __slots__ = ()

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        made = parts.made(indices, values, dense_shape)
        self._held, self._source = made._held, made._source

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> Any:
        """A sparse tensor of its parts, or of one."""
        if isinstance(sparse_tensor_value, cls):
            return sparse_tensor_value
        if not hasattr(sparse_tensor_value, "dense_shape"):
            raise TypeError(f"{sparse_tensor_value!r} is neither a SparseTensor nor SparseTensorValue.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        """The positions, a row for each."""
        found: Tensor = parts.indices(self)
        return found

    @property
    def values(self) -> Tensor:
        """The values."""
        found: Tensor = parts.values(self)
        return found

    @property
    def dense_shape(self) -> Tensor:
        """The shape, as a tensor."""
        found: Tensor = parts.dense_shape(self)
        return found

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        if self._source is not None:
            return TensorShape(self._source.spec.shape)
        return TensorShape(self._held.dense_shape.tolist())

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return as_dtype(self._source.spec.dtype if self._source is not None else self._held.values.dtype)

    def get_shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self.shape

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same positions."""
        made: SparseTensor = parts.with_values(self, new_values)
        return made

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value in a run of the given session, or of a new one."""
        from tfreel.tf.first.session import Session

        return (session or Session()).run(self, feed_dict=feed_dict)

    def __mul__(self, other: Any) -> SparseTensor:
        return self.with_values(operators.multiply(self.values, parts.at_values(self, other)))

    def __truediv__(self, other: Any) -> SparseTensor:
        return self.with_values(operators.divide(self.values, parts.at_values(self, other)))

    def __reduce__(self) -> Any:
        return SparseTensor.of, (self.value(),)

    def __repr__(self) -> str:
        told = f"indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s}"
        return f"SparseTensor({told})"
