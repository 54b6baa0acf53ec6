"""Files and folders through `tf.gfile`: what is better told, or better done, than in TensorFlow."""

from pathlib import Path

import pytest

from tfreel.tf import errors, gfile
from tfreel.tf.io import gfile as io_gfile
from tfreel.tf.ops.files import matching_files, read_file, write_file
from tfreel.tf.values.tensor import Tensor


def test_a_folder_is_made_and_a_photo_read_as_old_scripts_do(tmp_path: Path) -> None:
    if not gfile.Exists(str(tmp_path / "out")):
        gfile.MakeDirs(str(tmp_path / "out"))
    (tmp_path / "out" / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    assert gfile.FastGFile(str(tmp_path / "out" / "photo.jpg"), "rb").read() == b"\xff\xd8\xff"


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("one\ntwo\n")
    with gfile.GFile(str(tmp_path / "train.txt")) as file:
        assert [line.strip() for line in file] == ["one", "two"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "none.txt")
    with pytest.raises(errors.NotFoundError, match=r"none\.txt; No such file") as caught:
        gfile.GFile(path).read()
    assert caught.value.path == path


def test_writing_in_place_keeps_the_rest_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hello")
    with gfile.GFile(str(path), "r+") as file:
        file.write("J")
    assert path.read_text() == "Jello"


def test_a_copy_of_a_file_onto_itself_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hello")
    io_gfile.copy(str(path), str(path), overwrite=True)
    assert path.read_text() == "hello"


def test_a_copy_of_a_folder_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(errors.InvalidArgumentError, match="directory"):
        io_gfile.copy(str(tmp_path / "d"), str(tmp_path / "e"))
    assert not (tmp_path / "e").exists()


def test_a_link_to_a_folder_is_removed_without_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "d")
    io_gfile.rmtree(str(tmp_path / "link"))
    assert (tmp_path / "d" / "x").exists()
    assert not (tmp_path / "link").is_symlink()


def test_walk_tells_an_error_to_who_wants_to_know(tmp_path: Path) -> None:
    told: list[Exception] = []
    assert list(io_gfile.walk(str(tmp_path / "none"), onerror=told.append)) == []
    assert isinstance(told[0], errors.NotFoundError)


def test_walk_leaves_out_folders_that_are_taken_from_its_list(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    walked = []
    for top, folders, _ in io_gfile.walk(str(tmp_path)):
        walked.append(top)
        folders.clear()
    assert walked == [str(tmp_path)]


@pytest.mark.parametrize("name", ["gs://bucket/file", "s3://bucket/file", "hdfs://host/file"])
def test_a_file_that_is_not_local_is_refused(name: str) -> None:
    with pytest.raises(errors.UnimplementedError, match="scheme"):
        gfile.GFile(name).read()


def test_an_address_of_a_local_file_is_its_path(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert gfile.Exists(f"file://{tmp_path}/a")


def test_whole_files_are_read_and_written_as_tensors(tmp_path: Path) -> None:
    write_file(str(tmp_path / "new" / "a.bin"), b"\x00\xff")
    found = read_file(str(tmp_path / "new" / "a.bin"))
    assert isinstance(found, Tensor)
    assert found.numpy() == b"\x00\xff"
    assert read_file(tmp_path / "new" / "a.bin").numpy() == b"\x00\xff"


def test_matching_files_are_sorted(tmp_path: Path) -> None:
    for name in ("c.txt", "a.txt", "b.txt"):
        (tmp_path / name).write_text("")
    names = [Path(name.decode()).name for name in matching_files(f"{tmp_path}/*.txt").numpy()]
    assert names == ["a.txt", "b.txt", "c.txt"]
