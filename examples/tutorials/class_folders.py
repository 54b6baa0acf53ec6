"""Class folders: an archive with a folder for each class becomes two files, and these a stream of batches.

First with the functions of TensorFlow 2; then the same with tfreel.

python examples/tutorials/class_folders.py [FOLDER]
"""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
import zipfile

import numpy as np
from PIL import Image, ImageDraw

import tfreel
from tfreel import tf

CLASSES = {"daisy": (250, 250, 240), "rose": (200, 20, 60), "tulip": (240, 200, 30)}
PER_CLASS, BATCH, SIDE = 10, 8, 96


def main(folder: str) -> None:
    """Tells the story; everything is written below the folder."""
    os.makedirs(folder, exist_ok=True)
    archive = draw(os.path.join(folder, "flowers.zip"))
    names, filenames, labels = extracted(archive, os.path.join(folder, "flowers"))
    pairs = list(zip(filenames, labels, strict=True))
    random.Random(7).shuffle(pairs)
    size = int(0.8 * len(pairs))
    train, validation = (os.path.join(folder, f"{name}.tfrecord") for name in ("train", "validation"))
    build(train, pairs[:size])
    build(validation, pairs[size:])
    print(f"build: {size} pictures in train, {len(pairs) - size} in validation, of {names}")

    load(train, size)
    load_better(train, size)
    the_same_with_tfreel(archive, os.path.join(folder, "records"), train)


def draw(path: str) -> str:
    """An archive of JPEGs, with a note between them, as such archives have."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, color in CLASSES.items():
            for number in range(PER_CLASS):
                image = Image.new("RGB", (100 + 4 * number, 90), (40, 120 - 5 * number, 50))
                ImageDraw.Draw(image).regular_polygon((50, 45, 30), 5 + number, fill=color)
                data = io.BytesIO()
                image.save(data, "JPEG", quality=90)
                archive.writestr(f"{name}/{number:02d}.jpg", data.getvalue())
            archive.writestr(f"{name}/source.txt", "Drawn by a tutorial.\n")
    return path


def extracted(archive: str, folder: str) -> tuple[list[str], list[str], list[int]]:
    """The names of the classes, and two lists that go together: files, and the numbers of their classes."""
    with zipfile.ZipFile(archive) as members:
        members.extractall(folder)
    names = sorted(os.listdir(folder))
    filenames, labels = [], []
    for label, name in enumerate(names):
        for file in sorted(os.listdir(os.path.join(folder, name))):
            if file.endswith(".jpg"):
                filenames.append(os.path.join(folder, name, file))
                labels.append(label)
    return names, filenames, labels


def build(path: str, pairs: list[tuple[str, int]]) -> None:
    """Writes the bytes of each file, as they are, with its label."""
    with tf.io.TFRecordWriter(path) as writer:
        for filename, label in pairs:
            with open(filename, "rb") as file:
                image = file.read()
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


# The names and types have to be those that were written.
DESCRIPTION = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def decoded(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """An image of 96 × 96 with values from 0 to 1, and its label as a vector of one int32."""
    row = tf.io.parse_single_example(serialized, DESCRIPTION)
    image = tf.io.decode_jpeg(row["image"], channels=3)
    image = tf.image.resize(image, (SIDE, SIDE))
    image = image / 255
    return image, tf.stack([tf.cast(row["label"], "int32")])


def load(path: str, size: int) -> None:
    """The pipeline as one finds it, and what happens to it without repeat."""
    dataset = tf.data.TFRecordDataset(path)
    dataset = dataset.repeat()
    dataset = dataset.map(decoded)
    dataset = dataset.shuffle(buffer_size=1024)  # of decoded images: the buffer holds up to 113 MB
    dataset = dataset.batch(BATCH)
    dataset = dataset.prefetch(buffer_size=-1)  # as many as it likes
    steps = 0
    for images, labels in dataset.take(10):
        assert images.shape == (BATCH, SIDE, SIDE, 3)
        assert images.dtype == tf.float32
        assert labels.shape == (BATCH, 1)
        assert labels.dtype == tf.int32
        assert 0 <= images.numpy().min() <= images.numpy().max() <= 1
        steps += 1
    once = sum(1 for _ in tf.data.TFRecordDataset(path).map(decoded).batch(BATCH))
    print(f"load: {steps} steps of {images.shape}, and more to come; without repeat() it ends after {once}")
    assert (steps, once) == (10, size // BATCH)


def load_better(path: str, size: int) -> None:
    """Shuffle what is small, before it is decoded; repeat behind it, so that epochs do not mix."""
    dataset = tf.data.TFRecordDataset(path).shuffle(1024, seed=7).repeat(2)
    dataset = dataset.map(decoded, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    labels = np.concatenate([labels.numpy()[:, 0] for _, labels in dataset])
    epochs = labels[:size], labels[size:]
    print(f"load: {len(labels)} labels in two epochs, each with all of them")
    assert sorted(epochs[0]) == sorted(epochs[1])
    assert list(epochs[0]) != list(epochs[1])


# The same with tfreel.


def the_same_with_tfreel(archive: str, records: str, train: str) -> None:
    """The archive is never extracted; names of classes, splits and what was left out are kept."""
    split = {"train": 0.8, "validation": 0.2}
    report = tfreel.pack(archive, records, split=split, stratify="label", features="simple", force=True)
    print(f"tfreel: {report.written} pictures, {len(report.skipped)} files that are none, {report.classes}")
    assert report.classes == dict(enumerate(CLASSES))
    assert [part.records for part in report.splits.values()] == [24, 6]

    dataset = tfreel.Dataset(records, split="train").shuffle(seed=7).batch(BATCH)
    dataset = dataset.map(tfreel.images.decoder("image", size=(SIDE, SIDE), scale=True)).repeat().prefetch(2)
    steps = iter(dataset)
    for _ in range(10):
        batch = next(steps)
    assert batch["image"].shape == (BATCH, SIDE, SIDE, 3)
    print(f"tfreel: {batch['image'].shape} of {batch['image'].dtype} and labels {batch['label'].tolist()}")

    # The files that were written above are as good, and have the same pixels, give or take the JPEG decoder.
    ours = (
        tfreel.Dataset(train).batch(BATCH).map(tfreel.images.decoder("image", size=(SIDE, SIDE), scale=True))
    )
    for batch, (images, labels) in zip(
        ours, tf.data.TFRecordDataset(train).map(decoded).batch(BATCH), strict=True
    ):
        assert np.allclose(batch["image"], images.numpy(), atol=0.05)
        assert np.array_equal(batch["label"], labels.numpy()[:, 0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1] if len(sys.argv) > 1 else place)
