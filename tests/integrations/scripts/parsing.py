"""parse_single_example and parse_example with every kind of feature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import example, floats, int64s, numbered, numbered_spec, strings, write
from integrations.scripts.results import raised


def one_example_of_scalars(tf: Any, folder: Path) -> Any:
    return tf.io.parse_single_example(numbered(tf, 3)[2], numbered_spec(tf))


def a_batch_of_scalars(tf: Any, folder: Path) -> Any:
    return tf.io.parse_example(numbered(tf, 5), numbered_spec(tf))


def a_scalar_given_to_the_batch_parser(tf: Any, folder: Path) -> Any:
    return tf.io.parse_example(numbered(tf, 2)[1], numbered_spec(tf))


def an_empty_batch(tf: Any, folder: Path) -> Any:
    spec = {**numbered_spec(tf), "v": tf.io.VarLenFeature(tf.int64)}
    return tf.io.parse_example(tf.zeros([0], tf.string), spec)


def parsing_in_a_map(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 4))
    spec = numbered_spec(tf)
    return tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec))


def parsing_whole_batches_in_a_map(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 7))
    spec = numbered_spec(tf)
    return tf.data.TFRecordDataset(path).batch(3).map(lambda x: tf.io.parse_example(x, spec))


def shapes_of_fixed_features(tf: Any, folder: Path) -> Any:
    record = example(tf, {"m": floats(tf, *range(6)), "v": int64s(tf, 7), "s": strings(tf, b"a", b"b")})
    spec = {
        "m": tf.io.FixedLenFeature([2, 3], tf.float32),
        "v": tf.io.FixedLenFeature([1], tf.int64),
        "s": tf.io.FixedLenFeature((2,), tf.string),
    }
    return tf.io.parse_single_example(record, spec), tf.io.parse_example([record, record], spec)


def a_number_as_shape(tf: Any, folder: Path) -> Any:
    record = example(tf, {"v": int64s(tf, 7, 8)})
    return tf.io.parse_single_example(record, {"v": tf.io.FixedLenFeature(2, tf.int64)})


def defaults_of_missing_features(tf: Any, folder: Path) -> Any:
    spec = {
        "i": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
        "f": tf.io.FixedLenFeature([2], tf.float32, default_value=[0.5, 1]),
        "s": tf.io.FixedLenFeature([], tf.string, default_value="none"),
        "b": tf.io.FixedLenFeature([], tf.string, default_value=b""),
    }
    records = [example(tf, {}), example(tf, {"i": int64s(tf, 5)}), example(tf, {"s": strings(tf, b"x")})]
    return [tf.io.parse_single_example(record, spec) for record in records], tf.io.parse_example(
        records, spec
    )


def a_feature_without_kind_is_missing(tf: Any, folder: Path) -> Any:
    record = example(tf, {"a": tf.train.Feature()})
    default = tf.io.FixedLenFeature([], tf.int64, default_value=9)
    required = tf.io.FixedLenFeature([], tf.int64)
    return (
        tf.io.parse_single_example(record, {"a": default}),
        raised(tf, lambda: tf.io.parse_single_example(record, {"a": required})),
        tf.io.parse_single_example(record, {"a": tf.io.VarLenFeature(tf.int64)}),
    )


def an_empty_list_is_not_missing(tf: Any, folder: Path) -> Any:
    record = example(tf, {"a": int64s(tf)})
    default = tf.io.FixedLenFeature([], tf.int64, default_value=9)
    return (
        raised(tf, lambda: tf.io.parse_single_example(record, {"a": default})),
        raised(tf, lambda: tf.io.parse_example([record], {"a": default})),
        tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([0], tf.int64)}),
    )


def what_does_not_fit_the_features(tf: Any, folder: Path) -> Any:
    record = example(tf, {"i": int64s(tf, 1, 2), "f": floats(tf, 1), "s": strings(tf, b"x")})
    wrong = (
        {"none": tf.io.FixedLenFeature([], tf.int64)},
        {"i": tf.io.FixedLenFeature([], tf.int64)},
        {"i": tf.io.FixedLenFeature([3], tf.int64)},
        {"i": tf.io.FixedLenFeature([2], tf.float32)},
        {"f": tf.io.FixedLenFeature([], tf.string)},
        {"s": tf.io.FixedLenFeature([], tf.int64)},
        {"s": tf.io.FixedLenFeature([2], tf.string)},
        {"f": tf.io.VarLenFeature(tf.int64)},
        {"f": tf.io.RaggedFeature(tf.string)},
        {"i": tf.io.FixedLenSequenceFeature([3], tf.int64, allow_missing=True)},
        {"s": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)},
    )
    single = [raised(tf, lambda spec=spec: tf.io.parse_single_example(record, spec)) for spec in wrong]
    return single, [raised(tf, lambda spec=spec: tf.io.parse_example([record], spec)) for spec in wrong]


def features_that_are_no_features(tf: Any, folder: Path) -> Any:
    record = example(tf, {"a": int64s(tf, 1)})
    parse = tf.io.parse_single_example
    fixed = tf.io.FixedLenFeature
    return [
        raised(tf, lambda: parse(record, {})),
        raised(tf, lambda: parse(record, None)),
        raised(tf, lambda: parse(record, {"a": tf.int64})),
        raised(tf, lambda: parse(record, {"a": fixed(None, tf.int64)})),
        raised(tf, lambda: parse(record, {"a": fixed([None], tf.int64)})),
        raised(tf, lambda: parse(record, {"a": fixed([], tf.int64, default_value=1.5)})),
        raised(tf, lambda: parse(record, {"a": fixed([2], tf.int64, default_value=0)})),
        raised(tf, lambda: parse(record, {"a": tf.io.FixedLenSequenceFeature([], tf.int64)})),
        raised(tf, lambda: parse([record], {"a": fixed([], tf.int64)})),
        raised(tf, lambda: tf.io.parse_example([[record]], {"a": fixed([], tf.int64)})),
    ]


def dtypes_that_no_feature_has(tf: Any, folder: Path) -> Any:
    record = example(tf, {"a": int64s(tf, 1)})
    fixed = (tf.int32, tf.float64, tf.bool, tf.uint8)
    found = [
        raised(tf, lambda d=dtype: tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([], d)}))
        for dtype in fixed
    ]
    return found, raised(tf, lambda: tf.io.RaggedFeature(tf.int32))


def bytes_that_are_no_example(tf: Any, folder: Path) -> Any:
    spec = {"a": tf.io.FixedLenFeature([], tf.int64)}
    return (
        raised(tf, lambda: tf.io.parse_single_example(b"hello", spec)),
        raised(tf, lambda: tf.io.parse_example([b"hello"], spec)),
        raised(tf, lambda: tf.io.parse_single_example(b"", spec)),
    )


def varlen_of_one_and_of_many(tf: Any, folder: Path) -> Any:
    rows = ((1, 2, 3), (), (4,))
    records = [example(tf, {"v": int64s(tf, *row), "s": strings(tf, *[b"x"] * len(row))}) for row in rows]
    records.append(example(tf, {}))
    spec = {"v": tf.io.VarLenFeature(tf.int64), "s": tf.io.VarLenFeature(tf.string)}
    return [tf.io.parse_single_example(record, spec) for record in records], tf.io.parse_example(
        records, spec
    )


def varlen_to_dense(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"v": int64s(tf, *range(n)), "s": strings(tf, *[b"w"] * n)}) for n in (3, 0, 1)]
    found = tf.io.parse_example(
        records, {"v": tf.io.VarLenFeature(tf.int64), "s": tf.io.VarLenFeature(tf.string)}
    )
    one = tf.io.parse_single_example(records[0], {"v": tf.io.VarLenFeature(tf.int64)})
    return (
        tf.sparse.to_dense(found["v"]),
        tf.sparse.to_dense(found["v"], default_value=-1),
        tf.sparse.to_dense(found["s"], default_value=b"?"),
        tf.sparse.to_dense(one["v"]),
    )


def fixed_len_sequences_in_an_example(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"v": floats(tf, *range(2 * n))}) for n in (2, 0, 3)] + [example(tf, {})]
    flat = {"v": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
    pairs = {"v": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)}
    padded = {"v": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True, default_value=-1.0)}
    return (
        [tf.io.parse_single_example(record, pairs) for record in records],
        tf.io.parse_example(records, flat),
        tf.io.parse_example(records, pairs),
        tf.io.parse_example(records, padded),
    )


def fixed_len_sequences_of_strings(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"w": strings(tf, *[b"w%d" % i for i in range(n)])}) for n in (2, 0, 3)]
    spec = {"w": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="")}
    return tf.io.parse_example(records, spec), tf.io.parse_single_example(records[0], spec)


def sparse_features(tf: Any, folder: Path) -> Any:
    records = [
        example(tf, {"at": int64s(tf, 5, 1), "value": floats(tf, 0.5, 0.1)}),
        example(tf, {}),
        example(tf, {"at": int64s(tf, 9), "value": floats(tf, 0.9)}),
    ]
    spec = {"s": tf.io.SparseFeature("at", "value", tf.float32, 10)}
    kept = {"s": tf.io.SparseFeature("at", "value", tf.float32, 10, already_sorted=True)}
    return (
        tf.io.parse_example(records, spec),
        tf.io.parse_example(records, kept),
        tf.io.parse_single_example(records[0], spec),
        tf.sparse.to_dense(tf.io.parse_example(records, spec)["s"]),
    )


def sparse_features_of_two_dimensions(tf: Any, folder: Path) -> Any:
    features = {"x": int64s(tf, 2, 0, 1), "y": int64s(tf, 0, 1, 1), "v": int64s(tf, 20, 1, 11)}
    spec = {"s": tf.io.SparseFeature(["x", "y"], "v", tf.int64, [3, 2])}
    record = example(tf, features)
    return tf.io.parse_single_example(record, spec), tf.io.parse_example([record, record], spec)


def ragged_features_of_many(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"v": int64s(tf, *range(n))}) for n in (3, 0, 2)] + [example(tf, {})]
    short = tf.io.parse_example(records, {"v": tf.io.RaggedFeature(tf.int64)})
    long = tf.io.parse_example(records, {"v": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)})
    named = tf.io.parse_example(records, {"other": tf.io.RaggedFeature(tf.int64, value_key="v")})
    return short, long, named, tf.io.parse_single_example(records[0], {"v": tf.io.RaggedFeature(tf.int64)})


def ragged_features_with_partitions(tf: Any, folder: Path) -> Any:
    features = {
        "v": int64s(tf, *range(6)),
        "splits": int64s(tf, 0, 2, 2, 6),
        "lengths": int64s(tf, 2, 0, 4),
        "starts": int64s(tf, 0, 2, 2),
        "limits": int64s(tf, 2, 2, 6),
        "ids": int64s(tf, 0, 0, 2, 2, 2, 2),
    }
    record = example(tf, features)
    ragged = tf.io.RaggedFeature
    partitions = (
        *(ragged.RowSplits("splits"), ragged.RowLengths("lengths"), ragged.RowStarts("starts")),
        *(ragged.RowLimits("limits"), ragged.ValueRowIds("ids")),
    )
    spec = {str(i): ragged(tf.int64, "v", [each]) for i, each in enumerate(partitions)}
    return tf.io.parse_single_example(record, spec), tf.io.parse_example([record, record], spec)


def ragged_features_of_uniform_rows(tf: Any, folder: Path) -> Any:
    record = example(tf, {"v": int64s(tf, *range(6)), "n": int64s(tf, 1, 2)})
    ragged = tf.io.RaggedFeature
    uniform = {"u": ragged(tf.int64, "v", [ragged.UniformRowLength(2)])}
    both = {"b": ragged(tf.int64, "v", [ragged.RowLengths("n"), ragged.UniformRowLength(2)])}
    return (
        tf.io.parse_single_example(record, uniform),
        tf.io.parse_example([record, record], uniform),
        tf.io.parse_single_example(record, both),
        tf.io.parse_example([record], both),
    )


def features_not_asked_for_are_left_out(tf: Any, folder: Path) -> Any:
    found = tf.io.parse_single_example(numbered(tf, 1)[0], {"id": tf.io.FixedLenFeature([], tf.int64)})
    return sorted(found), found


def keys_come_sorted(tf: Any, folder: Path) -> Any:
    spec = {name: tf.io.FixedLenFeature([], tf.int64, default_value=0) for name in ("z", "a", "m")}
    return list(tf.io.parse_single_example(b"", spec))


def an_unpacked_example_is_parsed(tf: Any, folder: Path) -> Any:
    unpacked = b"\x1a\x04\x08\x05\x08\x06"
    entry = b"\x0a\x01a\x12" + bytes([len(unpacked)]) + unpacked
    features = b"\x0a" + bytes([len(entry)]) + entry
    record = b"\x0a" + bytes([len(features)]) + features
    return tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([2], tf.int64)})


def extreme_numbers(tf: Any, folder: Path) -> Any:
    numbers = (float("nan"), float("inf"), -0.0, 1e-45, 3.4e38)
    record = example(tf, {"f": floats(tf, *numbers), "i": int64s(tf, -(2**63), 2**63 - 1, 0, -1)})
    spec = {"f": tf.io.FixedLenFeature([5], tf.float32), "i": tf.io.FixedLenFeature([4], tf.int64)}
    return tf.io.parse_single_example(record, spec)


def example_names_may_be_given(tf: Any, folder: Path) -> Any:
    spec = numbered_spec(tf)
    return (
        tf.io.parse_example(numbered(tf, 2), spec, example_names=["a", "b"]),
        raised(tf, lambda: tf.io.parse_example(numbered(tf, 2), spec, example_names=["a"])),
    )


def the_keras_page_on_creating_records(tf: Any, folder: Path) -> Any:
    records = [
        example(
            tf,
            {
                "image": strings(tf, tf.io.encode_png(np.full((4, 6, 3), i, np.uint8)).numpy()),
                "path": strings(tf, b"image_%d.png" % i),
                "area": floats(tf, i * 1.5),
                "bbox": floats(tf, i, i + 1, i + 2, i + 3),
                "category_id": int64s(tf, i % 3),
                "id": int64s(tf, i),
                "image_id": int64s(tf, i + 100),
            },
        )
        for i in range(4)
    ]
    description = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "path": tf.io.FixedLenFeature([], tf.string),
        "area": tf.io.FixedLenFeature([], tf.float32),
        "bbox": tf.io.VarLenFeature(tf.float32),
        "category_id": tf.io.FixedLenFeature([], tf.int64),
        "id": tf.io.FixedLenFeature([], tf.int64),
        "image_id": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(record: Any) -> Any:
        parsed = tf.io.parse_single_example(record, description)
        parsed["image"] = tf.io.decode_png(parsed["image"], channels=3)
        parsed["bbox"] = tf.sparse.to_dense(parsed["bbox"])
        return parsed

    return tf.data.TFRecordDataset(write(tf, folder / "a", records)).map(parse)
