"""Files and folders through `tf.io.gfile` and `tf.gfile`: the same as TensorFlow, or the same error."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tfreel.tf import gfile as our_first
from tfreel.tf.io import gfile as ours
from tfreel.tf.ops import files as our_files

tensorflow_gfile = tf.io.gfile
tensorflow_first = tf.compat.v1.gfile


def prepare(folder: Path) -> None:
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree")
    (folder / "bin").write_bytes(b"\xff\xfe\n\x00")
    (folder / ".hidden").write_text("")
    (folder / "d" / "e").mkdir(parents=True)
    (folder / "d" / "x").write_text("x")
    (folder / "link").symlink_to("a.txt")
    (folder / "dead").symlink_to("nowhere")


def plain(found: Any) -> Any:
    """What both sides should agree on; the order of names in folders is the operating system's."""
    if hasattr(found, "numpy"):
        return found.numpy().tolist()
    if hasattr(found, "mtime_nsec"):
        return found.length, found.is_directory
    return found


def contents() -> dict[str, bytes | None]:
    found = sorted(path for path in Path().rglob("*") if path.name != "dead")
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def outcome(
    folder: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[..., Any], *modules: Any
) -> tuple[Any, Any]:
    prepare(folder)
    monkeypatch.chdir(folder)
    try:
        found = plain(act(*modules))
    except Exception as error:  # noqa: BLE001 - its class is compared
        found = type(error).__name__
    return found, contents()


def used(file: Any, use: Callable[[Any], Any]) -> Any:
    with file as opened:
        return use(opened)


