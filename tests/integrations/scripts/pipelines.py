"""Whole programs: the notebooks and pages that people start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import (
    example,
    floats,
    int64s,
    numbered,
    numbered_spec,
    pixels,
    strings,
    write,
)
from integrations.scripts.results import raised


def _flowers(tf: Any, folder: Path, files: int = 3, each: int = 4) -> list[str]:
    """Files as the flowers set has them: pictures, class, the class as one-hot numbers."""
    names = []
    for i in range(files):
        records = []
        for j in range(each):
            label = (i + j) % 5
            image = tf.io.encode_png(pixels(8 + i, 8 + j)).numpy()
            features = {
                "image": strings(tf, image),
                "class": int64s(tf, label),
                "label": strings(tf, b"flower %d" % label),
                "size": int64s(tf, 8 + i, 8 + j),
                "one_hot_class": floats(tf, *np.eye(5)[label]),
            }
            records.append(example(tf, features))
        names.append(write(tf, folder / f"flowers{i:02d}-{each}.tfrec", records))
    return names


def the_flowers_notebook(tf: Any, folder: Path) -> Any:
    names = _flowers(tf, folder)

    def read_tfrecord(record: Any) -> Any:
        features = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "class": tf.io.FixedLenFeature([], tf.int64),
            "label": tf.io.FixedLenFeature([], tf.string),
            "size": tf.io.FixedLenFeature([2], tf.int64),
            "one_hot_class": tf.io.VarLenFeature(tf.float32),
        }
        row = tf.io.parse_single_example(record, features)
        image = tf.image.decode_jpeg(row["image"], channels=3)
        image = tf.reshape(tf.cast(tf.image.resize(image, [8, 8]), tf.float32) / 255.0, [8, 8, 3])
        one_hot = tf.reshape(tf.sparse.to_dense(row["one_hot_class"]), [5])
        return image, row["class"], row["label"], row["size"][0], row["size"][1], one_hot

    options = tf.data.Options()
    options.experimental_deterministic = True
    ds = tf.data.TFRecordDataset(names, num_parallel_reads=2).with_options(options)
    ds = ds.map(read_tfrecord, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.map(lambda image, label, *rest: (image, label)).repeat(2).shuffle(10, seed=1).batch(5)


def the_kaggle_loader_with_and_without_labels(tf: Any, folder: Path) -> Any:
    names = _flowers(tf, folder, 2, 3)

    def load(labeled: bool, ordered: bool) -> Any:
        def parse(record: Any) -> Any:
            spec = {"image": tf.io.FixedLenFeature([], tf.string)}
            if labeled:
                spec["class"] = tf.io.FixedLenFeature([], tf.int64)
            row = tf.io.parse_single_example(record, spec)
            image = tf.image.resize(tf.io.decode_png(row["image"], channels=3), (4, 4), method="nearest")
            return (image, tf.cast(row["class"], tf.int32)) if labeled else image

        options = tf.data.Options()
        if not ordered:
            options.experimental_deterministic = False
        return tf.data.TFRecordDataset(names).with_options(options).map(parse)

    numbers = load(labeled=True, ordered=False).map(lambda image, label: label).batch(10)
    return next(iter(numbers)).numpy(), load(labeled=False, ordered=True).batch(3)


def counting_items_by_file_name(tf: Any, folder: Path) -> Any:
    names = _flowers(tf, folder, 2, 3)
    counts = [int(re.compile(r"-([0-9]*)\.").search(Path(name).name).group(1)) for name in names]  # type: ignore[union-attr]
    return int(np.sum(counts)), len(list(tf.data.TFRecordDataset(names)))


def augmentation_of_a_melanoma_kernel(tf: Any, folder: Path) -> Any:
    names = _flowers(tf, folder, 1, 4)
    spec = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)}

    def prepare(record: Any) -> Any:
        row = tf.io.parse_single_example(record, spec)
        image = tf.cast(tf.io.decode_png(row["image"], channels=3), tf.float32) / 255.0
        image = tf.image.resize(tf.image.flip_left_right(image), [6, 6])
        image = tf.image.central_crop(image, 0.7)
        return tf.clip_by_value(image * 1.1, 0.0, 1.0), tf.one_hot(row["class"], 5)

    ds = tf.data.TFRecordDataset(names).cache().map(prepare).shuffle(4, seed=7).batch(2, drop_remainder=True)
    return ds.prefetch(tf.data.experimental.AUTOTUNE)


def slims_image_dataset(tf: Any, folder: Path) -> Any:
    def int64_feature(values: Any) -> Any:
        values = values if isinstance(values, tuple | list) else [values]
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    records = [
        example(
            tf,
            {
                "image/encoded": strings(tf, tf.io.encode_png(pixels(4, 5)).numpy()),
                "image/format": strings(tf, b"png"),
                "image/class/label": int64_feature(i),
                "image/height": int64_feature(4),
                "image/width": int64_feature(5),
            },
        )
        for i in range(3)
    ]
    keys_to_features = {
        "image/encoded": tf.io.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.io.FixedLenFeature((), tf.string, default_value="png"),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64, default_value=tf.zeros([], dtype=tf.int64)),
    }
    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records))
    ds = ds.map(lambda x: tf.io.parse_single_example(x, keys_to_features))
    return ds.map(
        lambda row: (tf.io.decode_image(row["image/encoded"], channels=3), row["image/class/label"])
    )


def imagenet_as_the_models_read_it(tf: Any, folder: Path) -> Any:
    features = {
        "image/encoded": strings(tf, tf.io.encode_png(pixels(6, 6)).numpy()),
        "image/class/label": int64s(tf, 42),
        "image/class/text": strings(tf, b"apple"),
        **{f"image/object/bbox/{side}": floats(tf, 0.1 * i, 0.5) for i, side in enumerate(("xmin", "ymin"))},
    }
    feature_map = {
        "image/encoded": tf.io.FixedLenFeature([], dtype=tf.string, default_value=""),
        "image/class/label": tf.io.FixedLenFeature([], dtype=tf.int64, default_value=-1),
        "image/class/text": tf.io.FixedLenFeature([], dtype=tf.string, default_value=""),
    }
    sparse = tf.io.VarLenFeature(dtype=tf.float32)
    feature_map.update(dict.fromkeys(("image/object/bbox/xmin", "image/object/bbox/ymin"), sparse))
    found = tf.io.parse_single_example(example(tf, features), feature_map)
    xmin = tf.expand_dims(found["image/object/bbox/xmin"].values, 0)
    ymin = tf.expand_dims(found["image/object/bbox/ymin"].values, 0)
    bbox = tf.transpose(tf.expand_dims(tf.concat([ymin, xmin], 0), 0), [0, 2, 1])
    return tf.cast(found["image/class/label"], dtype=tf.int32) - 1, bbox, found["image/class/text"]


def train_and_validation_by_filter(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 10))
    spec = numbered_spec(tf)
    ds = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec))
    validation = ds.enumerate().filter(lambda i, row: i % 5 == 0).map(lambda i, row: row["id"])
    train = ds.enumerate().filter(lambda i, row: i % 5 != 0).map(lambda i, row: row["id"])
    return list(train.as_numpy_iterator()), list(validation.as_numpy_iterator())


def class_weights_counted(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"label": int64s(tf, i % 3)}) for i in range(10)]
    spec = {"label": tf.io.FixedLenFeature([], tf.int64)}
    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records))
    labels = ds.map(lambda x: tf.io.parse_single_example(x, spec)["label"])
    counts = labels.reduce(
        np.zeros(3, np.int64), lambda state, label: state + tf.one_hot(label, 3, dtype=tf.int64)
    )
    return counts, np.unique(np.array(list(labels.as_numpy_iterator())), return_counts=True)


def records_copied_into_shards(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 10))
    ds = tf.data.TFRecordDataset(path)
    for i in range(3):
        with tf.io.TFRecordWriter(str(folder / f"shard-{i}.tfrec"), "GZIP") as writer:
            for record in ds.shard(3, i):
                writer.write(record.numpy())
    names = sorted(tf.io.gfile.glob(str(folder / "shard-*.tfrec")))
    return [len(list(tf.data.TFRecordDataset(name, "GZIP"))) for name in names]


def a_dataset_written_with_the_experimental_writer(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices(numbered(tf, 4))
    writer = tf.data.experimental.TFRecordWriter
    writer(str(folder / "a")).write(ds)
    writer(str(folder / "b"), "GZIP").write(ds)
    counts = [
        len(list(tf.data.TFRecordDataset(str(folder / name), kind)))
        for name, kind in (("a", ""), ("b", "GZIP"))
    ]
    return (
        counts,
        raised(tf, lambda: writer(str(folder / "c")).write([b"a"])),
        raised(tf, lambda: writer(str(folder / "c")).write(tf.data.Dataset.range(3))),
        raised(tf, lambda: writer(str(folder / "c")).write(ds.batch(2))),
    )


def features_and_labels_of_keras(tf: Any, folder: Path) -> Any:
    records = [example(tf, {"x": floats(tf, i, i * 2), "y": int64s(tf, i % 2)}) for i in range(6)]
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}

    def split(row: Any) -> Any:
        label = row.pop("y")
        return row, label

    ds = tf.data.TFRecordDataset(write(tf, folder / "a", records)).batch(4)
    ds = ds.map(lambda x: tf.io.parse_example(x, spec)).map(split)
    return ds, [(features["x"].shape, labels.shape) for features, labels in ds]


def errors_inside_a_map(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", [*numbered(tf, 2), b"", *numbered(tf, 1)])
    spec = numbered_spec(tf)
    ds = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec)["id"])
    return (
        raised(tf, lambda: list(ds)),
        list(ds.ignore_errors().as_numpy_iterator()),
        list(ds.apply(tf.data.experimental.ignore_errors()).as_numpy_iterator()),
        list(ds.take(2).as_numpy_iterator()),
    )


def errors_can_be_caught_and_read(tf: Any, folder: Path) -> Any:
    try:
        tf.io.parse_single_example(b"", {"label": tf.io.FixedLenFeature([], tf.int64)})
    except tf.errors.InvalidArgumentError as error:
        return "label" in error.message, error.error_code, isinstance(error, tf.errors.OpError)
    return None


def error_codes(tf: Any, folder: Path) -> Any:
    names = (
        "InvalidArgumentError",
        "DataLossError",
        "OutOfRangeError",
        "NotFoundError",
        "FailedPreconditionError",
    )
    made = [getattr(tf.errors, name)(None, None, "text") for name in names]
    return [(error.message, error.error_code, str(error)) for error in made]


def batched_augmentation_of_pairs(tf: Any, folder: Path) -> Any:
    images = np.stack([pixels(4, 4)] * 4)
    ds = tf.data.Dataset.from_tensor_slices((images, [0, 1, 2, 3]))
    ds = ds.map(lambda image, label: (tf.image.convert_image_dtype(image, tf.float32), tf.one_hot(label, 4)))
    pairs = tf.data.Dataset.zip((ds.shuffle(4, seed=1), ds.shuffle(4, seed=2))).batch(2)
    return pairs.map(lambda a, b: (a[0] * 0.25 + b[0] * 0.75, a[1] * 0.25 + b[1] * 0.75))


def audio_as_floats(tf: Any, folder: Path) -> Any:
    wave = (np.sin(np.arange(16) / 3) * 20000).astype("<i2")
    record = example(tf, {"audio": strings(tf, wave.tobytes()), "rate": int64s(tf, 16000)})
    row = tf.io.parse_single_example(record, {"audio": tf.io.FixedLenFeature([], tf.string)})
    audio = tf.io.decode_raw(row["audio"], tf.int16)
    return tf.cast(audio, tf.float32) / 32768.0


def time_series_of_records(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", [example(tf, {"x": floats(tf, i)}) for i in range(8)])
    spec = {"x": tf.io.FixedLenFeature([], tf.float32)}
    ds = tf.data.TFRecordDataset(path).map(lambda r: tf.io.parse_single_example(r, spec)["x"])
    windows = ds.window(4, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(4, drop_remainder=True))
    return windows.map(lambda w: (w[:3], w[3])).batch(2)


def generators_written_and_read_again(tf: Any, folder: Path) -> Any:
    rng = np.random.default_rng(3)
    ds = tf.data.Dataset.from_generator(
        lambda: ((rng.integers(0, 9, 3), i) for i in range(3)),
        output_signature=(tf.TensorSpec([3], tf.int64), tf.TensorSpec([], tf.int32)),
    )
    with tf.io.TFRecordWriter(str(folder / "a")) as writer:
        for values, label in ds:
            writer.write(example(tf, {"v": int64s(tf, *values.numpy()), "y": int64s(tf, int(label))}))
    spec = {"v": tf.io.FixedLenFeature([3], tf.int64), "y": tf.io.FixedLenFeature([], tf.int64)}
    return tf.data.TFRecordDataset(str(folder / "a")).map(lambda x: tf.io.parse_single_example(x, spec))


def a_wrong_key_is_an_error(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", [example(tf, {"image": strings(tf, b""), "label": int64s(tf, 1)})])
    spec = {"image/encoded": tf.io.FixedLenFeature([], tf.string)}
    return raised(
        tf, lambda: list(tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_single_example(x, spec)))
    )


def progress_counted_with_enumerate(tf: Any, folder: Path) -> Any:
    path = write(tf, folder / "a", numbered(tf, 5))
    seen = []
    for step, batch in enumerate(tf.data.TFRecordDataset(path).batch(2)):
        seen.append((step, int(tf.shape(batch)[0]), batch.shape[0], len(batch)))
    return seen
