"""Images to pixels and back: what each kind of file gives, and what is refused."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps, features

import tfreel
from tfreel import images
from tfreel.images import jpeg as jpeg_module

from pictures import ALPHA, IDS, colours, jpeg, palette_png, raw_png, saved, with_orientation, ycck

# What each file holds, as (shape, dtype) of mode="keep".
KEPT: dict[str, tuple[bytes, tuple[int, ...], str]] = {
    "jpeg": (jpeg(), (20, 30, 3), "uint8"),
    "jpeg gray": (jpeg(mode="L"), (20, 30, 1), "uint8"),
    "jpeg progressive": (jpeg(progressive=True), (20, 30, 3), "uint8"),
    "jpeg cmyk": (jpeg(mode="CMYK"), (20, 30, 3), "uint8"),
    "jpeg ycck": (ycck(), (20, 30, 3), "uint8"),
    "jpeg rgb": (jpeg(keep_rgb=True), (20, 30, 3), "uint8"),
    "png": (saved(colours(), "PNG"), (20, 30, 3), "uint8"),
    "png gray": (saved(colours()[:, :, 0], "PNG"), (20, 30, 1), "uint8"),
    "png gray alpha": (saved(Image.fromarray(colours()).convert("LA"), "PNG"), (20, 30, 2), "uint8"),
    "png alpha": (saved(ALPHA, "PNG"), (20, 30, 4), "uint8"),
    "png 16 bits": (saved(colours()[:, :, 0].astype(np.uint16) * 257, "PNG"), (20, 30, 1), "uint16"),
    "png 1 bit": (raw_png(IDS % 2, 1), (10, 20, 1), "uint8"),
    "png 2 bits": (raw_png(IDS % 4, 2), (10, 20, 1), "uint8"),
    "png 4 bits": (raw_png(IDS % 16, 4), (10, 20, 1), "uint8"),
    "png palette": (palette_png(IDS, images.VOC_COLORMAP), (10, 20, 3), "uint8"),
    "png palette transparent": (
        palette_png(IDS, images.VOC_COLORMAP, transparency=0),
        (10, 20, 4),
        "uint8",
    ),
    "gif": (saved(Image.fromarray(colours()).quantize(200), "GIF"), (20, 30, 3), "uint8"),
    "webp": (saved(colours(), "WEBP"), (20, 30, 3), "uint8"),
    "webp lossless alpha": (saved(ALPHA, "WEBP", lossless=True), (20, 30, 4), "uint8"),
    "bmp": (saved(colours(), "BMP"), (20, 30, 3), "uint8"),
    "tiff": (saved(colours(), "TIFF"), (20, 30, 3), "uint8"),
    "tiff lzw": (saved(colours(), "TIFF", compression="tiff_lzw"), (20, 30, 3), "uint8"),
    "tiff float": (saved(colours()[:, :, 0].astype(np.float32), "TIFF"), (20, 30, 1), "float32"),
    "tiff 16 bits": (saved(colours()[:, :, 0].astype(np.uint16), "TIFF"), (20, 30, 1), "uint16"),
}
if features.check("avif"):
    KEPT["avif"] = (saved(colours(), "AVIF"), (20, 30, 3), "uint8")
LOSSLESS = ("png", "png alpha", "webp lossless alpha", "bmp", "tiff", "tiff lzw")


@pytest.fixture(params=["simplejpeg", "Pillow"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Each of the two ways to decode JPEG."""
    if request.param == "Pillow":
        monkeypatch.setattr(jpeg_module, "_simplejpeg", lambda: None)
    return request.param


@pytest.mark.parametrize("name", KEPT)
def test_keep_gives_what_the_file_holds(name: str) -> None:
    data, shape, dtype = KEPT[name]
    pixels = images.decode(data, "keep")
    assert (pixels.shape, str(pixels.dtype)) == (shape, dtype)


@pytest.mark.parametrize("name", [name for name in KEPT if "float" not in name])
def test_rgb_and_gray_always_have_three_channels_and_one(name: str) -> None:
    data, shape, _ = KEPT[name]
    for mode, channels in (("rgb", 3), ("gray", 1)):
        pixels = images.decode(data, mode)  # type: ignore[arg-type]
        assert (pixels.shape, pixels.dtype) == ((*shape[:2], channels), np.uint8)
        assert pixels.flags.c_contiguous


