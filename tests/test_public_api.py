"""The front door: what is public, and what importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import tfreel

PROGRAM = """
import json, sys, threading
import numpy
before = set(sys.modules)
import tfreel
new = sorted({name.partition(".")[0] for name in set(sys.modules) - before})
print(json.dumps({"new": new, "threads": threading.active_count()}))
"""


def test_everything_public_is_listed_and_nothing_else() -> None:
    public = {
        name for name, value in vars(tfreel).items() if not name.startswith("_") and not _is_module(value)
    }
    from tfreel import dataset, packing, scans, unpacking, viewer
    from tfreel.examples import messages

    # Datasets, scans, packing, unpacking, the viewer and messages come when asked for, protobuf with these.
    lazy = {
        name: getattr(room, name)
        for room in (dataset, messages, packing, scans, unpacking, viewer)
        for name in tfreel.__all__
        if isinstance(getattr(room, name, None), type) or name in getattr(room, "__all__", ())
    }
    assert len(lazy) == 19
    assert all(getattr(tfreel, name) is found for name, found in lazy.items())
    assert public | set(lazy) == set(tfreel.__all__)


def test_rooms_open_when_they_are_asked_for() -> None:
    from tfreel import images, profile

    assert tfreel.images is images
    assert tfreel.profile is profile


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(tfreel, "Exampel")


def _is_module(value: object) -> bool:
    return type(value).__name__ == "module"


def test_importing_loads_nothing_heavy_and_starts_no_thread() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    heavy = {
        "click",
        "rich",
        "isal",
        "rapidgzip",
        "tensorflow",
        "google",
        "PIL",
        "simplejpeg",
        "pyarrow",
        "starlette",
        "uvicorn",
        "asyncio",
        "concurrent",
    }
    assert heavy.isdisjoint(found["new"])
    assert found["threads"] == 1


def test_public_classes_say_where_they_live() -> None:
    assert tfreel.Reader.__module__.startswith("tfreel.records")


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert tfreel.__version__ == version("tfreel")
