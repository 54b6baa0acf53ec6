"""TensorFlow reads what was packed, with the code that tutorials teach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

import tfreel

from drawn import jpeg, palette_mask, put
from photos import photo_folder

if TYPE_CHECKING:
    from pathlib import Path

tf = pytest.importorskip("tensorflow")


def test_a_tutorial_pipeline_reads_photos_and_sees_the_same_pixels(tmp_path: Path) -> None:
    photo_folder(tmp_path / "photos", {"apple": 12, "orange": 8}, form="jpeg")
    tfreel.pack(tmp_path / "photos", tmp_path / "out", features="simple", shards=2, seed=3)
    layout = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(example: Any) -> Any:
        row = tf.io.parse_single_example(example, layout)
        image = tf.io.decode_jpeg(row["image"], channels=3)
        image = tf.image.resize(image, (96, 96)) / 255.0
        return image, tf.stack([tf.cast(row["label"], tf.int32)])

    files = sorted(map(str, (tmp_path / "out").glob("train-*.tfrecord")))
    theirs = list(tf.data.TFRecordDataset(files).map(parse).batch(5).prefetch(-1).as_numpy_iterator())
    decoder = tfreel.images.decoder("image", size=(96, 96), scale=True, dct="fast")
    ours = list(tfreel.Dataset(tmp_path / "out", split="train").batch(5).map(decoder))
    assert len(theirs) == len(ours) == 4
    for (images, labels), batch in zip(theirs, ours, strict=True):
        assert np.array_equal(images, batch["image"])
        assert np.array_equal(labels[:, 0], batch["label"])


def test_slim_names_are_those_that_slim_reads(tmp_path: Path) -> None:
    photo_folder(tmp_path / "photos", {"apple": 3, "orange": 3})
    tfreel.pack(tmp_path / "photos", tmp_path / "out", compression="gzip")
    layout = {
        "image/encoded": tf.io.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.io.FixedLenFeature((), tf.string, default_value="png"),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
        "image/height": tf.io.FixedLenFeature([], tf.int64),
        "image/width": tf.io.FixedLenFeature([], tf.int64),
    }
    files = [str(path) for path in (tmp_path / "out").glob("*.tfrecord.gz")]
    rows = [
        tf.io.parse_single_example(record, layout)
        for record in tf.data.TFRecordDataset(files, compression_type="GZIP")
    ]
    assert sorted(int(row["image/class/label"]) for row in rows) == [0, 0, 0, 1, 1, 1]
    for row in rows:
        image = tf.io.decode_image(row["image/encoded"])
        assert image.shape == (int(row["image/height"]), int(row["image/width"]), 3)


def test_masks_of_voc_are_class_ids_to_tensorflow_too(tmp_path: Path) -> None:
    ids = np.array([[0, 1, 20], [255, 15, 0]], np.uint8).repeat(8, 0).repeat(8, 1)
    files = {
        "JPEGImages/a.jpg": jpeg(24, 16),
        "SegmentationClass/a.png": palette_mask(ids.tolist(), tfreel.images.VOC_COLORMAP.tolist()),
        "ImageSets/Segmentation/train.txt": "a\n",
    }
    put(tmp_path / "VOC2007", files)
    tfreel.pack(tmp_path / "VOC2007", tmp_path / "out", task="segmentation")
    (record,) = tf.data.TFRecordDataset([str(path) for path in (tmp_path / "out").glob("*.tfrecord")])
    row = tf.io.parse_single_example(
        record,
        {
            "image/encoded": tf.io.FixedLenFeature([], tf.string),
            "image/segmentation/class/encoded": tf.io.FixedLenFeature([], tf.string),
        },
    )
    mask = tf.io.decode_png(row["image/segmentation/class/encoded"], channels=1)
    assert np.array_equal(mask[:, :, 0], ids)
    assert tf.io.decode_jpeg(row["image/encoded"]).shape == (16, 24, 3)


def test_raw_pixels_come_back_by_decode_raw_and_the_stored_shape(tmp_path: Path) -> None:
    photo_folder(tmp_path / "photos", {"apple": 2})
    tfreel.pack(tmp_path / "photos", tmp_path / "out", store="raw", shuffle=False)
    layout = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "image/shape": tf.io.FixedLenFeature([3], tf.int64),
    }
    files = [str(path) for path in (tmp_path / "out").glob("*.tfrecord")]
    for i, record in enumerate(tf.data.TFRecordDataset(files)):
        row = tf.io.parse_single_example(record, layout)
        pixels = tf.reshape(tf.io.decode_raw(row["image"], tf.uint8), row["image/shape"])
        with Image.open(tmp_path / "photos" / "apple" / f"{i}.png") as image:
            assert np.array_equal(pixels, np.asarray(image))


def test_boxes_are_read_as_the_object_detection_api_reads_them(tmp_path: Path) -> None:
    files = {
        "images/train/a.jpg": jpeg(20, 10),
        "images/train/b.jpg": jpeg(20, 10),
        "labels/train/a.txt": "1 0.5 0.5 0.5 1.0\n0 0.25 0.5 0.1 0.2\n",
        "data.yaml": "train: images/train\nnames: [cat, dog]\n",
    }
    put(tmp_path / "yolo", files)
    tfreel.pack(tmp_path / "yolo", tmp_path / "out", shuffle=False)
    layout = {
        "image/object/bbox/xmin": tf.io.VarLenFeature(tf.float32),
        "image/object/bbox/ymax": tf.io.VarLenFeature(tf.float32),
        "image/object/class/label": tf.io.VarLenFeature(tf.int64),
        "image/object/class/text": tf.io.VarLenFeature(tf.string),
    }
    paths = [str(path) for path in (tmp_path / "out").glob("*.tfrecord")]
    first, second = (tf.io.parse_single_example(record, layout) for record in tf.data.TFRecordDataset(paths))
    np.testing.assert_allclose(first["image/object/bbox/xmin"].values, [0.25, 0.2])
    np.testing.assert_allclose(first["image/object/bbox/ymax"].values, [1.0, 0.6])
    assert first["image/object/class/label"].values.numpy().tolist() == [2, 1]
    assert first["image/object/class/text"].values.numpy().tolist() == [b"dog", b"cat"]
    assert second["image/object/class/label"].values.numpy().tolist() == []


def test_a_table_is_read_with_the_features_that_its_manifest_says(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text('name,age,score\nAnn,31,1.5\n"Cy, Jr.",,2\n')
    tfreel.pack(tmp_path / "people.csv", tmp_path / "out", shuffle=False)
    layout = {
        "name": tf.io.FixedLenFeature([], tf.string),
        "age": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
        "score": tf.io.FixedLenFeature([], tf.float32),
    }
    paths = [str(path) for path in (tmp_path / "out").glob("*.tfrecord")]
    rows = [tf.io.parse_single_example(record, layout) for record in tf.data.TFRecordDataset(paths)]
    found = [{name: value.numpy() for name, value in row.items()} for row in rows]
    assert found == [
        {"name": b"Ann", "age": 31, "score": 1.5},
        {"name": b"Cy, Jr.", "age": -1, "score": 2.0},
    ]
