"""The decoder for datasets: batches and rows, in threads, in workers and behind states."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel import images
from tfreel.images import jpeg as jpeg_module

from pictures import colours, jpeg, palette_png, saved

COUNT = 21
PHOTOS = [jpeg(20 + i, 50 - i, seed=i) for i in range(COUNT)]
WAYS: list[dict[str, Any]] = [{}, {"workers": 2}, {"workers": 2, "processes": True}, {"batched": False}]
MASKS = [np.full((20 + i, 50 - i), i, np.uint8) for i in range(COUNT)]


@pytest.fixture
def ds() -> tfreel.Dataset:
    masks = [palette_png(mask, images.VOC_COLORMAP) for mask in MASKS]
    tfreel.save("photos.tfrecord", {"image": PHOTOS, "mask": masks, "label": range(COUNT)})
    return tfreel.Dataset("photos.tfrecord")


def tutorial(data: bytes, size: tuple[int, int] = (96, 96)) -> Any:
    """What everybody writes: decode, resize, divide."""
    return images.resize(images.decode(data), size) / np.float32(255)


def test_a_batch_becomes_one_array_of_pixels(ds: tfreel.Dataset) -> None:
    batches = list(ds.batch(8).map(images.decoder("image", size=(96, 96), scale=True)))
    found = np.concatenate([batch["image"] for batch in batches])
    assert (found.shape, found.dtype) == ((COUNT, 96, 96, 3), np.float32)
    assert all(np.array_equal(image, tutorial(data)) for image, data in zip(found, PHOTOS, strict=True))
    assert np.concatenate([batch["label"] for batch in batches]).tolist() == list(range(COUNT))
    assert isinstance(batches[0], tfreel.Batch)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(ds: tfreel.Dataset, threads: int) -> None:
    (batch,) = ds.batch(COUNT).map(images.decoder(size=(9, 7), threads=threads))
    assert all(
        np.array_equal(image, images.resize(images.decode(data), (9, 7)))
        for image, data in zip(batch["image"], PHOTOS, strict=True)
    )


def test_rows_are_decoded_one_by_one(ds: tfreel.Dataset) -> None:
    rows = ds.map(images.decoder(size=(96, 96), scale=True))
    assert np.array_equal(rows[3]["image"], tutorial(PHOTOS[3]))
    assert rows[3]["label"] == 3
    (batch,) = rows.batch(COUNT)
    assert batch["image"].shape == (COUNT, 96, 96, 3)


def test_images_of_different_sizes_are_an_array_of_arrays(ds: tfreel.Dataset) -> None:
    (batch,) = ds.batch(COUNT).map(images.decoder())
    assert (batch["image"].shape, batch["image"].dtype) == ((COUNT,), object)
    assert all(map(np.array_equal, batch["image"], map(images.decode, PHOTOS)))
    rows = list(ds.batch(4).map(images.decoder(size=10)).unbatch())
    assert rows[2]["image"].shape == (10, 22, 3)


def test_images_of_one_size_are_one_array_without_being_resized() -> None:
    tfreel.save("same.tfrecord", {"image": [jpeg(seed=i) for i in range(3)]})
    (batch,) = tfreel.Dataset("same.tfrecord").batch(3).map(images.decoder(scale=True))
    assert (batch["image"].shape, batch["image"].dtype) == ((3, 20, 30, 3), np.float32)
    assert batch["image"].max() <= 1


def test_masks_keep_their_ids_in_any_size(ds: tfreel.Dataset) -> None:
    photos = ds.batch(8).map(images.decoder(size=(32, 32)))
    for batch in photos.map(images.decoder("mask", mode="labels", size=(32, 32))):
        assert (batch["mask"].shape[1:], batch["mask"].dtype) == ((32, 32), np.uint8)
        for mask, label in zip(batch["mask"], batch["label"], strict=True):
            assert images.label_values(mask) == [label]


def test_several_images_in_a_row_are_decoded_together() -> None:
    pairs = [[jpeg(seed=i), jpeg(seed=i + 1)] for i in range(4)]
    tfreel.save("pairs.tfrecord", {"image": pairs})
    ds = tfreel.Dataset("pairs.tfrecord", {"image": tfreel.FixedLenFeature([2], "bytes")})
    (batch,) = ds.batch(4).map(images.decoder(size=(5, 6)))
    assert batch["image"].shape == (4, 2, 5, 6, 3)
    assert np.array_equal(batch["image"][0, 1], batch["image"][1, 0])
    assert ds.map(images.decoder(size=(5, 6)))[1]["image"].shape == (2, 5, 6, 3)


@pytest.mark.parametrize("options", WAYS)
def test_workers_and_rows_give_the_same(ds: tfreel.Dataset, options: dict[str, Any]) -> None:
    plan = ds.shuffle(seed=3).batch(4)
    decode = images.decoder(size=(12, 13), scale=True)
    expected = [batch["image"] for batch in plan.map(decode)]
    found = [batch["image"] for batch in plan.map(decode, **options)]
    assert all(map(np.array_equal, found, expected))
    assert len(found) == 6


@pytest.mark.parametrize("workers", [0, 2])
def test_every_state_goes_on_with_the_same_pixels(ds: tfreel.Dataset, workers: int) -> None:
    plan = ds.shuffle(seed=3).batch(5).map(images.decoder(size=(6, 6)), workers=workers).prefetch(2)
    whole = [batch["image"] for batch in plan]
    for taken in range(len(whole)):
        steps = iter(plan)
        for _ in range(taken):
            next(steps)
        later = iter(plan)
        later.load_state_dict(steps.state_dict())
        assert all(map(np.array_equal, [batch["image"] for batch in later], whole[taken:]))


def test_another_decoder_is_another_plan(ds: tfreel.Dataset) -> None:
    steps = iter(ds.batch(5).map(images.decoder(size=(6, 6))))
    other = iter(ds.batch(5).map(images.decoder(size=(6, 7))))
    with pytest.raises(tfreel.StateError):
        other.load_state_dict(steps.state_dict())
    assert "each through images.decoder('image', size=(6, 6))" in repr(ds.map(images.decoder(size=(6, 6))))


def test_a_decoder_pickles_and_is_equal_to_its_like() -> None:
    one = images.decoder("mask", mode="labels", size=(3, 4), threads=2)
    again = pickle.loads(pickle.dumps(one))
    assert again == one == images.decoder("mask", mode="labels", size=(3, 4))
    assert again != images.decoder("mask", mode="labels")
    assert repr(again) == "images.decoder('mask', size=(3, 4), mode='labels')"


# Bad images -------------------------------------------------------------------------------------------------


@pytest.fixture
def bad() -> tfreel.Dataset:
    photos = [photo if i not in (13, 15) else photo[:300] for i, photo in enumerate(PHOTOS)]
    tfreel.save("bad.tfrecord", {"image": photos})
    return tfreel.Dataset("bad.tfrecord")


@pytest.mark.parametrize("options", WAYS)
def test_an_error_names_the_record_and_not_its_batch(bad: tfreel.Dataset, options: dict[str, Any]) -> None:
    plan = bad.batch(8).map(images.decoder(size=(6, 6)), **options)
    with pytest.raises(tfreel.DecodeError, match="JPEG image cannot be decoded") as caught:
        list(plan)
    (note,) = caught.value.__notes__
    assert "on record 13 of bad.tfrecord" in note
    assert "others" not in note


def test_of_a_shuffled_batch_the_right_record_is_named(bad: tfreel.Dataset) -> None:
    steps = iter(bad.shuffle(seed=5).batch(7).map(images.decoder(), on_error="skip"))
    assert sum(batch.num_rows for batch in steps) < COUNT
    assert {skipped.record for skipped in steps.report.examples} <= {13, 15}
    with pytest.raises(tfreel.DecodeError) as caught:
        bad.shuffle(seed=5).batch(COUNT).map(images.decoder())[0]
    assert (
        caught.value.__notes__[0]
        .split(" at byte")[0]
        .endswith(("record 13 of bad.tfrecord", "record 15 of bad.tfrecord"))
    )


def test_where_rows_were_moved_no_record_is_blamed_for_another(bad: tfreel.Dataset) -> None:
    def reversed_rows(batch: tfreel.Batch) -> tfreel.Batch:
        return tfreel.Batch({"image": batch["image"][::-1]})  # type: ignore[index]

    with pytest.raises(tfreel.DecodeError) as caught:
        list(bad.batch(COUNT).map(reversed_rows).map(images.decoder()))
    assert "record 0 of bad.tfrecord at byte 0, and 20 others" in caught.value.__notes__[0]
    with pytest.raises(tfreel.DecodeError) as caught:
        list(bad.batch(3).filter(len).unbatch().batch(COUNT).map(images.decoder()))
    assert caught.value.__notes__[0].count("and 2 others") == COUNT


def test_a_row_that_is_no_image_is_an_error_of_its_record(ds: tfreel.Dataset) -> None:
    with pytest.raises(ValueError, match="JPEG image with lossy compression as labels") as caught:
        list(ds.batch(4).map(images.decoder(mode="labels")))
    assert "on record 0 of photos.tfrecord" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("element", "error", "why"),
    [
        ({"picture": b""}, KeyError, "there is no 'image' to decode, only 'picture'"),
        ({"image": "path/to.jpg"}, TypeError, "does not hold an encoded image in each row"),
        ({"image": [1, 2]}, TypeError, "does not hold an encoded image"),
        (b"record", TypeError, "in rows and batches, not in bytes"),
        ({"image": b""}, tfreel.DecodeError, "no bytes at all"),
    ],
)
def test_what_is_no_row_with_an_image_is_refused(element: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        images.decoder()(element)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "labels", "scale": True},
        {"mode": "labels", "fast": True, "size": 5},
        {"mode": "labels", "antialias": True},
        {"mode": "colour"},
        {"fast": True},
        {"size": (0, 5)},
        {"dct": "slow"},
        {"threads": 0},
    ],
)
def test_options_that_do_not_go_together_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        images.decoder(**options)


def test_sixteen_bits_are_scaled_by_what_they_can_hold() -> None:
    row = {"image": images.encode(np.array([[0, 65535]], np.uint16))}
    assert images.decoder(mode="keep", scale=True)(row)["image"].ravel().tolist() == [0, 1]
    assert images.decoder(mode="keep", scale=True, size=(1, 1))(row)["image"].item() == 0.5
    floats = {"image": saved(np.zeros((2, 2), np.float32), "TIFF")}
    with pytest.raises(ValueError, match="not for float32"):
        images.decoder(mode="keep", scale=True)(floats)


# Quicker ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("simplejpeg", [True, False])
@pytest.mark.parametrize("mode", ["rgb", "gray"])
def test_fast_is_close_to_the_antialiased_image(
    simplejpeg: bool, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not simplejpeg:
        monkeypatch.setattr(jpeg_module, "_simplejpeg", lambda: None)
    row = {"image": jpeg(375, 500, quality=95)}
    fast = images.decoder(size=(40, 40), mode=mode, fast=True)(row)["image"]
    smooth = images.decoder(size=(40, 40), mode=mode, antialias=True)(row)["image"]
    assert fast.shape == smooth.shape
    assert 0 < np.abs(fast - smooth).mean() < 3


def test_fast_is_the_same_with_both_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in ((375, 501), (64, 64), (33, 17)):
        row = {"image": jpeg(*size)}
        fast = images.decoder(size=(16, 15), fast=True)(row)["image"]
        with monkeypatch.context() as patched:
            patched.setattr(jpeg_module, "_simplejpeg", lambda: None)
            assert np.array_equal(images.decoder(size=(16, 15), fast=True)(row)["image"], fast)


def test_fast_makes_no_image_much_smaller_than_it_will_be() -> None:
    row = {"image": jpeg(40, 60)}
    exact = images.decoder(size=(25, 40))(row)["image"]
    assert np.array_equal(images.decoder(size=(25, 40), fast=True)(row)["image"], exact)
    assert jpeg_module.shrinking((40, 60), (20, 30)) == 2
    assert jpeg_module.shrinking((40, 60), (5, 33)) == 2
    assert jpeg_module.shrinking((40, 60), (5, 34)) == 1
    assert jpeg_module.shrinking((375, 500), (96, 96)) == 4
    assert jpeg_module.shrinking((375, 500), (47, 63)) == 8


def test_fast_looks_at_the_side_that_will_be_the_height() -> None:
    from PIL import Image

    exif = Image.Exif()
    exif[274] = 6
    row = {"image": saved(colours(80, 400), "JPEG", exif=exif.tobytes())}
    assert images.decoder(size=(200, 40), orient=True, fast=True)(row)["image"].shape == (200, 40, 3)
    found = images.decoder(size=20, orient=True, fast=True)(row)["image"]
    assert found.shape == (100, 20, 3)


# Threads ----------------------------------------------------------------------------------------------------


def test_no_thread_is_left_behind(ds: tfreel.Dataset) -> None:
    before = set(threading.enumerate())
    list(ds.batch(8).map(images.decoder(size=(6, 6), threads=4)))
    assert set(threading.enumerate()) <= before


def _decoded_in_child(decode: Any, row: Any, queue: Any) -> None:
    queue.put(decode(row)["image"].shape)


def test_a_forked_child_decodes_with_threads_of_its_own() -> None:
    decode = images.decoder(size=(6, 6), threads=3)
    row = {"image": PHOTOS[:5]}
    decode(row)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_decoded_in_child, args=(decode, row, queue))
    child.start()
    assert queue.get(timeout=60) == (5, 6, 6, 3)
    child.join()


def test_a_decoder_is_for_one_column() -> None:
    columns: Any = ["image", "mask"]
    with pytest.raises(TypeError, match="the name of one feature"):
        images.decoder(columns)


def test_the_variable_for_threads_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def watched(data: bytes, **options: Any) -> Any:
        seen.add(threading.get_ident())
        return np.zeros((2, 2, 3), np.uint8)

    decode = images.decoder(size=(6, 6))
    monkeypatch.setenv("TFREEL_NUM_THREADS", "1")
    monkeypatch.setattr(images.Decoder, "_pixels", lambda self, data: watched(data))
    decode({"image": PHOTOS})
    assert seen == {threading.get_ident()}
    assert os.environ["TFREEL_NUM_THREADS"] == "1"
