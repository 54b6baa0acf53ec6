"""`tfreel.tf.data`: order, structure, faults, and that traced functions give what called ones give."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfreel
from tfreel import tf
from tfreel.tf.data.functions import Tracing

D = tf.data.Dataset


def listed(dataset: Any) -> list[Any]:
    return [plain(each) for each in dataset.as_numpy_iterator()]


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.fixture
def without_tracing() -> Iterator[None]:
    Tracing.on = False
    yield
    Tracing.on = True


@pytest.fixture
def numbers(tmp_path: Path) -> str:
    path = str(tmp_path / "numbers.tfrecord")
    with tfreel.Writer(path) as out:
        out.write_many(
            [{"x": i, "name": f"no. {i}", "v": [i / 2, i / 4], "tags": np.full(i % 3, i)} for i in range(100)]
        )
    return path


# Order


def test_a_seeded_shuffle_has_tensorflows_order() -> None:
    # tf.data.Dataset.range(10).shuffle(4, seed=7) of TensorFlow 2.21, three passes.
    once = D.range(10).shuffle(4, seed=7, reshuffle_each_iteration=False)
    assert listed(once) == [3, 4, 0, 5, 1, 8, 2, 7, 6, 9]
    assert listed(once) == [3, 4, 0, 5, 1, 8, 2, 7, 6, 9]


def test_every_pass_through_a_shuffle_has_another_order_and_repeat_counts_as_a_pass() -> None:
    first, second = D.range(20).shuffle(20, seed=3), D.range(20).shuffle(20, seed=3).repeat(2)
    passes = listed(first), listed(first)
    assert passes[0] != passes[1]
    assert listed(second) == passes[0] + passes[1]


@given(st.integers(1, 60), st.integers(0, 80), st.integers(0, 5), st.integers(1, 9))
def test_a_shuffle_gives_every_element_once_however_they_come(
    size: int, count: int, seed: int, batch: int
) -> None:
    whole = listed(D.range(count).shuffle(size, seed=seed))
    assert sorted(whole) == list(range(count))
    assert listed(D.range(count).batch(batch).unbatch().shuffle(size, seed=seed)) == whole
    for i, number in enumerate(whole):
        assert number < i + size, "an element cannot come before it was in the buffer"


def turns(datasets: list[list[Any]], slots: int, block: int) -> list[Any]:
    """The order of interleave, as TensorFlow's documentation tells it, one element at a time."""
    ring: list[Any] = [None] * slots
    waiting, order, place = iter(map(iter, datasets)), [], 0
    more = True
    while more or any(each is not None for each in ring):
        if ring[place] is None:
            ring[place] = next(waiting, None)
            more = ring[place] is not None
            if ring[place] is None:
                place = (place + 1) % slots
                if all(each is None for each in ring):
                    return order
                continue
        for _ in range(block):
            element = next(ring[place], None)
            if element is None:
                ring[place] = None
                break
            order.append(element)
        place = (place + 1) % slots
    return order


@given(st.lists(st.integers(0, 6), max_size=6), st.integers(1, 4), st.integers(1, 4))
def test_interleave_goes_round_a_ring(lengths: list[int], slots: int, block: int) -> None:
    inner = [[100 * i + j for j in range(length)] for i, length in enumerate(lengths)]
    ends = np.array([(100 * i, 100 * i + length) for i, length in enumerate(lengths)], np.int64).reshape(
        -1, 2
    )
    made = D.from_tensor_slices(ends).interleave(lambda e: D.range(e[0], e[1]), slots, block)
    assert listed(made) == turns(inner, slots, block)


def test_files_are_read_one_behind_the_other_or_by_turns(tmp_path: Path) -> None:
    for name, count in (("a", 3), ("b", 1)):
        with tfreel.Writer(tmp_path / name) as out:
            out.write_many([f"{name}{i}".encode() for i in range(count)])
    files = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert listed(tf.data.TFRecordDataset(files)) == [b"a0", b"a1", b"a2", b"b0"]
    assert listed(tf.data.TFRecordDataset(files, num_parallel_reads=2)) == [b"a0", b"b0", b"a1", b"a2"]
    assert listed(tf.data.TFRecordDataset(D.from_tensor_slices(files))) == [b"a0", b"a1", b"a2", b"b0"]
    assert listed(D.list_files(str(tmp_path / "*"), shuffle=False)) == [name.encode() for name in files]


# Structure


