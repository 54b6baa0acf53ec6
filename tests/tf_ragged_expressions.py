"""Expressions of ragged and sparse tensors that mean the same in TensorFlow and in `tfreel.tf`.

They stand one in a line, and are about `values_of(tf)`.
"""

from __future__ import annotations

from typing import Any


def values_of(tf: Any) -> dict[str, Any]:
    """What the expressions are about."""
    return {
        "r": tf.ragged.constant([[1, 2], [], [3]]),
        "rows": tf.ragged.constant([[[1], [2, 3]], [], [[4]]]),
        "text": tf.ragged.constant([["a"], ["b", "c"]]),
        "reals": tf.ragged.constant([[1.5], [2.0, 3.0]]),
        "s": tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 4]),
        "words": tf.SparseTensor([[0], [2]], ["a", "b"], [4]),
    }


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


# Of tensors alone: they can be traced.
OF_TENSORS = _lines("""
r.values
r.flat_values
r.row_splits
r.nrows()
r.nrows(tf.int32)
r.row_lengths()
r.row_starts()
r.row_limits()
r.value_rowids()
r.bounding_shape()
r.bounding_shape(axis=1)
r.bounding_shape(out_type=tf.int32)
r.nested_row_splits
r.to_tensor()
r.to_tensor(-1)
r.to_tensor(default_value=7, shape=[None, 3])
r.to_tensor(shape=[2, 1])
r.to_tensor(shape=[4, None])
r.to_sparse()
r[0]
r[1]
r[-1]
r[1:]
r[:0]
r[::2]
r[::-1]
r[:, :1]
r[:, 1:]
r[:, -1:]
r[:, ::2]
r[:, ::-1]
r[0, 0]
r[..., :1]
r[:, tf.newaxis]
r[tf.newaxis]
r[tf.constant(1):]
r + 1
1 + r
r - r
2 * r
r / 2
r // 2
r % 2
r ** 2
-r
abs(-r)
r + [[10], [20], [30]]
r == 1
r == r
r != 2
r < 2
r >= 2
(r > 1) & (r < 3)
~(r > 1)
tf.cast(r, tf.float32)
r.with_values([5.0, 6.0, 7.0])
r.with_flat_values(r.flat_values * 2)
tf.ragged.map_flat_values(tf.add, r, 5)
tf.ragged.boolean_mask(r, tf.ragged.constant([[True, False], [], [True]]))
rows.values
rows.flat_values
rows.nested_row_splits
rows.nested_row_lengths()
rows.nested_value_rowids()
rows.row_lengths(axis=2)
rows.bounding_shape()
rows.to_tensor()
rows.to_tensor(9, shape=[None, 1, None])
rows.to_sparse()
rows[0]
rows[1]
rows[1:]
rows[:, :1]
rows[:, 1:]
rows[0, 0]
rows[0, :1]
rows[0, 1, 0]
rows[..., :1]
rows[:, :, ::-1]
rows[:, tf.newaxis]
rows * 10
rows.with_values(rows.values)
text.to_tensor()
text.to_tensor('x')
text[1]
text[1, 0]
text[:, :1]
text == 'b'
text.to_sparse()
reals * 2.0
reals / 3.0
tf.add(r, 1)
tf.abs(r)
tf.math.square(r)
tf.equal(1, r)
tf.maximum(r, 2)
tf.clip_by_value(r, 2, 3)
tf.round(reals)
tf.where(r > 1, r, r * 0)
tf.strings.upper(text)
tf.strings.length(text)
tf.strings.substr(text, 0, 1)
tf.strings.regex_replace(text, 'a', 'z')
tf.strings.to_number(tf.strings.as_string(r))
tf.reduce_sum(r)
tf.reduce_sum(r, 1)
tf.reduce_sum(r, axis=-1)
tf.reduce_mean(r)
tf.reduce_mean(r[::2], axis=1)
tf.math.is_nan(tf.reduce_mean(r, axis=1))
tf.reduce_mean(reals, axis=1)
tf.reduce_max(r, axis=1)
tf.reduce_min(reals, axis=1)
tf.reduce_any(r > 1, axis=1)
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
tf.RaggedTensor.from_row_splits(r, [0, 1, 3])
tf.RaggedTensor.from_row_lengths(r.values, r.row_lengths())
tf.RaggedTensor.from_row_lengths([1, 2, 3], tf.constant([2, 0, 1]))
tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 2, 2])
tf.RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3])
tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2])
tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=5)
tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)
tf.RaggedTensor.from_uniform_row_length(r, 3)
tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 1, 3]])
tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[1, 1], [1, 2]])
tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]])
tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2])
tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
tf.RaggedTensor.from_tensor([[0, 2, 0], [0, 0, 0]], padding=0)
tf.RaggedTensor.from_tensor([['a', ''], ['b', 'c']], padding='')
tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2)
tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]])
tf.RaggedTensor.from_tensor(r.to_tensor(), lengths=r.row_lengths())
tf.RaggedTensor.from_sparse(r.to_sparse())
tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 4]))
tf.ragged.stack([r, tf.ragged.constant([[9]])])
tf.ragged.stack([r.values, r.values[:1]])
tf.ragged.stack([[1, 2], [3]])
tf.ragged.range([3, 5, 2])
tf.ragged.range([0, 5, 8], [3, 3, 12])
tf.ragged.range([0, 5, 8], [3, 3, 12], 2)
tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3])
tf.ragged.boolean_mask([1, 2, 3], [True, False, True])
s.indices
s.values
s.dense_shape
s.with_values([1.0, 2.0])
s * 2
s / 2
s * [[1], [2], [3]]
tf.cast(s, tf.float32)
tf.sparse.to_dense(s)
tf.sparse.to_dense(s, -1)
tf.sparse.to_dense(words)
tf.sparse.to_dense(words, default_value='x')
tf.sparse.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3]), validate_indices=False)
tf.sparse.to_dense(tf.SparseTensor([[0], [0]], [1, 2], [3]), validate_indices=False)
tf.sparse.from_dense([[0, 1], [2, 0]])
tf.sparse.from_dense(['', 'a'])
tf.sparse.from_dense([0.0, -0.0, 2.5])
tf.sparse.from_dense(tf.sparse.to_dense(s))
tf.sparse.reorder(tf.SparseTensor([[1], [0]], [1, 2], [3]))
tf.sparse.reorder(s)
tf.sparse.concat(0, [s, s])
tf.sparse.concat(1, [s, s])
tf.sparse.concat(-1, [s, s])
tf.sparse.concat(0, [s, tf.SparseTensor([[0, 0]], [1], [1, 2])], expand_nonconcat_dims=True)
tf.sparse.reshape(s, [4, 3])
tf.sparse.reshape(s, [-1])
tf.sparse.reshape(s, [2, -1])
tf.sparse.slice(s, [0, 1], [2, 2])
tf.sparse.slice(s, [1, 0], [5, 9])
tf.sparse.reset_shape(s)
tf.sparse.reset_shape(s, [5, 5])
tf.sparse.expand_dims(s, 0)
tf.sparse.expand_dims(s)
tf.sparse.expand_dims(s, -2)
tf.sparse.retain(s, [True, False])
tf.SparseTensor(s.indices, s.values, s.dense_shape)
""")

