"""Rows of unequal length: ragged and sparse tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import example, int64s, strings, write
from integrations.scripts.results import raised


def ragged_tensors_are_built(tf: Any, folder: Path) -> Any:
    ragged = tf.RaggedTensor
    return (
        tf.ragged.constant([[1, 2], [], [3]]),
        tf.ragged.constant([["a"], ["b", "c"]]),
        tf.ragged.constant([[[1], []], [[2, 3]]]),
        ragged.from_row_splits([1, 2, 3], [0, 2, 2, 3]),
        ragged.from_row_lengths([1, 2, 3], [1, 0, 2]),
        ragged.from_value_rowids([1, 2, 3], [0, 0, 2]),
        ragged.from_row_starts([1, 2, 3], [0, 1]),
        ragged.from_row_limits([1, 2, 3], [1, 3]),
        ragged.from_tensor([[1, 2], [3, 0]]),
        ragged.from_tensor([[1, 2], [3, 0]], padding=0),
        ragged.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]),
    )


def ragged_tensors_tell_about_themselves(tf: Any, folder: Path) -> Any:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    deep = tf.ragged.constant([[[1], []], [[2, 3]]])
    return (
        *(
            ragged.shape,
            ragged.dtype,
            ragged.ragged_rank,
            ragged.nrows(),
            ragged.row_lengths(),
            ragged.values,
        ),
        *(
            ragged.row_splits,
            ragged.value_rowids(),
            ragged.row_starts(),
            ragged.row_limits(),
            ragged.to_list(),
        ),
        *(deep.ragged_rank, deep.flat_values, deep.bounding_shape(), deep.to_list(), deep.nested_row_splits),
    )


def ragged_to_dense_and_back(tf: Any, folder: Path) -> Any:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    return (
        ragged.to_tensor(),
        ragged.to_tensor(default_value=-1),
        ragged.to_tensor(shape=[None, 4]),
        ragged.to_tensor(shape=[2, 1]),
        ragged.to_sparse(),
        tf.RaggedTensor.from_sparse(ragged.to_sparse()),
        tf.ragged.constant([["a"], []]).to_tensor(default_value="?"),
    )


def rows_of_a_ragged_tensor(tf: Any, folder: Path) -> Any:
    ragged = tf.ragged.constant([[1, 2], [], [3, 4, 5]])
    return ragged[0], ragged[2], ragged[1:], ragged[:, :1], [row for row in ragged], ragged[2, 1]  # noqa: C416


def ragged_rows_in_batches(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"v": int64s(tf, *range(n))}) for n in (3, 0, 2, 1, 4)]
    path = write(tf, folder / "a", records)
    spec = {"v": tf.io.RaggedFeature(tf.int64)}
    ds = tf.data.TFRecordDataset(path)
    return (
        ds.batch(2).map(lambda x: tf.io.parse_example(x, spec)["v"]),
        ds.batch(2).map(lambda x: tf.io.parse_example(x, spec)["v"].to_tensor()),
        ds.map(lambda x: tf.io.parse_single_example(x, spec)["v"]).padded_batch(3),
    )


def rows_batched_as_ragged(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(5).map(lambda n: tf.range(n))
    return ds.ragged_batch(2), ds.ragged_batch(2, drop_remainder=True)


def slices_of_ragged_and_sparse(tf: Any, folder: Path) -> Any:
    slices = tf.data.Dataset.from_tensor_slices
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    sparse = tf.sparse.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    return slices(ragged), slices(ragged).batch(2), slices(sparse)


def sparse_tensors_are_built(tf: Any, folder: Path) -> Any:
    sparse = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[1.5, 2.5], dense_shape=[2, 3])
    words = tf.sparse.SparseTensor([[0], [3]], ["a", "b"], [5])
    return (
        *(sparse, sparse.shape, sparse.dtype, sparse.dense_shape, tf.sparse.to_dense(sparse)),
        *(tf.sparse.to_dense(words, default_value="-"), tf.sparse.from_dense([[0, 1], [2, 0]])),
        sparse.values,
    )


def sparse_tensors_are_changed(tf: Any, folder: Path) -> Any:
    sparse = tf.SparseTensor([[1, 0], [0, 1]], [2.5, 1.5], [2, 3])
    return tf.sparse.reorder(sparse), tf.sparse.reshape(tf.sparse.reorder(sparse), [3, 2])


def sparse_rows_in_batches(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"v": int64s(tf, *range(n)), "w": strings(tf, *[b"w"] * n)}) for n in (3, 0, 2)]
    spec = {"v": tf.io.VarLenFeature(tf.int64), "w": tf.io.VarLenFeature(tf.string)}
    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records))
    singles = ds.map(lambda x: tf.io.parse_single_example(x, spec))
    return (
        singles,
        ds.batch(2).map(lambda x: tf.io.parse_example(x, spec)),
        singles.map(lambda row: tf.sparse.to_dense(row["v"])).padded_batch(3),
        singles.map(lambda row: {key: tf.sparse.to_dense(value) for key, value in row.items()}),
    )


def sparse_singles_are_batched(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"v": int64s(tf, 1, 2)}) for _ in range(3)]
    spec = {"v": tf.io.VarLenFeature(tf.int64)}
    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records))
    return ds.map(lambda x: tf.io.parse_single_example(x, spec)).batch(2)


def boxes_of_object_detection(tf: Any, folder: Path) -> Any:
    rng = np.random.default_rng(0)
    names = [f"image/object/bbox/{name}" for name in ("ymin", "xmin", "ymax", "xmax")]
    records = []
    for n in (2, 0, 3):
        boxes = rng.random((4, n)).astype(np.float32)
        features = {
            name: tf.train.Feature(float_list=tf.train.FloatList(value=column))
            for name, column in zip(names, boxes, strict=True)
        }
        features["image/object/class/label"] = int64s(tf, *range(n))
        records.append(example(tf, features))
    spec = {name: tf.io.VarLenFeature(tf.float32) for name in names}
    spec["image/object/class/label"] = tf.io.VarLenFeature(tf.int64)

    def parse(record: Any) -> Any:
        parsed = tf.io.parse_single_example(record, spec)
        columns = [tf.sparse.to_dense(parsed[name]) for name in names]
        return tf.stack(columns, axis=-1), tf.sparse.to_dense(parsed["image/object/class/label"])

    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records)).map(parse)
    return ds, ds.padded_batch(3, ([None, 4], [None]), (np.float32(0), np.int64(-1)))


def partitions_that_do_not_fit(tf: Any, folder: Path) -> Any:
    ragged = tf.RaggedTensor
    return (
        raised(tf, lambda: ragged.from_row_splits([1, 2, 3], [0, 2])),
        raised(tf, lambda: ragged.from_row_lengths([1, 2, 3], [1, 1])),
        raised(tf, lambda: tf.ragged.constant([[1], 2])),
    )
