"""`tf.ragged`: tensors of rows that differ in length."""

from tfreel.tf.ops.ragged_made import boolean_mask as boolean_mask
from tfreel.tf.ops.ragged_made import constant as constant
from tfreel.tf.ops.ragged_made import ragged_range as range
from tfreel.tf.ops.ragged_made import stack as stack
from tfreel.tf.ops.ragged_math import map_flat_values as map_flat_values
from tfreel.tf.values.ragged import RaggedTensor as RaggedTensor

__all__ = ["RaggedTensor", "boolean_mask", "constant", "map_flat_values", "range", "stack"]
