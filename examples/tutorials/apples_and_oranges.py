"""Apples and oranges: a folder of pictures becomes one file, which is shuffled and split at will.

First the classic way, with the functions of TensorFlow's first generation; then the same with tfreel.

python examples/tutorials/apples_and_oranges.py [FOLDER]
"""

from __future__ import annotations

import glob
import os
import random
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw

import tfreel
from tfreel import tf

COUNT, SIDE = 20, 32
KINDS = ("apple", "orange")
COLORS = {"apple": (200, 30, 40), "orange": (245, 140, 20)}


def main(folder: str) -> None:
    """Tells the story; everything is written below the folder."""
    data = draw(os.path.join(folder, "apples"))
    naive(data)
    path = os.path.join(folder, "fruit.tfrecords")
    written = write(data, path)
    read_in_order(path, written)
    read_shuffled(path)
    read_as_dataset(path)
    the_same_with_tfreel(data, os.path.join(folder, "records"))


def draw(folder: str) -> str:
    """Twenty pictures of different sizes, apple00.jpg to orange09.jpg. One of them is gray."""
    os.makedirs(folder, exist_ok=True)
    for number in range(COUNT):
        kind = KINDS[number % 2]
        image = Image.new("RGB", (40 + number, 48), (230, 230, 240 - 5 * number))
        ImageDraw.Draw(image).ellipse((8, 12, 34, 38), COLORS[kind])
        if number == 6:
            image = image.convert("L")
        image.save(os.path.join(folder, f"{kind}{number // 2:02d}.jpg"), quality=90)
    return folder


# The naive way: the files stay where they are, and every script sorts them out anew.


def naive(data: str) -> None:
    """Finds, shuffles, labels and splits the files; the ratio and the order are lost when it ends."""
    paths = sorted(glob.glob(os.path.join(data, "*.jpg")))
    random.Random(7).shuffle(paths)
    labels = [label_of(path) for path in paths]
    pairs = list(zip(paths, labels, strict=True))
    size = int(0.6 * len(pairs))
    training, testing = pairs[:size], pairs[size:]
    print(f"naive: {len(training)} files to train, {len(testing)} to test")

    by_path = [0 if "apple" in path else 1 for path in paths]  # the rule one often sees
    print(
        f"naive: 'apple' in the whole path finds {by_path.count(0)} apples, for the folder is called apples"
    )
    assert labels.count(0) == COUNT // 2
    assert by_path.count(0) == COUNT


def label_of(path: str) -> int:
    """0 for an apple, 1 for an orange, by the name of the file itself."""
    return 0 if os.path.basename(path).startswith("apple") else 1


# One file: data → features → example → bytes → record.


def int64_feature(value: int) -> tf.train.Feature:
    """A feature with one integer."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def bytes_feature(value: bytes) -> tf.train.Feature:
    """A feature with one byte string."""
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def write(data: str, path: str) -> int:
    """The five steps, once for every picture. Tells how many there were."""
    paths = sorted(glob.glob(os.path.join(data, "*.jpg")))
    writer = tf.python_io.TFRecordWriter(path)  # 1. open the file
    for name in paths:
        image = Image.open(name).convert("RGB").resize((SIDE, SIDE))  # gray ones would be of another shape
        pixels = np.array(image).tobytes()  # 2. bytes, integers or floats
        feature = {"label": int64_feature(label_of(name)), "image": bytes_feature(pixels)}  # 3. features
        example = tf.train.Example(features=tf.train.Features(feature=feature))  # 4. an example
        writer.write(example.SerializeToString())  # 5. a record
    writer.close()
    print(f"write: {len(paths)} pictures in {os.path.basename(path)}, {os.path.getsize(path):,} bytes")
    return len(paths)


# And back: record → bytes → example → features → data.

FEATURES = {"image": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)}


def example_of(path: str) -> tuple[tf.Tensor, tf.Tensor]:
    """Image and label of the next record, by a reader and a queue of file names: one epoch of them."""
    filenames = glob.glob(path)
    queue = tf.train.string_input_producer(filenames, num_epochs=1, shuffle=False)
    _, serialized = tf.TFRecordReader().read(queue)
    return decoded(serialized)


def decoded(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Image and label. The shape of raw pixels is not in the record: the reader has to know it."""
    features = tf.parse_single_example(serialized, features=FEATURES)
    image = tf.reshape(tf.decode_raw(features["image"], tf.uint8), [SIDE, SIDE, 3])
    return image, features["label"]


