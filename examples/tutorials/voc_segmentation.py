"""Segmentation as in Pascal VOC: photos and masks in one record, and which decoder keeps the class ids.

First the classic way, with the functions of TensorFlow's first generation; then the same with tfreel.

python examples/tutorials/voc_segmentation.py [FOLDER]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from PIL import Image

import tfreel
from tfreel import images, tf

SPLITS = {"train": 7, "val": 3}
BORDER, SIDE = 255, 20


def main(folder: str) -> None:
    """Tells the story; everything is written below the folder."""
    voc = draw(os.path.join(folder, "datasets", "VOC2007"))
    output = os.path.join(voc, "tfrecord_data")
    if not tf.gfile.Exists(output):
        tf.gfile.MakeDirs(output)
    for split in SPLITS:  # every list, not the first one alone
        for method, features_of in (("pixels", pixel_features), ("files", file_features)):
            path = os.path.join(output, f"VOC2007_{split}_{method}.tfrecord")
            print(f"write: {convert(voc, split, path, features_of)} pictures in {os.path.basename(path)}")

    read_pixels(voc, os.path.join(output, "VOC2007_train_pixels.tfrecord"))
    read_files(voc, os.path.join(output, "VOC2007_train_files.tfrecord"))
    compare_decoders(voc)
    supply(folder, os.path.join(output, "VOC2007_train_pixels.tfrecord"))
    the_same_with_tfreel(voc, os.path.join(folder, "records"))


# The data set: photos, masks and lists of names.


def ids_of(number: int) -> np.ndarray:
    """A mask with two classes, each within a border; all pictures together have the classes 0 to 20."""
    ids = np.zeros((24 + number, 40), np.uint8)
    for left, class_id in ((2, 2 * number + 1), (22, 2 * number + 2)):
        ids[4:20, left : left + 16] = BORDER
        ids[5:19, left + 1 : left + 15] = class_id
    return ids


def draw(voc: str) -> str:
    """The folders of VOC. A mask is a PNG of class ids, with a palette that says how to paint them."""
    for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        os.makedirs(os.path.join(voc, name), exist_ok=True)
    first = 0
    for split, count in SPLITS.items():
        names = [f"{number:06d}" for number in range(first, first + count)]
        for number, name in enumerate(names, first):
            ids = ids_of(number)
            photo = Image.fromarray(images.VOC_COLORMAP[ids] // 2 + 60)
            photo.save(os.path.join(voc, "JPEGImages", f"{name}.jpg"), quality=95)
            mask = Image.fromarray(ids)
            mask.putpalette(images.VOC_COLORMAP.tobytes())
            mask.save(os.path.join(voc, "SegmentationClass", f"{name}.png"))
        with open(os.path.join(voc, "ImageSets", "Segmentation", f"{split}.txt"), "w") as file:
            file.write("".join(f"{name}\n" for name in names))
        first += count
    return voc


def read_examples_list(path: str) -> list[str]:
    """The names in a list."""
    with tf.gfile.GFile(path) as file:
        return [line.strip().split(" ")[0] for line in file.readlines()]


def paths_of(voc: str, name: str) -> tuple[str, str]:
    """Photo and mask have one name, and different suffixes."""
    photo = os.path.join(voc, "JPEGImages", f"{name}.jpg")
    return photo, os.path.join(voc, "SegmentationClass", f"{name}.png")


# Writing: by one of two methods.


def bytes_feature(value: bytes) -> tf.train.Feature:
    """A feature with one byte string."""
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def int64_feature(value: int) -> tf.train.Feature:
    """A feature with one integer."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def pixel_features(photo: str, mask: str) -> dict[str, tf.train.Feature]:
    """Method 1: pixels as bytes. They lose their shape, hence height and width."""
    image, label = (
        np.array(Image.open(photo)),
        np.array(Image.open(mask)),
    )  # Pillow keeps the ids of a palette
    return {
        "image_raw": bytes_feature(image.tobytes()),
        "label_raw": bytes_feature(label.tobytes()),
        "height": int64_feature(image.shape[0]),
        "width": int64_feature(image.shape[1]),
        "name": bytes_feature(os.path.basename(photo).encode()),
    }


