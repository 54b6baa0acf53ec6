"""Images in `tfreel.tf`: what must hold without TensorFlow at hand."""

from __future__ import annotations

import random
import struct
import sys
import warnings
import zlib
from typing import Any

import numpy as np
import pytest

import tfreel
from picture_files import GIFS, bmp, gif, png, transparency
from tfreel import tf
from tfreel.images import jpeg as jpeg_module
from tfreel.tf.graphs.rows import Dense, Listed

from pictures import IDS, chunk, colours, jpeg, palette_png, saved, ycck

PHOTOS = [jpeg(20 + i, 30 - i, seed=i) for i in range(4)]
Errors = tf.errors


def texts(values: list[bytes]) -> Any:
    made = np.empty(len(values), object)
    made[:] = values
    return Dense(made)


def noise(*shape: int) -> Any:
    return np.random.default_rng(shape).integers(0, 256, shape, dtype=np.uint8)


def each_row(column: Any) -> list[Any]:
    return [column.row(i) for i in range(len(column))]


ROWS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("decode_jpeg", texts(PHOTOS), (3,)),
    ("decode_jpeg", texts([jpeg(seed=i) for i in range(3)]), (1, 2)),
    ("decode_png", texts([png(2, 8), png(6, 16)]), (3, tf.uint16)),
    ("decode_image", texts([png(2, 8), jpeg()]), (3, tf.float32)),
    ("decode_gif", texts([gif(GIFS["two"]), gif(GIFS["disposal"])]), ()),
    ("decode_bmp", texts([bmp(24), bmp(32)]), ()),
    ("extract_jpeg_shape", texts(PHOTOS), ()),
    ("decode_and_crop_jpeg", texts(PHOTOS), ([1, 2, 3, 4], 3)),
    ("resize", Listed([noise(9, 8, 3), noise(5, 7, 3)]), ([6, 6],)),
    ("resize", Dense(noise(3, 9, 8, 3)), ([6, 6],)),
    ("convert_image_dtype", Dense(noise(3, 9, 8, 3)), (tf.float32,)),
    ("resize_with_crop_or_pad", Dense(noise(3, 9, 8, 3)), (5, 12)),
    *((name, Dense(noise(3, 9, 8, 3)), ()) for name in ("flip_left_right", "flip_up_down", "transpose")),
    ("rgb_to_grayscale", Dense(noise(3, 9, 8, 3)), ()),
    ("grayscale_to_rgb", Dense(noise(3, 9, 8, 1)), ()),
    ("adjust_brightness", Dense(noise(3, 9, 8, 3)), (0.4,)),
    *(
        (name, Dense(noise(3, 9, 8, 3)), (0.4,))
        for name in ("adjust_gamma", "adjust_hue", "adjust_saturation")
    ),
]


@pytest.mark.parametrize(
    ("name", "column", "options"), ROWS, ids=lambda each: each if isinstance(each, str) else ""
)
@pytest.mark.filterwarnings("ignore::tfreel.TfreelWarning")
def test_many_images_at_once_are_what_each_of_them_is(name: str, column: Any, options: Any) -> None:
    operation = getattr(tf.image, name)
    found = operation.rows(column, *options)
    wanted = [operation.kernel(each, *options) for each in each_row(column)]
    for ours, expected in zip(each_row(found), wanted, strict=True):
        assert ours.dtype == expected.dtype
        np.testing.assert_array_equal(ours, expected)


ONE_BY_ONE: list[tuple[str, tuple[Any, ...]]] = [
    ("resize", ([6, 6], "nearest")),
    ("resize", ([6, 6], "bicubic")),
    ("resize", ([6, 6], "bilinear", True)),
    ("resize_images", ([6, 6],)),
    ("adjust_contrast", (0.4,)),
    ("per_image_standardization", ()),
    ("central_crop", (0.5,)),
    ("crop_to_bounding_box", (1, 2, 3, 4)),
    ("pad_to_bounding_box", (1, 2, 20, 30)),
    ("resize_with_pad", (20, 30)),
    ("rot90", (3,)),
    ("adjust_jpeg_quality", (50,)),
]


