"""Sources of all kinds, bent: `pack` makes a data set of what is sound, or says what is wrong."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import tfreel
from tfreel import images

from corpus import frames
from doors.knocking import ASKING_ERRORS, CHANGES, bend, bent, door, knock
from doors.shapes import changes_of
from drawn import jpeg, put
from photos import picture

XML = (
    "<annotation><filename>a.jpg</filename><size><width>20</width><height>10</height><depth>3</depth></size>"
    "<object><name>dog</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox></object>"
    "</annotation>"
)
COCO = {
    "images": [{"id": 1, "file_name": "a.jpg", "width": 20, "height": 10}],
    "categories": [{"id": 3, "name": "dog"}],
    "annotations": [
        {
            "id": 1,
            "image_id": 1,
            "category_id": 3,
            "bbox": [1, 1, 5, 5],
            "segmentation": [[1, 1, 6, 1, 6, 6]],
            "area": 25,
            "iscrowd": 0,
        }
    ],
}
CSV = b'number,name,label,height\n1,"a ""b""",x,0.5\n2,\xc3\xa4,y,1e3\n3,"two\nlines",x,\n'
LINES = b'{"a": 1, "b": "x", "c": [1, 2]}\n{"a": 2, "b": "y", "c": [3, 4]}\n'
PHOTO = picture()


def npz() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, x=np.arange(12).reshape(4, 3), y=np.ones(4, np.float32))
    return out.getvalue()


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(12, dtype=np.int16).reshape(4, 3))
    return out.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, bytes], mode: Any = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


SAMPLES = {
    "0.jpg": jpeg(),
    "0.json": b'{"label": 1}',
    "0.cls": b"1",
    "1.jpg": jpeg(),
    "1.npy": npy(),
    "1.cls": b"0",
}
PHOTOS = {"rose/a.png": PHOTO, "daisy/b.png": PHOTO}
RECORDS = frames([tfreel.encode({"a": i, "b": b"x"}) for i in range(5)])

# What is packed, the files beside it, the file that is bent, and good content for it.
SOURCES: dict[str, tuple[str, dict[str, bytes | str], str, list[bytes]]] = {
    "csv": ("t.csv", {}, "t.csv", [CSV, CSV.replace(b",", b"\t")]),
    "json lines": ("t.jsonl", {}, "t.jsonl", [LINES]),
    "npy": ("t.npy", {}, "t.npy", [npy()]),
    "npz": ("t.npz", {}, "t.npz", [npz()]),
    "zip": ("t.zip", {}, "t.zip", [zipped(PHOTOS)]),
    "tar": ("t.tar", {}, "t.tar", [tarred(PHOTOS)]),
    "tar.gz": ("t.tar.gz", {}, "t.tar.gz", [tarred(PHOTOS, "w:gz")]),
    "webdataset": ("t.tar", {}, "t.tar", [tarred(SAMPLES)]),
    "records": ("t.tfrecord", {}, "t.tfrecord", [RECORDS]),
    "picture": ("photos", {"photos/rose/a.png": PHOTO}, "photos/daisy/b.jpg", [jpeg(), PHOTO]),
    "voc": (
        "voc",
        {"voc/JPEGImages/a.jpg": jpeg(), "voc/ImageSets/Main/train.txt": "a\n"},
        "voc/Annotations/a.xml",
        [XML.encode()],
    ),
    "voc list": (
        "voc",
        {"voc/JPEGImages/a.jpg": jpeg(), "voc/Annotations/a.xml": XML},
        "voc/ImageSets/Main/train.txt",
        [b"a\n", b"a  1\n"],
    ),
    "coco": (
        "coco",
        {"coco/images/a.jpg": jpeg()},
        "coco/annotations/instances.json",
        [json.dumps(COCO).encode()],
    ),
    "yolo": (
        "yolo",
        {"yolo/images/train/a.jpg": jpeg(), "yolo/data.yaml": "train: images/train\nnames: [cat, dog]\n"},
        "yolo/labels/train/a.txt",
        [b"1 0.5 0.6 0.5 0.8\n0 0.1 0.1 0.5 0.1 0.5 0.5\n"],
    ),
    "yolo config": (
        "yolo",
        {"yolo/images/train/a.jpg": jpeg(), "yolo/labels/train/a.txt": "1 0.5 0.6 0.5 0.8\n"},
        "yolo/data.yaml",
        [b"path: .\ntrain: images/train\nnc: 2\nnames:\n  0: cat\n  1: dog\n"],
    ),
}


def packed(source: str, on_error: Any) -> None:
    """Packs, and reads what came of it."""
    shutil.rmtree("out", ignore_errors=True)
    tfreel.pack(source, "out", on_error=on_error, workers=1, durable=False, shards=1)
    assert tfreel.verify("out/*.tfrecord").ok


def nothing_came_out() -> None:
    """No name leads out of the folder that is packed into."""
    assert not [path for path in Path().rglob("*") if path.name in {"evil", "passwd"}]


@pytest.mark.parametrize("name", SOURCES)
def test_any_source_is_packed_or_refused(name: str) -> None:
    source, others, target, good = SOURCES[name]
    put(Path(), others)

    @door(bent(*good), st.sampled_from(["stop", "skip"]), examples=25)
    def packing(content: bytes, on_error: str) -> None:
        put(Path(), {target: content})
        knock(lambda: packed(source, on_error), ASKING_ERRORS)
        nothing_came_out()

    packing()


@door(changes_of(COCO), examples=60)
def test_any_coco_document_is_packed_or_refused(document: Any) -> None:
    put(Path(), {"coco/images/a.jpg": jpeg(), "coco/annotations/instances.json": json.dumps(document)})
    knock(lambda: packed("coco", "skip"), ASKING_ERRORS)


@door(
    st.lists(changes_of({"a": 1, "b": "x", "c": [1.5, 2], "d": {"e": 1}}), min_size=1, max_size=4),
    examples=60,
)
def test_any_lines_of_json_are_packed_or_refused(rows: list[Any]) -> None:
    put(Path(), {"t.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows)})
    knock(lambda: packed("t.jsonl", "skip"), ASKING_ERRORS)
    knock(lambda: packed_rows(rows), ASKING_ERRORS)


def packed_rows(rows: list[Any]) -> None:
    shutil.rmtree("out", ignore_errors=True)
    tfreel.pack(rows, "out", on_error="skip", workers=1, durable=False, shards=1)


FORMS = ("png", "jpeg", "gif", "webp", "bmp", "tiff")


@door(st.sampled_from([picture(form=form) for form in FORMS]), CHANGES, examples=150)
def test_any_picture_is_decoded_or_refused(good: bytes, changes: Any) -> None:
    content = bend(good, changes)
    knock(lambda: images.probe(content), (tfreel.TfreelError,))
    knock(lambda: images.decode(content, max_pixels=1 << 20), (tfreel.TfreelError,))
    knock(lambda: images.decode(content, mode="labels", max_pixels=1 << 20), (tfreel.TfreelError, ValueError))
