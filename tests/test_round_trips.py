"""There and back again: what was packed is unpacked as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tfreel

from photos import photo_folder

if TYPE_CHECKING:
    from pathlib import Path


def files_under(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_a_folder_of_pictures_comes_back_as_it_was(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"apple": 7, "orange": 5})
    tfreel.pack(photos, tmp_path / "records", split={"train": 0.5, "test": 0.5}, seed=3)
    tfreel.unpack(tmp_path / "records", tmp_path / "back", to="folder")
    back = files_under(tmp_path / "back")
    assert {name: data for name, data in back.items() if name.endswith(".png")} == files_under(photos)


def test_one_split_is_unpacked_alone(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"apple": 8, "orange": 8})
    tfreel.pack(photos, tmp_path / "records", split={"train": 0.75, "test": 0.25}, stratify="label")
    tfreel.unpack(tfreel.Dataset(tmp_path / "records", split="test"), tmp_path / "test.jsonl")
    assert len((tmp_path / "test.jsonl").read_text().splitlines()) == 4


def test_packed_again_the_unpacked_folder_gives_the_same_records(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"apple": 7, "orange": 5})
    tfreel.pack(photos, tmp_path / "a", shuffle=False)
    tfreel.unpack(tmp_path / "a", tmp_path / "back", to="folder")
    tfreel.pack(tmp_path / "back", tmp_path / "b", shuffle=False)
    assert list(tfreel.read(tmp_path / "a")) == list(tfreel.read(tmp_path / "b"))
