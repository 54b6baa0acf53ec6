"""What notebooks show: tables of the first rows, small pictures, and nothing that can do harm."""

from __future__ import annotations

import base64
import html
import io
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfreel
from tfreel import markup
from tfreel.images.thumbnails import thumbnail

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m\u202e"
TAGS = {"div", "style", "b", "table", "thead", "tbody", "tr", "th", "td", "img", "ol", "li"}
ATTRIBUTES = {"class", "src", "width", "height", "alt", "title"}


class Checker(HTMLParser):
    """Fails at anything that a notebook should not be given; collects the text and the pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.pictures: list[bytes] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        if tag == "img":
            source = dict(attrs)["src"] or ""
            assert source.startswith("data:image/jpeg;base64,")
            self.pictures.append(base64.b64decode(source.partition(",")[2], validate=True))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def shown(thing: Any) -> Checker:
    text = thing._repr_html_()
    assert text.isprintable()  # no control characters, nor any that turn the direction of text
    assert not re.search(r"https?:|//|javascript|@import|url\(", re.sub(r"base64,[\w+/=]+", "", text))
    return Checker(text)


def png(width: int = 40, height: int = 30, **info: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(out, "PNG", **info)
    return out.getvalue()


def save(rows: list[dict[str, Any]], path: str = "data.tfrecord") -> str:
    tfreel.save(path, rows, mode="w")
    return path


ROWS = [{"image": png(), "label": i, "name": f"cat {i}", "x": [0.5] * 9} for i in range(10)]


def test_records_show_their_files_and_first_rows_with_pictures() -> None:
    found = shown(tfreel.open(save(ROWS)))
    assert "tfreel.Records: 10 records in 1 file" in found.text
    assert "data.tfrecord: 10" in found.text
    assert "cat 2" in found.text
    assert "cat 3" not in found.text
    assert "0.5, 0.5, 0.5, 0.5, … 5 more" in found.text
    assert len(found.pictures) == 3
    assert Image.open(io.BytesIO(found.pictures[0])).size == (40, 30)


def test_a_dataset_shows_its_plan_and_first_rows_in_its_order() -> None:
    dataset = tfreel.Dataset(save(ROWS))
    plain = shown(dataset)
    assert "tfreel.Dataset of 10" in plain.text
    assert "cat 0" in plain.text
    assert len(plain.pictures) == 3
    shuffled = shown(dataset.shuffle(seed=3).batch(4))
    first = dataset.shuffle(seed=3)[0]["name"].decode()
    assert "in batches of 4" in shuffled.text
    assert first in shuffled.text


def test_a_dataset_calls_no_function_to_be_looked_at() -> None:
    def fail(row: Any) -> Any:
        raise AssertionError("called")

    found = shown(tfreel.Dataset(save(ROWS)).map(fail))
    assert "each through" in found.text
    assert found.pictures == []
    assert "tfreel.Dataset" in shown(tfreel.Dataset("data.tfrecord", stream=True)).text


def test_a_batch_shows_its_columns_whatever_they_are() -> None:
    batch = next(iter(tfreel.Dataset(save(ROWS)).batch(4)))
    found = shown(batch)
    assert "tfreel.Batch of 4 rows" in found.text
    assert "label int64" in found.text
    assert len(found.pictures) == 3
    records = [tfreel.encode({"t": [b"a", b"bc"], "n": [1, 2]}), tfreel.encode({"t": [b"d"], "n": [3]})]
    mixed = tfreel.parse(
        records,
        {"t": tfreel.RaggedFeature("bytes"), "n": tfreel.VarLenFeature("int64")},
    )
    assert "[a, bc]" in shown(mixed).text
    assert "tfreel.Batch of 0 rows" in shown(tfreel.Batch({}, 0)).text


def test_pixels_are_shown_as_pictures() -> None:
    pixels = np.linspace(0, 1, 2 * 20 * 30 * 3, dtype=np.float32).reshape(2, 20, 30, 3)
    batch = tfreel.Batch(
        {
            "float": pixels,
            "bytes": (pixels * 255).astype(np.uint8),
            "far": pixels * 100,
            "nan": np.full_like(pixels, np.nan),
            "thin": pixels[:, :2],
            "deep": np.zeros((2, 20, 20, 5), np.uint8),
        }
    )
    found = shown(batch)
    assert len(found.pictures) == 4
    assert "float32 2×30×3" in found.text
    assert "uint8 20×20×5" in found.text


def test_sequences_are_shown() -> None:
    records = [tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [3]]})]
    batch = tfreel.parse_sequence(
        records,
        {"id": tfreel.FixedLenFeature([], "int64")},
        {"tokens": tfreel.RaggedFeature("int64")},
    )
    assert "tfreel.SequenceBatch of 1 row" in shown(batch).text
    with tfreel.Writer("s.tfrecord") as out:
        out.write_many(records)
    assert "tokens" in shown(tfreel.open("s.tfrecord")).text


def test_a_report_shows_faults() -> None:
    save(ROWS)
    assert "sound" in shown(tfreel.verify("data.tfrecord")).text
    with open("data.tfrecord", "r+b") as file:
        file.seek(20)
        file.write(b"\xff\xff\xff")
    found = shown(tfreel.verify("data.tfrecord"))
    assert "damaged: 1 fault" in found.text
    assert "checksum mismatch" in found.text


def test_comparisons_and_leaks_are_shown_with_hostile_names_as_text() -> None:
    save([{HOSTILE: HOSTILE, "id": i} for i in range(3)])
    save([{HOSTILE: "other", "id": 0}, {HOSTILE: HOSTILE, "id": 1}], "other.tfrecord")
    found = shown(tfreel.profile.diff("data.tfrecord", "other.tfrecord"))
    assert "1 equal, 1 changed, 1 removed" in found.text
    assert "<script>" in found.text
    leaks = shown(tfreel.profile.leaks("data.tfrecord", "other.tfrecord", features=[HOSTILE]))
    assert "tfreel.profile.Leaks: found" in leaks.text
    assert "data: data.tfrecord: record 1" in leaks.text


def test_hostile_content_and_names_are_text_and_nothing_else() -> None:
    rows = [{HOSTILE: HOSTILE, "b": b"<svg onload=alert(3)>", "n" + HOSTILE: [HOSTILE] * 9}] * 2
    path = save(rows, HOSTILE.replace("/", "_") + ".tfrecord")
    records = tfreel.open(path)
    for thing in (records, tfreel.Dataset(path), next(iter(tfreel.Dataset(path).batch(2)))):
        found = shown(thing)
        assert "<script>alert(1)</script>" in found.text  # as text
        assert found.pictures == []
    with open(path, "r+b") as file:
        file.seek(20)
        file.write(b"\xff\xff\xff")
    assert "onerror" in shown(tfreel.verify(path)).text


def test_a_picture_with_a_script_in_it_comes_out_as_pixels_alone() -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("comment", "<script>alert(1)</script>")
    value = png(pnginfo=info) + b"<script>alert(2)</script>"
    found = shown(tfreel.open(save([{"image": value}])))
    (picture,) = found.pictures
    assert b"script" not in picture
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    assert shown_of_bytes(svg).pictures == []


def shown_of_bytes(value: bytes) -> Checker:
    with tfreel.Writer("raw.tfrecord", mode="w") as out:
        out.write(value)
    return Checker(tfreel.open("raw.tfrecord")._repr_html_())


@pytest.mark.parametrize(
    "value", [b"", b"\x00" * 500, b"\xff\xd8\xff broken", "ü".encode() * 500, b"\n" * 100, b"a\tb"]
)
def test_any_record_is_shown(value: bytes) -> None:
    shown_of_bytes(value)


def test_bytes_are_text_where_they_are_and_else_counted() -> None:
    cells = markup.Cells()
    assert cells.cell("grüße".encode()) == "grüße"
    assert cells.cell(b"\xff\xfe") == "2 bytes"
    assert cells.cell(b"\x00\x01") == "2 bytes"
    assert cells.cell(b"x" * 59 + "ü".encode() * 500).endswith("x…")
    assert cells.cell(bytes(1000)) == "1,000 bytes"
    assert html.unescape(cells.cell("a" * 100)) == "a" * 59 + "…"


def test_pictures_are_few_small_and_only_of_what_can_be_decoded() -> None:
    rows = [{f"image{i:02d}": png(400, 300) for i in range(10)}] * 3
    found = shown(tfreel.open(save(rows)))
    assert len(found.pictures) == 12
    assert Image.open(io.BytesIO(found.pictures[0])).size == (96, 72)
    huge = bytearray(png())
    huge[16:24] = (1 << 20).to_bytes(4, "big") * 2
    assert thumbnail(bytes(huge)) is None
    assert thumbnail(png()[:40]) is None
    assert thumbnail("text") is None


def test_many_columns_and_files_are_cut_short() -> None:
    save([{f"f{i:03d}": i for i in range(100)}])
    assert "… and 70 more columns" in shown(tfreel.open("data.tfrecord")).text
    for i in range(12):
        save([{"i": i}], f"part-{i}.tfrecord")
    assert "… and 2 more" in shown(tfreel.open("part-*.tfrecord")).text


def test_a_file_that_went_bad_is_told_not_raised() -> None:
    records, dataset = tfreel.open(save(ROWS)), tfreel.Dataset("data.tfrecord")
    Path("data.tfrecord").write_bytes(b"gone")
    for thing in (records, dataset):
        assert "changed" in shown(thing).text
    save([])
    assert "0 records" in shown(tfreel.open("data.tfrecord")).text


def test_looking_at_numbers_imports_no_image_library() -> None:
    import subprocess

    program = (
        "import sys, tfreel; tfreel.save('n.tfrecord', {'x': range(3)});"
        "tfreel.open('n.tfrecord')._repr_html_(); print('PIL' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
