"""Images in `tfreel.tf` are those of TensorFlow: bit for bit, or nearly so where that is said."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
import tensorflow  # noqa: ICN001 - `tf` is ours

from picture_files import GIFS, PNG_KINDS, bmp, gif, png, transparency
from tfreel import tf

from pictures import chunk, colours, jpeg, saved, ycck

pytestmark = pytest.mark.filterwarnings("ignore::tfreel.TfreelWarning")

FILES = {
    "png": saved(colours(), "PNG"),
    "gray png": saved(colours()[:, :, 0], "PNG"),
    "deep png": png(6, 16),
    "palette": png(3, 4),
    "jpeg": jpeg(),
    "gray jpeg": jpeg(mode="L"),
    "inks": jpeg(mode="CMYK"),
    "more inks": ycck(),
    "progressive": jpeg(progressive=True),
    **{f"subsampled {i}": jpeg(37, 51, subsampling=i) for i in range(3)},
    **{f"bmp {bits}": bmp(bits) for bits in (1, 4, 8, 16, 24, 32)},
    "bmp with a long header": bmp(32, header=124),
    **{f"gif {name}": gif(frames) for name, frames in GIFS.items()},
    "gif without colours": gif(GIFS["one"], common=False),
    "webp": saved(colours(), "WEBP"),
    "webp with alpha": saved(np.dstack([colours(), colours()[:, :, :1]]), "WEBP", lossless=True),
    "empty": b"",
    "text": b"no image at all",
}
DECODERS: list[tuple[str, dict[str, Any]]] = [
    *(("decode_jpeg", {"channels": i}) for i in range(5)),
    *(("decode_jpeg", {"ratio": i, "channels": 3}) for i in (2, 3, 8)),
    ("decode_jpeg", {"fancy_upscaling": False}),
    ("decode_jpeg", {"dct_method": "INTEGER_ACCURATE"}),
    ("decode_jpeg", {"dct_method": "SLOW"}),
    *(("decode_png", {"channels": i, "dtype": dtype}) for i in range(5) for dtype in ("uint8", "uint16")),
    ("decode_gif", {}),
    *(("decode_image", {"channels": i}) for i in (None, 0, 1, 3, 4)),
    *(("decode_image", {"dtype": i}) for i in ("uint16", "float32", "float64", "float16", "int32", "int8")),
    *(("decode_image", {"expand_animations": False, "dtype": i}) for i in ("uint8", "float32")),
    ("is_jpeg", {}),
]


def outcome(module: Any, name: str, *args: Any, **options: Any) -> Any:
    """An array, or the name of the error."""
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part)
    try:
        return np.asarray(function(*args, **options))
    except Exception as error:  # noqa: BLE001 - its class is what is compared
        return type(error).__name__


def same(name: str, *args: Any, within: float | None = None, **options: Any) -> Any:
    """What both give, if it is the same."""
    wanted = outcome(tensorflow, name, *args, **options)
    found = outcome(tf, name, *args, **options)
    told = (name, [np.shape(each) or each for each in args], options)
    if isinstance(wanted, str) or isinstance(found, str):
        assert str(found) == str(wanted), told
        return found
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), told
    if within is None:
        np.testing.assert_array_equal(found, wanted, str(told))
    else:
        np.testing.assert_allclose(found.astype(float), wanted.astype(float), 0, within, err_msg=str(told))
    return found


def noise(*shape: int, dtype: str = "uint8") -> Any:
    values = np.random.default_rng(shape).random(shape)
    return (values * np.iinfo(dtype).max).astype(dtype) if dtype[0] in "iu" else values.astype(dtype)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_decoded_equally_by_all_decoders(name: str) -> None:
    for decoder, options in DECODERS:
        same(f"io.{decoder}", FILES[name], **options)
    if "webp" not in name:
        for channels in range(5):
            same("io.decode_bmp", FILES[name], channels)


@pytest.mark.parametrize("name", [name for name, data in FILES.items() if len(data) > 20])
def test_a_file_that_is_cut_is_the_same_error_or_the_same_pixels(name: str) -> None:
    data = FILES[name]
    for cut in (data[:-1], data[:-2], data[:-10], data[: len(data) // 2], data[:12], data + b"more"):
        for decoder in ("decode_jpeg", "decode_png", "decode_gif", "decode_image"):
            same(f"io.{decoder}", cut)


@pytest.mark.parametrize("kind", PNG_KINDS, ids=str)
@pytest.mark.parametrize("interlaced", [False, True])
def test_a_png_of_any_kind_has_the_same_channels_and_depth(kind: tuple[int, int], interlaced: bool) -> None:
    clear = transparency(*kind) if kind[0] in (0, 2, 3) else b""
    for after in {b"", clear}:
        data = png(*kind, after=after, interlaced=interlaced)
        for channels in (0, 1, 3, 4):
            for dtype in ("uint8", "uint16"):
                same("io.decode_png", data, channels, dtype)


@pytest.mark.parametrize("kind", [(2, 8), (2, 16), (3, 8), (3, 2), (6, 8), (6, 16)], ids=str)
@pytest.mark.parametrize("gamma", [45455, 100_000, 96_000, 180_000, None])
def test_gray_of_a_png_that_tells_its_gamma_is_that_of_the_light(
    kind: tuple[int, int], gamma: int | None
) -> None:
    told = chunk(b"sRGB", b"\0") if gamma is None else chunk(b"gAMA", struct.pack(">I", gamma))
    for place in ("before", "after"):
        data = png(*kind, **{place: told})
        for dtype in ("uint8", "uint16"):
            same("io.decode_png", data, 1, dtype)


def test_damaged_chunks_of_a_png_are_errors_or_left_out_alike() -> None:
    data = png(0, 8, after=transparency(0, 8) + chunk(b"tEXt", b"a\0b"))
    for i in range(8, len(data)):
        damaged = data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :]
        if _length_is_sound(damaged):
            same("io.decode_png", damaged, 4)


def _length_is_sound(data: bytes) -> bool:
    """Whether the chunks follow each other still: what a wrong length does is nobody's business."""
    offset = 8
    while offset + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, offset)
        if not name.isalpha() or name not in (b"IHDR", b"tRNS", b"tEXt", b"IDAT", b"IEND"):
            return False
        offset += length + 12
    return offset == len(data)


