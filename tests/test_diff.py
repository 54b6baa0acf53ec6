"""Two sets of records compared: in order, as sets, feature by feature, however they are stored."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from tfreel.profile import Difference, alignment, diff, groups, walk


def rows(count: int) -> list[dict[str, Any]]:
    return [{"id": i, "label": i % 3, "name": f"cat {i}"} for i in range(count)]


def write(path: str, records: list[Any], **options: Any) -> str:
    with tfreel.Writer(path, mode="w", **options) as out:
        for record in records:
            out.write(record)
    return path


def kinds(found: Difference) -> list[str]:
    return [change.kind for change in found.changes]


def counts(found: Difference) -> tuple[int, int, int, int, int]:
    return found.equal, found.changed, found.removed, found.added, found.moved


# In order ---------------------------------------------------------------------------------------------------


def test_the_same_records_are_the_same_in_other_files_and_compression() -> None:
    write("a.tfrecord", rows(100))
    with tfreel.ShardedWriter("b.tfrecord.gz", shards=3) as out:
        out.write_many(tfreel.read("a.tfrecord"))
    spread = write("c.tfrecord", list(tfreel.read("b.tfrecord.gz")))
    assert diff(spread, "b.tfrecord.gz").same
    one_by_one = diff(spread, ["b-00000-of-00003.tfrecord.gz", "b-00001-of-00003.tfrecord.gz"])
    assert one_by_one.removed == 100 - len(tfreel.open("b-0000[01]-of-00003.tfrecord.gz"))


def test_a_changed_feature_is_named_with_both_values_and_places() -> None:
    new = rows(10)
    new[4] = {"id": 4, "label": 99, "name": "cat 4"}
    found = diff(write("a.tfrecord", rows(10)), write("b.tfrecord", new))
    assert counts(found) == (9, 1, 0, 0, 0)
    (change,) = found.changes
    assert (change.kind, str(change.old), str(change.new)) == (
        "changed",
        "a.tfrecord: record 4",
        "b.tfrecord: record 4",
    )
    assert [(f.feature, f.old, f.new) for f in change.features] == [("label", "1", "99")]
    assert found.features == {"label": 1}
    assert bool(found)


def test_a_feature_that_is_absent_empty_or_of_no_kind_differs_from_one_that_is_there() -> None:
    whole = {"id": 7, "x": [1.5]}
    kindless = tfreel.Example.FromString(tfreel.encode({"id": 7}))
    kindless.features.feature["x"].SetInParent()
    for other, new in (
        ({"id": 7}, None),
        ({"id": 7, "x": np.empty(0, np.float32)}, "[]"),
        (kindless, "[]"),
        ({"id": 7, "x": [1]}, "1"),
    ):
        found = diff(write("a.tfrecord", [whole]), write("b.tfrecord", [other]))
        (feature,) = found.changes[0].features
        assert (feature.feature, feature.old, feature.new) == ("x", "1.5", new)


def test_one_inserted_record_does_not_make_all_later_ones_differ() -> None:
    new = rows(1000)
    new.insert(300, {"id": -1, "label": 0, "name": "new"})
    found = diff(write("a.tfrecord", rows(1000)), write("b.tfrecord", new))
    assert counts(found) == (1000, 0, 0, 1, 0)
    assert found.changes[0].new is not None
    assert found.changes[0].new.record == 300
    assert found.changes[0].content == "id: -1, label: 0, name: new"


def test_removed_changed_and_added_records_are_told_apart_side_by_side() -> None:
    old, new = rows(50), rows(50)
    new[20:23] = [{"id": 21, "label": 77, "name": "cat 21"}]  # 20 and 22 are gone, 21 has another label
    new.insert(40, {"id": -5, "label": 0, "name": "x"})
    found = diff(write("a.tfrecord", old), write("b.tfrecord", new))
    assert counts(found) == (47, 1, 2, 1, 0)
    assert kinds(found) == ["removed", "changed", "removed", "added"]


def test_moved_records_are_neither_removed_nor_changed() -> None:
    new = rows(100)
    new.insert(90, new.pop(10))
    found = diff(write("a.tfrecord", rows(100)), write("b.tfrecord", new))
    assert counts(found) == (99, 0, 0, 0, 1)
    assert found.reordered
    assert not found.same


def test_another_order_is_told_as_such_also_beyond_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_FIRST_WINDOW", 8)
    monkeypatch.setattr(walk, "_LARGEST_WINDOW", 64)
    new = rows(2000)
    random.Random(3).shuffle(new)
    found = diff(write("a.tfrecord", rows(2000)), write("b.tfrecord", new))
    assert found.reordered
    assert found.equal + found.moved == 2000
    assert diff("a.tfrecord", "b.tfrecord", unordered=True).same


def test_records_that_are_all_the_same_are_counted() -> None:
    same = [b"same"] * 5000
    found = diff(write("a.tfrecord", same), write("b.tfrecord", [b"new", *same[:-7]]))
    assert found.records_a == 5000
    assert found.records_b == 4994
    assert found.equal + found.changed + found.removed == 5000
    assert found.equal + found.changed + found.added == 4994
    assert found.equal >= 4992


def test_a_large_insertion_grows_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_FIRST_WINDOW", 8)
    new = rows(3000)
    new[100:100] = [{"id": 10_000 + i} for i in range(700)]
    found = diff(write("a.tfrecord", rows(3000)), write("b.tfrecord", new))
    assert counts(found) == (3000, 0, 0, 700, 0)


def test_all_records_changed_and_one_inserted_are_still_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_FIRST_WINDOW", 16)
    monkeypatch.setattr(walk, "_LARGEST_WINDOW", 128)
    new = [{**row, "label": row["label"] + 100} for row in rows(1000)]
    new.insert(200, {"id": -1, "label": 0, "name": "new"})
    found = diff(write("a.tfrecord", rows(1000)), write("b.tfrecord", new))
    assert counts(found) == (0, 1000, 0, 1, 0)
    assert found.features == {"label": 1000}


def test_changes_are_listed_up_to_a_limit_and_all_counted() -> None:
    new = [{**row, "label": 9} for row in rows(500)]
    found = diff(write("a.tfrecord", rows(500)), write("b.tfrecord", new), limit=3)
    assert len(found.changes) == 3
    assert found.changed == 500
    assert diff("a.tfrecord", "b.tfrecord", limit=0).changes == []
    with pytest.raises(ValueError, match="limit"):
        diff("a.tfrecord", "b.tfrecord", limit=-1)


def test_empty_sets_compare() -> None:
    write("none.tfrecord", [])
    assert diff("none.tfrecord", "none.tfrecord").same
    assert diff("none.tfrecord", "none.tfrecord", unordered=True).same
    assert counts(diff("none.tfrecord", write("a.tfrecord", rows(2)))) == (0, 0, 0, 2, 0)
    assert counts(diff("a.tfrecord", "none.tfrecord", unordered=True)) == (0, 0, 2, 0, 0)
    assert diff([], "none.tfrecord").same


def test_the_end_of_one_side_is_found_at_any_length() -> None:
    for cut in (0, 1, 255, 256, 257, 600):
        found = diff(write("a.tfrecord", rows(600)), write("b.tfrecord", rows(cut)))
        assert counts(found) == (cut, 0, 600 - cut, 0, 0)


SMALL = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=12)


@settings(deadline=None)
@given(old=SMALL, new=SMALL)
def test_counts_add_up_for_any_two_rows_of_records(
    tmp_path_factory: pytest.TempPathFactory, old: list[bytes], new: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("diff")
    a, b = write(f"{folder}/a.tfrecord", old), write(f"{folder}/b.tfrecord", new)
    found = diff(a, b)
    assert found.same == (old == new)
    assert found.equal + found.changed + found.removed + found.moved == len(old) == found.records_a
    assert found.equal + found.changed + found.added + found.moved == len(new) == found.records_b
    assert found.reordered == (old != new and sorted(old) == sorted(new))
    as_sets = diff(a, b, unordered=True)
    assert as_sets.same == (sorted(old) == sorted(new))
    assert as_sets.equal == sum(min(old.count(x), new.count(x)) for x in set(old))


def test_the_alignment_is_as_long_as_can_be() -> None:
    generator = random.Random(5)
    for _ in range(50):
        a = generator.sample(range(20), 12)
        b = generator.sample(range(20), 12)
        found = alignment.align(*(np.array([[x, 0] for x in side], np.uint64) for side in (a, b)))
        assert len(found.a) == longest_common(a, b)
        assert [a[i] for i in found.a] == [b[j] for j in found.b]


def longest_common(a: list[int], b: list[int]) -> int:
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            best[i + 1][j + 1] = best[i][j] + 1 if x == y else max(best[i][j + 1], best[i + 1][j])
    return best[-1][-1]


# Content against bytes --------------------------------------------------------------------------------------


def reordered(row: dict[str, Any]) -> bytes:
    """The Example with its features the other way round, as another writer would have written them."""
    entries = []
    for name, value in reversed(row.items()):
        entries.append(tfreel.encode({name: value})[2:])
    body = b"".join(entries)
    assert len(body) < 128
    return b"\n" + bytes([len(body)]) + body


def test_examples_with_features_in_another_order_are_the_same_unless_bytes_count() -> None:
    row = {"id": 1, "label": 2, "name": "x"}
    a, b = write("a.tfrecord", [row] * 3), write("b.tfrecord", [reordered(row)] * 3)
    found = diff(a, b)
    assert found.same
    assert found.reencoded == 3
    assert diff(a, b, unordered=True).same
    exact = diff(a, b, exact=True)
    assert not exact.same
    assert not diff(a, b, exact=True, unordered=True).same


def test_numbers_are_equal_by_their_bits() -> None:
    nan = struct.unpack("<f", struct.pack("<I", 0x7FC00001))[0]
    a = write("a.tfrecord", [{"x": float("nan"), "i": 1}, {"x": nan}, {"x": 0.0}])
    assert diff(a, a).same
    found = diff(a, write("b.tfrecord", [{"i": 1, "x": float("nan")}, {"x": nan}, {"x": -0.0}]))
    assert counts(found) == (2, 1, 0, 0, 0)


def test_records_that_are_no_examples_are_compared_by_bytes() -> None:
    found = diff(write("a.tfrecord", [b"one", b"two"]), write("b.tfrecord", [b"one", b"twelve"]))
    (feature,) = found.changes[0].features
    assert (feature.feature, feature.old, feature.new, feature.note) == (
        None,
        "two",
        "twelve",
        "from byte 2 on",
    )


def test_an_unknown_field_alone_is_a_difference() -> None:
    assert not diff(write("a.tfrecord", [b"\x18\x07"]), write("b.tfrecord", [b"\x18\x08"])).same


def test_notes_say_where_long_values_differ() -> None:
    picture = bytes(range(200, 256)) * 10
    old = {"x": [0.5] * 100, "b": picture, "t": tfreel.tensor(np.zeros((4, 5), np.uint8)), "n": [1] * 9}
    new = {
        "x": [0.5] * 60 + [0.25] * 40,
        "b": picture[:77] + b"!" + picture[78:],
        "t": tfreel.tensor(np.eye(4, 5, dtype=np.uint8)),
        "n": [1] * 8,
    }
    found = diff(write("a.tfrecord", [old]), write("b.tfrecord", [new]))
    notes = {f.feature: f.note for f in found.changes[0].features}
    assert notes == {
        "x": "40 of 100 values, from 60 on",
        "b": "from byte 77 on",
        "t": "4 of 20 values, from 0 on",
        "n": "9 and 8 values",
    }


def test_feature_lists_are_compared_step_by_step() -> None:
    a = write("a.tfrecord", [tfreel.encode_sequence({"id": 1}, {"s": [[1, 2], [3]]})])
    b = write("b.tfrecord", [tfreel.encode_sequence({"id": 1}, {"s": [[1, 2], [4]]})])
    (feature,) = diff(a, b).changes[0].features
    assert (feature.feature, feature.note) == ("s", "from step 1 on")


# As sets ----------------------------------------------------------------------------------------------------


def test_sets_are_compared_by_how_often_each_record_is_there() -> None:
    a, b = write("a.tfrecord", [b"x", b"y", b"x"]), write("b.tfrecord", [b"y", b"x", b"z", b"z"])
    found = diff(a, b, unordered=True)
    assert counts(found) == (2, 0, 1, 2, 0)
    assert sorted(change.content for change in found.changes) == ["x", "z", "z"]


def test_in_sets_a_changed_record_is_found_by_a_feature_that_tells_it() -> None:
    new = rows(300)
    random.Random(1).shuffle(new)
    place = next(i for i, row in enumerate(new) if row["id"] == 7)
    new[place] = {**new[place], "label": 42}
    del new[0 if place else 1]
    found = diff(write("a.tfrecord", rows(300)), write("b.tfrecord", new), unordered=True)
    assert counts(found) == (298, 1, 1, 0, 0)
    changed = next(change for change in found.changes if change.kind == "changed")
    assert changed.old is not None
    assert changed.old.record == 7
    assert [(f.feature, f.new) for f in changed.features] == [("label", "42")]


def test_sets_larger_than_memory_are_compared_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(groups, "_MOST_IN_MEMORY", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    spills = []
    spill = groups.Groups._spill
    monkeypatch.setattr(groups.Groups, "_spill", lambda self: (spills.append(self._count), spill(self))[1])
    new = rows(20_000)
    random.Random(2).shuffle(new)
    new[5] = {"id": 123_456}
    a = write("a.tfrecord", rows(20_000))
    found = diff(a, write("b.tfrecord.gz", new), unordered=True)
    assert counts(found) == (19_999, 0, 1, 1, 0)
    assert len(spills) > 2
    assert list(scratch.iterdir()) == []  # and nothing is left behind


def test_the_folder_on_the_disk_goes_when_the_comparison_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_MOST_IN_MEMORY", 10)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    write("a.tfrecord", rows(5000))
    with open("a.tfrecord", "r+b") as file:
        file.truncate(os.path.getsize("a.tfrecord") - 3)
    with pytest.raises(tfreel.TruncatedError):
        diff("a.tfrecord", "a.tfrecord", unordered=True)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_stream_is_compared_in_order_but_not_as_a_set() -> None:
    a = write("a.tfrecord", rows(20))
    with open(a, "rb") as stream:
        assert diff(stream, a).same
    with open(a, "rb") as stream, pytest.raises(ValueError, match="twice"):
        diff(stream, a, unordered=True)


# Bad input --------------------------------------------------------------------------------------------------


def damaged(path: str, offset: int) -> str:
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 0xFF]))
    return path


@pytest.mark.parametrize("unordered", [False, True])
def test_damage_is_an_error_or_passed_over_and_told(unordered: bool) -> None:
    a = write("a.tfrecord", rows(100))
    b = damaged(write("b.tfrecord", rows(100)), int(tfreel.open(a)._indexes[0].offsets[50]) + 15)
    with pytest.raises(tfreel.ChecksumError, match="record 50"):
        diff(a, b, unordered=unordered)
    found = diff(a, b, unordered=unordered, on_corrupt="skip")
    assert counts(found) == (99, 0, 1, 0, 0)
    assert [fault.record for fault in found.faults] == [50]
    assert found.changes[0].old is not None
    assert found.changes[0].old.record == 50


def test_hostile_content_is_compared_without_harm() -> None:
    nasty = [
        {"\x1b[31m<script>": "\x00\x1b]0;x\x07", "a" * 5000: [1]},
        b"\x0a\xff\xff\xff\xff\x0f",
        b"",
        b"\n" * 300,
        {f"f{i}": i for i in range(2000)},
    ]
    a = write("a.tfrecord", nasty)
    b = write("b.tfrecord", [{"x": 1}, *nasty[1:3], b"\n" * 299, {f"f{i}": i + 1 for i in range(2000)}])
    found = diff(a, b)
    assert found.equal == 2
    assert found.changed == 3
    json.dumps(found.to_dict())
    done = tfreel_diff("--table", a, b)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


def test_a_missing_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.tfrecord"):
        diff("no.tfrecord", "no.tfrecord")


# Folders and the shell --------------------------------------------------------------------------------------


def test_folders_are_the_files_of_records_in_them() -> None:
    os.makedirs("old")
    os.makedirs("new")
    os.makedirs("empty")
    write("old/part-2.tfrecord", rows(5))
    write("old/part-10.tfrecord", rows(3))
    Path("old/README.md").write_text("not records")
    tfreel.build_index("old/part-2.tfrecord")
    write("new/all.tfrecord.gz", [*rows(5), *rows(3)])
    assert diff("old", "new/").same
    with pytest.raises(FileNotFoundError, match="no files of records"):
        diff("empty", "new")


def tfreel_diff(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tfreel", "diff", *arguments], capture_output=True, text=True, check=False
    )


def test_the_command_says_what_differs_and_exits_with_1() -> None:
    new = rows(10)
    new[4] = {"id": 4, "label": 99}
    a, b = write("a.tfrecord", rows(10)), write("b.tfrecord", new)
    done = tfreel_diff("--table", a, b)
    assert done.returncode == 1, done.stderr
    assert "different: 10 and 10 records; 9 equal, 1 changed" in done.stdout
    assert "changed features: label in 1, name in 1" in done.stdout
    assert "absent" in done.stdout
    found = json.loads(tfreel_diff(a, b).stdout)
    assert found["changes"][0]["new"] == {"path": "b.tfrecord", "record": 4}
    lines = tfreel_diff("--csv", a, b).stdout.splitlines()
    assert lines[0].startswith("kind,old_path,old_record")
    assert lines[1] == "changed,a.tfrecord,4,b.tfrecord,4,label,1,99,"
    same = tfreel_diff("--table", a, a)
    assert (same.returncode, same.stdout) == (0, "the same: 10 records\n")


def test_the_command_tells_other_orders_limits_and_bytes() -> None:
    a = write("a.tfrecord", rows(50))
    b = write("b.tfrecord", rows(50)[::-1])
    assert "the same records in another order" in tfreel_diff("--table", "-n", "2", a, b).stdout
    assert "more changes" in tfreel_diff("--table", "-n", "2", a, b).stdout
    assert tfreel_diff("--unordered", a, b).returncode == 0
    row = {"id": 1, "label": 2}
    c, d = write("c.tfrecord", [row]), write("d.tfrecord", [reordered(row)])
    assert "1 of them in other bytes" in tfreel_diff("--table", c, d).stdout
    assert tfreel_diff("--exact", c, d).returncode == 1
    assert tfreel_diff(a, "nowhere.tfrecord").returncode == 2


def test_digests_that_agree_in_one_half_are_kept_apart() -> None:
    for most in (100, 1):
        with groups.Groups(most) as found:
            entries = np.zeros(6, groups.ENTRY)
            entries["digest"] = [(7, 2), (7, 1), (7, 2), (5, 9), (7, 1), (7, 2)]
            entries["record"] = range(6)
            found.add(entries[:4])
            found.add(entries[4:])
            parts = np.concatenate(list(found.sorted_parts()))
        assert parts["record"].tolist() == [3, 1, 4, 0, 2, 5]
        assert groups.runs_of(parts).tolist() == [0, 1, 3, 6]
    assert groups.runs_of(parts[:0]).tolist() == [0]
