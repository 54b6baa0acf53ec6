"""`tfreel.unpack` to files that other packages read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import tfreel

from unpack_rows import LEAST, MOST, ROWS, write_pets


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows.tfrecord"
    tfreel.save(path, ROWS)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_tables_of_arrow_come_back_bit_for_bit(source: Path, tmp_path: Path, suffix: str) -> None:
    tfreel.unpack(source, tmp_path / f"out.{suffix}")
    read = parquet.read_table if suffix == "parquet" else feather.read_table
    table = read(tmp_path / f"out.{suffix}")
    assert table["i"].to_pylist() == [LEAST, MOST, 0]
    assert table["f"].to_numpy().tobytes() == np.array([row["f"] for row in ROWS], np.float32).tobytes()
    assert table["many"].to_pylist() == [[1, 2], [], None]
    assert table["some"].to_pylist() == [5, None, None]
    assert table["raw"].to_pylist() == [b"\xff\0", b"", b"ok"]
    assert table["text"].to_pylist() == ['a,"b"\nc', "", " é"]
    assert table["words"].type == pa.list_(pa.string())


def test_one_schema_holds_for_all_batches(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"n": i, "text": "x" * 1000} for i in range(5000)]
    tfreel.save(tmp_path / "a.tfrecord", [*rows, {"n": 5000, "late": 2.5}])
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table["n"].to_pylist() == list(range(5001))
    assert table["late"].null_count == 5000
    assert table["text"].null_count == 1


def test_text_that_turns_out_to_be_none_is_binary(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"t": [b"text"] * 2000 + [b"\xff"]})
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a.arrow")
    assert feather.read_table(tmp_path / "a.arrow")["t"].to_pylist()[-2:] == [b"text", b"\xff"]


def test_no_records_and_interruptions(source: Path, tmp_path: Path) -> None:
    tfreel.save(tmp_path / "empty.tfrecord", [])
    report = tfreel.unpack(tmp_path / "empty.tfrecord", tmp_path / "empty.parquet")
    assert report.notes == ["the source has no records"]
    assert parquet.read_table(tmp_path / "empty.parquet").num_rows == 0

    def stop(records: int, nbytes: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tfreel.unpack(source, tmp_path / "out.parquet", progress=stop)
    assert sorted(os.listdir(tmp_path)) == ["empty.parquet", "empty.tfrecord", "rows.tfrecord"]


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    return write_pets(tmp_path / "pets.tfrecord")


# In a process of its own, as the package leaves its files open.
READ_SAMPLES = """
import json, sys, webdataset
for sample in webdataset.WebDataset(sys.argv[1], shardshuffle=False):
    picture = sample.get("jpg") or sample["png"]
    print(json.dumps([picture.hex(), int(sample["cls"]), json.loads(sample["json"])["image/class/label"]]))
"""


def test_the_package_webdataset_reads_it(pets: Path, tmp_path: Path) -> None:
    tfreel.unpack(pets, tmp_path / "pets.tar")
    command = [sys.executable, "-c", READ_SAMPLES, str(tmp_path / "pets.tar")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    originals = [tfreel.decode(record) for record in tfreel.read(pets)]
    assert [bytes.fromhex(sample[0]) for sample in samples] == [row["image/encoded"][0] for row in originals]
    assert [sample[1:] for sample in samples] == [[i % 2, i % 2] for i in range(8)]
