"""Records and pictures that are in more than one set, or twice in one."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw

import tfreel
from tfreel.profile import Leaks, alike, groups, leaks, pictures

search = sys.modules["tfreel.profile.search"]


def photo(seed: int, size: tuple[int, int] = (120, 90)) -> Image.Image:
    """A picture with as much of every scale as photos have, and like no other."""
    generator = np.random.default_rng(seed)
    width, height = size
    steps = np.fft.fftfreq(height)[:, None] ** 2 + np.fft.fftfreq(width)[None] ** 2
    steps[0, 0] = 1
    waves = generator.normal(size=(2, height, width)).T @ np.array([1, 1j])
    plane = np.real(np.fft.ifft2(waves.T / steps**0.6))
    plane = (plane - plane.mean()) / plane.std() * 50 + 128
    return Image.fromarray(np.clip(plane, 0, 255).astype(np.uint8)).convert("RGB")


def coded(picture: Image.Image, form: str = "JPEG", **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def row(picture: bytes, label: int = 0) -> dict[str, Any]:
    return {"image/encoded": picture, "image/class/label": label}


def write(path: str, rows: list[Any]) -> str:
    with tfreel.Writer(path, mode="w") as out:
        for some in rows:
            out.write(some)
    return path


def overlaps(found: Leaks) -> dict[tuple[str, str, str], int]:
    return {(o.first, o.second, o.kind): o.records for o in found.overlaps}


# The same records and values --------------------------------------------------------------------------------


def test_the_same_record_in_two_sets_is_a_leak_with_both_places() -> None:
    write("train.tfrecord", [{"id": i} for i in range(10)])
    write("test.tfrecord.gz", [{"id": i} for i in (20, 7, 21)])
    found = leaks("train.tfrecord", "test.tfrecord.gz")
    assert not found.ok
    assert overlaps(found) == {("train", "test", "record"): 1}
    (leak,) = found.leaks
    assert (str(leak.first.place), str(leak.second.place)) == (
        "train.tfrecord: record 7",
        "test.tfrecord.gz: record 1",
    )
    assert found.sets == {"train": 10, "test": 3}


def test_sets_that_share_nothing_are_fine_also_if_one_has_something_twice() -> None:
    write("train.tfrecord", [{"id": 1}, {"id": 2}, {"id": 1}])
    write("test.tfrecord", [{"id": 3}])
    found = leaks("train.tfrecord", "test.tfrecord")
    assert found.ok
    assert overlaps(found) == {("train", "train", "record"): 1}
    assert found.leaks == []
    inside = leaks("train.tfrecord", "test.tfrecord", within=True)
    assert not inside.ok
    assert len(inside.leaks) == 1


def test_one_set_alone_is_searched_for_what_it_has_twice() -> None:
    found = leaks(write("a.tfrecord", [b"x", b"y", b"x", b"x"]))
    assert bool(found)
    assert overlaps(found) == {("a", "a", "record"): 2}
    assert [(leak.first.place.record, leak.second.place.record) for leak in found.leaks] == [(0, 2), (0, 3)]


def test_every_two_of_three_sets_are_counted() -> None:
    for name in ("train", "val", "test"):
        write(f"{name}.tfrecord", [b"shared", name.encode()])
    found = leaks("train.tfrecord", "val.tfrecord", "test.tfrecord")
    pairs = [("train", "val"), ("train", "test"), ("val", "test")]
    assert overlaps(found) == {(*pair, "record"): 1 for pair in pairs}


def test_the_same_picture_under_another_label_is_found_and_told_once() -> None:
    picture = coded(photo(1))
    write("train.tfrecord", [row(picture, 0), row(coded(photo(2)))])
    write("test.tfrecord", [row(picture, 1), row(coded(photo(3))), row(picture, 0)])
    found = leaks("train.tfrecord", "test.tfrecord")
    assert found.features == ["image/encoded"]
    # Record 2 is the same as a whole, and so not told again for its picture.
    assert overlaps(found) == {
        ("train", "test", "record"): 1,
        ("train", "test", "value"): 1,
        ("test", "test", "value"): 1,
    }


def test_any_feature_with_bytes_can_be_compared_and_empty_values_do_not_count() -> None:
    write("a.tfrecord", [{"id": 1, "text": "hello"}, {"id": 2, "text": ""}, {"id": 5}])
    write("b.tfrecord", [{"id": 3, "text": ""}, {"id": 4, "text": ["x", "hello"]}])
    found = leaks("a.tfrecord", "b.tfrecord", features=["text"])
    assert overlaps(found) == {("a", "b", "value"): 1}
    assert found.leaks[0].second.place.record == 1
    assert leaks("a.tfrecord", "b.tfrecord").ok


def test_a_feature_that_no_record_has_is_an_error_and_no_all_clear() -> None:
    write("a.tfrecord", [{"text": "one"}, {"text": "two"}])
    write("b.tfrecord", [{"text": "two"}])
    with pytest.raises(ValueError, match="no record has a value of feature 'txt': nothing was compared"):
        leaks("a.tfrecord", "b.tfrecord", features=["text", "txt"])
    write("none.tfrecord", [])
    assert leaks("none.tfrecord", features=["text"]).ok


def test_a_feature_of_numbers_is_an_error_that_names_the_record() -> None:
    write("a.tfrecord", [{"x": b"bytes"}, {"x": 3}])
    with pytest.raises(tfreel.FeatureMismatchError, match=r"record 1 of a\.tfrecord"):
        leaks("a.tfrecord", features=["x"])


def test_masks_are_not_compared_unless_named_or_alone() -> None:
    mask = coded(Image.new("L", (8, 8), 0), "PNG")
    rows = [{"image/encoded": coded(photo(i)), "image/segmentation/class/encoded": mask} for i in range(2)]
    write("a.tfrecord", rows[:1])
    write("b.tfrecord", rows[1:])
    assert leaks("a.tfrecord", "b.tfrecord").ok
    named = leaks("a.tfrecord", "b.tfrecord", features=["image/segmentation/class/encoded"])
    assert overlaps(named) == {("a", "b", "value"): 1}


def test_records_that_are_no_examples_are_compared_as_they_are() -> None:
    write("a.tfrecord", [b"\xff\x00 raw", b"other"])
    found = leaks("a.tfrecord", write("b.tfrecord", [b"\xff\x00 raw"]))
    assert found.features == []
    assert overlaps(found) == {("a", "b", "record"): 1}


def test_more_records_than_memory_holds_are_searched_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr(groups, "_MOST_IN_MEMORY", 500)
    write("a.tfrecord", [{"id": i} for i in range(8000)])
    write("b.tfrecord", [{"id": i} for i in range(7990, 9000)])
    found = leaks("a.tfrecord", "b.tfrecord", limit=3)
    assert overlaps(found) == {("a", "b", "record"): 10}
    assert [leak.second.place.record for leak in found.leaks] == [0, 1, 2]
    assert list(scratch.iterdir()) == []


# Pictures that look the same --------------------------------------------------------------------------------

CODED_ANEW: dict[str, Callable[[Image.Image], bytes]] = {
    "worse": lambda picture: coded(picture, quality=30),
    "png": lambda picture: coded(picture, "PNG"),
    "webp": lambda picture: coded(picture, "WEBP", quality=60),
    "half": lambda picture: coded(picture.resize((60, 45))),
    "square": lambda picture: coded(picture.resize((64, 64)), "PNG"),
    "gray": lambda picture: coded(picture.convert("L")),
    "brighter": lambda picture: coded(Image.eval(picture, lambda value: min(255, value + 12))),
    "turned by its header": lambda picture: coded(
        picture.transpose(Image.Transpose.ROTATE_90), exif=orientation(6)
    ),
}


def orientation(number: int) -> Image.Exif:
    exif = Image.Exif()
    exif[274] = number
    return exif


@pytest.mark.parametrize("way", CODED_ANEW)
def test_a_picture_that_was_coded_anew_is_found(way: str) -> None:
    write("train.tfrecord", [row(coded(photo(i), quality=90)) for i in range(20)])
    others = [row(coded(photo(100 + i), quality=90)) for i in range(10)]
    write("test.tfrecord", [*others, row(CODED_ANEW[way](photo(7)))])
    found = leaks("train.tfrecord", "test.tfrecord")
    assert overlaps(found) == {("train", "test", "near"): 1}
    (leak,) = found.leaks
    assert (leak.kind, leak.first.place.record, leak.second.place.record) == ("near", 7, 10)
    assert 0 <= leak.distance <= 8
    assert leaks("train.tfrecord", "test.tfrecord", distance=None).ok


def test_other_photos_and_small_drawings_are_not_taken_for_the_same() -> None:
    photos = [row(coded(photo(i))) for i in range(60)]
    drawings = []
    for place, size in itertools.product(range(4), range(4)):
        drawing = Image.new("RGB", (100, 100), "white")
        left, top = 20 + 8 * place, 24
        ImageDraw.Draw(drawing).ellipse([left, top, left + 10 + 6 * size, top + 30], fill="navy")
        drawings.append(row(coded(drawing)))
    found = leaks(write("a.tfrecord", [*photos, *drawings]))
    assert found.ok
    assert found.pictures == 76


def test_pictures_of_one_colour_are_compared_by_their_bytes_alone() -> None:
    write("a.tfrecord", [row(coded(Image.new("RGB", (20 + i, 20), (200, i, 0)), "PNG")) for i in range(6)])
    found = leaks("a.tfrecord")
    assert found.ok
    assert found.plain == 6


def test_broken_pictures_are_counted_and_compared_by_their_bytes() -> None:
    broken = coded(photo(1))[:200]
    write("a.tfrecord", [row(broken, 0), row(coded(photo(2)))])
    found = leaks("a.tfrecord", write("b.tfrecord", [row(broken, 1)]))
    assert found.undecodable == 2
    assert overlaps(found) == {("a", "b", "value"): 1}


def test_a_picture_that_claims_to_be_huge_costs_nothing() -> None:
    png = bytearray(coded(photo(1), "PNG"))
    png[16:24] = (1 << 20).to_bytes(4, "big") * 2
    found = leaks(write("a.tfrecord", [row(bytes(png)), row(coded(photo(2)))]))
    assert found.undecodable == 1


def test_too_many_pictures_that_look_the_same_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.tfrecord", [row(coded(photo(1), quality=60 + i)) for i in range(8)])
    with monkeypatch.context() as patched:
        patched.setattr(search, "_MOST_NEAR", 5)
        found = leaks(path)
        assert not found.complete
        assert overlaps(found) == {("a", "a", "near"): 5}
    with monkeypatch.context() as patched:
        patched.setattr(alike, "_MOST_COMPARISONS", 3)
        assert not leaks(path).complete
    assert leaks(path).complete
    assert overlaps(leaks(path)) == {("a", "a", "near"): 28}


def test_the_number_of_threads_changes_nothing() -> None:
    rows = [row(coded(photo(i % 12), quality=70 + i % 5), i) for i in range(60)]
    write("a.tfrecord", rows[:40])
    write("b.tfrecord", rows[40:])
    found = [leaks("a.tfrecord", "b.tfrecord", threads=n, limit=1000).to_dict() for n in (1, 2, 5)]
    assert found[0] == found[1] == found[2]
    assert found[0]["leaks"]


def brute_force(hashes: npt.NDArray[np.uint64], distance: int) -> set[tuple[int, int, int]]:
    bits = np.unpackbits(hashes.view(np.uint8), axis=1)
    return {
        (i, j, int(d))
        for i, j in itertools.combinations(range(len(hashes)), 2)
        if (d := (bits[i] != bits[j]).sum()) <= distance
    }


@pytest.mark.parametrize("distance", [0, 1, 5, 31])
def test_near_hashes_are_all_found_and_each_pair_once(distance: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "_COMPARISONS_AT_ONCE", 7)
    generator = np.random.default_rng(distance)
    hashes = generator.integers(0, 1 << 64, (40, 2), dtype=np.uint64)
    near = hashes[generator.integers(0, 40, 60)].copy()
    for one in near:
        for bit in generator.integers(0, 128, int(generator.integers(0, 8))):
            one[bit // 64] ^= np.uint64(1 << int(bit % 64))
    hashes = np.concatenate([hashes, near])
    found = [tuple(pair) for part in alike.near_pairs(hashes, distance, 2) for pair in part.tolist()]
    assert len(found) == len(set(found))
    assert set(found) == brute_force(hashes, distance)
    assert list(alike.near_pairs(hashes[:0], distance, 2)) == []


def test_small_copies_are_kept_on_the_disk_and_compared() -> None:
    copies = pictures.Copies()
    small = [pictures.copy_of(coded(photo(i))) for i in (1, 1, 2)]
    copies.add(np.stack([copy for copy in small if copy is not None]))
    assert copies.look_alike(np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]
    copies.close()


# Names of sets, and bad input -------------------------------------------------------------------------------


def test_a_packed_data_set_is_searched_between_its_splits() -> None:
    for i in range(6):
        os.makedirs(f"photos/class{i % 2}", exist_ok=True)
        Path(f"photos/class{i % 2}/{i}.jpg").write_bytes(coded(photo(i)))
    Path("photos/class0/again.jpg").write_bytes(coded(photo(1)))
    Path("photos/class1/once-more.jpg").write_bytes(coded(photo(0), quality=60))
    tfreel.pack("photos", "records", split={"train": 0.5, "test": 0.5}, seed=1)
    found = leaks("records")
    assert set(found.sets) == {"train", "test"}
    assert sum(found.sets.values()) == 8
    both = leaks("records", within=True)
    assert sum(o.records for o in both.overlaps) == 2
    assert not both.ok


def test_sets_are_named_by_a_mapping_or_by_their_paths() -> None:
    write("a.tfrecord", [b"1"])
    os.makedirs("x")
    os.makedirs("y")
    write("x/a.tfrecord", [b"1"])
    write("y/a.tfrecord", [b"1"])
    assert list(leaks({"one": "a.tfrecord", "two": ["x/a.tfrecord"]}).sets) == ["one", "two"]
    assert list(leaks("x/", "y").sets) == ["x", "y"]
    assert list(leaks("x/a.tfrecord", "y/a.tfrecord").sets) == ["x/a.tfrecord", "y/a.tfrecord"]
    assert list(leaks("a.tfrecord", ["x/a.tfrecord", "y/a.tfrecord"]).sets) == ["a", "set 2"]


def test_wrong_arguments_are_refused() -> None:
    path = write("a.tfrecord", [b"1"])
    with pytest.raises(ValueError, match="at least one"):
        leaks()
    with pytest.raises(ValueError, match="named twice"):
        leaks(path, path)
    with pytest.raises(TypeError, match="one mapping"):
        leaks({"a": path}, path)
    with pytest.raises(ValueError, match="distance"):
        leaks(path, distance=64)
    with pytest.raises(ValueError, match="limit"):
        leaks(path, limit=-1)
    with open(path, "rb") as stream, pytest.raises(ValueError, match="stream"):
        leaks(stream)
    with pytest.raises(FileNotFoundError):
        leaks("nowhere.tfrecord")


def test_empty_sets_have_nothing_in_common() -> None:
    found = leaks(write("a.tfrecord", []), write("b.tfrecord", []))
    assert found.ok
    assert found.sets == {"a": 0, "b": 0}


def test_damage_is_an_error_or_passed_over_and_told() -> None:
    write("a.tfrecord", [{"id": i} for i in range(10)])
    write("b.tfrecord", [{"id": 5}])
    with open("a.tfrecord", "r+b") as file:
        file.seek(14)
        file.write(b"\xff")
    with pytest.raises(tfreel.ChecksumError):
        leaks("a.tfrecord", "b.tfrecord")
    found = leaks("a.tfrecord", "b.tfrecord", on_corrupt="skip")
    assert overlaps(found) == {("a", "b", "record"): 1}
    assert found.leaks[0].first.place.record == 5
    assert len(found.faults) == 1


# The shell --------------------------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "tfreel", "leaks", *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def test_the_command_lists_leaks_and_exits_with_1() -> None:
    write("train.tfrecord", [row(coded(photo(i))) for i in range(4)])
    write("test.tfrecord", [row(coded(photo(3), "PNG")), row(coded(photo(2)), 5), row(coded(photo(9)))])
    done = run("--table", "train.tfrecord", "test.tfrecord")
    assert done.returncode == 1, done.stderr
    assert "train and test: 1 with the same image/encoded" in done.stdout
    assert "train and test: 1 pair whose image/encoded looks the same" in done.stdout
    assert "train: train.tfrecord: 3" in done.stdout
    found = json.loads(run("train.tfrecord", "test.tfrecord").stdout)
    assert [leak["kind"] for leak in found["leaks"]] == ["value", "near"]
    lines = run("--csv", "--no-near", "train.tfrecord", "test.tfrecord").stdout.splitlines()
    assert lines[1] == "value,image/encoded,0,train,train.tfrecord,2,test,test.tfrecord,1"
    assert len(lines) == 2
    done = run("--features", "nothing", "train.tfrecord", "test.tfrecord")
    assert done.returncode == 2
    assert "no record has a value of feature 'nothing'" in done.stderr
    write("other.tfrecord", [row(coded(photo(9)))])
    assert run("train.tfrecord", "other.tfrecord").returncode == 0


def test_the_command_shows_hostile_names_harmlessly() -> None:
    name = "\x1b[31mfeature"
    write("a.tfrecord", [{name: b"the same", "id": 1}])
    write("b.tfrecord", [{name: b"the same", "id": 2}])
    done = run("--table", "a.tfrecord", "b.tfrecord", "--features", name)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
