"""The ``tfrecord`` package reads our files, and our text index is the one its tool makes.

It runs in a process of its own: its message classes and TensorFlow's cannot live in one.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import tfreel

from corpus import RECORDS

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tfrecord_package_reads_our_files(tmp_path: Path) -> None:
    path = tmp_path / "ours.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    program = (
        "import sys; from tfrecord.reader import tfrecord_iterator\n"
        "for record in tfrecord_iterator(sys.argv[1]): print(bytes(record).hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    )
    assert [bytes.fromhex(line) for line in done.stdout.split("\n")[:-1]] == RECORDS


def test_our_text_index_equals_the_one_of_its_tool(tmp_path: Path) -> None:
    path = tmp_path / "ours.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    theirs = tmp_path / "theirs.idx"
    subprocess.run([sys.executable, "-m", "tfrecord.tools.tfrecord2idx", str(path), str(theirs)], check=True)
    (ours,) = tfreel.build_index(path, format="text")
    with open(ours) as a, open(theirs) as b:
        assert a.read() == b.read()
    theirs.rename(ours)
    assert list(tfreel.open(path, index="text")) == RECORDS
