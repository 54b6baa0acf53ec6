"""The state of a reader: counters, reset, save and restore; and what TFRecord is said not to do.

First the classic way, with the functions of TensorFlow's first generation; then the same with tfreel.

python examples/tutorials/reader_state.py [FOLDER]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

import numpy as np

import tfreel
from tfreel import tf

FILES, PER_FILE = 3, 4
FEATURES = {
    "label": tf.FixedLenFeature([], tf.int64),
    "shape": tf.FixedLenFeature([], tf.string),
    "image": tf.FixedLenFeature([], tf.string),
}


def main(folder: str) -> None:
    """Tells the story; everything is written below the folder."""
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    plain = write(os.path.join(folder, "plain"), None)
    packed = write(os.path.join(folder, "gzip"), options)
    sizes = [sum(map(os.path.getsize, paths)) for paths in (plain, packed)]
    print(f"write: {FILES} files of {PER_FILE} records; {sizes[0]:,} bytes, with gzip less than a tenth")
    assert sizes[1] < sizes[0] / 10

    count_and_reset(packed, options)
    save_and_restore(packed, options)
    read_triples(plain)
    the_same_with_tfreel(plain, packed)


def picture(number: int) -> np.ndarray:
    """A plain picture; no two have the same number of rows."""
    return np.full((20 + number, 30, 3), 10 * number, np.uint8)


def write(folder: str, options: tf.python_io.TFRecordOptions | None) -> list[str]:
    """Label, shape and pixels of each picture, in several files."""
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"part-{i}.tfrecord") for i in range(FILES)]
    for i, path in enumerate(paths):
        writer = tf.python_io.TFRecordWriter(path, options=options)
        for number in range(i * PER_FILE, (i + 1) * PER_FILE):
            shape, pixels = image_binary(picture(number))
            feature = {
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "shape": bytes_feature(shape),
                "image": bytes_feature(pixels),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
        writer.close()
    return paths


def image_binary(pixels: np.ndarray) -> tuple[bytes, bytes]:
    """Shape and pixels as bytes. Who reads the shape has to know that it is of int32."""
    return np.array(pixels.shape, np.int32).tobytes(), pixels.tobytes()


def bytes_feature(value: bytes) -> tf.train.Feature:
    """A feature with one byte string: bytes_list and BytesList, both with an s."""
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


# The reader: what it has done, and how it forgets.


def count_and_reset(paths: list[str], options: tf.python_io.TFRecordOptions) -> None:
    """Reads across the end of a file, and watches the counters. A work unit is a file."""
    queue = tf.train.string_input_producer(paths, shuffle=False)
    reader = tf.TFRecordReader(name="reader", options=options)
    key, value = reader.read(queue)
    label = tf.parse_single_example(value, FEATURES)["label"]
    counters = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        seen = []
        for _ in range(PER_FILE + 1):
            name, number = sess.run([key, label])
            seen.append((os.path.basename(name.decode()), int(number), *map(int, sess.run(counters))))
        print("reader: key, label, records produced, files completed")
        for row in seen:
            print("reader:", *row)
        sess.run(reader.reset())
        cleared = [int(count) for count in sess.run(counters)]
        print(f"reader: {cleared} after reset")
        coord.request_stop()
        coord.join(threads)
    assert [row[1:] for row in seen] == [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0), (4, 5, 1)]
    assert seen[0][0] == "part-0.tfrecord:0"  # the file and the byte, counted without compression
    assert cleared == [0, 0]


def save_and_restore(paths: list[str], options: tf.python_io.TFRecordOptions) -> None:
    """Goes on in another reader where the first one was. In TensorFlow these methods only raise an error."""
    first = tf.TFRecordReader(options=options)
    assert first.supports_serialize
    _, value = first.read(tf.train.string_input_producer(paths, shuffle=False))
    label = tf.parse_single_example(value, FEATURES)["label"]
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        for _ in range(PER_FILE + 2):  # into the second file
            sess.run(label)
        state, begun = sess.run([first.serialize_state(), first.num_work_units_completed()])
        expected = [int(sess.run(label)) for _ in range(4)]

        # The state holds the file that is being read. The files behind it come from the queue.
        second = tf.TFRecordReader(options=options)
        _, value = second.read(tf.train.string_input_producer(paths[int(begun) + 1 :], shuffle=False))
        again = tf.parse_single_example(value, FEATURES)["label"]
        threads += tf.train.start_queue_runners(sess=sess, coord=coord)
        sess.run(second.restore_state(state))
        found = [int(sess.run(again)) for _ in range(4)]
        coord.request_stop()
        coord.join(threads)
    print(f"reader: {expected} after the state was saved, {found} from the state, in another reader")
    assert found == expected == [6, 7, 8, 9]


# A dataset of triples: label, shape, image.


def triple(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Label, shape and image of a record, all as they are stored."""
    parsed = tf.parse_single_example(serialized, FEATURES)
    return parsed["label"], parsed["shape"], parsed["image"]


def pixels_of(label: tf.Tensor, shape: tf.Tensor, image: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Label and pixels: both byte strings become numbers, of the types that the writer had."""
    return label, tf.reshape(tf.decode_raw(image, tf.uint8), tf.decode_raw(shape, tf.int32))


def read_triples(paths: list[str]) -> None:
    """A list of files as one dataset."""
    dataset = tf.data.TFRecordDataset(paths).map(triple).map(pixels_of)
    following = dataset.make_one_shot_iterator().get_next()
    count = 0
    with tf.Session() as sess:
        while True:
            try:
                label, pixels = sess.run(following)
            except tf.errors.OutOfRangeError:
                break
            assert np.array_equal(pixels, picture(int(label)))
            count += 1
    print(f"dataset: {count} pictures, each in its own shape")
    assert count == FILES * PER_FILE


# The same with tfreel, and what is missing above: any record, any slice, compressed or not.


def the_same_with_tfreel(plain: list[str], packed: list[str]) -> None:
    """A reader with a state, and a sequence."""
    reader = tfreel.read(packed)  # compression is told from the content
    for _ in range(PER_FILE + 2):
        next(reader)
    print(f"tfreel: {reader.records_produced} records produced, {reader.files_completed} file completed")
    assert (reader.records_produced, reader.files_completed) == (PER_FILE + 2, 1)

    state = json.dumps(reader.state_dict())  # a small text: which file, which record
    later = tfreel.read(packed)
    later.load_state_dict(json.loads(state))
    rest = list(reader)
    assert list(later) == rest
    print(f"tfreel: {len(rest)} records from the state on, the same ones in both readers")
    reader.reset()
    assert (reader.records_produced, reader.files_completed) == (0, 0)
    assert len(list(reader)) == FILES * PER_FILE

    for paths in (plain, packed):
        records = tfreel.open(paths)
        labels = [
            tfreel.decode(record)["label"].item()
            for record in (*records[5:8], *records[[11, 2]], records[-1])
        ]
        print(f"tfreel: {len(records)} records; [5:8], [[11, 2]] and [-1] have the labels {labels}")
        assert labels == [5, 6, 7, 11, 2, 11]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1] if len(sys.argv) > 1 else place)