CASES: dict[str, Callable[..., Any]] = {
    "exists": lambda g: [
        g.exists(name) for name in ("a.txt", b"a.txt", "d", "zz", "", "a.txt/b", "dead", "link")
    ],
    "isdir": lambda g: [g.isdir(name) for name in ("a.txt", "d", "zz", Path("d"))],
    "mkdir": lambda g: [g.mkdir("n"), g.mkdir("n"), g.exists("n")],
    "mkdir in nothing": lambda g: g.mkdir("q/r"),
    "makedirs": lambda g: [g.makedirs("q/r"), g.makedirs("q/r"), g.isdir("q/r")],
    "makedirs over a file": lambda g: g.makedirs("a.txt"),
    "makedirs under a file": lambda g: g.makedirs("a.txt/b"),
    "listdir": lambda g: sorted(g.listdir("d")),
    "listdir of nothing": lambda g: g.listdir("zz"),
    "listdir of a file": lambda g: g.listdir("a.txt"),
    "glob": lambda g: sorted(g.glob("*")),
    "glob of nothing": lambda g: g.glob("zz*"),
    "glob of several": lambda g: sorted(g.glob(["d/*", "*.txt"])),
    "glob in folders": lambda g: sorted(g.glob("*/x")) + g.glob("**/x") + sorted(g.glob("d/*")),
    "glob of braces": lambda g: g.glob("{a,b}*"),
    "glob of sets": lambda g: sorted(g.glob("[ab]*")) + sorted(g.glob("[^ab]*")) + g.glob("?.txt"),
    "glob of a name": lambda g: g.glob("a.txt") + g.glob("d/") + g.glob("./*.txt") + g.glob("dead"),
    "copy": lambda g: g.copy("a.txt", "b.txt"),
    "copy over": lambda g: g.copy("a.txt", "bin"),
    "copy over with leave": lambda g: g.copy("a.txt", "bin", overwrite=True),
    "copy of nothing": lambda g: g.copy("zz", "y"),
    "copy onto a folder": lambda g: g.copy("a.txt", "d"),
    "copy onto a folder with leave": lambda g: g.copy("a.txt", "d", overwrite=True),
    "copy to nowhere": lambda g: g.copy("a.txt", "zz/d"),
    "rename": lambda g: g.rename("a.txt", "b.txt"),
    "rename over": lambda g: g.rename("a.txt", "bin"),
    "rename over with leave": lambda g: g.rename("a.txt", "bin", overwrite=True),
    "rename of nothing": lambda g: g.rename("zz", "y"),
    "rename of a folder": lambda g: g.rename("d", "f"),
    "rename onto a folder": lambda g: g.rename("a.txt", "d", True),
    "remove": lambda g: g.remove("a.txt"),
    "remove nothing": lambda g: g.remove("zz"),
    "remove a folder": lambda g: g.remove("d"),
    "rmtree": lambda g: g.rmtree("d"),
    "rmtree of a file": lambda g: g.rmtree("a.txt"),
    "rmtree of nothing": lambda g: g.rmtree("zz"),
    "stat": lambda g: g.stat("a.txt"),
    "stat of a folder": lambda g: g.stat("d"),
    "stat of nothing": lambda g: g.stat("zz"),
    "stat tells whole seconds": lambda g: (
        g.stat("a.txt").mtime_nsec == int(os.stat("a.txt").st_mtime) * 10**9
    ),
    "walk": lambda g: [(top, sorted(dirs), sorted(names)) for top, dirs, names in g.walk(".")],
    "walk upwards": lambda g: list(g.walk("d", topdown=False)),
    "walk of a slash": lambda g: list(g.walk("d/")),
    "walk of nothing": lambda g: list(g.walk("zz")) + list(g.walk("a.txt")),
    "join": lambda g: [
        g.join("a", "b"),
        g.join("a", "/b"),
        g.join("a"),
        g.join("a/", "b"),
        g.join(b"a", b"b"),
    ],
    "read text": lambda g: g.GFile("a.txt").read(),
    "read bytes": lambda g: g.GFile("a.txt", "rb").read(),
    "read bytes as text": lambda g: g.GFile("bin").read(),
    "read bytes as bytes": lambda g: g.GFile("bin", "rb").read(),
    "read in parts": lambda g: used(
        g.GFile("a.txt"), lambda f: [f.read(2), f.tell(), f.read(9), f.read(99), f.read()]
    ),
    "read none": lambda g: [g.GFile("a.txt").read(0), g.GFile("a.txt").read(-1)],
    "readline": lambda g: used(g.GFile("a.txt"), lambda f: [f.readline() for _ in range(4)]),
    "readlines": lambda g: [g.GFile("a.txt").readlines(), list(g.GFile("a.txt", "rb"))],
    "opening nothing is fine": lambda g: g.GFile("zz").name,
    "read nothing": lambda g: g.GFile("zz").read(),
    "read a folder": lambda g: g.GFile("d").read(),
    "a wrong mode": lambda g: g.GFile("a.txt", "rt").read(),
    "size": lambda g: [g.GFile("a.txt").size(), g.GFile("d").size()],
    "size of nothing": lambda g: g.GFile("zz").size(),
    "seek": lambda g: used(
        g.GFile("a.txt"),
        lambda f: [
            f.seek(4),
            f.read(3),
            f.seek(-2, 1),
            f.read(2),
            f.seek(-5, 2),
            f.read(),
            f.seek(position=1),
            f.tell(),
        ],
    ),
    "seek to the end": lambda g: used(g.GFile("a.txt"), lambda f: [f.seek(13), f.read(), f.seekable()]),
    "seek behind the end": lambda g: g.GFile("a.txt").seek(14),
    "seek before the beginning": lambda g: g.GFile("a.txt").seek(-1),
    "seek from nowhere": lambda g: g.GFile("a.txt").seek(1, 9),
    "seek nothing": lambda g: g.GFile("a.txt").seek(),
    "write": lambda g: used(
        g.GFile("w", "w"), lambda f: [f.write("hé\n"), f.tell(), f.flush(), f.size(), os.path.getsize("w")]
    ),
    "write bytes as text": lambda g: used(g.GFile("w", "w"), lambda f: f.write(b"abc")),
    "write text as bytes": lambda g: used(g.GFile("w", "wb"), lambda f: f.write("abc")),
    "write a number": lambda g: used(g.GFile("w", "w"), lambda f: f.write(3)),
    "write nothing": lambda g: used(g.GFile("w", "w"), lambda f: None),
    "write what is read": lambda g: g.GFile("a.txt").write("x"),
    "read what is written": lambda g: g.GFile("w", "w").read(),
    "append": lambda g: used(g.GFile("a.txt", "a"), lambda f: [f.write("Z"), f.tell()]),
    "write and read": lambda g: used(
        g.GFile("w", "w+"), lambda f: [f.write("abcd"), f.flush(), f.read(), f.seek(0), f.read(2)]
    ),
    "append and read": lambda g: used(g.GFile("a.txt", "a+"), lambda f: [f.write("Z"), f.flush(), f.read()]),
    "write nowhere": lambda g: used(g.GFile("zz/y", "w"), lambda f: f.write("x")),
    "write a folder": lambda g: used(g.GFile("d", "w"), lambda f: f.write("x")),
    "read after close": lambda g: used(g.GFile("a.txt"), lambda f: [f.read(), f.close(), f.read()]),
    "write after close": lambda g: used(
        g.GFile("w", "w"), lambda f: [f.write("1"), f.close(), f.write("2"), f.close()]
    ),
    "close twice": lambda g: used(g.GFile("w", "w"), lambda f: [f.close(), f.close()]),
    "name and mode": lambda g: [g.GFile(Path("a.txt"), "rb").name, g.GFile("a.txt", "rb").mode],
    "another file system": lambda g: g.exists("nowhere://bucket/file"),
}

