"""Functions as people give them to map: methods, partials, closures, shapes looked at, loops, side roads."""

from __future__ import annotations

import functools
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import example, int64s, numbered, numbered_spec, pixels, strings, write
from integrations.scripts.results import approximately, raised


class _Decoder:
    """A class that keeps the description of features, as many loaders have it."""

    def __init__(self, tf: Any, size: int) -> None:
        self.tf = tf
        self.size = size
        self.features = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }

    def __call__(self, record: Any) -> Any:
        parsed = self.tf.io.parse_single_example(record, self.features)
        image = self.tf.io.decode_png(parsed["image"], channels=3)
        return self.resized(image), parsed["label"]

    def resized(self, image: Any) -> Any:
        return self.tf.image.resize(image, (self.size, self.size))


def _pictures(tf: Any, folder: Path, n: int = 3) -> str:
    records = [
        example(
            tf, {"image": strings(tf, tf.io.encode_png(pixels(4 + i, 6)).numpy()), "label": int64s(tf, i)}
        )
        for i in range(n)
    ]
    return write(tf, folder / "pictures", records)


def objects_and_methods(tf: Any, folder: Path) -> Any:
    decoder = _Decoder(tf, 4)
    ds = tf.data.TFRecordDataset(_pictures(tf, folder))
    return ds.map(decoder), ds.map(decoder.__call__).map(lambda image, label: label + 1)


def partials_and_defaults(tf: Any, folder: Path) -> Any:
    def scale(x: Any, by: int = 2, *, plus: int = 0) -> Any:
        return x * by + plus

    ds = tf.data.Dataset.range(3)
    return ds.map(scale), ds.map(functools.partial(scale, by=5, plus=1)), ds.map(lambda x: scale(x, plus=7))


def any_number_of_arguments(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.range(5, 7)))
    return ds.map(lambda *both: both[0] + both[1]), ds.map(lambda first, *rest: (first, len(rest)))


