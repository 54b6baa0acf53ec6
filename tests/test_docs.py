"""Every example runs: docstrings, and the Python and shell blocks of README and docs."""

from __future__ import annotations

import doctest
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from PIL import Image

import tfreel
from tfreel import images, profile

from drawn import jpeg, palette_mask, put, saved

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# Pages in Chinese have the very commands of those in English: test_docs_in_step compares them.
PAGES_WITH_COMMANDS = [page for page in PAGES if not page.is_relative_to(ROOT / "docs/zh")]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

FUNCTIONS_OF_IMAGES = [name for name in images.__all__ if inspect.isroutine(getattr(images, name))]
FUNCTIONS_OF_PROFILE = [name for name in profile.__all__ if inspect.isroutine(getattr(profile, name))]

# Shell lines that set up a machine, run until Ctrl-C, or need files that the page only talks about.
NOT_RUN = re.compile(r"^(pip|make|git|apt-get|(\.venv/bin/)?python|npm|tfreel view) ")


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in FENCE.findall(page.read_text(encoding="utf-8")) if name == language]


def public_objects() -> list[object]:
    rooms = {tfreel: tfreel.__all__, images: FUNCTIONS_OF_IMAGES, profile: profile.__all__}
    return [getattr(room, name) for room, names in rooms.items() for name in names]


def prepare_pictures() -> None:
    """The folder of pictures that pages and docstrings name."""
    for kind, colour in (("daisy", "white"), ("rose", "red")):
        os.makedirs(f"photos/{kind}")
        for i in range(10):
            Image.new("RGB", (8 + i, 8), colour).save(f"photos/{kind}/{i}.png")


def prepare_tutorials() -> None:
    """What the tutorials begin with: fruit in one folder, a photo, an archive with class folders."""
    fruit = {
        f"{kind}{i:02d}.jpg": jpeg(20 + i, 30, color)
        for kind, color in (("apple", (200, 30, 40)), ("orange", (245, 140, 20)))
        for i in range(10)
    }
    put(Path("fruit"), dict(fruit))
    put(Path(), {"cat.png": saved(Image.new("RGB", (36, 24), (90, 80, 60)))})
    with zipfile.ZipFile("flowers.zip", "w") as archive:
        for kind, color in (("daisy", (250, 250, 240)), ("rose", (200, 20, 60))):
            for i in range(10):
                archive.writestr(f"{kind}/{i}.jpg", jpeg(100 + i, 90, color))


def prepare_annotated_pictures() -> None:
    """The data sets of VOC, COCO and YOLO that a page names: one picture in each, with one object."""
    xml = (
        "<annotation><filename>a.jpg</filename><object><name>dog</name><bndbox><xmin>2</xmin><ymin>2</ymin>"
        "<xmax>9</xmax><ymax>8</ymax></bndbox></object></annotation>"
    )
    voc: dict[str, bytes | str] = {
        "VOC2012/JPEGImages/a.jpg": jpeg(20, 10),
        "VOC2012/Annotations/a.xml": xml,
        "VOC2012/ImageSets/Main/train.txt": "a\n",
        "VOC2012/ImageSets/Segmentation/train.txt": "a\n",
        "VOC2012/SegmentationClass/a.png": palette_mask([[12] * 20] * 10, [(i, i, i) for i in range(256)]),
    }
    put(Path("VOCdevkit"), voc)
    with tarfile.open("VOCtrainval_11-May-2012.tar", "w") as tar:
        tar.add("VOCdevkit")
    outline = {"segmentation": [[1, 1, 8, 1, 8, 8]], "bbox": [1, 1, 7, 7], "area": 24.5, "iscrowd": 0}
    instances = {
        "images": [{"id": 1, "file_name": "a.jpg", "height": 10, "width": 20}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 18, **outline}],
        "categories": [{"id": 18, "name": "dog"}],
    }
    coco = {"annotations/instances_train2017.json": json.dumps(instances), "train2017/a.jpg": jpeg(20, 10)}
    put(Path("coco"), coco)
    with zipfile.ZipFile("yolo.zip", "w") as archive:
        archive.writestr("images/train/a.jpg", jpeg(20, 10))
        archive.writestr("labels/train/a.txt", "0 0.5 0.5 0.2 0.2\n")
        archive.writestr("data.yaml", "names: [dog]\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_of_the_page_run(page: Path) -> None:
    prepare_pictures()
    prepare_annotated_pictures()
    prepare_tutorials()
    MemoryFileSystem.store.clear()  # of the process: another page may have used it
    namespace: dict[str, object] = {}
    for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(body, str(page), "exec"), namespace)
        elif language == "pycon":
            run_dialogue(body, page, namespace)