def read_in_order(path: str, written: int) -> None:
    """Runs a session until the data ends."""
    image, label = example_of(path)
    rows = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())  # the queue counts its epochs in one
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                rows.append(sess.run([image, label]))
        except tf.errors.OutOfRangeError:
            print(
                f"reader: {len(rows)} records, the first of shape {rows[0][0].shape} and label {rows[0][1]}"
            )
        finally:
            coord.request_stop()
            coord.join(threads)
    assert len(rows) == written == COUNT
    assert [int(label) for _, label in rows] == [0] * 10 + [1] * 10


def read_shuffled(path: str) -> None:
    """The same as batches in random order: a buffer of up to 50 records, of which 10 stay in it."""
    batch = tf.train.shuffle_batch(
        list(example_of(path)), batch_size=4, capacity=50, min_after_dequeue=10, seed=3
    )
    labels: list[int] = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                images, some = sess.run(batch)
                assert images.shape == (4, SIDE, SIDE, 3)
                labels += some.tolist()
        except tf.errors.OutOfRangeError:
            print(f"shuffle_batch: labels {' '.join(map(str, labels))}")
        finally:
            coord.request_stop()
            coord.join(threads)
    assert sorted(labels) == [0] * 10 + [1] * 10 != labels


def read_as_dataset(path: str) -> None:
    """The newer way: any ratio, by take and skip of one fixed order."""
    shuffled = tf.data.TFRecordDataset(path).shuffle(COUNT, seed=7, reshuffle_each_iteration=False)
    for ratio in (0.6, 0.8):
        size = int(ratio * COUNT)
        parts = [collected(part.map(decoded)) for part in (shuffled.take(size), shuffled.skip(size))]
        print(f"tf.data: at {ratio}, {len(parts[0])} to train and {len(parts[1])} to test")
        train, test = ({image.tobytes() for image, _ in part} for part in parts)
        assert not train & test
        assert len(train | test) == COUNT


def collected(dataset: tf.data.Dataset) -> list[tuple[np.ndarray, np.int64]]:
    """All elements of a dataset."""
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        while True:
            try:
                found.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                return found


# The same with tfreel.


def the_same_with_tfreel(data: str, records: str) -> None:
    """Packs the folder once, and takes any part of it in any order."""
    report = tfreel.pack(data, records, labels=list(KINDS), force=True)  # the word in the file's own name
    print(f"tfreel: {report.written} of {report.read} pictures, classes {report.classes}")
    assert (report.read, report.written) == (COUNT, COUNT)
    assert report.splits["train"].classes == {"apple": 10, "orange": 10}

    ds = tfreel.Dataset(records)  # features as fine-tuning scripts want them: image/encoded, …
    for ratios in ((0.6, 0.4), (0.8, 0.1, 0.1)):  # nothing is written anew
        parts = ds.split(*ratios, seed=17)
        print(f"tfreel: at {ratios}, {[len(part) for part in parts]}")
        names = [name for part in parts for name in part.load()["image/filename"]]
        assert len(set(names)) == len(names) == COUNT

    train, _ = ds.split(0.6, 0.4, seed=17, stratify="image/class/label")
    decoder = tfreel.images.decoder(
        "image/encoded", size=(SIDE, SIDE)
    )  # the gray one, too, as three channels
    epochs = [
        [label for batch in batches for label in batch["image/class/label"]]
        for _, batches in train.shuffle(seed=3).batch(4).epochs(2)
    ]
    print(f"tfreel: labels of two epochs {' '.join(map(str, epochs[0]))} and {' '.join(map(str, epochs[1]))}")
    assert sorted(epochs[0]) == sorted(epochs[1]) == [0] * 6 + [1] * 6
    assert epochs[0] != epochs[1]
    batch = next(iter(train.shuffle(seed=3).batch(4).map(decoder)))
    assert batch["image/encoded"].shape == (4, SIDE, SIDE, 3)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1] if len(sys.argv) > 1 else place)
