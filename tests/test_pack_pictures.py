"""Pictures on their way into records: kept, or made anew as asked for."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

import tfreel

from photos import photo_folder
from pictures import ALPHA, colours, jpeg, raw_png, saved, with_orientation, ycck

if TYPE_CHECKING:
    from pathlib import Path


def packed(tmp_path: Path, files: dict[str, bytes], **options: Any) -> dict[str, dict[str, Any]]:
    source = tmp_path / "in"
    source.mkdir(exist_ok=True)
    for name, data in files.items():
        (source / name).write_bytes(data)
    tfreel.pack(source, tmp_path / "out", force=True, **options)
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "out")]
    return {row["image/filename"][0].decode(): row for row in rows}


def test_every_kind_of_picture_is_kept_byte_for_byte(tmp_path: Path) -> None:
    files = {
        "exif.jpg": with_orientation(6),
        "cmyk.jpg": jpeg(mode="CMYK"),
        "ycck.jpg": ycck(),
        "gray.jpg": jpeg(mode="L"),
        "alpha.png": saved(ALPHA, "PNG"),
        "deep.png": saved(np.arange(600, dtype=np.uint16).reshape(20, 30), "PNG"),
        "one-bit.png": raw_png(np.eye(20, 30, dtype=np.uint8), 1),
        "x.gif": saved(colours(), "GIF"),
        "x.webp": saved(colours(), "WEBP"),
        "x.bmp": saved(colours(), "BMP"),
        "x.tiff": saved(colours(), "TIFF"),
    }
    rows = packed(tmp_path, files)
    assert {name: row["image/encoded"][0] for name, row in rows.items()} == files
    for row in rows.values():
        assert (row["image/height"].item(), row["image/width"].item()) == (20, 30)


def test_jpeg_has_many_suffixes_and_pictures_may_have_none(tmp_path: Path) -> None:
    files = dict.fromkeys(("a.jpg", "b.JFIF", "c.jpe", "d.jif", "e.jpeg", "f"), jpeg())
    source = tmp_path / "in" / "set" / "class"
    source.mkdir(parents=True)
    for name, data in {**files, "LICENSE": b"free", "g.dat": jpeg()}.items():
        (source / name).write_bytes(data)
    report = tfreel.pack(tmp_path / "in", tmp_path / "out", shuffle=False)
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "out")]
    assert [row["image/filename"][0].decode() for row in rows] == [f"class/{name}" for name in files]
    assert report.remarks == []
    assert {remark.name: remark.text for remark in report.skipped} == {
        "class/LICENSE": "not a picture",
        "class/g.dat": "not a picture",
    }


def test_raw_pixels_come_back_with_shape_and_dtype(tmp_path: Path) -> None:
    deep = np.arange(600, dtype=np.uint16).reshape(20, 30)
    rows = packed(tmp_path, {"a.png": saved(colours(), "PNG"), "b.png": saved(deep, "PNG")}, store="raw")
    assert np.array_equal(rows["a.png"]["image"], colours())
    assert rows["b.png"]["image"].dtype == np.uint16
    assert np.array_equal(rows["b.png"]["image"][:, :, 0], deep)
    assert "image/encoded" not in rows["a.png"]
    assert rows["a.png"]["image/channels"].tolist() == [3]


def test_pictures_are_resized_in_all_ways(tmp_path: Path) -> None:
    files = {"wide.png": saved(colours(40, 80), "PNG"), "photo.jpg": jpeg(80, 40)}
    rows = packed(tmp_path, files, resize=(32, 48))
    for row in rows.values():
        assert (row["image/height"].item(), row["image/width"].item()) == (32, 48)
        assert tfreel.images.decode(row["image/encoded"][0]).shape == (32, 48, 3)
    assert {row["image/format"][0] for row in rows.values()} == {b"png", b"jpeg"}
    rows = packed(tmp_path, files, resize=20, to="webp", quality=80)
    sizes = {name: (row["image/height"].item(), row["image/width"].item()) for name, row in rows.items()}
    assert sizes == {"wide.png": (20, 40), "photo.jpg": (40, 20)}
    assert {row["image/format"][0] for row in rows.values()} == {b"webp"}


def test_colours_are_as_asked_for(tmp_path: Path) -> None:
    files = {"alpha.png": saved(ALPHA, "PNG"), "gray.jpg": jpeg(mode="L"), "cmyk.jpg": jpeg(mode="CMYK")}
    for mode, channels in (("rgb", 3), ("gray", 1)):
        rows = packed(tmp_path, files, mode=mode, to="jpeg")
        for row in rows.values():
            with Image.open(io.BytesIO(row["image/encoded"][0])) as image:
                assert len(image.getbands()) == channels


@pytest.mark.parametrize("form", ["VP8L", "VP8X"])
def test_what_was_lossless_stays_so(tmp_path: Path, form: str) -> None:
    exif = {} if form == "VP8L" else {"exif": Image.Exif()}
    lossless = saved(ALPHA, "WEBP", lossless=True, **exif)
    files = {"lossless.webp": lossless, "lossy.webp": saved(ALPHA, "WEBP")}
    assert lossless[12:16] == form.encode()
    rows = packed(tmp_path, files, mode="rgb")
    assert np.array_equal(
        tfreel.images.decode(rows["lossless.webp"]["image/encoded"][0]), tfreel.images.decode(lossless)
    )
    assert rows["lossy.webp"]["image/format"] == [b"webp"]


def test_an_animation_is_lossless_if_its_first_picture_is(tmp_path: Path) -> None:
    frames = [Image.fromarray(colours(seed=seed)) for seed in range(2)]
    options = {"save_all": True, "append_images": frames[1:]}
    moving = {
        "lossless.webp": saved(frames[0], "WEBP", lossless=True, **options),
        "lossy.webp": saved(frames[0], "WEBP", **options),
    }
    rows = packed(tmp_path, moving, resize=(8, 8))
    assert {name: row["image/format"] for name, row in rows.items()} == {
        "lossless.webp": [b"png"],
        "lossy.webp": [b"webp"],
    }


def test_any_picture_can_be_gray(tmp_path: Path) -> None:
    files = {
        "lossless.webp": saved(colours(), "WEBP", lossless=True),
        "lossy.webp": saved(colours(), "WEBP"),
        "alpha.png": saved(ALPHA, "PNG"),
    }
    rows = packed(tmp_path, files, mode="gray")
    for name, form in (("lossless.webp", b"png"), ("lossy.webp", b"jpeg"), ("alpha.png", b"png")):
        assert rows[name]["image/format"] == [form]
        found = tfreel.images.decode(rows[name]["image/encoded"][0], "keep")
        assert found.shape == (20, 30, 1)
        expected = tfreel.images.decode(files[name], "gray")
        assert np.abs(found.astype(int) - expected).max() <= (6 if form == b"jpeg" else 0)


def test_gray_pictures_become_webp_as_colours(tmp_path: Path) -> None:
    gray = saved(Image.fromarray(ALPHA).convert("LA"), "PNG")
    rows = packed(tmp_path, {"gray.jpg": jpeg(mode="L"), "alpha.png": gray}, to="webp")
    assert tfreel.images.probe(rows["gray.jpg"]["image/encoded"][0]).channels == 3
    assert tfreel.images.probe(rows["alpha.png"]["image/encoded"][0]).channels == 4


@pytest.mark.parametrize(
    ("picture", "what"),
    [
        (ALPHA, "4 channels of uint8"),
        (np.dstack([ALPHA[:, :, 0]] * 2), "2 channels of uint8"),
        (np.arange(600, dtype=np.uint16).reshape(20, 30), "1 channels of uint16"),
    ],
)
def test_what_a_format_cannot_hold_is_said_with_a_way_out(tmp_path: Path, picture: Any, what: str) -> None:
    files = {"a.png": tfreel.images.encode(picture)}
    with pytest.raises(tfreel.TfreelError, match=f'jpeg cannot hold {what}; mode="rgb" takes 3 of uint8'):
        packed(tmp_path, files, to="jpeg")
    assert packed(tmp_path, files, to="jpeg", mode="rgb")["a.png"]["image/format"] == [b"jpeg"]


def test_pictures_are_turned_only_when_asked_for(tmp_path: Path) -> None:
    files = {"turned.jpg": with_orientation(6)}
    kept = packed(tmp_path, files)["turned.jpg"]
    turned = packed(tmp_path, files, orient=True)["turned.jpg"]
    assert (kept["image/height"].item(), kept["image/width"].item()) == (20, 30)
    assert (turned["image/height"].item(), turned["image/width"].item()) == (30, 20)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize(
    "options", [{"resize": (10, 16)}, {"mode": "gray"}, {"to": "jpeg"}, {"to": "png"}, {"to": "webp"}]
)
def test_what_the_camera_noted_survives_another_encoding(
    tmp_path: Path, kind: str, options: dict[str, Any]
) -> None:
    files = {"turned": with_orientation(6, kind)}
    row = packed(tmp_path, {f"{name}.{kind}": data for name, data in files.items()}, **options)[
        f"turned.{kind}"
    ]
    found = tfreel.images.probe(row["image/encoded"][0])
    assert found.orientation == 6
    assert (row["image/height"].item(), row["image/width"].item()) == (found.height, found.width)
    seen = tfreel.images.decode(row["image/encoded"][0], "gray", orient=True).astype(int)
    upright = tfreel.images.decode(files["turned"], "gray", orient=True)
    expected = tfreel.images.resize(upright, seen.shape[:2], antialias=True)
    assert np.abs(seen - expected).mean() < 6


def test_what_is_turned_has_no_note_of_the_camera_any_more(tmp_path: Path) -> None:
    files = {"turned.jpg": with_orientation(6), "turned.tiff": with_orientation(6, "TIFF")}
    for options in ({"orient": True}, {"orient": True, "to": "webp"}):
        for row in packed(tmp_path, files, **options).values():
            found = tfreel.images.probe(row["image/encoded"][0])
            assert (found.height, found.width, found.orientation) == (30, 20, 1)
    tiff = packed(tmp_path, files, resize=(20, 30))["turned.tiff"]["image/encoded"][0]
    assert tfreel.images.decode(tiff).shape == (20, 30, 3)
    assert tfreel.images.probe(tiff).orientation == 1


def test_pictures_that_need_nothing_keep_their_bytes(tmp_path: Path) -> None:
    plain = {
        "a.jpg": jpeg(),
        "a.png": saved(colours(), "PNG"),
        "a.webp": saved(colours(), "WEBP"),
        "a.bmp": saved(colours(), "BMP"),
        "a.tiff": saved(colours(), "TIFF"),
    }
    gray = {"gray.jpg": jpeg(mode="L"), "gray.png": saved(colours()[:, :, 0], "PNG")}
    other = {
        "a.gif": saved(colours(), "GIF"),
        "alpha.png": saved(ALPHA, "PNG"),
        "cmyk.jpg": jpeg(mode="CMYK"),
    }
    cmyk = {"cmyk.tiff": saved(Image.fromarray(colours()).convert("CMYK"), "TIFF")}
    deep = {"deep.png": saved(np.arange(600, dtype=np.uint16).reshape(20, 30), "PNG")}
    turned = {"turned.jpg": with_orientation(6)}
    files = {**plain, **gray, **other, **cmyk, **deep, **turned}

    def kept(**options: Any) -> set[str]:
        rows = packed(tmp_path, files, **options)
        return {name for name, row in rows.items() if row["image/encoded"][0] == files[name]}

    assert kept(mode="rgb") == {*plain, *turned}
    assert kept(mode="gray") == {*gray}
    assert kept(orient=True) == {*files} - {*turned}
    assert kept(orient=True, mode="rgb") == {*plain}
    assert kept(resize=(20, 30)) == kept(resize=20) == {*files}
    assert kept(resize=(30, 20)) == set()
    assert "a.jpg" not in kept(quality=90)


def test_a_picture_that_kept_its_bytes_may_be_cut_off(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "cut.jpg").write_bytes(jpeg(200, 200)[:-100])
    report = tfreel.pack(tmp_path / "in", tmp_path / "out", orient=True)
    assert [remark.text for remark in report.remarks] == ["seems to be cut off"]


def test_a_damaged_picture_is_kept_as_a_file_but_rejected_where_pixels_are_needed(tmp_path: Path) -> None:
    cut = jpeg(200, 200)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "cut.jpg").write_bytes(cut[: len(cut) // 2])
    (tmp_path / "in" / "good.jpg").write_bytes(cut)
    assert tfreel.pack(tmp_path / "in", tmp_path / "a").written == 2
    report = tfreel.pack(tmp_path / "in", tmp_path / "b", resize=(8, 8), on_error="skip")
    assert [remark.name for remark in report.rejected] == ["cut.jpg"]
    assert "JPEG" in report.rejected[0].text


def test_a_bomb_of_pixels_is_rejected_by_its_header(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    bomb = raw_png(np.zeros((1, 1), np.uint8), 8, size=(50_000, 50_000))
    (tmp_path / "in" / "bomb.png").write_bytes(bomb)
    with pytest.raises(tfreel.TfreelError, match=r"bomb\.png: .*2,500,000,000"):
        tfreel.pack(tmp_path / "in", tmp_path / "out")
    assert tfreel.pack(tmp_path / "in", tmp_path / "out", max_pixels=1 << 40).written == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": "zip"}, "store must be one of 'encoded', 'raw', not 'zip'"),
        ({"to": "gif"}, "to must be one of"),
        ({"mode": "cmyk"}, "mode must be one of"),
        ({"quality": 0}, "quality goes from 1 to 100"),
        ({"resize": (0, 5)}, "must be positive"),
    ],
)
def test_wrong_options_for_pictures_are_said(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    photo_folder(tmp_path / "in", {"a": 1})
    with pytest.raises(ValueError, match=message):
        tfreel.pack(tmp_path / "in", tmp_path / "out", **options)


@pytest.mark.parametrize("options", [{"store": "raw"}, {"resize": (16, 16)}, {"to": "png"}])
def test_shards_have_about_the_size_that_was_asked_for(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "in").mkdir()
    for number in range(60):
        (tmp_path / "in" / f"{number}.jpg").write_bytes(jpeg(60, 80, seed=number))
    (tmp_path / "in" / "0.jpg").write_bytes(b"bad")
    total = tfreel.pack(tmp_path / "in", tmp_path / "one", shards=1, on_error="skip", **options)
    wanted = total.splits["train"].bytes // 6
    report = tfreel.pack(tmp_path / "in", tmp_path / "out", shard_bytes=wanted, on_error="skip", **options)
    sizes = [(tmp_path / "out" / name).stat().st_size for name in report.splits["train"].files]
    assert 5 <= len(sizes) <= 8
    assert max(sizes) < 1.5 * wanted


def test_what_is_made_anew_has_the_same_bytes_for_any_number_of_workers(tmp_path: Path) -> None:
    photo_folder(tmp_path / "in", {"a": 40, "b": 40}, form="jpeg")
    found = []
    for workers in (1, 4):
        tfreel.pack(tmp_path / "in", tmp_path / f"{workers}", resize=(8, 8), workers=workers)
        found.append(next((tmp_path / f"{workers}").glob("*.tfrecord")).read_bytes())
    assert found[0] == found[1]