def shapes_looked_at_in_a_map(tf: Any, folder: Path) -> Any:
    def halve(image: Any, label: Any) -> Any:
        height = tf.shape(image)[0]
        return image[: height // 2], label, image.shape[-1], len(image.shape)

    decoder = _Decoder(tf, 4)
    fixed = tf.data.TFRecordDataset(_pictures(tf, folder)).map(decoder)
    return fixed.map(halve), fixed.map(lambda image, label: tf.zeros(image.shape))


@approximately
def sizes_known_only_when_it_runs(tf: Any, folder: Path) -> Any:
    spec = {"image": tf.io.FixedLenFeature([], tf.string)}

    def crop(record: Any) -> Any:
        image = tf.io.decode_png(tf.io.parse_single_example(record, spec)["image"])
        shape = tf.shape(image)
        side = tf.minimum(shape[0], shape[1])
        square = tf.image.crop_to_bounding_box(
            image, (shape[0] - side) // 2, (shape[1] - side) // 2, side, side
        )
        return square, shape, tf.size(image), tf.reduce_mean(tf.cast(image, tf.float32))

    return tf.data.TFRecordDataset(_pictures(tf, folder)).map(crop)


def loops_over_known_numbers(tf: Any, folder: Path) -> Any:
    def powers(x: Any) -> Any:
        result = []
        for i in range(4):
            result.append(x**i)  # noqa: PERF401 - as people write it
        return tf.stack(result)

    ds = tf.data.Dataset.range(3)
    return (
        ds.map(powers),
        ds.map(lambda x: [x + i for i in range(2)]),
        ds.map(lambda x: sum(tf.unstack(powers(x)))),
    )


def python_values_mixed_in(tf: Any, folder: Path) -> Any:
    table = np.array([10.0, 20.0, 30.0], np.float32)
    names = tf.constant(["zero", "one", "two"])
    ds = tf.data.Dataset.range(3)
    return (
        ds.map(lambda i: tf.gather(table, i)),
        ds.map(lambda i: names[i]),
        ds.map(lambda i: tf.constant(table)[i] + table[0]),
        ds.map(lambda i: tf.cast(i, tf.float32) * table),
    )


def choices_by_value(tf: Any, folder: Path) -> Any:
    def word(i: Any) -> Any:
        return tf.case([(i < 1, lambda: tf.constant("low"))], default=lambda: tf.constant("high"))

    ds = tf.data.Dataset.range(3)
    return (
        ds.map(lambda i: tf.cond(i % 2 == 0, lambda: "even", lambda: "odd")),
        ds.map(word),
        ds.map(lambda i: tf.where(tf.equal(i, 1), "one", "other")),
    )


def named_tuples_in_pipelines(tf: Any, folder: Path) -> Any:
    row = namedtuple("row", ["image", "label"])  # noqa: PYI024 - as old code has it
    ds = tf.data.Dataset.range(2).map(lambda i: row(i, i * 2))
    found = [(each.image, each.label) for each in ds]
    return found, ds.map(lambda r: r.label + r.image), ds.batch(2).element_spec.label


def dicts_changed_in_maps(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset(write(tf, folder / "a", numbered(tf, 3)))
    spec = numbered_spec(tf)

    def change(record: Any) -> Any:
        row = tf.io.parse_single_example(record, spec)
        row["double"] = row["half"] * 4
        row["name"] = tf.strings.join([row["name"], "!"])
        label = row.pop("id")
        return row, label

    def flat(row: Any, label: Any) -> Any:
        return {**row, "label": label}

    return ds.map(change).map(flat), ds.map(change).batch(2).map(lambda row, label: row["double"] + 1)


def many_maps_in_a_row(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset(_pictures(tf, folder)).map(_Decoder(tf, 6))
    for step in (
        lambda image, label: (image / 255.0, label),
        lambda image, label: (tf.image.flip_left_right(image), label),
        lambda image, label: (image - 0.5, tf.one_hot(label, 3)),
        lambda image, label: {"x": image, "y": label},
    ):
        ds = ds.map(step, num_parallel_calls=2)
    return ds.batch(2), ds.element_spec


def functions_that_fail(tf: Any, folder: Path) -> Any:
    def fail(x: Any) -> Any:
        raise ValueError("wrong")

    ds = tf.data.Dataset.range(3)
    return (
        raised(tf, lambda: list(ds.map(fail))),
        raised(tf, lambda: list(ds.map(lambda x: tf.reshape(x, [2])))) != "no error",
        raised(tf, lambda: list(ds.map(lambda x: undefined_name))),  # type: ignore[name-defined]  # noqa: F821
        raised(tf, lambda: list(ds.map(lambda x: tf.gather([1, 2], x)))),
        raised(tf, lambda: list(ds.map(lambda x: 1 // x))),
        raised(tf, lambda: list(ds.map(lambda x: {"a": x}["b"]))),
    )


def errors_for_some_elements_only(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.range(6).map(lambda x: tf.gather(tf.constant([10, 20, 30]), x % 4))
    found = []

    def read() -> None:
        for each in ds:
            found.append(int(each))  # noqa: PERF401 - what came before the error counts

    error = raised(tf, read)
    return error, found, list(ds.ignore_errors().as_numpy_iterator())


@approximately
def whole_batches_in_a_map(tf: Any, folder: Path) -> Any:
    ds = tf.data.TFRecordDataset(_pictures(tf, folder, 5)).map(_Decoder(tf, 4)).batch(2)
    return (
        ds.map(lambda images, labels: tf.reduce_mean(images, axis=[1, 2])),
        ds.map(lambda images, labels: (tf.image.resize(images, (2, 2)), tf.one_hot(labels, 5))),
        ds.map(lambda images, labels: tf.shape(images)),
        ds.map(lambda images, labels: images[:, ::2, 1:3] * tf.cast(labels, tf.float32)[:, None, None, None]),
    )


def decorated_functions(tf: Any, folder: Path) -> Any:
    @tf.function
    def parse(record: Any) -> Any:
        return tf.io.parse_single_example(record, numbered_spec(tf))["id"]

    @tf.function
    def double(x: Any) -> Any:
        return x * 2

    ds = tf.data.TFRecordDataset(write(tf, folder / "a", numbered(tf, 3)))
    return ds.map(parse).map(double)