@pytest.mark.parametrize("bits", [8, 24, 32])
def test_a_bmp_stored_from_above_is_decoded_to_any_dtype(bits: int) -> None:
    data = bmp(bits, upside_down=True)
    for channels in (0, 3, 4):
        pixels = same("io.decode_bmp", data, channels)
        # TensorFlow itself does not survive these.
        deep = tf.io.decode_image(data, channels, tf.uint16).numpy()
        assert np.array_equal(deep, pixels.astype(np.uint16) * 256)


def test_the_shape_of_a_jpeg_is_found_in_its_header() -> None:
    for name in ("jpeg", "gray jpeg", "inks", "progressive", "png", "empty", "text"):
        same("io.extract_jpeg_shape", FILES[name])
    same("io.extract_jpeg_shape", FILES["jpeg"], "int64")


def test_a_part_of_a_jpeg_is_what_cropping_gives_but_for_the_last_pixels_before_its_edge() -> None:
    data = jpeg(61, 83, subsampling=0)
    for window in (
        (3, 5, 20, 30),
        (0, 0, 61, 83),
        (17, 33, 40, 50),
        (-1, 0, 4, 4),
        (0, 0, 62, 3),
        (0, 0, 0, 0),
    ):
        same("io.decode_and_crop_jpeg", data, window, 3)
    same("io.decode_and_crop_jpeg", FILES["png"], (0, 0, 1, 1))
    smooth = jpeg(61, 83, subsampling=2)
    whole = tf.io.decode_jpeg(smooth, 3).numpy()
    assert np.array_equal(tf.io.decode_and_crop_jpeg(smooth, (1, 2, 30, 40), 3).numpy(), whole[1:31, 2:42])
    same("io.decode_and_crop_jpeg", smooth, (1, 2, 30, 40), 3, within=16)


