"""What adapters do without their frameworks: say what is missing, and stay out of the way."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys

import pytest

import tfreel
from tfreel.adapters import grain

FRAMEWORKS = ["torch", "jax", "keras", "grain", "polars", "duckdb", "datasets"]

HIDDEN = """
import sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
try:
    __import__(f"tfreel.adapters.{sys.argv[1]}")
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["torch", "jax", "keras", "polars", "duckdb"])
def test_a_missing_framework_is_named_with_the_way_to_get_it(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", HIDDEN, name], capture_output=True, text=True, check=True)
    assert f"tfreel.adapters.{name} needs " in done.stdout
    assert f"pip install 'tfreel[{name}]'" in done.stdout


def test_missing_spark_is_named_with_the_way_to_get_it() -> None:
    program = HIDDEN.replace("sys.modules[sys.argv[1]]", "sys.modules['pyspark']")
    done = subprocess.run(
        [sys.executable, "-c", program, "spark"], capture_output=True, text=True, check=True
    )
    assert "tfreel.adapters.spark needs PySpark 4.1 or newer" in done.stdout
    assert "pip install 'tfreel[spark]'" in done.stdout


def test_nothing_brings_a_framework_in_that_was_not_asked_for() -> None:
    program = "import json, sys, tfreel, tfreel.adapters.grain; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(FRAMEWORKS) & set(json.loads(done.stdout))


def test_an_adapter_is_there_under_the_name_that_the_pages_give_it() -> None:
    program = "import tfreel; print(tfreel.adapters.grain.Source.__name__, hasattr(tfreel.adapters, 'nope'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Source False\n"


def test_the_examples_run() -> None:
    assert doctest.testmod(grain, extraglobs={"tfreel": tfreel}).failed == 0


def test_rows_of_a_source_are_plain_and_batches_hold_everything() -> None:
    tfreel.save("r.tfrecord", [{"v": list(range(i)), "s": ["a\0"] * i, "n": i} for i in range(1, 4)])
    source = grain.Source(tfreel.Dataset("r.tfrecord"))
    batch = grain.collate(source._getitems([0, 1, 2]))
    assert batch["n"].tolist() == [1, 2, 3]
    assert [row.tolist() for row in batch["v"]] == [[0], [0, 1], [0, 1, 2]]
    assert [row.tolist() for row in batch["s"]] == [[b"a\0"] * i for i in (1, 2, 3)]