def test_elements_keep_their_structure() -> None:
    class Point(NamedTuple):
        x: Any
        y: Any

    data = {"b": np.arange(3), "a": (np.arange(3) * 2, Point(np.arange(3), [[1], [2], [3]]))}
    first = next(iter(D.from_tensor_slices(data)))
    assert list(first) == ["b", "a"]
    assert type(first["a"][1]).__name__ == "Point"
    assert first["a"][1].y.numpy().tolist() == [1]
    assert D.range(3).map(lambda x: [x, {"k": x + 1}]).element_spec == (
        tf.TensorSpec([], tf.int64),
        {"k": tf.TensorSpec([], tf.int64)},
    )


def test_specs_know_what_is_fixed_and_what_is_not(numbers: str) -> None:
    spec = {"x": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.FixedLenFeature([2], tf.float32)}
    parsed = tf.data.TFRecordDataset(numbers).map(lambda r: tf.io.parse_single_example(r, spec))
    assert parsed.element_spec == {"v": tf.TensorSpec([2], tf.float32), "x": tf.TensorSpec([], tf.int64)}
    assert parsed.batch(8).element_spec["v"] == tf.TensorSpec([None, 2], tf.float32)
    assert parsed.batch(8, drop_remainder=True).element_spec["x"] == tf.TensorSpec([8], tf.int64)
    assert parsed.batch(8).map(lambda row: row["v"][:3]).element_spec == tf.TensorSpec([None, 2], tf.float32)


def _up_to(x: Any) -> Any:
    return tf.range(x) if x > 1 else tf.range(1, dtype=tf.int64)


def test_specs_that_the_first_element_has_to_tell_leave_sizes_and_shuffles_alone() -> None:
    dataset = D.range(9).shuffle(9, seed=3).map(_up_to)
    wanted = listed(D.range(9).shuffle(9, seed=3).map(_up_to))
    assert dataset.element_spec == tf.TensorSpec([None], tf.int64)
    assert tf.data.get_output_shapes(dataset.prefetch(1)).as_list() == [None]
    assert listed(dataset) == wanted


def test_a_look_at_specs_leaves_no_thread_that_goes_on_shuffling() -> None:
    dataset = D.range(3).shuffle(3, seed=3).repeat().map(_up_to).prefetch(4)
    wanted = listed(D.range(3).shuffle(3, seed=3).repeat().map(_up_to).take(9))
    for _ in range(5):
        assert dataset.element_spec == tf.TensorSpec([None], tf.int64)
    assert listed(dataset.take(9)) == wanted


def test_an_element_beyond_the_last_bucket_has_no_boundary_to_be_padded_to() -> None:
    rows = D.range(5, 6).map(tf.range)
    with pytest.raises(tf.errors.InvalidArgumentError, match="max"):
        listed(rows.bucket_by_sequence_length(tf.size, [4], [2, 2], pad_to_bucket_boundary=True))