def test_what_is_left_of_a_cut_jpeg_is_given_if_that_is_asked_for() -> None:
    data = jpeg(64, 64, subsampling=0)
    cut = data[: len(data) * 9 // 10]
    assert same("io.decode_jpeg", cut) == "InvalidArgumentError"
    wanted = tensorflow.io.decode_jpeg(cut, try_recover_truncated=True, acceptable_fraction=0.1).numpy()
    found = tf.io.decode_jpeg(cut, try_recover_truncated=True, acceptable_fraction=0.1).numpy()
    assert np.array_equal(found[:32], wanted[:32])


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "options",
    [
        *({"quality": i} for i in (-1, 0, 1, 50, 75, 95, 100, 101)),
        *({name: True} for name in ("progressive", "optimize_size")),
        {"chroma_downsampling": False},
        {"density_unit": "cm", "x_density": 10, "y_density": 500},
        {"xmp_metadata": "<x>é</x>"},
        *({"format": name} for name in ("rgb", "grayscale", "other")),
    ],
    ids=str,
)
def test_a_jpeg_is_encoded_to_the_same_bytes(channels: int, options: dict[str, Any]) -> None:
    same("io.encode_jpeg", noise(33, 47, channels), **options)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize(
    "shape", [(5, 6, 1), (5, 6, 2), (5, 6, 3), (5, 6, 4), (2, 3, 5, 6, 3), (2, 0, 5, 6, 3)]
)
def test_what_a_png_was_encoded_of_comes_back(shape: tuple[int, ...], dtype: str) -> None:
    pixels = noise(*shape, dtype=dtype)
    for level in (-1, 0, 9):
        found = np.asarray(tf.io.encode_png(pixels, level))
        assert found.shape == tensorflow.io.encode_png(pixels, level).shape
        for data, each in zip(found.ravel(), pixels.reshape(-1, *shape[-3:]), strict=True):
            assert np.array_equal(tensorflow.io.decode_png(data, dtype=dtype), each)


def test_what_no_png_can_hold_is_the_same_error() -> None:
    for bad in (noise(5, 6, 5), noise(5, 6), noise(0, 6, 3), noise(5, 6, 3, dtype="float32")):
        assert isinstance(same("io.encode_png", bad), str)
    assert same("io.encode_png", noise(5, 6, 3), 10) == "InvalidArgumentError"


SIZES = [
    *((1, 1, 5, 7), (7, 9, 3, 2), (5, 5, 1, 1), (33, 50, 97, 99), (31, 17, 64, 128), (96, 96, 97, 95)),
    *((40, 40, 40, 40), (120, 160, 24, 24), (2, 3, 7, 11), (10, 10, 5, 5)),
]
METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32"])
def test_images_are_resized_equally(method: str, antialias: bool, dtype: str) -> None:
    exact = method == "nearest" or (method == "bilinear" and not antialias)
    most = {"uint8": 255, "float32": 1, "int32": 1 << 31}[dtype]
    for height, width, *size in SIZES:
        for image in (noise(height, width, 3, dtype=dtype), noise(2, height, width, 1, dtype=dtype)):
            same(
                "image.resize",
                image,
                size,
                method,
                antialias=antialias,
                within=None if exact else most * 2e-6,
            )


def test_proportions_are_kept_equally() -> None:
    for height, width, *size in [(37, 51, 20, 20), (100, 33, 64, 64), (5, 7, 1, 3), (48, 64, 224, 224)]:
        same("image.resize", noise(height, width, 3), size, preserve_aspect_ratio=True)
    assert isinstance(same("image.resize", noise(3, 1000, 3), (10, 10), preserve_aspect_ratio=True), str)


@pytest.mark.parametrize("size", [(3,), (3, 4, 5), 3, (0, 3), (-1, 2), (3.0, 4.0), [[1, 2]]], ids=str)
def test_what_is_no_size_is_the_same_error(size: Any) -> None:
    assert isinstance(same("image.resize", noise(5, 6, 3), size), str)


