"""Branches, Python functions, printing and checking, with values and in graphs."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from tfreel import tf


def _mapped(function: Any, rows: Any) -> list[Any]:
    return list(tf.data.Dataset.from_tensor_slices(rows).map(function).as_numpy_iterator())


def test_only_the_branch_that_is_meant_is_run() -> None:
    def number(text: Any) -> Any:
        return tf.cond(
            tf.strings.regex_full_match(text, "[0-9]+"), lambda: tf.strings.to_number(text), lambda: -1.0
        )

    assert _mapped(number, ["12", "cat", "3"]) == [12, -1, 3]


def test_a_branch_may_be_within_a_branch() -> None:
    def named(x: Any) -> Any:
        return tf.cond(x < 2, lambda: tf.cond(x < 1, lambda: "none", lambda: "one"), lambda: "many")

    assert _mapped(named, [0, 1, 2]) == [b"none", b"one", b"many"]


def test_branches_of_two_dtypes_are_refused_in_a_graph() -> None:
    with pytest.raises(TypeError, match="same number, type"):
        tf.data.Dataset.range(2).map(lambda x: tf.cond(x > 0, lambda: 1, lambda: 2.0))


def test_a_session_chooses_a_branch_in_every_run() -> None:
    fed = tf.compat.v1.placeholder(tf.int32, [])
    found = tf.cond(fed > 0, lambda: fed * 2, lambda: fed - 1)
    with tf.compat.v1.Session() as session:
        assert session.run(found, {fed: 5}) == 10
        assert session.run(found, {fed: -5}) == -6


def test_a_loop_in_a_mapped_function_is_run_for_every_element() -> None:
    def halved(x: Any) -> Any:
        return tf.while_loop(lambda n: n % 2 == 0, lambda n: (n // 2,), [x])[0]

    assert _mapped(halved, [12, 7, 8]) == [3, 7, 1]


def test_py_function_gets_tensors_and_gives_what_was_promised() -> None:
    def function(x: Any) -> Any:
        assert isinstance(x, tf.Tensor)
        return x.numpy() * 2, str(x.numpy())

    def mapped(x: Any) -> Any:
        number, text = tf.py_function(function, [x], [tf.int32, tf.string])
        number.set_shape([])
        return number, text

    dataset = tf.data.Dataset.from_tensor_slices([1, 2]).map(mapped)
    assert list(dataset.as_numpy_iterator()) == [(2, b"1"), (4, b"2")]
    assert [each.shape.rank for each in dataset.element_spec] == [0, None]


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function])
def test_a_python_function_of_no_element_is_called_for_every_element(call: Any) -> None:
    numbers = iter(range(100))
    dataset = tf.data.Dataset.range(4).map(lambda x: call(lambda: np.int64(next(numbers)), [], tf.int64))
    assert [int(each) for each in dataset] == [0, 1, 2, 3]


def test_numpy_function_gets_scalars_and_bytes_in_a_graph() -> None:
    seen = []

    def function(x: Any, text: Any) -> Any:
        seen.append((type(x), type(text)))
        return x

    tf_rows = ([1.5, 2.5], ["a", "b"])
    assert _mapped(lambda x, text: tf.numpy_function(function, [x, text], tf.float32), tf_rows) == [1.5, 2.5]
    assert seen == [(np.float32, bytes)] * 2


@pytest.mark.parametrize(
    ("raised", "wanted"),
    [
        (ValueError("no"), tf.errors.InvalidArgumentError),
        (TypeError("no"), tf.errors.InvalidArgumentError),
        (KeyError("no"), tf.errors.UnknownError),
        (StopIteration(), tf.errors.OutOfRangeError),
        (NotImplementedError("no"), tf.errors.UnimplementedError),
    ],
)
def test_an_error_in_a_python_function_has_tensorflows_class(raised: Exception, wanted: Any) -> None:
    def function(x: Any) -> Any:
        raise raised

    with pytest.raises(wanted, match=type(raised).__name__):
        tf.py_function(function, [1], tf.int32)


def test_numpy_function_must_give_the_dtype_in_a_graph() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns float64, but was to return float32"):
        _mapped(lambda x: tf.numpy_function(lambda v: 1.5, [x], tf.float32), [1])


def test_print_writes_tensors_as_tensorflow_does(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(1, [2, 3], "abc", tf.constant("x"), tf.constant([1.5, 2]), None, {"a": tf.constant(1)})
    tf.print(tf.range(20))
    tf.print(tf.zeros([2, 2]), "a", sep="-", end="!\n")
    tf.print(tf.constant("alone"))
    tf.print(tf.zeros([2, 2, 2]))
    assert capsys.readouterr().err == (
        "1 [2, 3] abc \"x\" [1.5 2] None {'a': 1}\n"
        "[0 1 2 ... 17 18 19]\n"
        "[[0 0]\n [0 0]]-a!\n"
        "alone\n"
        "[[[0 0]\n  [0 0]]\n\n [[0 0]\n  [0 0]]]\n"
    )


def test_a_mapped_function_prints_for_every_element() -> None:
    stream = io.StringIO()

    def told(x: Any) -> Any:
        tf.print("x is", x, output_stream=stream)
        return x

    assert _mapped(told, [1, 2]) == [1, 2]
    assert stream.getvalue() == "x is 1\nx is 2\n"


def test_a_mapped_function_checks_every_element() -> None:
    def checked(x: Any) -> Any:
        tf.debugging.assert_less(x, 2, message="too much")
        return x

    dataset = tf.data.Dataset.from_tensor_slices([1, 2]).map(checked)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too much"):
        list(dataset)


def test_words_around_code_change_nothing() -> None:
    @tf.function
    def twice(x: Any) -> Any:
        return x * 2

    @tf.function(autograph=False)
    def thrice(x: Any) -> Any:
        return x * 3

    with tf.device("/cpu:0"), tf.name_scope("scope"), tf.control_dependencies([tf.constant(1)]):
        assert int(thrice(twice(tf.constant(5)))) == 30


def test_a_table_is_read_from_the_lines_of_a_file(tmp_path: Any) -> None:
    path = tmp_path / "words.txt"
    path.write_text("cat\ndog\n")
    index = tf.lookup.TextFileIndex
    words = tf.lookup.TextFileInitializer(str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    table = tf.lookup.StaticHashTable(words, -1)
    assert _mapped(table.lookup, ["dog", "cow", "cat"]) == [1, -1, 0]
    assert int(table.size()) == 2
    path.write_text("cat\t3\ndog\t5\n")
    pairs = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1)
    assert tf.lookup.StaticHashTable(pairs, 0).lookup(["dog", "cow"]).numpy().tolist() == [5, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="columns"):
        tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 2)