def test_lengths_are_told_where_they_are_known() -> None:
    assert len(D.range(10).batch(4)) == 3
    assert len(D.range(10).shard(3, 1).take(2).repeat(4)) == 8
    assert D.range(3).repeat().cardinality().numpy() == tf.data.INFINITE_CARDINALITY
    assert D.range(3).filter(lambda x: x > 1).cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="infinite"):
        len(D.range(3).repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(D.range(3).unbatch())


# Functions


def branches(row: Any) -> Any:
    return row["x"] if row["x"] > 5 else -row["x"]


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda row: row,
    lambda row: (row["x"], row["name"]),
    lambda row: tf.cast(row["x"], tf.float32) / 3 + row["v"],
    lambda row: {"scaled": row["v"] * 2.5, "label": tf.stack([tf.cast(row["x"], "int32")])},
    lambda row: tf.one_hot(row["x"] % 4, 4),
    lambda row: tf.reshape(tf.concat([row["v"], row["v"]], 0), [2, 2])[::-1, 1:],
    lambda row: row["tags"],
    lambda row: tf.sparse.to_dense(row["tags"]),
    lambda row: tf.strings.length(row["name"]),
    lambda row: tf.constant([1.5, 2.5]),
    lambda row: (row["v"][0] > 3, tf.shape(row["tags"]), 7),
    branches,
    lambda row: np.sqrt(row["x"].numpy()),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_traced_functions_give_what_called_ones_give(numbers: str, function: Any) -> None:
    spec = {
        "x": tf.io.FixedLenFeature([], tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
        "v": tf.io.FixedLenFeature([2], tf.float32),
        "tags": tf.io.VarLenFeature(tf.int64),
    }
    results = []
    for tracing in (True, False):
        Tracing.on = tracing
        try:
            parsed = tf.data.TFRecordDataset(numbers).map(lambda r: tf.io.parse_single_example(r, spec))
            results.append(list(parsed.map(function).shuffle(30, seed=1)))
        finally:
            Tracing.on = True
    assert len(results[0]) == 100
    for traced, called in zip(*results, strict=True):
        for ours, theirs in zip(tf.nest.flatten(traced), tf.nest.flatten(called), strict=True):
            assert type(ours) is type(theirs)
            assert ours.dtype == theirs.dtype
            if isinstance(ours, tf.SparseTensor):
                ours, theirs = tf.sparse.to_dense(ours), tf.sparse.to_dense(theirs)
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
            assert ours.shape == theirs.shape


def test_a_function_that_looks_at_values_is_called_for_each_element_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def odd(x: Any) -> Any:
        return x if x % 2 else -x

    with caplog.at_level(logging.DEBUG, "tfreel.tf"):
        assert listed(D.range(4).map(odd)) == [0, 1, -2, 3]
    (told,) = caplog.records
    assert "odd asks for values" in told.getMessage()


def test_a_function_is_called_once_when_it_can_be_traced() -> None:
    calls = []

    def double(x: Any) -> Any:
        calls.append(x)
        return x * 2

    assert listed(D.range(1000).map(double)) == list(range(0, 2000, 2))
    assert len(calls) == 1


def test_mistakes_in_a_function_show_where_map_is_called() -> None:
    with pytest.raises(KeyError):
        D.from_tensors({"image": 1}).map(lambda row: row["imgae"])


def test_elements_are_not_made_long_before_they_are_wanted() -> None:
    made = []

    def slow(x: Any) -> Any:
        made.append(int(x))
        return x

    assert listed(D.range(1000).map(slow).take(3)) == [0, 1, 2]
    assert made == [0, 1, 2]
    next(iter(D.range(1000).map(slow)))
    assert len(made) == 4


def test_python_functions_run_within_traced_ones() -> None:
    def swapped(x: Any) -> Any:
        return np.flip(x.numpy())

    pairs = D.from_tensor_slices(np.arange(6).reshape(3, 2))
    assert listed(pairs.map(lambda x: tf.py_function(swapped, [x], tf.int64) + 1)) == [[2, 1], [4, 3], [6, 5]]


# Faults


def test_sound_elements_come_before_and_behind_a_fault(numbers: str) -> None:
    data = D.from_tensor_slices([b"1", b"2", b"x", b"4"]).map(lambda s: tf.strings.to_number(s))
    elements = iter(data)
    assert [next(elements).numpy(), next(elements).numpy()] == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(elements)
    assert next(elements).numpy() == 4
    assert listed(data.ignore_errors()) == [1, 2, 4]
    assert listed(data.batch(2).ignore_errors()) == [[1, 2], [4]]


def test_damage_is_told_behind_the_sound_records(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    with tfreel.Writer(path) as out:
        out.write_many([b"a" * 10] * 5)
    path.write_bytes(path.read_bytes()[:-3])
    elements = iter(tf.data.TFRecordDataset(str(path)))
    assert len([next(elements) for _ in range(4)]) == 4
    with pytest.raises(tf.errors.DataLossError, match="cut") as caught:
        next(elements)
    assert caught.value.record == 4
    assert caught.value.kind == "truncated_body"


def test_a_missing_file_is_told_when_it_is_opened() -> None:
    dataset = tf.data.TFRecordDataset("no-such-file")
    with pytest.raises(tf.errors.NotFoundError, match="no-such-file"):
        next(iter(dataset))
    with pytest.raises(ValueError, match="GZIP"):
        tf.data.TFRecordDataset("x", compression_type="SNAPPY")
    with pytest.raises(TypeError, match="string"):
        tf.data.TFRecordDataset([1, 2])


def test_elements_of_different_shapes_make_no_batch_and_the_message_says_what_does() -> None:
    uneven = D.range(1, 4).map(lambda x: tf.range(x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="padded_batch"):
        listed(uneven.batch(3))
    assert listed(uneven.padded_batch(3)) == [[[0, 0, 0], [0, 1, 0], [0, 1, 2]]]
    assert [row.to_list() for row in uneven.ragged_batch(2)] == [[[0], [0, 1]], [[0, 1, 2]]]


def test_padding_has_the_dtype_of_the_elements() -> None:
    data = D.from_tensors(np.array([1, 2], np.int64))
    with pytest.raises(TypeError, match=r"tf.constant\(-1, tf.int64\)"):
        data.padded_batch(1, [3], -1)
    assert listed(data.padded_batch(1, [3], tf.constant(-1, tf.int64))) == [[[1, 2, -1]]]
    with pytest.raises(tf.errors.DataLossError, match="smaller size"):
        listed(data.padded_batch(1, [1]))


def test_the_end_says_what_goes_on() -> None:
    elements = iter(D.range(2))
    assert [elements.get_next().numpy() for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match=r"all 2 elements were given; repeat\(\)"):
        elements.get_next()


# Life


def test_prefetching_threads_end_with_their_iterator() -> None:
    before = set(threading.enumerate())
    elements = iter(D.range(10**9).prefetch(2))
    next(elements)
    (ahead,) = set(threading.enumerate()) - before
    assert ahead.name == "tfreel-ahead"
    del elements
    gc.collect()
    ahead.join(5)
    assert not ahead.is_alive()


def test_what_is_cached_is_made_once(tmp_path: Path) -> None:
    made = []

    def note(x: Any) -> Any:
        made.append(int(x))
        return x

    for cached in (D.range(3).map(note).cache(), D.range(3).map(note).cache()):
        assert listed(cached) == listed(cached) == [0, 1, 2]
    assert made == [0, 1, 2] * 2
    kept = D.range(5).map(lambda x: (x, tf.strings.as_string(x))).cache(str(tmp_path / "kept"))
    assert list(tmp_path.iterdir()) == []
    assert listed(kept) == listed(kept) == [(i, str(i).encode()) for i in range(5)]
    assert [path.name for path in tmp_path.iterdir()] == ["kept.tfrecord"]


def test_generators_are_begun_anew_for_each_pass_and_checked() -> None:
    def pairs(count: int) -> Iterator[Any]:
        for i in range(count):
            yield i, [i] * i

    made = D.from_generator(pairs, args=(3,), output_types=(tf.int32, tf.float32), output_shapes=([], [None]))
    assert listed(made) == listed(made) == [(0, []), (1, [1.0]), (2, [2.0, 2.0])]
    wrong = D.from_generator(lambda: iter(["text"]), output_signature=tf.TensorSpec([], tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not be converted"):
        listed(wrong)


def test_windows_are_datasets() -> None:
    windows = D.range(7).window(3, shift=2, stride=2, drop_remainder=False)
    assert [listed(window) for window in windows] == [[0, 2, 4], [2, 4, 6], [4, 6], [6]]
    assert len(windows) == 4
    flat = D.range(7).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert listed(flat.map(lambda w: (w[:-1], w[-1:]))) == [([i, i + 1], [i + 2]) for i in range(5)]


def test_what_is_hardly_ever_drawn_is_drawn_in_the_end() -> None:
    sampled = D.sample_from_datasets([D.range(3), D.range(7, 9)], weights=[1.0, 1e-30])
    assert listed(sampled) == [0, 1, 2, 7, 8]


def test_small_things() -> None:
    assert listed(D.range(5).take(-1)) == [0, 1, 2, 3, 4]
    assert listed(D.range(5).skip(-1)) == []
    assert listed(D.range(0).repeat()) == []
    assert listed(D.range(6).shard(4, 1)) == [1, 5]
    assert listed(D.zip(D.range(3), D.range(9).batch(2))) == [(0, [0, 1]), (1, [2, 3]), (2, [4, 5])]
    assert listed(D.zip({"b": D.range(1), "a": D.range(5, 7)})) == [{"b": 0, "a": 5}]
    assert listed(D.range(2).concatenate(D.range(5, 7)).enumerate(10)) == [(10, 0), (11, 1), (12, 5), (13, 6)]
    assert D.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy() == 10
    assert listed(D.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x))) == [0, 1, 3, 6]
    assert listed(D.range(9).take_while(lambda x: x < 3)) == [0, 1, 2]
    assert listed(D.from_tensor_slices([3, 1, 3, 2, 1]).unique()) == [3, 1, 2]
    assert D.range(3).batch(3).get_single_element().numpy().tolist() == [0, 1, 2]
    for mistake in (
        lambda: D.range(3).batch(0),
        lambda: D.range(3).shuffle(0),
        lambda: D.range(3).shard(2, 2),
        lambda: D.range(3).get_single_element(),
        lambda: D.range(3).interleave(D.range, cycle_length=0),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            mistake()
