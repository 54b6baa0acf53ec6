"""Files and datasets woven together, in TensorFlow's order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.builders import shards, write
from integrations.scripts.results import raised


def _list(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


def cycles_and_blocks(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(5)
    found = {}
    for cycle in (1, 2, 3, 5, 7):
        for block in (1, 2, 3):
            woven = ds.interleave(
                lambda i: tf.data.Dataset.range(i * 10, i * 11 + 1), cycle_length=cycle, block_length=block
            )
            found[cycle, block] = _list(woven)
    return found


def parallel_interleaving_is_in_order(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(4)

    def inner(i: Any) -> Any:
        return tf.data.Dataset.from_tensors(i).repeat(i + 1)

    return (
        _list(ds.interleave(inner, cycle_length=2, num_parallel_calls=2)),
        _list(ds.interleave(inner, cycle_length=3, block_length=2, num_parallel_calls=tf.data.AUTOTUNE)),
        _list(ds.interleave(inner, cycle_length=4, num_parallel_calls=4, deterministic=True)),
    )


def empty_datasets_use_up_their_turn(tf: Any, folder: Path) -> Any:
    lengths = tf.data.Dataset.from_tensor_slices([2, 0, 3, 0, 0, 1, 4])
    return [
        _list(lengths.interleave(lambda n: tf.data.Dataset.range(tf.cast(n, tf.int64)), cycle, block))
        for cycle in (1, 2, 3)
        for block in (1, 2)
    ]


def files_woven_together(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 4, 3)
    files = tf.data.Dataset.from_tensor_slices(names)
    return (
        _list(files.interleave(tf.data.TFRecordDataset, cycle_length=2)),
        _list(files.interleave(lambda name: tf.data.TFRecordDataset(name), cycle_length=4, block_length=2)),
        _list(files.flat_map(tf.data.TFRecordDataset)),
    )


def files_listed_and_woven(tf: Any, folder: Path) -> Any:
    shards(tf, folder, 3, 2)
    files = tf.data.Dataset.list_files(str(folder / "*.tfrecord"), shuffle=False)
    return _list(files.interleave(tf.data.TFRecordDataset, cycle_length=3, num_parallel_calls=2))


def files_sharded_over_workers(tf: Any, folder: Path) -> Any:
    shards(tf, folder, 5, 2)
    files = tf.data.Dataset.list_files(str(folder / "part-*"), shuffle=False)
    return [_list(files.shard(2, i).interleave(tf.data.TFRecordDataset, cycle_length=2)) for i in range(2)]


def compressed_files_woven(tf: Any, folder: Path) -> Any:
    names = [write(tf, folder / f"{i}.gz", [b"%d" % i] * 2, "GZIP") for i in range(3)]
    files = tf.data.Dataset.from_tensor_slices(names)
    return _list(
        files.interleave(lambda f: tf.data.TFRecordDataset(f, compression_type="GZIP"), cycle_length=2)
    )


def woven_with_their_numbers(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 2, 2)
    files = tf.data.Dataset.from_tensor_slices(names).enumerate()
    return _list(
        files.interleave(lambda i, f: tf.data.TFRecordDataset(f).map(lambda r: (i, r)), cycle_length=2)
    )


def a_cycle_that_cannot_be(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3)
    return (
        raised(tf, lambda: _list(ds.interleave(lambda i: tf.data.Dataset.range(i), cycle_length=0))),
        raised(tf, lambda: _list(ds.interleave(lambda i: tf.data.Dataset.range(i), 1, block_length=0))),
    )


def a_missing_file_among_others(tf: Any, folder: Path) -> Any:
    names = [*shards(tf, folder, 1, 2), str(folder / "gone")]
    ds = tf.data.Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset, cycle_length=1)
    return raised(tf, lambda: _list(ds)), _list(ds.take(2))


def lists_of_files(tf: Any, folder: Path) -> Any:
    shards(tf, folder, 3, 1)
    (folder / "other.txt").write_text("x")
    list_files = tf.data.Dataset.list_files

    def names(pattern: Any) -> list[str]:
        return [Path(name.decode()).name for name in _list(list_files(pattern, shuffle=False))]

    return (
        names(str(folder / "*")),
        names(str(folder / "part-0000?-of-*")),
        names([str(folder / "*.txt"), str(folder / "part-00001*")]),
        raised(tf, lambda: _list(list_files(str(folder / "none-*")))),
    )
