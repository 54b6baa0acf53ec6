"""`tf.sparse`: sparse tensors."""

from tfreel.tf.ops.sparse_parts import concat as concat
from tfreel.tf.ops.sparse_parts import expand_dims as expand_dims
from tfreel.tf.ops.sparse_parts import from_dense as from_dense
from tfreel.tf.ops.sparse_parts import reorder as reorder
from tfreel.tf.ops.sparse_parts import reset_shape as reset_shape
from tfreel.tf.ops.sparse_parts import reshape as reshape
from tfreel.tf.ops.sparse_parts import retain as retain
from tfreel.tf.ops.sparse_parts import sliced as slice
from tfreel.tf.ops.sparse_parts import to_dense as to_dense
from tfreel.tf.values.sparse import SparseTensor as SparseTensor

__all__ = [
    "SparseTensor",
    "concat",
    "expand_dims",
    "from_dense",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "to_dense",
]