# With real values only: what is not a tensor, and what is wrong.
WITH_VALUES = _lines("""
r.to_list()
r.numpy()
rows.to_list()
rows.numpy()
text.to_list()
text.numpy()
tf.ragged.constant([[1, 2], [3, 4]]).numpy()
tf.ragged.constant([[[1], [2]], [[3], [4]]]).numpy()
tf.ragged.constant([[], []]).numpy()
r
rows
text
reals
reals / 3.0
s
words
r.shape
rows.shape
text.shape
r.dtype
rows.ragged_rank
s.shape
s.get_shape()
s.dtype
[each for each in r]
[each for each in rows]
len(r)
bool(r)
hash(r)
r[5]
r[-4]
r[:, 0]
rows[:, 0]
r['a']
r + tf.ragged.constant([[1], [2], [3]])
r + rows
r.to_tensor(shape=5)
r.to_tensor(1.5)
r.to_tensor('x')
r.with_values([1, 2])
tf.RaggedTensor([1], [0, 1])
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2])
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2], validate=False)
tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 2, 3])
tf.RaggedTensor.from_row_splits([1, 2, 3], [])
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 3, 2, 3])
tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0])
tf.RaggedTensor.from_row_lengths([1, 2, 3], [4, -1])
tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 1])
tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=2)
tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2)
tf.RaggedTensor.from_tensor([1, 2])
tf.RaggedTensor.from_tensor([[1, 2]], lengths=[1], padding=0)
tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 1]], [1], [3, 4]))
tf.RaggedTensor.from_sparse(words)
tf.RaggedTensor.from_nested_row_splits([1], 5)
tf.ragged.constant([[], []])
tf.ragged.constant([[]], dtype=tf.int64)
tf.ragged.constant([[1]], dtype=tf.int64)
tf.ragged.constant([[1.5]], dtype=tf.int64)
tf.ragged.constant([[1]], row_splits_dtype=tf.int32).row_splits
tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,))
tf.ragged.constant([[], [[3, 4]]], ragged_rank=1).shape
tf.ragged.constant([[], [[3, 4]]])
tf.ragged.constant(5)
tf.ragged.constant([1, 2])
tf.ragged.constant([[1], 2])
tf.ragged.constant([[1]], ragged_rank=5)
tf.ragged.constant([np.array([1, 2]), np.array([3])])
tf.ragged.range([1], [3], 0)
tf.argmax(r, 1)
tf.add(s, 1)
tf.SparseTensor([0], [5], [3])
tf.SparseTensor([[0, 1]], [5, 6], [3, 4])
tf.SparseTensor([[0, 1]], [5], [3])
tf.SparseTensor([[0.5]], [1], [3])
tf.SparseTensor([[9]], [1], [3])
tf.SparseTensor(indices=np.zeros((0, 2), np.int64), values=[], dense_shape=[2, 2])
tf.SparseTensor(np.array([[0]], np.int32), [1], [3]).indices
tf.SparseTensor.from_value(tf.compat.v1.SparseTensorValue([[0]], [1], [2]))
tf.SparseTensor.from_value(s)
tf.SparseTensor.from_value(5)
tf.sparse.to_dense(s, 1.5)
tf.sparse.to_dense(s, '')
tf.sparse.to_dense(s, [1])
tf.sparse.to_dense(tf.SparseTensor([[0], [0]], [1, 2], [3]))
tf.sparse.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3]))
tf.sparse.to_dense(tf.SparseTensor([[9]], [1], [3]))
tf.sparse.to_dense(tf.SparseTensor([[9]], [1], [3]), validate_indices=False)
tf.sparse.to_dense(tf.SparseTensor([[-1]], [1], [3]))
tf.sparse.to_dense([1, 2])
tf.sparse.to_dense(tf.compat.v1.SparseTensorValue([[0]], [1], [2]))
tf.compat.v1.sparse_tensor_to_dense(s, default_value=7)
tf.sparse.concat(0, [s, tf.SparseTensor([[0, 0]], [1], [1, 2])])
tf.sparse.concat(0, [s, tf.SparseTensor([[0]], [1], [1])])
tf.sparse.reshape(s, [5])
tf.sparse.reset_shape(s, [1, 1])
s + s
s[0]
len(s)
s == s
bool(s)
list(tf.data.Dataset.from_tensor_slices(r))
list(tf.data.Dataset.from_tensor_slices(r).batch(2))
list(tf.data.Dataset.from_tensor_slices(r).filter(lambda row: True).batch(2))
list(tf.data.Dataset.from_tensor_slices(rows))
list(tf.data.Dataset.from_tensor_slices(rows).batch(2))
list(tf.data.Dataset.from_tensor_slices(rows).shuffle(9, seed=1).batch(2))
list(tf.data.Dataset.from_tensors(r).batch(2))
list(tf.data.Dataset.from_tensors(r).repeat(3).batch(2))
list(tf.data.Dataset.from_tensors(rows).unbatch())
list(tf.data.Dataset.from_tensor_slices(s))
list(tf.data.Dataset.from_tensor_slices(s).batch(2))
list(tf.data.Dataset.from_tensor_slices(s).shuffle(9, seed=1).batch(2))
list(tf.data.Dataset.from_tensors(s).repeat(3).batch(2))
list(tf.data.Dataset.from_tensors(s).concatenate(tf.data.Dataset.from_tensors(s * 2)))
list(tf.data.Dataset.from_tensor_slices((r, s)).as_numpy_iterator())
tf.data.Dataset.from_tensor_slices((r, rows, s)).element_spec
tf.data.Dataset.from_tensor_slices((r, rows, s)).batch(2).element_spec
tf.data.Dataset.from_tensors((r, rows, s)).element_spec
tf.data.Dataset.from_tensors((r, s)).batch(2, drop_remainder=True).element_spec
list(tf.data.Dataset.from_tensor_slices(r).map(lambda row: row + 1))
tf.data.Dataset.from_tensor_slices(r).map(lambda row: row + 1).element_spec
""")
