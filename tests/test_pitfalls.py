"""Mistakes that introductions to TFRecord lead into, and what is said about them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import tfreel
from tfreel import images

from drawn import jpeg, palette_mask

PIXELS = np.zeros((2, 3, 3), np.uint8)
PALETTE = [tuple(color) for color in images.VOC_COLORMAP.tolist()]


def said(kind: type[Exception], mistake: Callable[[], object]) -> str:
    """The message of the error that a mistake leads to."""
    with pytest.raises(kind) as caught:
        mistake()
    return str(caught.value)


# Messages


@pytest.mark.parametrize(
    ("message", "wrong", "right"),
    [
        (tfreel.Feature, "byte_list", "bytes_list"),
        (tfreel.Feature, "int_list", "int64_list"),
        (tfreel.FloatList, "values", "value"),
        (tfreel.Int64List, "values", "value"),
        (tfreel.Features, "features", "feature"),
        (tfreel.Example, "feature", "features"),
    ],
)
def test_an_unknown_field_is_told_with_the_one_that_was_meant(message: type, wrong: str, right: str) -> None:
    expected = f"{message.__name__} has no field {wrong!r}; did you mean {right!r}?"
    assert said(ValueError, lambda: message(**{wrong: None})) == expected


def test_a_field_that_resembles_none_is_told_with_all_there_are() -> None:
    text = said(ValueError, lambda: tfreel.Feature(picture=None))
    assert text == "Feature has no field 'picture'; it has 'bytes_list', 'float_list', 'int64_list'"


def test_an_array_in_a_list_of_bytes_is_told_how_to_become_bytes() -> None:
    text = said(TypeError, lambda: tfreel.BytesList(value=[PIXELS]))
    assert text == (
        "expected bytes, ndarray found; array.tobytes() gives its bytes without its shape, "
        "tfreel.images.encode(array) gives a PNG"
    )


def test_an_array_as_a_list_of_bytes_is_told_to_be_one_value() -> None:
    text = said(TypeError, lambda: tfreel.BytesList(value=PIXELS.ravel()))
    assert text == "expected bytes, uint8 found; value is a list of bytes, as in [array.tobytes()]"


def test_bytes_as_a_list_of_bytes_are_told_to_be_one_value() -> None:
    text = said(TypeError, lambda: tfreel.BytesList(value=b"cat"))
    assert text == "expected bytes, int found; value is a list of bytes, as in [data]"


def test_text_in_a_list_of_bytes_is_told_to_be_encoded() -> None:
    text = said(TypeError, lambda: tfreel.BytesList(value=["cat"]))
    assert text == "expected bytes, str found; encode it, as in text.encode()"


# Writing


@pytest.mark.parametrize(
    ("record", "advice"),
    [
        (PIXELS, 'not ndarray; an array needs a name, as in {"x": array}'),
        ("cat", "not str; encode text first, as in text.encode()"),
        (None, "not NoneType"),
    ],
)
def test_what_is_no_record_is_refused_with_advice(record: object, advice: str) -> None:
    with tfreel.Writer("some.tfrecord") as out:
        text = said(TypeError, lambda: out.write(record))  # type: ignore[arg-type]
    assert text == f"a record must be bytes, a mapping of features or have SerializeToString(), {advice}"


def test_mappings_and_messages_are_written_as_they_are() -> None:
    message = tfreel.Example(features={"feature": {"label": {"int64_list": {"value": [7]}}}})
    with tfreel.Writer("some.tfrecord") as out:
        out.write({"label": 7})
        out.write(message)
    assert [tfreel.decode(record)["label"].item() for record in tfreel.open("some.tfrecord")] == [7, 7]


def test_lists_of_different_lengths_are_refused_before_anything_is_written() -> None:
    text = said(ValueError, lambda: tfreel.save("some.tfrecord", {"data": range(10), "label": [0] * 9}))
    assert text == "columns differ in length: 'data' has 10, 'label' has 9"


def test_files_and_labels_of_different_numbers_are_refused() -> None:
    for name in ("a.jpg", "b.jpg"):
        with open(name, "wb") as file:
            file.write(jpeg())
    text = said(ValueError, lambda: tfreel.pack(["a.jpg", "b.jpg"], "out", labels=[0]))
    assert text == "there are 2 files and 1 labels"


def test_a_file_opened_as_text_is_refused_by_writers_and_readers() -> None:
    with open("some.tfrecord", "w") as file:
        text = said(TypeError, lambda: tfreel.Writer(file))  # type: ignore[arg-type]
    assert text == 'expected a file opened in binary mode, as in open(path, "wb")'
    with open("some.tfrecord") as file:
        text = said(TypeError, lambda: list(tfreel.read(file)))  # type: ignore[arg-type]
    assert text == 'expected a stream opened in binary mode, as in open(path, "rb")'


def test_a_file_in_which_nothing_was_written_is_told() -> None:
    tfreel.Writer("some.tfrecord").close()
    assert said(ValueError, lambda: tfreel.load("some.tfrecord")) == "there are no records in some.tfrecord"
    assert "0 records of 1 file" in repr(tfreel.Dataset("some.tfrecord"))


# Reading


@pytest.fixture
def pictures() -> str:
    tfreel.save("pictures.tfrecord", [{"image": jpeg(), "label": 3, "shape": [10, 20, 3]}])
    return "pictures.tfrecord"


@pytest.mark.parametrize(("wrong", "right"), [("image/encoded", "image"), ("image/label", "label")])
def test_a_wrong_name_is_told_with_those_there_are(pictures: str, wrong: str, right: str) -> None:
    features = {wrong: tfreel.FixedLenFeature([], "bytes")}
    text = said(tfreel.MissingFeatureError, lambda: tfreel.load(pictures, features))
    assert text == (
        f"feature {wrong!r} is missing in record 0 of pictures.tfrecord; it has 'image', 'label', 'shape' "
        f"— did you mean {right!r}?"
    )


def test_a_shape_read_as_one_number_is_told_how_many_there_are(pictures: str) -> None:
    features = {"shape": tfreel.FixedLenFeature([], "int64")}
    text = said(tfreel.FeatureMismatchError, lambda: tfreel.load(pictures, features))
    assert text == "feature 'shape' of record 0 of pictures.tfrecord: expected 1 value of kind int64, found 3"


# Images


def test_an_image_read_as_text_is_told_to_be_read_as_bytes() -> None:
    text = said(TypeError, lambda: images.decode("\ufffd\ufffd"))  # type: ignore[arg-type]
    assert (
        text
        == 'an image is the bytes of its file, not str; a file gives bytes if it is opened with mode "rb"'
    )


def test_a_mask_that_was_saved_as_jpeg_is_refused() -> None:
    text = said(ValueError, lambda: images.decode(jpeg(), "labels"))
    assert text == (
        "JPEG image with lossy compression as labels: its values are not those that were stored; "
        "use PNG for masks"
    )


def test_a_mask_that_was_painted_is_refused_and_told_the_way_back() -> None:
    painted = images.encode(images.VOC_COLORMAP[[[0, 15]]])
    text = said(ValueError, lambda: images.decode(painted, "labels"))
    assert "it holds colours, not class ids" in text
    assert re.search(r"labels_from_colors\(pixels, colormap\) give the ids$", text)


def test_only_labels_keep_the_ids_of_a_palette() -> None:
    ids = [[0, 15], [255, 20]]
    mask = palette_mask(ids, PALETTE)
    assert images.decode(mask, "labels").tolist() == ids
    assert images.decode(mask, "rgb").tolist() == images.VOC_COLORMAP[np.array(ids)].tolist()