@pytest.mark.parametrize("method", [0, 1, 2, 3, "bilinear", "lanczos3"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_the_first_generation_resized_images_otherwise(method: Any, align_corners: bool) -> None:
    exact = method in (0, 1, "bilinear")
    for shape in ((13, 17, 3), (2, 9, 8, 3), (64, 48, 3)):
        for size in ((5, 6), (20, 30), (1, 1), (100, 99)):
            same(
                "compat.v1.image.resize_images",
                noise(*shape),
                size,
                method,
                align_corners,
                within=None if exact else 1e-3,
            )
    if method != "lanczos3":
        unchanged = same("compat.v1.image.resize_images", noise(13, 17, 3), (13, 17), method, align_corners)
        assert unchanged.dtype == np.uint8


@pytest.mark.parametrize(
    "name", ["resize_bilinear", "resize_nearest_neighbor", "resize_bicubic", "resize_area"]
)
def test_batches_are_resized_by_the_old_names(name: str) -> None:
    ways: list[dict[str, bool]] = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
    for options in ways[:2] if name == "resize_area" else ways:
        same(f"compat.v1.image.{name}", noise(2, 9, 8, 3), (5, 20), within=1e-3, **options)


SHAPES = [(13, 17, 3), (2, 9, 8, 3), (64, 80, 3)]
CHANGES: list[tuple[str, tuple[Any, ...]]] = [
    *((name, ()) for name in ("flip_left_right", "flip_up_down", "transpose", "rgb_to_grayscale")),
    *(("rot90", (k,)) for k in (0, 1, 2, 3, 5, -1)),
    *(("adjust_brightness", (delta,)) for delta in (0.1, -0.3, 1.5)),
    *(("central_crop", (fraction,)) for fraction in (1.0, 0.5, 0.33, 0.875, 0.1, 0.0, 1.5)),
    *(("resize_with_crop_or_pad", size) for size in ((5, 6), (20, 30), (13, 4), (1, 1), (0, 3), (100, 99))),
    *(("resize_with_pad", size) for size in ((5, 6), (20, 30), (13, 4), (100, 99), (0, 3))),
    *(("resize_with_pad", (*size, "nearest")) for size in ((5, 6), (20, 30), (100, 99))),
    *(("crop_to_bounding_box", box) for box in ((0, 0, 1, 1), (1, 2, 3, 4), (-1, 0, 2, 2), (0, 0, 200, 2))),
    *(
        ("pad_to_bounding_box", box)
        for box in ((0, 0, 70, 90), (1, 2, 20, 30), (-1, 0, 80, 80), (0, 0, 2, 2))
    ),
]
NEARLY: list[tuple[str, tuple[Any, ...]]] = [
    *(("adjust_contrast", (factor,)) for factor in (0.5, 2.0, -1.0)),
    *(("adjust_gamma", options) for options in ((1, 1), (2.2, 1), (0.5, 2), (-1, 1))),
    *(("adjust_hue", (delta,)) for delta in (0.1, -0.3, 0.7, 2)),
    *(("adjust_saturation", (factor,)) for factor in (0.5, 2.0, 0.0)),
    ("per_image_standardization", ()),
]


@pytest.mark.parametrize(("name", "options"), CHANGES, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "int32"])
def test_images_are_changed_equally(name: str, options: tuple[Any, ...], dtype: str) -> None:
    for shape in SHAPES:
        same(f"image.{name}", noise(*shape, dtype=dtype), *options)


@pytest.mark.parametrize(("name", "options"), NEARLY, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_images_are_changed_nearly_equally(name: str, options: tuple[Any, ...], dtype: str) -> None:
    within = 1 if dtype[0] == "u" and name != "per_image_standardization" else 2e-5
    for shape in (*SHAPES, (1, 1, 3)):
        same(f"image.{name}", noise(*shape, dtype=dtype), *options, within=within)


def test_colours_become_hue_and_come_back_equally() -> None:
    image = noise(13, 17, 3, dtype="float32")
    image[0, :5] = [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    same("image.rgb_to_hsv", image, within=1e-6)
    same("image.hsv_to_rgb", image, within=1e-6)
    gray = tensorflow.constant(noise(13, 17, 1))
    assert np.array_equal(tf.image.grayscale_to_rgb(gray.numpy()), tensorflow.image.grayscale_to_rgb(gray))


@pytest.mark.parametrize("shape", [(3, 3), (3,), (1, 2, 3, 4, 3), (0, 4, 3)], ids=str)
def test_what_is_no_image_by_its_shape_is_the_same_error(shape: tuple[int, ...]) -> None:
    for name, options in {
        "flip_left_right": (),
        "flip_up_down": (),
        "transpose": (),
        "rot90": (),
        "resize": ((3, 3),),
        "central_crop": (0.5,),
        "crop_to_bounding_box": (0, 0, 1, 1),
        "resize_with_crop_or_pad": (2, 2),
    }.items():
        assert isinstance(same(f"image.{name}", np.zeros(shape, np.uint8), *options), str)


DTYPES = ("uint8", "uint16", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("old", DTYPES)
@pytest.mark.parametrize("new", DTYPES)
def test_dtypes_of_images_are_converted_equally(old: str, new: str) -> None:
    image = noise(5, 6, 3, dtype=old)
    same("image.convert_image_dtype", image, new)
    if new != "int64" and (old, new) != ("float16", "int32"):  # where TensorFlow goes astray
        if old.startswith("float"):
            image = (image * 4 - 2).astype(old)
        same("image.convert_image_dtype", image, new, saturate=True)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_boxes_are_cropped_and_resized_equally(method: str) -> None:
    boxes = np.array(
        [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.5, 0.5, 1.5, 1.2], [0.9, 0.8, 0.1, 0.2]], "float32"
    )
    for size in ((4, 5), (1, 1), (1, 6), (20, 20)):
        for outside in (0.0, 7.0):
            options = (boxes, np.array([0, 1, 1, 0], "int32"), size, method, outside)
            same("image.crop_and_resize", noise(2, 9, 8, 3), *options, within=1e-3)
    assert same("image.crop_and_resize", noise(2, 9, 8, 3), boxes[:1], np.array([5], "int32"), (2, 2)) == (
        "OutOfRangeError"
    )


def test_boxes_are_drawn_equally() -> None:
    boxes = [
        [[0.1, 0.2, 0.7, 0.8], [-0.5, 0.5, 0.5, 1.5], [0.7, 0.2, 0.1, 0.8], [1.2, 0, 1.5, 1], [0, 0, 1, 1]]
    ]
    for channels in (1, 3, 4):
        images = noise(1, 23, 31, channels, dtype="float32")
        for i in range(1, 6):
            given = np.array(boxes, "float32")[:, :i]
            same("image.draw_bounding_boxes", images, given, noise(2, channels, dtype="float32"))
            same("compat.v1.image.draw_bounding_boxes", images, given)


def test_an_image_is_as_it_would_be_after_being_a_jpeg() -> None:
    for dtype in ("uint8", "float32"):
        same("image.adjust_jpeg_quality", noise(16, 24, 3, dtype=dtype), 50)


def test_what_is_known_beforehand_of_images_is_what_tensorflow_knows() -> None:
    calls: dict[str, Any] = {
        "jpeg": lambda tf, data: tf.io.decode_jpeg(data, 3),
        "png": lambda tf, data: tf.io.decode_png(data, dtype=tf.uint16),
        "gif": lambda tf, data: tf.io.decode_gif(data),
        "any": lambda tf, data: tf.io.decode_image(data),
        "no animation": lambda tf, data: tf.io.decode_image(data, 3, expand_animations=False),
        "part": lambda tf, data: tf.io.decode_and_crop_jpeg(data, [0, 0, 2, 2], 3),
        "shape": lambda tf, data: tf.io.extract_jpeg_shape(data),
        "resized": lambda tf, data: tf.image.resize(tf.io.decode_jpeg(data), [3, 4]),
        "nearest": lambda tf, data: tf.image.resize(tf.io.decode_jpeg(data, 1), [3, 4], "nearest"),
        "cut": lambda tf, data: tf.image.random_crop(tf.io.decode_jpeg(data), [3, 4, 3]),
        "cut or padded": lambda tf, data: tf.image.resize_with_crop_or_pad(
            tf.io.decode_jpeg(data, 3), 30, 40
        ),
        "box": lambda tf, data: tf.image.crop_to_bounding_box(tf.io.decode_jpeg(data, 3), 1, 1, 9, 8),
        "with pad": lambda tf, data: tf.image.resize_with_pad(tf.io.decode_jpeg(data, 3), 30, 40),
        "turned": lambda tf, data: tf.image.rot90(tf.io.decode_jpeg(data, 3)),
        "flipped": lambda tf, data: tf.image.random_flip_left_right(tf.io.decode_jpeg(data, 3)),
        "gray": lambda tf, data: tf.image.rgb_to_grayscale(tf.io.decode_jpeg(data, 3)),
        "encoded": lambda tf, data: tf.io.encode_jpeg(tf.io.decode_jpeg(data, 3)),
    }
    for name, call in calls.items():
        specs = []
        for module in (tensorflow, tf):
            data = module.data.Dataset.from_tensor_slices([jpeg(), jpeg(30, 20)])
            specs.append(data.map(lambda each, call=call, module=module: call(module, each)).element_spec)
        assert str(specs[1].shape) == str(specs[0].shape), name
        assert specs[1].dtype.name == specs[0].dtype.name, name


def test_a_dataset_of_photos_is_the_same() -> None:
    photos = [jpeg(60 + i, 90 - i, seed=i) for i in range(40)]

    def batches(tf: Any) -> list[Any]:
        def pixels(data: Any) -> Any:
            image = tf.image.resize(tf.io.decode_jpeg(data, channels=3), [32, 32])
            return tf.image.central_crop(tf.image.flip_left_right(image) / 255.0, 0.5)

        data = tf.data.Dataset.from_tensor_slices(photos).map(pixels, num_parallel_calls=tf.data.AUTOTUNE)
        return [batch.numpy() for batch in data.batch(16)]

    for found, wanted in zip(batches(tf), batches(tensorflow), strict=True):
        np.testing.assert_array_equal(found, wanted)
