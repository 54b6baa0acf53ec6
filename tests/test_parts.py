"""Large files are read at several places at once: the result must be that of reading from the beginning."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel
from tfreel.index.build import scan
from tfreel.records import parts
from tfreel.records.frames import ReadOptions
from tfreel.threads import ALONE, Turn

from corpus import frames, offsets, write_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_SMALLEST_PART", 1000)
    monkeypatch.setattr(parts, "_SEARCH_BYTES", 50_000)


def make_records(seed: int, count: int = 300) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(rng.choice((0, 3, 40, 500, 3000))) for _ in range(count)]


def visited(path: Path, threads: int) -> Any:
    return parts.visit_in_parts(
        str(path), lambda block: block.to_list(), ReadOptions(), turn=Turn(threads), progress=None
    )


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("seed", range(10))
def test_parts_together_are_the_file(tmp_path: Path, seed: int, threads: int) -> None:
    records = make_records(seed)
    path = write_file(tmp_path / "a", records)
    found = visited(path, threads)
    assert found is not None
    assert [record for block in found for record in block] == records
    assert len(found) >= threads


def test_report_and_index_are_those_of_one_thread(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", make_records(1))
    assert tfreel.verify(path, threads=4) == tfreel.verify(path, threads=1)
    one, many = scan(str(path), turn=ALONE), scan(str(path), turn=Turn(4))
    assert one.to_bytes() == many.to_bytes()
    assert np.array_equal(many.offsets, offsets(make_records(1))[:-1])


def test_every_kind_of_damage_is_reported_as_by_one_thread(tmp_path: Path) -> None:
    records = make_records(2, 60)
    sound = frames(records)
    path = tmp_path / "a"
    rng = random.Random(0)
    for place in [0, len(sound) // 2, len(sound) - 1, *rng.sample(range(len(sound)), 60)]:
        for damaged in (sound[:place], sound[:place] + bytes([sound[place] ^ 4]) + sound[place + 1 :]):
            path.write_bytes(damaged)
            assert tfreel.verify(path, threads=4) == tfreel.verify(path, threads=1), place


def test_records_inside_of_records_deceive_nobody(tmp_path: Path) -> None:
    inner = frames([b"inner"] * 400)
    records = [inner] * 6
    path = write_file(tmp_path / "a", records)
    assert visited(path, 4) is None  # the search stops at an inner record
    told: list[tuple[int, int]] = []
    report = tfreel.verify(path, threads=4, progress=lambda *more: told.append(more))
    assert (report.ok, report.records) == (True, 6)
    assert (sum(n for n, _ in told), sum(size for _, size in told)) == (6, path.stat().st_size)


def test_zeros_and_foreign_files_are_left_to_the_plain_way(tmp_path: Path) -> None:
    for content in (bytes(50_000), b"<html>" * 10_000):
        path = tmp_path / "a"
        path.write_bytes(content)
        assert visited(path, 4) is None
        assert tfreel.verify(path, threads=4) == tfreel.verify(path, threads=1)


def test_compressed_and_small_files_and_single_threads_are_not_parted(tmp_path: Path) -> None:
    assert visited(write_file(tmp_path / "a.gz", make_records(3), "gzip"), 4) is None
    assert visited(write_file(tmp_path / "a", [b"x" * 800]), 4) is None
    assert visited(write_file(tmp_path / "b", make_records(3)), 1) is None


def test_a_file_that_changes_meanwhile_is_left_to_the_plain_way(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", make_records(4))

    def visit(block: Any) -> None:
        with path.open("ab") as file:
            file.write(b"x")

    assert parts.visit_in_parts(str(path), visit, ReadOptions(), turn=Turn(2), progress=None) is None


def test_an_error_of_the_visitor_ends_all_parts(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", make_records(5))

    def visit(block: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        parts.visit_in_parts(str(path), visit, ReadOptions(), turn=Turn(3), progress=None)