@pytest.mark.parametrize("name", KEPT)
def test_probing_tells_what_decoding_will_give(name: str) -> None:
    data, shape, dtype = KEPT[name]
    info = images.probe(data)
    assert (info.format, info.height, info.width) == (name.partition(" ")[0], *shape[:2])
    assert info.channels == shape[2]
    assert info.palette == ("palette" in name or name == "gif")
    assert (info.bits == 16) == (dtype == "uint16")


@pytest.mark.parametrize("name", LOSSLESS)
def test_formats_without_loss_give_every_value_back(name: str) -> None:
    assert np.array_equal(images.decode(KEPT[name][0]), colours())


def test_transparency_is_left_out_and_not_blended() -> None:
    assert np.array_equal(images.decode(saved(ALPHA, "PNG")), ALPHA[:, :, :3])
    assert np.array_equal(images.decode(saved(ALPHA, "PNG"), "keep"), ALPHA)


def test_gray_is_what_libpng_computes() -> None:
    pixels = colours().astype(int)
    expected = (9797 * pixels[..., 0] + 19234 * pixels[..., 1] + 3737 * pixels[..., 2]) >> 15
    assert np.array_equal(images.decode(saved(colours(), "PNG"), "gray")[:, :, 0], expected)


def test_of_sixteen_bits_the_upper_eight_stay() -> None:
    deep = np.array([[0, 255, 256, 0x1234, 0xFFFF]], np.uint16)
    data = saved(deep, "PNG")
    assert images.decode(data, "gray").ravel().tolist() == [0, 0, 1, 0x12, 0xFF]
    assert np.array_equal(images.decode(data, "rgb")[:, :, 1], deep >> 8)
    assert np.array_equal(images.decode(data, "keep")[:, :, 0], deep)


def test_numbers_that_are_no_colours_are_only_kept() -> None:
    with pytest.raises(ValueError, match=r'holds float32 numbers, not colours: mode="keep"'):
        images.decode(KEPT["tiff float"][0])


def test_of_an_animation_the_first_picture_is_decoded() -> None:
    frames = [Image.new("P", (4, 3), i) for i in range(3)]
    for frame in frames:
        frame.putpalette(images.VOC_COLORMAP.tobytes())
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert images.decode(data).shape == (3, 4, 3)
    assert not images.decode(data).any()


def test_unknown_modes_and_transforms_are_refused() -> None:
    with pytest.raises(ValueError, match="mode must be one of rgb, gray, keep, labels, not 'RGB'"):
        images.decode(jpeg(), "RGB")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='dct must be "accurate" or "fast"'):
        images.decode(jpeg(), dct="slow")  # type: ignore[arg-type]


# JPEG -------------------------------------------------------------------------------------------------------

JPEGS = [
    pytest.param(jpeg(height, width, mode=mode, **options), id=f"{height}x{width} {mode} {options}")
    for height, width in [(1, 1), (7, 9), (16, 16), (33, 50), (100, 3)]
    for mode in ("RGB", "L")
    for options in (
        *({"subsampling": chroma, "quality": quality} for chroma in (0, 1, 2) for quality in (10, 95)),
        {"progressive": True},
        {"restart_marker_rows": 1},
    )
]


