"""The descriptions of features themselves, and their rarer rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.builders import example, floats, int64s, sequence, strings
from integrations.scripts.results import raised


def descriptions_are_named_tuples(tf: Any, folder: Path) -> Any:
    fixed = tf.io.FixedLenFeature([2], tf.int64)
    sparse = tf.io.SparseFeature("i", "v", tf.float32, 5)
    return (
        *(list(fixed.shape), fixed.dtype, fixed.default_value, fixed._fields, fixed == fixed._replace()),
        *(tf.io.VarLenFeature(tf.string).dtype, tf.io.VarLenFeature._fields, sparse.size, sparse._fields),
        tf.io.FixedLenSequenceFeature([], tf.int64).allow_missing,
        tf.io.RaggedFeature(tf.int64)._fields,
        tf.io.RaggedFeature(tf.int64).row_splits_dtype,
    )


def descriptions_by_keyword_and_position(tf: Any, folder: Path) -> Any:
    record = example(tf, {"a": int64s(tf, 1), "b": floats(tf, 2, 3)})
    spec = {
        "a": tf.io.FixedLenFeature(shape=(), dtype=tf.int64, default_value=0),
        "b": tf.io.FixedLenFeature(shape=tf.TensorShape([2]), dtype="float32"),
    }
    return tf.io.parse_single_example(serialized=record, features=spec, name="parse", example_names=None)


def fixed_sequences_of_zero_width(tf: Any, folder: Path) -> Any:
    record = example(tf, {"a": int64s(tf)})
    return tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([0, 3], tf.int64)})


def indices_and_values_that_do_not_match(tf: Any, folder: Path) -> Any:
    record = example(tf, {"i": int64s(tf, 1, 2), "v": floats(tf, 1)})
    sparse = tf.io.SparseFeature
    return (
        raised(tf, lambda: tf.io.parse_single_example(record, {"s": sparse("i", "v", tf.float32, 5)}))
        != "no error",
        raised(tf, lambda: tf.io.parse_single_example(record, {"s": sparse("i", "v", tf.float32, [5])})),
        raised(tf, lambda: tf.io.parse_single_example(record, {"s": sparse(["i"], "v", tf.float32, [5, 6])})),
    )


def the_same_key_in_two_descriptions(tf: Any, folder: Path) -> Any:
    record = example(tf, {"i": int64s(tf, 1, 0), "v": floats(tf, 1, 2)})
    both = {"s": tf.io.SparseFeature("i", "v", tf.float32, 5), "i": tf.io.VarLenFeature(tf.int64)}
    clash = {"s": tf.io.SparseFeature("i", "v", tf.float32, 5), "v": tf.io.FixedLenFeature([2], tf.float32)}
    ragged = {
        "a": tf.io.RaggedFeature(tf.int64, "i"),
        "b": tf.io.RaggedFeature(tf.int64, "i", row_splits_dtype=tf.int64),
    }
    return (
        tf.io.parse_single_example(record, both),
        raised(tf, lambda: tf.io.parse_single_example(record, clash)),
        raised(tf, lambda: tf.io.parse_example([record], ragged)),
        raised(
            tf, lambda: tf.io.parse_example([record], {"i": tf.io.VarLenFeature(tf.int64), "r": ragged["a"]})
        ),
    )


def duplicate_indices_are_kept(tf: Any, folder: Path) -> Any:
    record = example(tf, {"i": int64s(tf, 3, 1, 3), "v": floats(tf, 1, 2, 3)})
    return tf.io.parse_single_example(record, {"s": tf.io.SparseFeature("i", "v", tf.float32, 5)})


def partitions_that_are_missing(tf: Any, folder: Path) -> Any:
    record = example(tf, {})
    ragged = tf.io.RaggedFeature
    spec = {"r": ragged(tf.int64, "v", [ragged.RowLengths("n")])}
    return tf.io.parse_single_example(record, spec), tf.io.parse_example([record], spec)


def partitions_of_two_levels(tf: Any, folder: Path) -> Any:
    record = example(
        tf, {"v": int64s(tf, *range(5)), "inner": int64s(tf, 2, 1, 2), "outer": int64s(tf, 1, 2)}
    )
    ragged = tf.io.RaggedFeature
    spec = {"r": ragged(tf.int64, "v", [ragged.RowLengths("outer"), ragged.RowLengths("inner")])}
    other = example(tf, {"v": int64s(tf, 9), "inner": int64s(tf, 1), "outer": int64s(tf, 0, 1)})
    return tf.io.parse_single_example(record, spec), tf.io.parse_example([record, other], spec)


def partitions_checked(tf: Any, folder: Path) -> Any:
    record = example(tf, {"v": int64s(tf, 1, 2, 3), "n": int64s(tf, 1, 1)})
    ragged = tf.io.RaggedFeature
    spec = {"r": ragged(tf.int64, "v", [ragged.RowLengths("n")], validate=True)}
    return raised(tf, lambda: tf.io.parse_single_example(record, spec))


def ragged_strings_and_floats(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"s": strings(tf, *[b"w"] * n), "f": floats(tf, *range(n))}) for n in (2, 0, 1)]
    return tf.io.parse_example(
        records, {"s": tf.io.RaggedFeature(tf.string), "f": tf.io.RaggedFeature(tf.float32)}
    )


def defaults_in_context_and_lists(tf: Any, folder: Path) -> Any:
    empty = sequence(tf, {"n": tf.train.Feature()}, {})
    default = {"n": tf.io.FixedLenFeature([], tf.int64, default_value=3)}
    lists = {"t": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=1)}
    return (
        raised(tf, lambda: tf.io.parse_single_sequence_example(empty, default)),
        raised(tf, lambda: tf.io.parse_single_sequence_example(empty, sequence_features=lists)),
    )


def lists_with_partitions(tf: Any, folder: Path) -> Any:
    rows = [int64s(tf, 0, 1, 2), int64s(tf, 3)]
    lengths = [int64s(tf, 1, 2), int64s(tf, 1)]
    record = sequence(tf, {}, {"v": rows, "n": lengths})
    ragged = tf.io.RaggedFeature
    spec = {"r": ragged(tf.int64, "v", [ragged.RowLengths("n")])}
    return (
        tf.io.parse_single_sequence_example(record, sequence_features=spec),
        tf.io.parse_sequence_example([record, record], sequence_features=spec),
    )


def batches_where_some_lists_are_missing(tf: Any, folder: Path) -> Any:
    records = [
        sequence(tf, {}, {"t": [int64s(tf, 1), int64s(tf, 2)]}),
        sequence(tf, {}, {}),
        sequence(tf, {}, {"t": []}),
    ]
    loose = {"t": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    strict = {"t": tf.io.FixedLenSequenceFeature([], tf.int64)}
    return (
        tf.io.parse_sequence_example(records, sequence_features=loose),
        raised(tf, lambda: tf.io.parse_sequence_example(records, sequence_features=strict)),
    )
