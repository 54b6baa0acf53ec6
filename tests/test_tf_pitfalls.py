"""The same mistakes as in test_pitfalls, made with the names of TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tfreel
from tfreel import images, tf

from drawn import jpeg, palette_mask, put, saved

RECORD = tfreel.encode({"image": jpeg(), "label": 3, "shape": [10, 20, 3]})


@pytest.mark.parametrize(("wrong", "right"), [("image/encoded", "image"), ("image/label", "label")])
def test_a_wrong_name_is_told_with_those_there_are(wrong: str, right: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{wrong}.*did you mean '{right}'"):
        tf.io.parse_single_example(RECORD, {wrong: tf.io.FixedLenFeature([], tf.string)})


def test_a_wrong_name_is_told_in_a_dataset_too(tmp_path: Path) -> None:
    path = str(tmp_path / "some.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(RECORD)
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string)}
    dataset = tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, features))
    with pytest.raises(tf.errors.InvalidArgumentError, match="did you mean 'image'"):
        list(dataset)


def test_a_shape_read_as_one_number_is_told_how_many_there_are() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'shape'.*expected 1 value .*found 3"):
        tf.io.parse_single_example(RECORD, {"shape": tf.io.FixedLenFeature([], tf.int64)})


def test_byte_lists_are_told_their_s() -> None:
    with pytest.raises(ValueError, match="did you mean 'bytes_list'"):
        tf.train.Feature(byte_list=tf.train.BytesList(value=[b"cat"]))
    with pytest.raises(AttributeError, match=r"did you mean tf\.train\.BytesList"):
        _ = tf.train.ByteList


def test_a_counter_of_readers_is_told_its_name() -> None:
    with pytest.raises(AttributeError, match="did you mean 'num_work_units_completed'"):
        tf.TFRecordReader().num_records_units_completed()


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (np.zeros((2, 3), np.uint8), r"array\.tobytes\(\).*tfreel\.images\.encode"),
        ("cat", r"text\.encode\(\)"),
    ],
)
def test_what_is_no_bytes_is_told_how_to_become_some(value: object, advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


@pytest.mark.parametrize(
    ("record", "advice"),
    [
        ({"label": 3}, r"SerializeToString\(\)|tfreel\.encode"),
        (tfreel.Example(), r"SerializeToString\(\)"),
        (np.zeros(3), r"bytes"),
    ],
)
def test_a_writer_takes_bytes_and_says_how_to_get_some(record: object, advice: str) -> None:
    with tf.io.TFRecordWriter("some.tfrecord") as writer, pytest.raises(TypeError, match=advice):
        writer.write(record)


def test_a_png_in_the_jpeg_decoder_is_decoded_and_told() -> None:
    png = saved(Image.new("RGB", (4, 3), (1, 2, 3)))
    with pytest.warns(tfreel.TfreelWarning, match="PNG"):
        pixels = tf.io.decode_jpeg(png)
    assert pixels.numpy()[0, 0].tolist() == [1, 2, 3]


def test_a_mask_in_a_decoder_of_colours_is_painted_and_told() -> None:
    mask = palette_mask([[0, 15]], [tuple(color) for color in images.VOC_COLORMAP.tolist()])
    with pytest.warns(tfreel.TfreelWarning, match=r'palette.*images\.decode\(.*"labels"\)'):
        pixels = tf.io.decode_png(mask)
    assert pixels.shape == (1, 2, 3)


def test_the_end_of_the_data_tells_of_repeat() -> None:
    iterator = iter(tf.data.Dataset.range(3))
    for _ in range(3):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError, match=r"all 3 elements were given; repeat\(\)"):
        iterator.get_next()


def test_the_end_of_the_data_tells_of_repeat_in_a_session() -> None:
    following = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(3):
            session.run(following)
        with pytest.raises(tf.errors.OutOfRangeError, match=r"all 3 elements were given; repeat\(\)"):
            session.run(following)


def test_a_picture_opened_as_text_is_told_to_be_binary() -> None:
    put(Path(), {"a.jpg": jpeg()})
    with pytest.raises(UnicodeDecodeError, match='read a file that is not text with mode "rb"'):
        tf.io.gfile.GFile("a.jpg", "r").read()


def test_a_file_in_which_nothing_was_written_is_told() -> None:
    tf.io.TFRecordWriter("some.tfrecord").close()
    iterator = iter(tf.data.TFRecordDataset("some.tfrecord"))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"no element at all; was anything written"):
        iterator.get_next()


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"length|size|dimension"):
        tf.data.Dataset.from_tensor_slices(([1, 2, 3], [1, 2]))