@pytest.mark.parametrize(
    ("name", "options"), [*ONE_BY_ONE, *((name, options) for name, _, options in ROWS[-9:])]
)
def test_a_dataset_of_images_is_what_each_of_them_is(name: str, options: tuple[Any, ...]) -> None:
    operation = getattr(tf.image, name)
    images = noise(5, 9, 8, 1 if name == "grayscale_to_rgb" else 3)
    data = tf.data.Dataset.from_tensor_slices(images).map(lambda each: operation(each, *options))
    for found, image in zip(data, images, strict=True):
        wanted = operation(image, *options)
        assert found.dtype == wanted.dtype
        assert data.element_spec.shape.is_compatible_with(found.shape)
        np.testing.assert_array_equal(found, wanted)


def test_photos_of_any_size_are_resized_into_one_array() -> None:
    decoded = tf.image.decode_jpeg.rows(texts(PHOTOS), 3)
    found = tf.image.resize.rows(decoded, [8, 8])
    assert isinstance(found, Dense)
    assert found.array.shape == (4, 8, 8, 3)
    assert found.array.dtype == np.float32


def test_what_differs_from_row_to_row_is_taken_row_by_row() -> None:
    assert tf.image.resize.rows(Dense(noise(2, 4, 4, 3)), Dense(np.array([[2, 2], [3, 3]]))) is None
    assert tf.image.resize.rows(Listed([noise(9, 8, 3), noise(5, 7, 1)]), [6, 6]) is None
    assert tf.image.resize.rows(Dense(noise(3, 2, 9, 8, 3)), [6, 6]) is None
    assert tf.image.adjust_brightness.rows(Dense(noise(2, 4, 4, 3)), Dense(np.array([0.1, 0.2]))) is None
    window = [Dense(np.array([0, 1])), 0, 2, 2]
    assert tf.image.decode_and_crop_jpeg.rows(texts(PHOTOS[:2]), window) is None
    sizes = tf.data.Dataset.from_tensor_slices((PHOTOS, [[4, 4], [2, 3], [5, 1], [1, 1]]))
    shapes = [
        image.shape.as_list()
        for image in sizes.map(lambda data, size: tf.image.resize(tf.io.decode_jpeg(data), size))
    ]
    assert shapes == [[4, 4, 3], [2, 3, 3], [5, 1, 3], [1, 1, 3]]


def test_what_is_known_of_decoded_images_is_told_before_they_are() -> None:
    data = tf.data.Dataset.from_tensor_slices(PHOTOS)
    assert data.map(lambda each: tf.io.decode_jpeg(each, 3)).element_spec == tf.TensorSpec(
        [None, None, 3], tf.uint8
    )
    assert data.map(tf.io.decode_image).element_spec.shape.rank is None
    still = data.map(lambda each: tf.io.decode_image(each, expand_animations=False)).element_spec
    assert still.shape.as_list() == [None, None, None]
    small = data.map(
        lambda each: tf.image.resize(tf.io.decode_image(each, 3, expand_animations=False), [4, 5])
    )
    assert small.element_spec == tf.TensorSpec([4, 5, 3], tf.float32)


@pytest.mark.parametrize("decode", ["decode_jpeg", "decode_png", "decode_gif", "decode_bmp", "decode_image"])
def test_what_is_no_image_is_an_argument_that_cannot_be(decode: str) -> None:
    function = getattr(tf.io, decode)
    with pytest.raises(Errors.InvalidArgumentError, match="Input is empty"):
        function(b"")
    with pytest.raises(Errors.InvalidArgumentError, match="Unknown image file format"):
        function(b"no image at all")
    with pytest.raises(Errors.InvalidArgumentError, match="must be scalar"):
        function([jpeg()])


def test_a_png_that_is_cut_names_its_size() -> None:
    data = saved(colours(), "PNG")
    with pytest.raises(Errors.InvalidArgumentError, match=f"Invalid PNG data, size {len(data) - 1}"):
        tf.io.decode_png(data[:-1])