@pytest.mark.parametrize("data", [*JPEGS, *(KEPT[name][0] for name in KEPT if name.startswith("jpeg"))])
@pytest.mark.parametrize("mode", ["rgb", "gray", "keep"])
def test_both_libraries_give_the_same_pixels(data: bytes, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert jpeg_module._simplejpeg() is not None
    by_simplejpeg = images.decode(data, mode)
    monkeypatch.setattr(jpeg_module, "_simplejpeg", lambda: None)
    assert np.array_equal(images.decode(data, mode), by_simplejpeg)


def test_colours_are_those_of_pillow(library: str) -> None:
    with Image.open(io.BytesIO(jpeg())) as image:
        assert np.array_equal(images.decode(jpeg()), np.asarray(image))


def test_the_gray_of_a_jpeg_is_its_luminance(library: str) -> None:
    with Image.open(io.BytesIO(jpeg())) as image:
        image.draft("L", image.size)
        assert np.array_equal(images.decode(jpeg(), "gray")[:, :, 0], np.asarray(image))


@pytest.mark.parametrize("data", [jpeg(mode="CMYK"), ycck()], ids=["CMYK", "YCCK"])
def test_inks_become_colours(library: str, data: bytes) -> None:
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "CMYK"
        assert np.array_equal(images.decode(data), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_a_jpeg_cut_off_anywhere_is_an_error(library: str, options: dict[str, Any]) -> None:
    data = jpeg(40, 60, **options)
    for end in [*range(1, len(data) - 2, 10), len(data) - 3]:
        with pytest.raises(tfreel.DecodeError):
            images.decode(data[:end])


def test_bytes_that_a_camera_left_behind_do_no_harm(library: str) -> None:
    data = jpeg()
    assert np.array_equal(images.decode(data + b"thumbnails and other things"), images.decode(data))


def test_both_libraries_agree_on_what_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    data = jpeg(40, 60)
    for place in range(2, len(data), 7):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        found = [_outcome(bytes(flipped))]
        with monkeypatch.context() as patched:
            patched.setattr(jpeg_module, "_simplejpeg", lambda: None)
            found.append(_outcome(bytes(flipped)))
        assert found[0] == found[1], place


def _outcome(data: bytes) -> Any:
    try:
        return images.decode(data).tobytes()
    except tfreel.TfreelError as error:
        return str(error)


def test_what_libjpeg_only_warns_of_is_decoded() -> None:
    data = jpeg(40, 60)
    odd = data[:-2] + b"junk" + data[-2:]
    assert np.array_equal(images.decode(odd), images.decode(data))
    assert np.array_equal(images.decode(odd, dct="fast"), images.decode(data, dct="fast"))
    with pytest.raises(tfreel.DecodeError):
        images.decode(data[:-30], dct="fast")
    scan = data.index(b"\xff\xda")
    odd = data[:scan] + b"junk" + data[scan:]
    assert np.array_equal(images.decode(odd), images.decode(data))
    with pytest.raises(tfreel.DecodeError, match=r'extraneous bytes .*; dct="accurate" is more patient'):
        images.decode(odd, dct="fast")


def test_the_fast_transform_needs_simplejpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, accurate = images.decode(jpeg(), dct="fast"), images.decode(jpeg())
    assert 0 < np.abs(fast.astype(int) - accurate).max() < 12
    monkeypatch.setattr(jpeg_module, "_simplejpeg", lambda: None)
    with pytest.raises(ImportError, match=r"pip install \"tfreel\[jpeg\]\""):
        images.decode(jpeg(), dct="fast")


# Orientation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_camera_held_any_way_gives_an_upright_image_if_asked(orientation: int, kind: str) -> None:
    data = with_orientation(orientation, kind)
    with Image.open(io.BytesIO(data)) as image:
        stored, upright = np.array(image), np.array(ImageOps.exif_transpose(image))
    assert images.probe(data).orientation == orientation
    assert np.array_equal(images.decode(data), stored)
    assert np.array_equal(images.decode(data, orient=True), upright)


def test_tiff_is_upright_and_not_turned_twice() -> None:
    data = with_orientation(6, "TIFF")
    assert images.probe(data).orientation == 6
    assert images.decode(data).shape == images.decode(data, orient=True).shape == (30, 20, 3)


def test_an_orientation_that_does_not_exist_is_upright() -> None:
    assert images.probe(with_orientation(77)).orientation == 1


# Hostile bytes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not an image: no bytes at all"),
        (b"a cat", "not an image: text, of 5 bytes; known are JPEG, PNG, GIF, WebP, BMP, TIFF, AVIF"),
        (bytes(1000), "not an image: binary"),
        (b"\0\0\0\x18ftypheic", "not an image: HEIC"),
        (b"%PDF-1.7", "not an image: PDF"),
        (b"SIMPLE  =                    T", "not an image"),  # FITS, which Pillow knows
        (b"P6 2 2 255 " + bytes(12), "not an image"),  # and PPM
    ],
)
def test_what_is_no_image_says_what_it_is(data: bytes, why: str) -> None:
    for read in (images.decode, images.probe):
        with pytest.raises(tfreel.DecodeError, match=why):
            read(data)


@pytest.mark.parametrize("name", KEPT)
def test_an_image_cut_off_anywhere_is_an_error_or_whole(name: str) -> None:
    """Formats may end in bytes that hold no pixels, but no half image is ever given."""
    data = KEPT[name][0]
    whole = images.decode(data, "keep")
    for end in range(0, len(data), 10):
        try:
            found = images.decode(data[:end], "keep")
        except tfreel.DecodeError:
            continue
        assert np.array_equal(found, whole), end


