"""SequenceExample: text, video, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import floats, int64s, sequence, strings, write
from integrations.scripts.results import raised


def _sentence(tf: Any, n: int, label: int = 0) -> bytes:
    return sequence(
        tf,
        {"length": int64s(tf, n), "label": int64s(tf, label)},
        {
            "tokens": [int64s(tf, i) for i in range(n)],
            "vectors": [floats(tf, i, i + 0.5) for i in range(n)],
            "words": [strings(tf, *[b"w"] * i) for i in range(n)],
        },
    )


def _specs(tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    context = {"length": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}
    lists = {
        "tokens": tf.io.FixedLenSequenceFeature([], tf.int64),
        "vectors": tf.io.FixedLenSequenceFeature([2], tf.float32),
        "words": tf.io.VarLenFeature(tf.string),
    }
    return context, lists


def one_sentence(tf: Any, folder: Path) -> Any:
    context, lists = _specs(tf)
    return tf.io.parse_single_sequence_example(_sentence(tf, 3), context, lists)


def a_batch_of_sentences_with_lengths(tf: Any, folder: Path) -> Any:
    context, lists = _specs(tf)
    records = [_sentence(tf, n, n % 2) for n in (2, 0, 4)]
    return tf.io.parse_sequence_example(records, context, lists)


def only_context_or_only_lists(tf: Any, folder: Path) -> Any:
    context, lists = _specs(tf)
    record = _sentence(tf, 2)
    return (
        tf.io.parse_single_sequence_example(record, context_features=context),
        tf.io.parse_single_sequence_example(record, sequence_features=lists),
        raised(tf, lambda: tf.io.parse_single_sequence_example(record)),
    )


def sentences_padded_in_batches(tf: Any, folder: Path) -> Any:
    context, lists = _specs(tf)
    path = write(tf, folder / "a", [_sentence(tf, n) for n in (1, 3, 2, 0, 4)])

    def parse(record: Any) -> Any:
        about, rows = tf.io.parse_single_sequence_example(record, context, lists)
        return {"tokens": rows["tokens"], "length": about["length"]}

    return tf.data.TFRecordDataset(path).map(parse).padded_batch(2, {"tokens": [None], "length": []})


def ragged_lists(tf: Any, folder: Path) -> Any:
    lists = {"words": tf.io.RaggedFeature(tf.string), "vectors": tf.io.RaggedFeature(tf.float32)}
    records = [_sentence(tf, n) for n in (3, 0, 2)]
    single = tf.io.parse_single_sequence_example(records[0], sequence_features=lists)
    return single, tf.io.parse_sequence_example(records, sequence_features=lists)


def sparse_lists(tf: Any, folder: Path) -> Any:
    lists = {"words": tf.io.VarLenFeature(tf.string)}
    return tf.io.parse_sequence_example([_sentence(tf, n) for n in (3, 0, 2)], sequence_features=lists)


def missing_lists(tf: Any, folder: Path) -> Any:
    record = sequence(tf, {}, {"there": []})
    strict = {"gone": tf.io.FixedLenSequenceFeature([], tf.int64)}
    loose = {"gone": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    return (
        raised(tf, lambda: tf.io.parse_single_sequence_example(record, sequence_features=strict)),
        tf.io.parse_single_sequence_example(record, sequence_features=loose),
        tf.io.parse_single_sequence_example(
            record, sequence_features={"there": tf.io.FixedLenSequenceFeature([3], tf.int64)}
        ),
        tf.io.parse_single_sequence_example(
            record, sequence_features={"gone": tf.io.VarLenFeature(tf.int64)}
        ),
    )


def context_defaults(tf: Any, folder: Path) -> Any:
    context = {"label": tf.io.FixedLenFeature([], tf.int64, default_value=-1)}
    records = [sequence(tf, {}, {}), sequence(tf, {"label": int64s(tf, 3)}, {})]
    return (
        tf.io.parse_single_sequence_example(records[0], context),
        tf.io.parse_sequence_example(records, context),
        raised(
            tf,
            lambda: tf.io.parse_single_sequence_example(
                records[0], {"x": tf.io.FixedLenFeature([], tf.int64)}
            ),
        ),
    )


def varlen_and_ragged_context(tf: Any, folder: Path) -> Any:
    records = [sequence(tf, {"tags": int64s(tf, *range(n))}, {}) for n in (2, 0, 1)]
    sparse = {"tags": tf.io.VarLenFeature(tf.int64)}
    ragged = {"tags": tf.io.RaggedFeature(tf.int64)}
    return tf.io.parse_sequence_example(records, sparse), tf.io.parse_sequence_example(records, ragged)


def lists_that_do_not_fit(tf: Any, folder: Path) -> Any:
    record = sequence(tf, {}, {"a": [int64s(tf, 1), int64s(tf, 1, 2)], "b": [floats(tf, 1)]})
    specs = (
        {"a": tf.io.FixedLenSequenceFeature([], tf.int64)},
        {"a": tf.io.FixedLenSequenceFeature([2], tf.int64)},
        {"b": tf.io.FixedLenSequenceFeature([], tf.int64)},
        {"b": tf.io.VarLenFeature(tf.int64)},
        {"a": tf.io.FixedLenFeature([], tf.int64)},
    )
    return [
        raised(tf, lambda s=spec: tf.io.parse_single_sequence_example(record, sequence_features=s))
        for spec in specs
    ]


def an_example_is_no_sequence_example(tf: Any, folder: Path) -> Any:
    context, lists = _specs(tf)
    return raised(tf, lambda: tf.io.parse_single_sequence_example(b"not one", context, lists))


def a_video_of_encoded_frames(tf: Any, folder: Path) -> Any:
    frames = [tf.io.encode_png(np.full((2, 3, 3), 40 * i, np.uint8)).numpy() for i in range(3)]
    record = sequence(tf, {"fps": floats(tf, 25)}, {"frames": [strings(tf, frame) for frame in frames]})
    about, lists = tf.io.parse_single_sequence_example(
        record,
        {"fps": tf.io.FixedLenFeature([], tf.float32)},
        {"frames": tf.io.FixedLenSequenceFeature([], tf.string)},
    )
    images = [tf.io.decode_png(frame) for frame in lists["frames"]]
    return about, tf.stack(images), tf.shape(lists["frames"])


def frame_features_of_youtube8m(tf: Any, folder: Path) -> Any:
    rows = [strings(tf, bytes(range(i, i + 4))) for i in range(3)]
    record = sequence(tf, {"id": strings(tf, b"abcd"), "labels": int64s(tf, 3, 7)}, {"rgb": rows})
    about, lists = tf.io.parse_single_sequence_example(
        record,
        {"id": tf.io.FixedLenFeature([], tf.string), "labels": tf.io.VarLenFeature(tf.int64)},
        {"rgb": tf.io.FixedLenSequenceFeature([], dtype=tf.string)},
    )
    decoded = tf.reshape(tf.cast(tf.io.decode_raw(lists["rgb"], tf.uint8), tf.float32), [-1, 4])
    labels = tf.sparse.to_dense(about["labels"])
    return about["id"], labels, decoded, tf.reduce_max(tf.one_hot(labels, 10), axis=0)
