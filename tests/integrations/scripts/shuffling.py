"""Seeded shuffles: the order is TensorFlow's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.builders import numbered, numbered_spec, shards, write
from integrations.scripts.results import raised


def _list(ds: Any) -> list[Any]:
    return list(ds.as_numpy_iterator())


def every_buffer_size(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(20)
    return [_list(ds.shuffle(size, seed=1)) for size in (1, 2, 3, 5, 10, 19, 20, 21, 1000)]


def many_seeds(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(30)
    seeds = (0, 1, 2, 7, 42, 1234, 87654321, 2**31 - 1, 2**31, 2**40 + 3, -1)
    return [_list(ds.shuffle(10, seed=seed)) for seed in seeds]


def a_global_seed_and_a_seed(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(12)
    found = []
    for world, seed in ((0, 0), (0, 5), (42, 42), (1234, 0), (7, 1)):
        tf.random.set_seed(world)
        found.append(_list(ds.shuffle(12, seed=seed)))
    return found


def only_a_global_seed(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(12)
    found = []
    for world in (0, 1, 42, 1234):
        tf.random.set_seed(world)
        found.append([_list(ds.shuffle(12)), _list(ds.shuffle(5)), _list(ds.shuffle(12))])
    return found


def the_global_seed_set_again(tf: Any, folder: Path) -> Any:
    tf.random.set_seed(3)
    first = _list(tf.data.Dataset.range(9).shuffle(9))
    tf.random.set_seed(3)
    return first, _list(tf.data.Dataset.range(9).shuffle(9))


def reshuffled_in_each_iteration(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(8).shuffle(8, seed=5)
    return [_list(ds) for _ in range(4)]


def not_reshuffled(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(8).shuffle(8, seed=5, reshuffle_each_iteration=False)
    return [_list(ds) for _ in range(3)], _list(ds.repeat(2))


def repeated_after_the_shuffle(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6)
    return [_list(ds.shuffle(n, seed=2).repeat(3)) for n in (2, 4, 6, 10)]


def repeated_before_the_shuffle(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6)
    return [_list(ds.repeat(3).shuffle(n, seed=2)) for n in (2, 4, 6, 10, 18)]


def repeated_for_ever_and_taken(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(5)
    return (
        _list(ds.shuffle(5, seed=3).repeat().take(17)),
        _list(ds.repeat().shuffle(7, seed=3).take(17)),
        _list(ds.shuffle(3, seed=3, reshuffle_each_iteration=False).repeat().take(12)),
    )


def shuffled_twice(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10).shuffle(4, seed=1).shuffle(4, seed=2)
    return _list(ds), _list(ds), _list(ds.repeat(2))


def shuffled_and_batched(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(11).shuffle(11, seed=8).batch(4)
    return ds, ds.repeat(2), tf.data.Dataset.range(11).batch(3).shuffle(4, seed=8)


def a_shuffle_cached(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(7).shuffle(7, seed=4).cache()
    return _list(ds), _list(ds), _list(ds.repeat(2))


def a_cache_shuffled(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(7).cache().shuffle(7, seed=4)
    return _list(ds), _list(ds)


def split_in_two_by_take_and_skip(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10).shuffle(10, seed=6, reshuffle_each_iteration=False)
    train, test = ds.take(7), ds.skip(7)
    return _list(train), _list(test), sorted(_list(train) + _list(test))


def split_in_two_with_reshuffling(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(10).shuffle(10, seed=6)
    train, test = ds.take(7), ds.skip(7)
    return _list(train), _list(test), _list(train), _list(test)


def two_iterators_at_once(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6).shuffle(6, seed=1)
    first, second = iter(ds), iter(ds)
    return [(int(next(first)), int(next(second))) for _ in range(6)]


def two_datasets_of_one_shuffle(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6).shuffle(6, seed=1)
    doubled, plus = ds.map(lambda i: i * 2), ds.map(lambda i: i + 100)
    return _list(doubled), _list(plus), _list(doubled)


def a_shuffle_zipped_with_itself(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6).shuffle(6, seed=1)
    fixed = tf.data.Dataset.range(6).shuffle(6, seed=1, reshuffle_each_iteration=False)
    return tf.data.Dataset.zip((ds, ds)), tf.data.Dataset.zip((fixed, fixed))


def shuffled_structures_stay_together(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices({"x": list(range(9)), "y": [str(i) for i in range(9)]})
    return ds.shuffle(4, seed=11)


def empty_datasets_shuffle(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(0)
    return (
        _list(ds.shuffle(3, seed=1)),
        _list(ds.shuffle(3, seed=1).repeat(3)),
        _list(ds.repeat().shuffle(2, seed=1)),
    )


def buffer_sizes_that_cannot_be(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(5)
    return [raised(tf, lambda n=size: _list(ds.shuffle(n, seed=1))) for size in (0, -1)]


def a_buffer_of_all(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(9)
    return _list(ds.shuffle(ds.cardinality(), seed=2)), _list(ds.shuffle(tf.data.UNKNOWN_CARDINALITY, seed=2))


def records_shuffled(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 25))
    spec = numbered_spec(tf)
    ds = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec)["id"])
    return _list(ds.shuffle(8, seed=17)), _list(ds.shuffle(100, seed=17).batch(10))


def files_shuffled_then_records(tf: Any, folder: Path) -> Any:
    names = shards(tf, folder, 4, 3)
    files = tf.data.Dataset.from_tensor_slices(names).shuffle(4, seed=3)
    ds = files.interleave(tf.data.TFRecordDataset, cycle_length=2).shuffle(5, seed=4)
    return _list(ds), _list(ds)


def files_listed_in_random_order(tf: Any, folder: Path) -> Any:
    shards(tf, folder, 6, 1)
    ds = tf.data.Dataset.list_files(str(folder / "part-*"), seed=5)
    names = [Path(name.decode()).name for name in _list(ds)]
    return names, [Path(name.decode()).name for name in _list(ds)]


def files_listed_with_a_global_seed(tf: Any, folder: Path) -> Any:
    shards(tf, folder, 6, 1)
    tf.random.set_seed(9)
    ds = tf.data.Dataset.list_files(str(folder / "part-*"))
    return [Path(name.decode()).name for name in _list(ds)]


def a_shuffle_within_a_flat_map(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(3).flat_map(
        lambda i: tf.data.Dataset.range(i * 10, i * 10 + 5).shuffle(5, seed=1)
    )
    return _list(ds)


def shuffle_and_repeat_together(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6)
    return _list(ds.apply(tf.data.experimental.shuffle_and_repeat(4, count=3, seed=2)))


def a_training_loop_of_epochs(tf: Any, folder: Path) -> Any:
    tf.random.set_seed(2024)
    ds = tf.data.Dataset.from_tensor_slices((list(range(10)), [i % 2 for i in range(10)]))
    ds = ds.shuffle(buffer_size=10).batch(4).prefetch(tf.data.AUTOTUNE)
    return [[batch for batch in ds] for _ in range(3)]  # noqa: C416 - as users write it


def random_sampling_of_datasets(tf: Any, folder: Path) -> Any:
    dataset = tf.data.Dataset
    parts = [dataset.range(0, 10), dataset.range(100, 110), dataset.range(200, 210)]
    even = dataset.sample_from_datasets(parts, seed=7)
    uneven = dataset.sample_from_datasets(parts, weights=[0.7, 0.2, 0.1], seed=7, stop_on_empty_dataset=True)
    return sorted(_list(even)), set(_list(uneven)) <= set(_list(even)), even.element_spec


def repeated_after_other_steps_and_read_again(tf: Any, folder: Path) -> Any:
    """At its end, repeat begins its input once more, unless the shuffle is right below."""
    ds = tf.data.Dataset.range(5).shuffle(8, seed=36)
    variants = (
        *(ds.repeat(2), ds.batch(2).repeat(2), ds.map(lambda x: x + 1).repeat(3), ds.skip(0).repeat(2)),
        *(ds.repeat(2).repeat(2), ds.batch(5).repeat(2).repeat(2), ds.repeat(2).batch(5).repeat(2)),
        *(ds.concatenate(ds).repeat(2), tf.data.Dataset.zip((ds, ds)).repeat(2), ds.cache().repeat(2)),
        ds.batch(5).repeat(2).take(2),
        ds.batch(5).repeat(1),
    )
    return [[list(variant) for _ in range(3)] for variant in variants]


def a_cache_of_which_all_or_some_is_taken(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(7).shuffle(3, seed=97)
    variants = (ds.cache().take(7), ds.cache().take(5), ds.cache().take(9), ds.cache().batch(7).take(1))
    return [[list(variant) for _ in range(2)] for variant in variants]
