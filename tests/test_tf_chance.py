"""`tf.random`: seeds as TensorFlow derives them, and numbers of our own that follow from these."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tfreel import tf
from tfreel.tf.ops.chance import op_seeds


@pytest.fixture(autouse=True)
def _no_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfreel.tf.ops.chance._Global.seed", None)


def test_only_a_seed_of_the_operation_goes_with_a_fixed_one() -> None:
    assert op_seeds(5) == (87654321, 5)


def test_without_any_seed_there_is_none() -> None:
    assert op_seeds(None) is None


def test_the_global_seed_hands_out_what_python_draws_with_it() -> None:
    tf.random.set_seed(7)
    wanted = random.Random(7)
    for _ in range(3):
        assert op_seeds(None) == (7, wanted.randint(0, 2**31 - 1) % (2**31 - 1))
    assert op_seeds(9) == (7, 9)
    tf.random.set_seed(7)
    assert op_seeds(None) == (7, random.Random(7).randint(0, 2**31 - 1) % (2**31 - 1))


def _draws() -> list[Any]:
    calls = [tf.random.uniform([3]), tf.random.uniform([3], seed=1), tf.random.uniform([3], seed=1)]
    return [each.numpy().tolist() for each in calls]


def test_a_seed_set_again_begins_again() -> None:
    tf.random.set_seed(3)
    first = _draws()
    tf.random.set_seed(3)
    assert _draws() == first
    tf.random.set_seed(4)
    assert _draws() != first


def test_calls_with_the_same_seed_go_on() -> None:
    tf.random.set_seed(3)
    _, first, second = _draws()
    assert first != second


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_uniform_numbers_are_between_the_limits(dtype: str) -> None:
    drawn = tf.random.uniform([1000], -3, 4, dtype=dtype, seed=1)
    assert drawn.dtype == dtype
    assert -3 <= drawn.numpy().min() < -2
    assert 3 <= drawn.numpy().max() <= 4 if dtype.startswith("float") else drawn.numpy().max() == 3


def test_normal_numbers_have_their_mean_and_deviation() -> None:
    drawn = tf.random.normal([20000], 5.0, 2.0, seed=1).numpy()
    assert abs(drawn.mean() - 5) < 0.1
    assert abs(drawn.std() - 2) < 0.1
    cut = tf.random.truncated_normal([20000], 5.0, 2.0, seed=1).numpy()
    assert 1 <= cut.min() < 1.5
    assert 8.5 < cut.max() <= 9


def test_shuffle_keeps_the_parts() -> None:
    rows = np.arange(40).reshape(20, 2)
    found = tf.random.shuffle(rows, seed=2).numpy()
    assert sorted(found.tolist()) == rows.tolist()
    assert found.tolist() != rows.tolist()


def test_categories_come_as_often_as_they_are_probable() -> None:
    drawn = tf.random.categorical([[0.0, np.log(3.0)]], 10000, seed=1).numpy()
    assert 0.72 < drawn.mean() < 0.78


def test_a_mapped_function_draws_for_every_element_and_epoch() -> None:
    def numbers() -> list[list[float]]:
        tf.random.set_seed(11)
        dataset = tf.data.Dataset.range(50).map(lambda x: tf.random.uniform([], seed=3))
        return [list(dataset.as_numpy_iterator()) for _ in range(2)]

    first, second = numbers()
    assert len(set(first) | set(second)) == 100
    assert numbers() == [first, second]


def test_numbers_may_have_a_shape_that_is_not_known_yet() -> None:
    dataset = tf.data.Dataset.from_tensor_slices([1, 3]).map(lambda n: tf.random.uniform([n], 0, 5, tf.int32))
    assert [each.shape for each in dataset.as_numpy_iterator()] == [(1,), (3,)]


def test_a_session_draws_in_every_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = tf.random_uniform([])
        assert session.run(drawn) != session.run(drawn)


def _by_if(x: Any) -> int:
    if tf.random.uniform(()) > 0.5:
        return 1
    return 0


def _by_elif(x: Any) -> int:
    drawn, chosen = tf.random.uniform([], 0, 3, tf.int32), 0
    if drawn == 0:
        chosen = 0
    elif drawn == 1:
        chosen = 1
    return chosen


def _by_float(x: Any) -> Any:
    return x * 0 + int(float(tf.random.uniform([])) > 0.5)


@pytest.mark.parametrize("function", [_by_if, _by_elif, _by_float, tf.function(_by_if)])
def test_a_branch_by_chance_is_chosen_for_every_element(function: Any) -> None:
    found = list(tf.data.Dataset.range(200).map(function).as_numpy_iterator())
    assert 20 < sum(map(int, found)) < 180


def test_a_branch_by_chance_is_chosen_for_every_element_in_a_graph_too() -> None:
    def function(x: Any) -> Any:
        drawn = tf.random_uniform([], seed=1)
        return (1 if drawn > 0.5 else 0), drawn

    with tf.Graph().as_default():
        found = list(tf.data.Dataset.range(200).map(function).as_numpy_iterator())
    assert len({float(drawn) for _, drawn in found}) == 200
    assert all(chosen == (drawn > 0.5) for chosen, drawn in found)


def test_datasets_made_for_every_element_draw_for_every_element_in_a_graph_too() -> None:
    with tf.Graph().as_default():
        made = tf.data.Dataset.range(20).flat_map(
            lambda x: tf.data.Dataset.from_tensors(tf.random_uniform([], seed=1))
        )
        assert len({float(each) for each in made.as_numpy_iterator()}) == 20


@pytest.mark.parametrize(
    "change",
    [
        tf.image.random_flip_left_right,
        tf.image.random_flip_up_down,
        lambda image: tf.image.random_brightness(image, 0.5),
        lambda image: tf.image.random_contrast(image, 0.1, 2.0),
        lambda image: tf.image.random_hue(image, 0.4),
        lambda image: tf.image.random_saturation(image, 0.1, 2.0),
        lambda image: tf.image.random_jpeg_quality(image, 5, 95),
        lambda image: tf.image.random_crop(image, [3, 3, 3]),
    ],
)
def test_a_picture_that_is_no_element_is_changed_anew_for_every_element(change: Any) -> None:
    picture = tf.constant(np.random.default_rng(0).integers(0, 256, [8, 8, 3], np.uint8))
    found = tf.data.Dataset.range(30).map(lambda x: change(picture)).as_numpy_iterator()
    assert len({each.tobytes() for each in found}) > 1