def file_features(photo: str, mask: str) -> dict[str, tf.train.Feature]:
    """Method 2: the bytes of the files. They are binary: mode "rb", never "r"."""
    return {
        "image_raw": bytes_feature(tf.gfile.FastGFile(photo, "rb").read()),
        "label_raw": bytes_feature(tf.gfile.FastGFile(mask, "rb").read()),
    }


def convert(
    voc: str, split: str, path: str, features_of: Callable[[str, str], dict[str, tf.train.Feature]]
) -> int:
    """Writes all pictures of a list. Tells how many."""
    names = read_examples_list(os.path.join(voc, "ImageSets", "Segmentation", f"{split}.txt"))
    writer = tf.python_io.TFRecordWriter(path)
    for name in names:
        feature = features_of(*paths_of(voc, name))
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    writer.close()
    return len(names)


# Reading, and what became of the ids.


def pixels(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Of method 1: an image has three dimensions, a mask two."""
    features = {
        "image_raw": tf.FixedLenFeature([], tf.string),
        "label_raw": tf.FixedLenFeature([], tf.string),
        "height": tf.FixedLenFeature([], tf.int64),
        "width": tf.FixedLenFeature([], tf.int64),
    }
    row = tf.parse_single_example(serialized, features)
    height, width = row["height"], row["width"]
    image = tf.reshape(tf.decode_raw(row["image_raw"], tf.uint8), tf.stack([height, width, 3]))
    label = tf.reshape(tf.decode_raw(row["label_raw"], tf.uint8), tf.stack([height, width]))
    return image, label


def files(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Of method 2: the photo, the mask as TensorFlow decodes it, and the bytes of the mask."""
    features = {name: tf.FixedLenFeature([], tf.string) for name in ("image_raw", "label_raw")}
    row = tf.parse_single_example(serialized, features)
    image = tf.image.decode_jpeg(row["image_raw"])
    return image, tf.image.decode_png(row["label_raw"]), row["label_raw"]


def collected(dataset: tf.data.Dataset) -> list[tuple[np.ndarray, ...]]:
    """All elements of a dataset."""
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        while True:
            try:
                found.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                return found


def read_pixels(voc: str, path: str) -> None:
    """Method 1 gives back what was stored, to the last pixel."""
    rows = collected(tf.data.TFRecordDataset(path).map(pixels))
    for number, (image, label) in enumerate(rows):
        photo, _ = paths_of(voc, f"{number:06d}")
        assert np.array_equal(image, np.array(Image.open(photo)))
        assert np.array_equal(label, ids_of(number))
    print(f"pixels: {len(rows)} masks, ids {values(*(label for _, label in rows))}")


def read_files(voc: str, path: str) -> None:
    """Method 2 keeps every byte. It is the decoder that paints the ids."""
    rows = collected(tf.data.TFRecordDataset(path).map(files))
    for number, (image, painted, stored) in enumerate(rows):
        _, mask = paths_of(voc, f"{number:06d}")
        with open(mask, "rb") as file:
            assert stored == file.read()
        assert painted.shape == image.shape  # three channels: colours
        assert np.array_equal(painted, images.VOC_COLORMAP[ids_of(number)])
        assert np.array_equal(images.decode(stored, "labels"), ids_of(number))
    ids = values(*(images.decode(stored, "labels") for _, _, stored in rows))
    print(f"files: decode_png gives the values {values(*(painted for _, painted, _ in rows))}")
    print(f"files: of the same bytes, images.decode(…, 'labels') gives {ids}")
    assert ids == [*range(15), BORDER]


def values(*arrays: np.ndarray) -> list[int]:
    """The values in some arrays, each once."""
    return sorted({value for array in arrays for value in images.label_values(array)})


def compare_decoders(voc: str) -> None:
    """One mask, decoded in every way: which one keeps the ids?"""
    _, path = paths_of(voc, "000007")
    with open(path, "rb") as file:
        data = file.read()
    ways = {
        "np.array(Image.open(path))": np.array(Image.open(path)),
        "Image.open(path).convert('RGB')": np.array(Image.open(path).convert("RGB")),
        "Image.open(path).convert('L')": np.array(Image.open(path).convert("L")),
        "images.decode(data, 'rgb')": images.decode(data, "rgb"),
        "images.decode(data, 'labels')": images.decode(data, "labels"),
    }
    keeping = []
    for way, found in ways.items():
        kept = np.array_equal(found, ids_of(7))
        keeping += [way] * kept
        print(f"decoders: {way:32} {found.shape!s:12} {values(found)} {'ids' if kept else 'colours'}")
    assert keeping == ["np.array(Image.open(path))", "images.decode(data, 'labels')"]


# Three ways to supply a training with data: here it counts the pixels of each class.


def supply(folder: str, path: str) -> None:
    """All three give the same; they differ in where the data is in the meantime."""
    fed = histogram(feed(path))

    masks = os.path.join(folder, "masks.npy")
    np.save(masks, np.stack(list(feed(path))))
    preloaded = histogram(collected(tf.data.Dataset.from_tensor_slices(np.load(masks)).batch(3)))

    streamed = histogram(collected(tf.data.TFRecordDataset(path).map(pixels).map(corner).batch(3)))
    print(f"supply: feed, preload and stream count the same {fed.sum():,} pixels")
    assert np.array_equal(fed, preloaded)
    assert np.array_equal(fed, streamed)


def feed(path: str) -> Iterator[np.ndarray]:
    """Python reads and hands over, one mask after the other."""
    for record in tf.python_io.tf_record_iterator(path):
        feature = tf.train.Example.FromString(record).features.feature
        height, width = (feature[name].int64_list.value[0] for name in ("height", "width"))
        label = np.frombuffer(feature["label_raw"].bytes_list.value[0], np.uint8)
        yield label.reshape(height, width)[:SIDE, :SIDE]


def corner(image: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
    """A part of the mask that all have, so that they fit into one batch."""
    del image
    return label[:SIDE, :SIDE]


def histogram(masks: Iterable[np.ndarray]) -> np.ndarray:
    """How many pixels there are of each id."""
    return np.sum([np.bincount(np.ravel(mask), minlength=256) for mask in masks], axis=0)


# The same with tfreel.


def the_same_with_tfreel(voc: str, records: str) -> None:
    """Packs photos and masks by their lists; masks become gray PNGs of ids, which no decoder can paint."""
    report = tfreel.pack(voc, records, task="segmentation", force=True)
    counts = {name: part.records for name, part in report.splits.items()}
    print(f"tfreel: {report.written} pictures, {counts}")
    assert counts == SPLITS

    mask = "image/segmentation/class/encoded"
    everything = tfreel.Dataset(records, split="train").concat(tfreel.Dataset(records, split="val"))
    ids = values(*(images.decode(row[mask], "labels") for row in everything))
    gray = values(*(images.decode(row[mask], "gray") for row in everything))
    print(f"tfreel: ids {ids}")
    assert ids == gray == [*range(21), BORDER]

    train = tfreel.Dataset(records, split="train")
    photos = images.decoder("image/encoded", size=(SIDE, SIDE), scale=True)
    masks = images.decoder(mask, mode="labels", size=(SIDE, SIDE))  # the nearest pixel: no new ids
    preloaded = train.load()  # or all at once
    assert preloaded.num_rows == SPLITS["train"]
    for batch in train.shuffle(seed=1).batch(7).map(photos).map(masks):  # or as a stream
        print(
            f"tfreel: photos {batch['image/encoded'].shape}, masks {batch[mask].shape} of {batch[mask].dtype}"
        )
        assert set(values(batch[mask])) <= set(ids)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1] if len(sys.argv) > 1 else place)