FIRST: dict[str, Callable[..., Any]] = {
    "exists": lambda g: [g.Exists(filename="a.txt"), g.IsDirectory(dirname="d")],
    "read": lambda g: [
        g.FastGFile("a.txt").read(),
        g.FastGFile("a.txt", "rb").read(),
        g.Open("a.txt").read(3),
    ],
    "fast on nothing": lambda g: g.FastGFile("zz", "r").read(),
    "list": lambda g: [
        sorted(g.ListDirectory("d")),
        g.Glob(filename="*.txt"),
        list(g.Walk("d", in_order=False)),
    ],
    "make": lambda g: [g.MakeDirs("q/r/s"), g.MkDir("q/r/s/t")],
    "move": lambda g: [g.Copy("a.txt", "c"), g.Rename("c", "cc"), g.Stat("cc"), g.Remove("cc")][0],
    "copy over": lambda g: g.Copy("a.txt", "bin"),
    "delete": lambda g: g.DeleteRecursively(dirname="d"),
    "delete nothing": lambda g: g.DeleteRecursively("zz"),
}

WHOLE: dict[str, Callable[..., Any]] = {
    "read": lambda t: t.read_file("a.txt"),
    "read nothing": lambda t: t.read_file("zz"),
    "read a folder": lambda t: t.read_file("d"),
    "read several": lambda t: t.read_file(["a.txt"]),
    "read a number": lambda t: t.read_file(3),
    "write": lambda t: [t.write_file("p/q/r.txt", "abc")][1:],
    "write a folder": lambda t: t.write_file("d", "abc"),
    "write a number": lambda t: t.write_file("z", 3),
    "write several": lambda t: t.write_file("z", ["a"]),
    "match": lambda t: t.matching_files("*.txt"),
    "match nothing": lambda t: t.matching_files("zz*"),
    "match several": lambda t: t.matching_files(["*.txt", "d/*", "a*"]),
    "match a matrix": lambda t: t.matching_files([["*.txt"]]),
}


def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Any, ours: Any, theirs: Any) -> None:
    wanted = outcome(tmp_path / "theirs", monkeypatch, act, theirs)
    assert outcome(tmp_path / "ours", monkeypatch, act, ours) == wanted


@pytest.mark.parametrize("name", CASES)
def test_gfile_does_what_tensorflow_does(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(tmp_path, monkeypatch, CASES[name], ours, tensorflow_gfile)


@pytest.mark.parametrize("name", FIRST)
def test_first_names_do_what_tensorflow_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path, monkeypatch, FIRST[name], our_first, tensorflow_first)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_files_are_read_as_tensorflow_reads_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path, monkeypatch, WHOLE[name], our_files, tf.io)


def test_every_name_of_both_modules_is_there() -> None:
    for mine, theirs in ((ours, tensorflow_gfile), (our_first, tensorflow_first)):
        names = {name for name in dir(theirs) if not name.startswith("_")} - {"get_registered_schemes"}
        assert names == set(mine.__all__)
