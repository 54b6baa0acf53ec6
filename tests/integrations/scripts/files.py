"""tf.io.gfile, read_file, write_file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.builders import shards
from integrations.scripts.results import raised


def folders_are_made_and_removed(tf: Any, folder: Path) -> Any:
    gfile = tf.io.gfile
    path = str(folder / "a" / "b")
    before = gfile.exists(path)
    gfile.makedirs(path)
    gfile.makedirs(path)
    found = before, gfile.exists(path), gfile.isdir(path), raised(tf, lambda: gfile.mkdir(path))
    gfile.rmtree(str(folder / "a"))
    return found, gfile.exists(path), raised(tf, lambda: gfile.mkdir(path))


def files_are_written_and_read(tf: Any, folder: Path) -> Any:
    gfile = tf.io.gfile
    path = str(folder / "a.txt")
    with gfile.GFile(path, "w") as file:
        file.write("first\nsecond\n")
    with gfile.GFile(path, "a") as file:
        file.write("third\n")
    with gfile.GFile(path) as file:
        text = file.read()
    with gfile.GFile(path, "rb") as file:
        head, place, rest = file.read(3), file.tell(), file.read()
    with gfile.GFile(path, "r") as file:
        lines = list(file)
    return text, head, place, rest, lines, gfile.GFile(path).size(), gfile.GFile(path).readlines()


def lines_and_seeking(tf: Any, folder: Path) -> Any:
    path = str(folder / "a.txt")
    Path(path).write_bytes(b"one\ntwo\n\nfour")
    with tf.io.gfile.GFile(path, "rb") as file:
        first = file.readline()
        file.seek(4)
        second = file.readline()
        return first, second, file.readlines(), file.readline()


def files_are_moved_and_copied(tf: Any, folder: Path) -> Any:
    gfile = tf.io.gfile
    (folder / "a").write_text("x")
    (folder / "b").write_text("y")
    a, b, c = (str(folder / name) for name in "abc")
    gfile.copy(a, c)
    exists = raised(tf, lambda: gfile.copy(a, b))
    gfile.copy(a, b, overwrite=True)
    refused = raised(tf, lambda: gfile.rename(a, b))
    gfile.rename(a, b, overwrite=True)
    gfile.remove(c)
    return exists, refused, sorted(gfile.listdir(str(folder))), (folder / "b").read_text()


def what_is_not_there(tf: Any, folder: Path) -> Any:
    gfile = tf.io.gfile
    gone = str(folder / "gone")
    calls = (
        lambda: gfile.GFile(gone).read(),
        lambda: gfile.remove(gone),
        lambda: gfile.listdir(gone),
        lambda: gfile.stat(gone),
        lambda: gfile.rmtree(gone),
        lambda: tf.io.read_file(gone),
        lambda: gfile.copy(gone, gone + "2"),
    )
    return [raised(tf, call) for call in calls], gfile.isdir(gone), gfile.exists(gone)


def globs(tf: Any, folder: Path) -> Any:
    shards(tf, folder, 3, 1)
    (folder / "sub").mkdir()
    (folder / "sub" / "part-x").write_text("")
    glob = tf.io.gfile.glob

    def names(pattern: Any) -> list[str]:
        return sorted(str(Path(name).relative_to(folder)) for name in glob(pattern))

    return (
        names(str(folder / "part-*")),
        names(str(folder / "*" / "part-*")),
        names([str(folder / "part-00000*"), str(folder / "part-00002*")]),
        names(str(folder / "part-0000[12]-*")),
        glob(str(folder / "none*")),
    )


def folders_are_walked(tf: Any, folder: Path) -> Any:
    for name in ("cats/1.jpg", "cats/2.jpg", "dogs/1.jpg"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    walk = tf.io.gfile.walk(str(folder))
    found = [
        (Path(root).name if Path(root) != folder else "", sorted(dirs), sorted(files))
        for root, dirs, files in walk
    ]
    return sorted(found), sorted(tf.io.gfile.listdir(str(folder)))


def sizes_and_times(tf: Any, folder: Path) -> Any:
    (folder / "a").write_bytes(b"12345")
    stat = tf.io.gfile.stat(str(folder / "a"))
    return stat.length, stat.is_directory, stat.mtime_nsec > 0, tf.io.gfile.stat(str(folder)).is_directory


def whole_files_as_tensors(tf: Any, folder: Path) -> Any:
    path = str(folder / "deep" / "a.bin")
    tf.io.write_file(path, b"\x00\xffdata")
    return (
        tf.io.read_file(path),
        tf.io.matching_files(str(folder / "deep" / "*")).shape,
        Path(path).read_bytes(),
    )


def images_of_class_folders(tf: Any, folder: Path) -> Any:
    for name in ("cats/1.png", "cats/2.png", "dogs/1.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        tf.io.write_file(
            str(folder / name), tf.io.encode_png(tf.fill([2, 2, 1], tf.constant(len(name), tf.uint8)))
        )
    classes = tf.constant(["cats", "dogs"])

    def load(path: Any) -> Any:
        label = tf.strings.split(path, "/")[-2]
        return tf.io.decode_png(tf.io.read_file(path)), tf.argmax(tf.cast(label == classes, tf.int32))

    return tf.data.Dataset.list_files(str(folder / "*" / "*.png"), shuffle=False).map(load)


def join_paths(tf: Any, folder: Path) -> Any:
    return tf.io.gfile.join("/a", "b", "c.txt"), tf.io.gfile.join("gs://bucket", "x")


def the_first_names_of_gfile(tf: Any, folder: Path) -> Any:
    gfile = tf.compat.v1.gfile
    path = str(folder / "x" / "y")
    before = gfile.Exists(path)
    gfile.MakeDirs(path)
    with gfile.FastGFile(path + "/a.txt", "w") as file:
        file.write("text")
    with gfile.GFile(path + "/a.txt", "rb") as file:
        data = file.read()
    names = [Path(name).name for name in gfile.Glob(path + "/*")], gfile.ListDirectory(path)
    gfile.Copy(path + "/a.txt", path + "/b.txt")
    gfile.Remove(path + "/a.txt")
    left = gfile.ListDirectory(path), gfile.IsDirectory(path), gfile.Stat(path + "/b.txt").length
    gfile.DeleteRecursively(path)
    return before, data, names, left, gfile.Exists(path)
