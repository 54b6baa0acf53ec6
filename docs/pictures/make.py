"""Makes the pictures of the viewer that the documentation shows, of data that it draws: `make pictures`.

The data sets and the browser are those of the tests.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser

import tfreel

from browsing import PHONE, Guest, chromium
from exhibits import damaged
from streets import coco_folder, streets

HERE = Path(__file__).parent
MOST_BYTES = 150_000
# Name, data, address, and how the browser is set up.
PICTURES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("overview", "streets", "overview", {}),
    ("table", "streets", 'table?where=image/object/class/text+%3D+"dog"', {}),
    ("gallery", "streets", "gallery", {}),
    ("record", "streets", "record/7", {}),
    ("dark", "damaged", "overview", {"color_scheme": "dark"}),
    ("phone", "streets", "record/7", {"viewport": PHONE, "is_mobile": True, "has_touch": True}),
]


def make(root: Path) -> None:
    """Draws, packs, looks, and keeps what is to be seen."""
    source = coco_folder(root / "source", list(streets(200)))
    split = {"train": 0.8, "val": 0.1, "test": 0.1}
    tfreel.pack(source, root / "streets", instance_masks=True, split=split, shards=4)
    paths = {"streets": root / "streets", "damaged": damaged(root)}
    with chromium() as browser:
        for name, data, view, options in PICTURES:
            with tfreel.view(paths[data]) as viewer:
                path = HERE / f"viewer-{name}.png"
                path.write_bytes(small(shot(browser, viewer, view, options)))
            print(f"{path.name}: {path.stat().st_size:,} bytes")


def shot(browser: Browser, viewer: tfreel.Viewer, view: str, options: dict[str, Any]) -> bytes:
    """A view, when everything in it has come."""
    guest = Guest(browser, viewer, **options).enter(view)
    guest.settle()
    guest.page.evaluate("document.activeElement.blur()")
    taken = guest.page.screenshot()
    guest.context.close()
    if guest.problems:
        raise ValueError(f"{view}: {guest.problems}")
    return taken


def small(picture: bytes) -> bytes:
    """The same with so few colours that it is small enough; which is hardly to be seen."""
    with Image.open(io.BytesIO(picture)) as image:
        for colors in (256, 128, 64):
            out = io.BytesIO()
            few = image.convert("RGB").quantize(colors, kmeans=1, dither=Image.Dither.NONE)
            few.save(out, "PNG", optimize=True)
            if out.tell() <= MOST_BYTES:
                return out.getvalue()
    raise ValueError(f"{out.tell():,} bytes are too many")


def require_fonts() -> None:
    """The page has a button with Chinese words on it, which without such a font are empty boxes."""
    if not subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=True).stdout:
        sys.exit("the pictures need a Chinese font: make system, or apt-get install fonts-wqy-microhei")


if __name__ == "__main__":
    require_fonts()
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