def test_animations_are_for_those_decoders_that_can_show_them() -> None:
    data = gif(GIFS["two"])
    assert tf.io.decode_gif(data).shape == (2, 4, 5, 3)
    assert tf.io.decode_image(data).shape == (2, 4, 5, 3)
    assert tf.io.decode_image(data, expand_animations=False).shape == (4, 5, 3)
    with pytest.warns(tfreel.TfreelWarning), pytest.raises(Errors.InvalidArgumentError, match="Got 2 frames"):
        tf.io.decode_png(data)


def test_frames_that_a_cut_gif_has_lost_are_told() -> None:
    data = gif(GIFS["two"])
    with pytest.warns(tfreel.TfreelWarning, match="ends too early"):
        assert len(tf.io.decode_gif(data[:-30])) == 1
    assert len(tf.io.decode_gif(data[:-1])) == 2


def test_an_image_too_large_to_be_true_is_refused_before_anything_is_allocated() -> None:
    header = struct.pack(">IIBBBBB", 1 << 20, 1 << 20, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    with pytest.raises(Errors.InvalidArgumentError, match="no more than"):
        tf.io.decode_png(b"\x89PNG\r\n\x1a\n" + body)
    small = jpeg()
    place = small.index(b"\xff\xc0") + 5
    with pytest.raises(Errors.InvalidArgumentError, match="no more than"):
        tf.io.decode_jpeg(small[:place] + b"\xff\xff\xff\xff" + small[place + 4 :])
    one = GIFS["one"][0]
    many = [one._replace(indices=np.zeros((1, 1), int))] * 3000
    wide = gif([*many, one._replace(indices=np.zeros((300, 300), int))])
    with pytest.raises(Errors.InvalidArgumentError, match="too many"):
        tf.io.decode_gif(wide)


@pytest.mark.filterwarnings("ignore::tfreel.TfreelWarning")
def test_hostile_bytes_are_errors_and_nothing_worse() -> None:
    chance = random.Random(7)
    files = [
        png(6, 16),
        png(3, 4, after=transparency(3, 4)),
        jpeg(),
        ycck(),
        bmp(8),
        *map(gif, GIFS.values()),
    ]
    refused = 0
    for _ in range(2000):
        data = bytearray(chance.choice(files))
        for _ in range(chance.choice((1, 2, 5))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        for decode in (tf.io.decode_image, tf.io.decode_jpeg, tf.io.decode_bmp, tf.io.extract_jpeg_shape):
            try:
                decode(_with_checksums(bytes(data)))
            except Errors.InvalidArgumentError:
                refused += 1
    assert refused


def _with_checksums(data: bytes) -> bytes:
    """A damaged PNG whose chunks look sound."""
    out, offset = data[:8], 8
    while data[:4] == b"\x89PNG" and offset + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, offset)
        out += chunk(data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + length])
        offset += length + 12
    return out if offset > 8 else data


