"""The front door: what is public, and what importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import tfreel

PROGRAM = """
import json, sys, threading
before = set(sys.modules)
import tfreel
{use}
new = sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})
print(json.dumps({{"new": new, "threads": threading.active_count()}}))
"""
HEAVY = {
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


def test_everything_public_is_listed_and_nothing_else() -> None:
    names: dict[str, object] = {}
    exec("from tfreel import *", names)
    assert names.keys() - {"__builtins__"} == set(tfreel.__all__)
    public = {
        name for name, value in vars(tfreel).items() if not name.startswith("_") and not _is_module(value)
    }
    assert public == set(tfreel.__all__)  # now that all of them were asked for
    assert sorted(name for names in tfreel._ROOMS.values() for name in names) == sorted(tfreel.__all__)


@pytest.mark.parametrize("name", tfreel.__all__)
def test_a_public_name_is_what_its_room_has_and_is_looked_up_once(name: str) -> None:
    found = getattr(tfreel, name)
    assert found is getattr(sys.modules[tfreel._PLACES[name]], name)
    assert vars(tfreel)[name] is found
    assert name in dir(tfreel)


def test_rooms_open_when_they_are_asked_for() -> None:
    from tfreel import images, profile

    assert tfreel.images is images
    assert tfreel.profile is profile


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(tfreel, "Exampel")


def _is_module(value: object) -> bool:
    return type(value).__name__ == "module"


def after(use: str) -> dict[str, Any]:
    """What is there in a fresh process that has imported tfreel and used something of it."""
    program = PROGRAM.format(use=use)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_importing_loads_nothing_heavy_not_even_numpy_and_starts_no_thread() -> None:
    found = after("")
    assert (HEAVY | {"numpy", "ctypes", "json", "inspect"}).isdisjoint(found["new"])
    assert found["threads"] == 1


def test_reading_writing_and_parsing_load_nothing_heavy_but_numpy() -> None:
    found = after("tfreel.read, tfreel.Writer, tfreel.open, tfreel.encode, tfreel.parse, tfreel.load")
    assert "numpy" in found["new"]
    assert HEAVY.isdisjoint(found["new"])
    assert found["threads"] == 1


def test_errors_can_be_caught_without_numpy() -> None:
    assert "numpy" not in after("tfreel.TfreelError, tfreel.CorruptError")["new"]


def test_public_classes_say_where_they_live() -> None:
    assert tfreel.Reader.__module__.startswith("tfreel.records")


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert tfreel.__version__ == version("tfreel")
