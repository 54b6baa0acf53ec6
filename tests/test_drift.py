"""`tfreel.profile.drift` and ``tfreel validate --against``: are these parts of data alike?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfreel
from test_cli import run
from tfreel import images
from tfreel.profile import Difference, FeatureRules, Schema, drift
from tfreel.profile.distances import divergence_of_counts


def saved(path: Path, examples: list[dict[str, Any]]) -> Path:
    with tfreel.Writer(path, mode="w") as out:
        out.write_many(examples)
    return path


def compared(tmp_path: Path, one: list[Any], other: list[Any], **options: Any) -> dict[str, Difference]:
    """What differs between values, by what it is; None is a record without one."""
    for name, values in (("one", one), ("other", other)):
        saved(tmp_path / name, [{"i": 1} if value is None else {"x": value, "i": 1} for value in values])
    parts = {"one": tmp_path / "one", "other": tmp_path / "other"}
    found = drift(parts, against="one", **options)
    return {difference.what: difference for difference in found.differences if difference.feature == "x"}


def test_the_same_data_is_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    found = compared(tmp_path, list(rng.normal(size=3000)), list(rng.normal(size=3000)))
    assert all(difference.ok for difference in found.values())
    assert found["values"].distance < 0.06


def test_a_shift_of_numbers_is_found_where_it_is_greatest(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    found = compared(tmp_path, list(rng.normal(size=3000)), list(rng.normal(size=3000) + 1))
    values = found["values"]
    assert (values.ok, values.measure) == (False, "kolmogorov_smirnov")
    assert values.distance == pytest.approx(0.383, abs=0.04)  # of two normal distributions one apart
    assert "are at most 0." in values.found


def test_classes_are_compared_by_their_shares(tmp_path: Path) -> None:
    found = compared(tmp_path, ["cat", "dog"] * 500, ["cat"] * 900 + ["cow"] * 100)
    assert (found["values"].measure, found["values"].ok) == ("l_infinity", False)
    assert (found["values"].distance, found["values"].found) == (0.5, "'dog': 0.0% against 50.0%")
    found = compared(tmp_path, [0, 1] * 500, [0] * 625 + [1] * 375)
    assert (found["values"].distance, found["values"].ok) == (0.125, False)
    assert found["values"].found == "0: 62.5% against 50.0%"


def test_few_records_prove_nothing(tmp_path: Path) -> None:
    assert compared(tmp_path, [0, 1] * 5, [1, 1, 1])["values"].ok
    assert not compared(tmp_path, [0, 1] * 500, [1] * 1000)["values"].ok


def test_presence_kinds_and_counts_are_compared(tmp_path: Path) -> None:
    found = compared(tmp_path, [1] * 1000, [1] * 500 + [None] * 500)
    assert (found["presence"].ok, found["presence"].found) == (False, "in 50.0% of records, against 100.0%")
    found = compared(tmp_path, [1], [1.5])
    assert (found["kinds"].ok, found["kinds"].found) == (False, "float32, against int64")
    found = compared(tmp_path, [[1]] * 1000, [[1, 1]] * 1000)
    assert (found["count"].ok, found["count"].distance) == (False, 1.0)
    found = compared(tmp_path, [None] * 1000, [1] * 1000)
    assert (list(found), found["presence"].ok) == (["presence"], False)


def test_bytes_are_compared_by_what_they_are_and_their_sizes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    noise = [rng.integers(0, 256, (8, 8, 3), np.uint8) for _ in range(1500)]
    png = [images.encode(pixels, "png") for pixels in noise]
    jpeg = [images.encode(pixels, "jpeg") for pixels in noise]
    found = compared(tmp_path, png, jpeg)
    assert (found["contents"].ok, found["contents"].distance) == (False, 1.0)
    assert "bytes, against" in found["values"].found


def test_rules_of_a_schema_are_kept_to_the_letter(tmp_path: Path) -> None:
    one, other = [0, 1] * 50, [0] * 52 + [1] * 48
    rules = FeatureRules(drift=0.01)
    assert compared(tmp_path, one, other)["values"].ok
    assert not compared(tmp_path, one, other, schema=Schema({"x": rules}))["values"].ok
    strict = Schema({"x": FeatureRules(divergence=0.0001)})
    parts = {"one": tmp_path / "one", "other": tmp_path / "other"}
    (problem,) = drift(parts, against="one", schema=strict).problems
    assert (problem.what, problem.measure) == ("values", "jensen_shannon")


def test_the_divergence_is_that_of_the_books() -> None:
    assert divergence_of_counts({"a": 1}, {"b": 1}) == 1.0
    assert divergence_of_counts({"a": 3, "b": 1}, {"a": 300, "b": 100}) == 0.0
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])
    m = (p + q) / 2
    expected = (sum(a * np.log2(a / b) for a, b in zip(p, m, strict=True) if a) / 2) + (
        sum(a * np.log2(a / b) for a, b in zip(q, m, strict=True) if a) / 2
    )
    found = divergence_of_counts({"a": 2, "b": 2}, {"a": 1, "b": 1, "c": 2})
    assert found == pytest.approx(expected)


def test_feature_lists_are_compared(tmp_path: Path) -> None:
    for name, steps in (("one", 1), ("other", 3)):
        with tfreel.Writer(tmp_path / name) as out:
            out.write_many([tfreel.encode_sequence({}, {"t": [[1]] * steps})] * 500)
    found = drift({"one": tmp_path / "one", "other": tmp_path / "other"}, against="one")
    (problem,) = found.problems
    assert (problem.feature, problem.in_lists, problem.what, problem.distance) == ("t", True, "steps", 1.0)


def test_without_a_measure_each_part_is_held_against_all(tmp_path: Path) -> None:
    parts = {
        name: saved(tmp_path / name, [{"x": value}] * 1000) for name, value in (("a", 1), ("b", 1), ("c", 2))
    }
    found = drift(parts)
    assert [(one.part, one.against) for one in found.problems] == [
        ("c", "all together"),
        ("a", "all together"),
        ("b", "all together"),
    ]
    assert found.problems[0].distance == pytest.approx(2 / 3)
    assert found.parts == {"a": 1000, "b": 1000, "c": 1000}


def test_empty_parts_can_be_compared(tmp_path: Path) -> None:
    found = compared(tmp_path, [1] * 10, [])
    assert found["presence"].ok  # nobody knows
    assert json.loads(json.dumps(drift({"a": tmp_path / "other", "b": tmp_path / "other"}).to_dict()))["ok"]


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"x": 1}])
    with pytest.raises(TypeError, match=r"parts must be paths by name.* not str"):
        drift("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there must be two"):
        drift({"a": path})
    with pytest.raises(ValueError, match="there is no part 'c'; there are 'a', 'b'"):
        drift({"a": path, "b": path}, against="c")
    with pytest.raises(ValueError, match="threshold must be from 0 to 1"):
        drift({"a": path, "b": path}, threshold=2)


# The command ------------------------------------------------------------------------------------------------


def test_the_command_compares_versions(tmp_path: Path) -> None:
    old = saved(tmp_path / "old.tfrecord", [{"label": i % 2} for i in range(1000)])
    new = saved(tmp_path / "new.tfrecord", [{"label": i % 4} for i in range(1000)])
    result = run("validate", new, "--against", old)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["ok"], found["drift"]["differences"][0]["distance"]) == (False, 0.25)
    table = run("validate", new, "--against", old, "--table")
    assert "drift of values" in table.stdout
    assert "not alike: 1 difference; 2 parts" in table.stdout
    assert run("validate", new, "--against", old, "--threshold", "0.3").exit_code == 0
    assert run("validate", new, "--against", new).exit_code == 0


def test_the_command_says_what_chance_is_allowed_in_small_parts(tmp_path: Path) -> None:
    old = saved(tmp_path / "old.tfrecord", [{"label": i % 2} for i in range(10)])
    new = saved(tmp_path / "new.tfrecord", [{"label": i % 3 % 2} for i in range(10)])
    result = run("validate", new, "--against", old, "--threshold", "0.05", "--table")
    assert result.exit_code == 0
    found = re.search(r"alike; 2 parts; (0\.\d+) at most, where (0\.\d+) is allowed", result.stdout)
    assert found is not None
    assert 0.05 < float(found[1]) <= float(found[2])


def test_the_command_compares_shards(tmp_path: Path) -> None:
    for i in range(3):
        saved(tmp_path / f"{i}.tfrecord", [{"label": i}] * 500)
    result = run("validate", tmp_path / "*.tfrecord", "--shards", "--csv")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 4


def test_the_command_compares_splits_and_keeps_a_schema(tmp_path: Path) -> None:
    for kind, colour in (("daisy", "white"), ("rose", "red")):
        (tmp_path / "photos" / kind).mkdir(parents=True)
        for i in range(20):
            Image.new("RGB", (8, 8), colour).save(tmp_path / "photos" / kind / f"{i}.png")
    tfreel.pack(tmp_path / "photos", tmp_path / "records", split={"train": 0.5, "test": 0.5})
    schema = tmp_path / "schema.json"
    schema.write_text(run("schema", "--json", "--all", tmp_path / "records").stdout)
    result = run("validate", tmp_path / "records", "--splits", "--schema", schema)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["ok"], found["records"], found["drift"]["parts"]) == (True, 40, {"train": 20, "test": 20})


def test_the_command_says_where_there_is_too_little_to_compare(tmp_path: Path) -> None:
    old = saved(tmp_path / "old.tfrecord", [{"label": i % 2} for i in range(1000)])
    empty = saved(tmp_path / "empty.tfrecord", [])
    other = saved(tmp_path / "other.tfrecord", [{"else": 1}])
    for part, count in ((empty, "0 records"), (other, "1 record")):
        result = run("validate", part, "--against", old, "--table")
        assert f"{part.name} has {count}: too few to tell differences from chance" in result.stdout
    assert "too few" not in run("validate", old, "--against", old, "--table").stdout