def _warned(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        call()
    return [f"{each.filename}: {each.message}" for each in found]


def test_a_png_given_to_the_decoder_of_jpegs_is_named_once_where_that_was_done() -> None:
    def call() -> None:
        for data in (png(2, 8), png(6, 8), jpeg()):
            tf.io.decode_jpeg(data)

    (told,) = _warned(call)
    assert told.startswith(__file__)
    assert "these bytes are a PNG, and decoded as one" in told


@pytest.mark.parametrize("decode", ["decode_png", "decode_image"])
def test_a_palette_is_told_from_class_ids(decode: str) -> None:
    mask = palette_png(IDS, tfreel.images.VOC_COLORMAP)
    (told,) = _warned(lambda: [getattr(tf.io, decode)(mask) for _ in range(3)])
    assert 'tfreel.images.decode(data, "labels")' in told
    assert not _warned(lambda: getattr(tf.io, decode)(tfreel.images.encode_labels(IDS)))


def test_a_dataset_tells_it_too_and_not_for_each_image() -> None:
    masks = tf.data.Dataset.from_tensor_slices([palette_png(IDS, tfreel.images.VOC_COLORMAP)] * 20)
    found = _warned(lambda: list(masks.map(lambda data: tf.io.decode_png(data, 3)).batch(20)))
    assert len(found) == 1
    assert "has a palette" in found[0]


def test_without_simplejpeg_pixels_are_the_accurate_ones_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = jpeg()
    accurate = tf.io.decode_jpeg(data, dct_method="INTEGER_ACCURATE").numpy()
    assert not np.array_equal(tf.io.decode_jpeg(data), accurate)
    monkeypatch.setattr(jpeg_module, "_simplejpeg", lambda: None)
    with pytest.warns(tfreel.TfreelWarning, match=r"tfreel\[jpeg\]"):
        assert np.array_equal(tf.io.decode_jpeg(data), accurate)
    assert np.array_equal(tf.io.decode_jpeg(data, dct_method="INTEGER_ACCURATE"), accurate)


def test_what_only_simplejpeg_can_do_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    with pytest.raises(Errors.UnimplementedError, match=r"tfreel\[jpeg\]"):
        tf.io.decode_jpeg(jpeg(), fancy_upscaling=False)


@pytest.mark.parametrize("data", [jpeg(mode="CMYK"), ycck()])
def test_inks_are_the_same_colours_without_simplejpeg(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tf.io.decode_jpeg(data, dct_method="INTEGER_ACCURATE").numpy()
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    assert np.array_equal(tf.io.decode_jpeg(data, dct_method="INTEGER_ACCURATE"), wanted)
    with pytest.warns(tfreel.TfreelWarning, match=r"tfreel\[jpeg\]"):
        tf.io.decode_jpeg(data)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_what_a_png_is_made_of_comes_back(dtype: Any, channels: int) -> None:
    pixels = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, (7, 9, channels), dtype=dtype)
    assert np.array_equal(tf.io.decode_png(tf.io.encode_png(pixels), dtype=dtype), pixels)


def test_turning_an_image_four_times_leaves_it_as_it_was() -> None:
    image = noise(5, 7, 3)
    assert np.array_equal(tf.image.rot90(tf.image.rot90(image, 3)), image)
    assert np.array_equal(tf.image.rot90(image), tf.image.flip_up_down(tf.image.transpose(image)))
    assert np.array_equal(tf.image.flip_left_right(tf.image.flip_left_right(image)), image)


def test_a_mirror_is_drawn_for_each_image_and_the_same_again_with_the_seed() -> None:
    images = noise(64, 4, 4, 3)

    def flipped() -> Any:
        data = tf.data.Dataset.from_tensor_slices(images)
        return np.stack(
            [*data.map(lambda each: tf.image.random_flip_left_right(each, seed=3)).as_numpy_iterator()]
        )

    first = flipped()
    turned = [not np.array_equal(a, b) for a, b in zip(first, images, strict=True)]
    assert 10 < sum(turned) < 54
    for i in np.flatnonzero(turned):
        assert np.array_equal(first[i], images[i, :, ::-1])
    assert np.array_equal(flipped(), first)


def test_random_numbers_do_not_depend_on_which_thread_is_first() -> None:
    photos = [jpeg(32, 32, seed=i) for i in range(60)]

    def batches() -> Any:
        def change(data: Any) -> Any:
            image = tf.image.random_crop(tf.io.decode_jpeg(data, 3), [20, 20, 3], seed=1)
            return tf.image.random_brightness(image, 0.4, seed=2)

        return next(tf.data.Dataset.from_tensor_slices(photos).map(change).batch(60).as_numpy_iterator())

    first = batches()
    for _ in range(5):
        assert np.array_equal(batches(), first)


def test_an_image_and_its_mask_are_flipped_alike_with_the_same_seed() -> None:
    def both(image: Any) -> Any:
        return tf.image.random_flip_up_down(image, seed=9), tf.image.random_flip_up_down(image, seed=9)

    for image, mask in tf.data.Dataset.from_tensor_slices(noise(40, 4, 4, 3)).map(both):
        assert np.array_equal(image, mask)


def test_calls_with_a_seed_go_on_from_each_other() -> None:
    image = noise(30, 30, 3)
    corners = {tf.image.random_crop(image, [2, 2, 3], seed=77).numpy().tobytes() for _ in range(20)}
    assert len(corners) > 10


def test_what_is_drawn_lies_in_its_range() -> None:
    image = np.full((4, 4, 3), 0.5, np.float32)
    for _ in range(50):
        assert np.abs(tf.image.random_brightness(image, 0.1).numpy() - 0.5).max() <= 0.1 + 1e-6
        assert tf.image.random_crop(noise(5, 6, 3), [5, 4, 3]).shape == (5, 4, 3)
        tf.image.random_contrast(image, 0.5, 2.0)
        tf.image.random_saturation(image, 0.5, 2.0)
        tf.image.random_hue(image, 0.5)
        tf.image.random_jpeg_quality(image, 20, 90)
    batch = tf.image.random_flip_left_right(noise(32, 4, 4, 3), seed=1).numpy()
    assert not np.array_equal(batch, noise(32, 4, 4, 3))
    assert not np.array_equal(batch, noise(32, 4, 4, 3)[:, :, ::-1])


def test_two_seeds_always_mean_the_same_change() -> None:
    image = noise(30, 30, 3)
    changes: list[Any] = [
        lambda seed: tf.image.stateless_random_crop(image, [2, 2, 3], seed),
        lambda seed: tf.image.stateless_random_brightness(image, 0.5, seed),
        lambda seed: tf.image.stateless_random_contrast(image, 0.1, 2.0, seed),
        lambda seed: tf.image.stateless_random_saturation(image, 0.1, 2.0, seed),
        lambda seed: tf.image.stateless_random_hue(image, 0.5, seed),
        lambda seed: tf.image.stateless_random_jpeg_quality(image, 10, 90, seed),
        lambda seed: tf.image.stateless_random_flip_left_right(image, seed),
        lambda seed: tf.image.stateless_random_flip_up_down(image, seed),
    ]
    for change in changes:
        found = [change((i, 2)).numpy() for i in range(20)]
        assert len({each.tobytes() for each in found}) > 1
        in_a_dataset = tf.data.Dataset.range(20).map(lambda i, change=change: change(tf.stack([i, 2])))
        for again, each in zip(in_a_dataset, found, strict=True):
            assert np.array_equal(again, each)
    with pytest.raises(Errors.InvalidArgumentError, match="shape"):
        tf.image.stateless_random_flip_left_right(image, (1, 2, 3))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.image.random_brightness(noise(2, 2, 3), -0.1), ValueError),
        (lambda: tf.image.random_contrast(noise(2, 2, 3), 2.0, 1.0), ValueError),
        (lambda: tf.image.random_saturation(noise(2, 2, 3), -1.0, 1.0), ValueError),
        (lambda: tf.image.random_hue(noise(2, 2, 3), 0.7), ValueError),
        (lambda: tf.image.random_jpeg_quality(noise(2, 2, 3), 50, 40), ValueError),
        (lambda: tf.image.random_jpeg_quality(noise(2, 2, 3), 50, 101), ValueError),
        (lambda: tf.image.random_crop(noise(2, 2, 3), [3, 2, 3]), Errors.InvalidArgumentError),
        (lambda: tf.image.resize(noise(2, 2, 3), [2, 2], "other"), ValueError),
        (lambda: tf.image.convert_image_dtype(noise(2, 2, 3), tf.string), AttributeError),
        (lambda: tf.image.grayscale_to_rgb(noise(2, 2, 3)), ValueError),
        (lambda: tf.image.rgb_to_grayscale(noise(2, 2, 1)), ValueError),
    ],
)
def test_arguments_that_cannot_be_are_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