def run_dialogue(body: str, page: Path, namespace: dict[str, object]) -> None:
    """Runs lines with prompts, which must say what stands below them; errors too."""
    example = doctest.DocTestParser().get_doctest(body, namespace, page.name, str(page), 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    namespace.update(example.globs)


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_shell_blocks_of_the_page_run(page: Path) -> None:
    prepare_shell_files()
    for block in blocks(page, "console"):
        for line in block.splitlines():
            command = line.removeprefix("$ ")
            if line.startswith("$ ") and not NOT_RUN.match(command):
                done = run_shell(command)
                expected = 1 if "damaged" in command else 0
                assert done.returncode == expected, f"{command}\n{done.stderr}"


def prepare_shell_files() -> None:
    """The files that shell examples name."""
    prepare_pictures()
    with tfreel.ShardedWriter("out/train.tfrecord", shards=4) as out:
        out.write_many(f"record {i}".encode() for i in range(1000))
    with tfreel.Writer("train.tfrecord") as single, tfreel.Writer("damaged.tfrecord") as damaged:
        single.write_many([b"one", b"two", b"three"])
        damaged.write_many([b"one", b"two", b"three"])
    tfreel.save("cats.tfrecord", [{"label": i, "name": f"cat {i}"} for i in range(10)])
    tfreel.save("fruit.tfrecord", [{"label": i % 3, "name": f"apple {i}"} for i in range(10)])
    tfreel.save("lists/first.tfrecord", [{"data": i, "label": i % 2} for i in range(4)])
    with open("damaged.tfrecord", "r+b") as file:
        file.seek(12)
        file.write(b"O")


def run_shell(command: str) -> subprocess.CompletedProcess[str]:
    tools = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_docstring_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finder = doctest.DocTestFinder(recurse=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    ran = 0
    for thing in public_objects():
        for example in finder.find(thing, getattr(thing, "__name__", ""), globs={"tfreel": tfreel, "os": os}):
            directory = tmp_path / f"doctest-{ran}-{example.name}"
            directory.mkdir()
            monkeypatch.chdir(directory)
            prepare_pictures()
            result = runner.run(example)
            assert result.failed == 0, example.name
            ran += bool(result.attempted)
    assert ran >= 8


@pytest.mark.parametrize("name", [n for n in tfreel.__all__ if not inspect.isclass(getattr(tfreel, n))])
def test_every_public_function_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(tfreel, name)) or "")


@pytest.mark.parametrize("name", FUNCTIONS_OF_IMAGES)
def test_every_function_for_images_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(images, name)) or "")


@pytest.mark.parametrize("name", FUNCTIONS_OF_PROFILE)
def test_every_function_of_profile_has_an_example_and_a_page(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(profile, name)) or "")
    assert any(f"tfreel.profile.{name}(" in page.read_text(encoding="utf-8") for page in PAGES)


def test_every_public_name_stands_in_the_documentation() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in tfreel.__all__ if not re.search(rf"\b{name}\b", text)] == []
    page = (ROOT / "docs/images.md").read_text(encoding="utf-8")
    assert [name for name in images.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_every_command_stands_in_the_documentation_and_the_changelog() -> None:
    listed = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m tfreel --help"],
        capture_output=True,
        text=True,
        check=True,
    )
    commands = re.findall(r"^  ([a-z]+)  ", listed.stdout.partition("Commands:")[2], re.MULTILINE)
    assert len(commands) >= 5
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert [name for name in commands if f"tfreel {name}" not in page] == []


def test_pictures_are_small_and_shown_somewhere() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.png"))
    assert len(pictures) >= 5
    for picture in pictures:
        assert picture.stat().st_size <= 150_000, picture.name
        assert f"pictures/{picture.name}" in pages, picture.name


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
