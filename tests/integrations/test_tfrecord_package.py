"""The ``tfrecord`` package reads our files, and our text index is the one its tool makes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import tfrecord
from corpus import RECORDS

import tfreel

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tfrecord_package_reads_our_files(tmp_path: Path) -> None:
    path = tmp_path / "ours.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    assert [bytes(record) for record in tfrecord.reader.tfrecord_iterator(str(path))] == RECORDS


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