@pytest.mark.parametrize("name", KEPT)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_any_changed_byte_gives_pixels_or_our_error(name: str, data: st.DataObject) -> None:
    changed = bytearray(KEPT[name][0])
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    for mode in images.decode, images.probe:
        try:
            mode(bytes(changed), max_pixels=1_000_000)
        except (tfreel.DecodeError, tfreel.UnsafeInputError):
            pass
        except ValueError as error:
            if "numbers, not colours" not in str(error):
                raise


def bomb(kind: str) -> bytes:
    if kind == "png":
        return raw_png(np.zeros((1, 8), np.uint8), 8, size=(50_000, 50_000))
    if kind == "gif":
        return b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0, 0, 0) + b",\0\0\0\0\x01\0\x01\0\0\x02\0;"
    if kind == "jpeg":
        return jpeg().replace(struct.pack(">HH", 20, 30), struct.pack(">HH", 65535, 65535), 1)
    return saved(colours(), "BMP").replace(struct.pack("<ii", 30, 20), struct.pack("<ii", 90_000, 90_000))


@pytest.mark.parametrize("kind", ["png", "gif", "jpeg", "bmp"])
def test_an_image_of_billions_of_pixels_is_refused_before_it_takes_memory(kind: str) -> None:
    for read in (images.decode, images.probe):
        with pytest.raises(tfreel.UnsafeInputError, match="max_pixels= allows more") as caught:
            read(bomb(kind))
        assert caught.value.kind == "image_too_large"


def test_a_header_that_libraries_could_read_in_two_ways_gives_nobody_more_memory(library: str) -> None:
    """A marker without a length, in front of a frame that is hidden if one takes it for a length."""
    small = jpeg()
    frame = small.index(b"\xff\xc0")
    large = small[frame : frame + 5] + struct.pack(">HH", 9000, 9000) + small[frame + 9 : frame + 19]
    for marker in (b"\xff\xd0", b"\xff\x01", b"\xff\xfe\0\x04\xff\xd8", b"\xff\xff", b"\0"):
        data = small[:2] + marker + large + bytes(0xFFC0 - 17) + small[2:]
        with pytest.raises((tfreel.DecodeError, tfreel.UnsafeInputError)):
            images.decode(data, max_pixels=1_000_000)


def test_the_limit_of_pixels_is_an_error_at_once_and_can_be_moved() -> None:
    data = images.encode(np.zeros((10, 10), np.uint8))
    assert images.decode(data, max_pixels=100).shape == (10, 10, 3)
    with pytest.raises(tfreel.UnsafeInputError, match=r"10 × 10 pixels, 100 in all, and no more than 99"):
        images.decode(data, max_pixels=99)


def test_a_raised_limit_is_one_for_pillow_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    assert images.decode(saved(colours(), "PNG")).shape == (20, 30, 3)


def test_a_second_format_behind_the_first_is_not_looked_at() -> None:
    data = saved(colours(), "PNG")
    assert np.array_equal(images.decode(data + jpeg()), colours())
    with pytest.raises(tfreel.DecodeError, match="PNG image cannot be decoded"):
        images.decode(data[:40] + jpeg())


def test_no_warning_of_pillow_comes_out() -> None:
    odd = with_orientation(3).replace(b"Exif\0\0MM\0*\0\0\0\x08", b"Exif\0\0MM\0*\0\0\0\xf0")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        images.decode(palette_png(IDS, images.VOC_COLORMAP, transparency=bytes(range(200))))
        for end in range(0, len(odd), 5):
            _outcome(odd[:end])
        images.decode(odd)
        warnings.warn("ours", stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["ours"]
    assert not [entry for entry in warnings.filters if "PIL" in str(entry[3])]


def test_threads_can_decode_at_the_same_time() -> None:
    data = [KEPT[name][0] for name in KEPT] * 10
    alone = [images.decode(one, "keep") for one in data]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda one: images.decode(one, "keep"), data))
    assert all(map(np.array_equal, alone, together))


def test_the_room_opens_without_the_image_libraries() -> None:
    program = "import tfreel, sys; tfreel.images.decode; print({'PIL', 'simplejpeg'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
