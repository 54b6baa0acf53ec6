"""Lists and a photo: parallel lists in a file, its contents shown, and a picture with its name and shape.

First the classic way, with the functions of TensorFlow's first generation; then the same with tfreel.

python examples/tutorials/lists_and_a_photo.py [FOLDER]
"""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np
from PIL import Image

import tfreel
from tfreel import tf

DATA = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
LABELS = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def main(folder: str) -> None:
    """Tells the story; everything is written below the folder."""
    lists = os.path.join(folder, "img_sample", "data.tfrecords")
    save_lists(DATA, LABELS, lists)
    assert show(lists) == (DATA, LABELS)

    photo = draw(os.path.join(folder, "train_imgs", "4.png"))
    stored = os.path.join(folder, "tfrecord", "4.tfrecord")
    save_photo(photo, stored)
    name, pixels = read_photo(stored)
    assert name == "猫"
    assert np.array_equal(pixels, np.array(Image.open(photo)))

    the_same_with_tfreel(photo, os.path.join(folder, "tfreel"))


# Lists: one record for each position.


def save_lists(data: list[int], labels: list[int], path: str) -> None:
    """Writes the pairs of two lists, which have to be of one length."""
    os.makedirs(os.path.dirname(path), exist_ok=True)  # TensorFlow's writer makes no folders
    with tf.python_io.TFRecordWriter(path) as writer:
        for value, label in zip(data, labels, strict=True):
            feature = {
                "data": tf.train.Feature(int64_list=tf.train.Int64List(value=[value])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    print(f"lists: {len(data)} records, each with data and label")


def parse(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The two features, as they were defined when they were written."""
    features = {"data": tf.FixedLenFeature((), tf.int64), "label": tf.FixedLenFeature((), tf.int64)}
    parsed = tf.parse_single_example(serialized, features)
    return parsed["data"], parsed["label"]


def show(path: str) -> tuple[list[int], list[int]]:
    """Shows what a file holds: written record by record, it is read record by record, until it ends."""
    data, labels = [], []
    iterator = tf.data.TFRecordDataset(path).map(parse).make_one_shot_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:
        while True:
            try:
                value, label = sess.run(following)
            except tf.errors.OutOfRangeError:
                break  # the end of the data: a normal stop
            data.append(int(value))
            labels.append(int(label))
    print(f"shown: data {data}, label {labels}")
    return data, labels


# A photo: its name, its shape and its pixels.


def draw(path: str) -> str:
    """A small PNG of a cat, seen from far away."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows, columns = np.mgrid[:24, :36]
    fur = np.hypot(rows - 12, columns - 18) < 9
    pixels = np.stack([rows * 8, columns * 6, np.where(fur, 40, 200)], axis=-1)
    Image.fromarray(pixels.astype(np.uint8)).save(path)
    return path


def save_photo(photo: str, path: str) -> None:
    """Decodes the picture and stores its pixels, with what is needed to put them together again."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    image = tf.image.decode_jpeg(tf.read_file(photo))  # a PNG: the bytes decide, not the name of the function
    with tf.Session() as sess:
        pixels = sess.run(image)
    feature = {
        "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=["猫".encode()])),  # text: UTF-8
        "shape": tf.train.Feature(int64_list=tf.train.Int64List(value=pixels.shape)),  # three integers
        "data": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels.tobytes()])),
    }
    writer = tf.python_io.TFRecordWriter(path)
    writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    writer.close()
    sizes = f"{os.path.getsize(path):,} bytes, the PNG {os.path.getsize(photo):,}"
    print(f"photo: {pixels.shape} of {pixels.dtype}, stored with {sizes}")


def read_photo(path: str) -> tuple[str, np.ndarray]:
    """The way back: bytes to numbers, numbers to the stored shape."""
    features = {
        "name": tf.FixedLenFeature([], tf.string),
        "shape": tf.FixedLenFeature([3], tf.int64),  # three values: [] would be an error
        "data": tf.FixedLenFeature([], tf.string),
    }
    iterator = tf.data.TFRecordDataset(path).make_one_shot_iterator()
    row = tf.parse_single_example(iterator.get_next(), features)
    image = tf.reshape(tf.decode_raw(row["data"], tf.uint8), row["shape"])
    with tf.Session() as sess:
        name, pixels = sess.run([row["name"], image])
    print(f"photo: {name.decode()} of {pixels.shape} came back")
    return name.decode(), pixels


# The same with tfreel.


def the_same_with_tfreel(photo: str, folder: str) -> None:
    """Lists as columns; the photo as the bytes of its file, or as an array that keeps its shape."""
    lists = os.path.join(folder, "data.tfrecord")  # the folder is made
    tfreel.save(lists, {"data": DATA, "label": LABELS}, mode="w")
    print(tfreel.infer_features(lists))  # what is in the file, without knowing how it was written
    batch = tfreel.load(lists)
    assert batch["data"].tolist() == DATA
    assert batch["label"].tolist() == LABELS

    with open(photo, "rb") as file:
        encoded = file.read()
    pixels = tfreel.images.decode(encoded)
    small, large = (os.path.join(folder, name) for name in ("encoded.tfrecord", "pixels.tfrecord"))
    with tfreel.Writer(small, mode="w") as out:
        out.write({"name": "猫", "image": encoded})
    with tfreel.Writer(large, mode="w") as out:
        out.write({"name": "猫", "image": tfreel.tensor(pixels)})  # keeps shape and dtype
    kept, whole = (tfreel.decode(tfreel.open(path)[0]) for path in (small, large))
    sizes = f"{os.path.getsize(small):,} bytes as its file, {os.path.getsize(large):,} as pixels"
    print(f"tfreel: {kept['name'][0].decode()} takes {sizes}")
    assert kept["image"][0] == encoded
    assert np.array_equal(whole["image"], pixels)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1] if len(sys.argv) > 1 else place)
