"""`tfreel.profile.stats`: counts that reconcile, figures that NumPy confirms, the same for any threads."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from tfreel import _core
from tfreel.inference.content import NAMES, content_of
from tfreel.profile import Statistics, scan, stats
from tfreel.profile.figures import QUANTILES

import headers
from drawn import jpeg, saved
from memory import PEAK_BYTES

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
INTS = st.integers(-(1 << 63), (1 << 63) - 1)


def of_rows(rows: list[dict[str, Any]], folder: Path, **options: Any) -> Statistics:
    path = folder / "some.tfrecord"
    tfreel.save(path, rows, mode="w")
    return stats(path, **options)


def of_records(records: list[bytes], folder: Path, **options: Any) -> Statistics:
    path = folder / "some.tfrecord"
    with tfreel.Writer(path, mode="w") as out:
        out.write_many(records)
    return stats(path, **options)


def check_counts(found: Statistics) -> None:
    """All that has to add up."""
    assert found.bytes == sum(feature.bytes for feature in found.all_features()) + found.other_bytes
    assert found.other_bytes >= 16 * found.records
    for feature in found.all_features():
        assert feature.present + feature.absent == feature.records == found.records
        assert feature.lengths.count == feature.empty + sum(
            count * (length > 0) for length, count in _pairs(feature.lengths)
        )
        if feature.steps is None:
            assert feature.lengths.count == feature.present
        else:
            assert feature.steps.count == feature.present
        for numbers in filter(None, (feature.int64, feature.float32, feature.lengths, feature.steps)):
            assert sum(numbers.histogram.counts) == numbers.count
            assert len(numbers.histogram.edges) == len(numbers.histogram.counts) + bool(numbers.count)
            assert numbers.distinct <= numbers.count
        if feature.strings is not None:
            assert sum(feature.strings.contents.values()) == feature.strings.count
            assert feature.strings.sizes.count == feature.strings.count
    for group in found.groups.values():
        check_counts(group)
    if found.by is not None:
        assert sum(group.records for group in found.groups.values()) == found.records
        assert sum(group.bytes for group in found.groups.values()) == found.bytes


def _pairs(numbers: Any) -> list[tuple[float, int]]:
    assert numbers.distinct_exact
    assert numbers.distinct <= len(numbers.common), "the test needs few lengths"
    return [(each.value, each.count) for each in numbers.common]


# Figures ----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(FLOATS, max_size=3), max_size=40))
def test_floats_have_the_figures_that_numpy_gives(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[float]]
) -> None:
    rows = [{"x": np.array(values, np.float32)} for values in lists]
    found = of_rows(rows, tmp_path_factory.mktemp("floats"))
    check_counts(found)
    array = np.array([value for values in lists for value in values], np.float32)
    if not len(array):
        return
    numbers = found.features["x"].float32
    assert numbers is not None
    assert numbers.count == len(array)
    assert (np.float32(numbers.min), np.float32(numbers.max)) == (array.min(), array.max())
    exact = sum(Fraction(float(value)) for value in array) / len(array)
    assert numbers.mean == float(exact)
    variance = sum((Fraction(float(value)) - exact) ** 2 for value in array) / len(array)
    assert numbers.std == math.sqrt(variance)
    assert numbers.zeros == np.count_nonzero(array == 0)
    expected = np.quantile(array, QUANTILES, method="inverted_cdf")
    assert [np.float32(value) for value in numbers.quantiles.values()] == expected.tolist()
    assert numbers.quantile_error == 0
    assert numbers.distinct == len(set(array.tolist()))
    if len(numbers.histogram.counts) > 1:
        counts, _ = np.histogram(array.astype(np.float64), np.array(numbers.histogram.edges))
        assert list(numbers.histogram.counts) == counts.tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(INTS, min_size=1, max_size=60))
def test_whole_numbers_have_exact_figures_up_to_their_ends(
    tmp_path_factory: pytest.TempPathFactory, values: list[int]
) -> None:
    found = of_rows([{"x": value} for value in values], tmp_path_factory.mktemp("ints"))
    check_counts(found)
    numbers = found.features["x"].int64
    assert numbers is not None
    assert (numbers.min, numbers.max) == (min(values), max(values))
    mean = Fraction(sum(values), len(values))
    assert numbers.mean == float(mean)
    assert numbers.std == math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    ordered = sorted(values)
    for share, value in numbers.quantiles.items():
        assert value == ordered[max(0, math.ceil(Fraction(str(share)) * len(values)) - 1)]
    edges = numbers.histogram.edges
    for i, count in enumerate(numbers.histogram.counts):
        assert count == sum(edges[i] <= value < edges[i + 1] for value in values)
    assert {each.value: each.count for each in numbers.common}.items() <= Counter(values).items()


def test_quantiles_and_counts_of_many_values_are_within_their_bounds(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    columns = {
        "normal": rng.normal(size=200_000).astype(np.float32),
        "skewed": rng.exponential(size=200_000).astype(np.float32) ** 4,
        "sorted": np.arange(200_000),
        "late": 1_700_000_000 + rng.integers(0, 100_000, 200_000),
    }
    columns["normal"][::10] = -999
    with tfreel.Writer(tmp_path / "many.tfrecord") as out:
        for start in range(0, 200_000, 10_000):
            out.write_batch({name: values[start : start + 10_000] for name, values in columns.items()})
    found = stats(tmp_path / "many.tfrecord")
    for name, values in columns.items():
        numbers = found.features[name].numbers
        assert numbers is not None
        assert 0 < numbers.quantile_error < 0.004
        ordered = np.sort(values)
        for share, value in numbers.quantiles.items():
            value = np.array(value, values.dtype)
            low, high = (np.searchsorted(ordered, value, side) / len(values) for side in ("left", "right"))
            assert low - numbers.quantile_error <= share <= high + numbers.quantile_error
        assert numbers.distinct == pytest.approx(len(np.unique(values)), rel=0.03)
        assert not numbers.distinct_exact
        assert numbers.mean == pytest.approx(values.astype(np.float64).mean(), rel=1e-12)
        assert numbers.std == pytest.approx(values.astype(np.float64).std(), rel=1e-9)
        counts, _ = np.histogram(values.astype(np.float64), np.array(numbers.histogram.edges, np.float64))
        differences = np.cumsum(counts) - np.cumsum(numbers.histogram.counts)
        assert np.abs(differences).max() <= numbers.quantile_error * len(values)
    common = found.features["normal"].float32.common[0]  # type: ignore[union-attr]
    error = found.features["normal"].float32.common_error  # type: ignore[union-attr]
    assert common.value == -999
    assert common.count <= 20_000 <= common.count + error


def test_what_is_no_finite_number_is_counted_and_nothing_else(tmp_path: Path) -> None:
    rows = [{"x": [1.0, float("nan"), -0.0]}, {"x": [float("inf"), -float("inf"), float("inf"), 3.0]}]
    found = of_rows(rows, tmp_path).features["x"].float32
    assert found is not None
    assert (found.count, found.nans, found.infinities, found.negative_infinities) == (3, 1, 2, 1)
    assert (found.min, found.max, found.mean, found.zeros) == (0.0, 3.0, 4 / 3, 1)
    assert found.distinct == 3


def test_only_nan_has_no_figures(tmp_path: Path) -> None:
    found = of_rows([{"x": float("nan")}], tmp_path)
    numbers = found.features["x"].float32
    assert numbers is not None
    assert (numbers.min, numbers.mean, numbers.std, numbers.median, numbers.quantiles) == (None,) * 4 + ({},)
    assert json.loads(found.to_json())["features"]["x"]["float32"]["nans"] == 1
    assert "NaN" in found.to_html()


def test_floats_are_written_as_the_shortest_decimals(tmp_path: Path) -> None:
    numbers = of_rows([{"x": 0.1}, {"x": 0.2}], tmp_path).features["x"].numbers
    assert numbers is not None
    assert (numbers.min, numbers.max, numbers.common[0].value) == (0.1, 0.2, 0.1)


# Presence ---------------------------------------------------------------------------------------------------


def test_absent_and_empty_are_two_things(tmp_path: Path) -> None:
    rows = [{"a": [1, 2]}, {"a": np.array([], np.int64)}, {}, {"a": 3, "b": "x"}]
    found = of_rows(rows, tmp_path)
    check_counts(found)
    a = found.features["a"]
    assert (a.records, a.present, a.absent, a.empty, a.kinds) == (4, 3, 1, 1, {"int64": 3})
    assert (a.lengths.min, a.lengths.max, a.lengths.mean) == (0, 2, 1.0)
    assert found.features["b"].absent == 3


def test_records_that_disagree_about_the_kind_are_told_apart(tmp_path: Path) -> None:
    found = of_rows([{"a": 1}, {"a": 0.5}, {"a": 2}, {"a": "x"}], tmp_path)
    check_counts(found)
    a = found.features["a"]
    assert list(a.kinds.items()) == [("int64", 2), ("bytes", 1), ("float32", 1)]
    assert a.int64 is not None
    assert a.float32 is not None
    assert a.strings is not None
    assert (a.int64.count, a.float32.count, a.strings.count, a.distinct) == (2, 1, 1, 4)
    assert a.mean == 1.5


def test_bytes_of_features_are_those_in_the_records(tmp_path: Path) -> None:
    records = [tfreel.encode({"a": i, "b": "x" * i}) for i in range(300)]
    found = of_records(records, tmp_path)
    alone = [tfreel.encode({"a": i}) for i in range(300)]
    # What is left of an Example with one feature is its tag and length.
    assert found.features["a"].bytes == sum(len(record) - 2 for record in alone)
    assert (
        found.bytes
        == sum(len(record) + 16 for record in records)
        == (tmp_path / "some.tfrecord").stat().st_size
    )
    assert sum(feature.share for feature in found.features.values()) < 1


def test_of_a_repeated_name_the_last_value_counts(tmp_path: Path) -> None:
    record = tfreel.encode({"a": 1}) + tfreel.encode({"a": [5, 6]})
    assert tfreel.decode(record)["a"].tolist() == [5, 6]
    found = of_records([record], tmp_path)
    assert found.features["a"].present == 1
    assert found.features["a"].int64.common == stats_of_pair(tmp_path).common  # type: ignore[union-attr]


def stats_of_pair(folder: Path) -> Any:
    return of_rows([{"a": [5, 6]}], folder).features["a"].int64


def test_sequence_examples_have_context_and_lists(tmp_path: Path) -> None:
    records = [
        tfreel.encode_sequence({"id": i}, {"track": [[0.5] * 3] * i, "words": [["a"], ["b", "c"]]})
        for i in range(5)
    ]
    found = of_records(records, tmp_path)
    check_counts(found)
    assert list(found.features) == ["id"]
    track, words = found.lists["track"], found.lists["words"]
    assert track.steps is not None
    assert (track.steps.min, track.steps.max, track.lengths.min, track.lengths.max) == (0, 4, 3, 3)
    assert track.float32 is not None
    assert (track.float32.count, words.lengths.mean) == (30, 1.5)
    assert words.strings is not None
    assert [(each.value, each.count) for each in words.strings.common] == [(b"a", 5), (b"b", 5), (b"c", 5)]


def test_columns_that_were_asked_for_are_all_there_is(tmp_path: Path) -> None:
    found = of_rows([{"a": 1, "b": 2}, {"b": 3}], tmp_path, columns=["b", "c"])
    check_counts(found)
    assert list(found.features) == ["b", "c"]
    assert (found.features["c"].present, found.features["c"].absent) == (0, 2)
    assert found.other_bytes > 32


def test_columns_as_one_string_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="list of names"):
        stats(tmp_path / "x", columns="label")


# Bytes ------------------------------------------------------------------------------------------------------


def test_texts_are_counted_and_long_ones_are_cut_between_letters(tmp_path: Path) -> None:
    long = "ä" * 100
    rows = [{"t": "cat"}] * 5 + [{"t": "dog"}] * 2 + [{"t": long}] * 3 + [{"t": b"\xff\0" * 50}]
    strings = of_rows(rows, tmp_path).features["t"].strings
    assert strings is not None
    assert (strings.count, strings.distinct, strings.distinct_exact) == (11, 4, True)
    assert strings.contents == {"text": 10, "binary": 1}
    assert [(each.value, each.size, each.count) for each in strings.common] == [
        (b"cat", 3, 5),
        (("ä" * 24).encode(), 200, 3),
        (b"dog", 3, 2),
        (b"\xff\0" * 24, 100, 1),
    ]


def test_common_texts_are_found_among_many_different_ones(tmp_path: Path) -> None:
    rows = [{"t": "often" if i % 20 == 0 else f"text {i}"} for i in range(40_000)]
    strings = of_rows(rows, tmp_path).features["t"].strings
    assert strings is not None
    assert strings.common[0].value == b"often"
    assert strings.common[0].count <= 2000 <= strings.common[0].count + strings.common_error
    assert strings.distinct == pytest.approx(38_001, rel=0.03)


def test_images_are_told_with_their_formats_and_sizes(tmp_path: Path) -> None:
    from PIL import Image

    pictures = [jpeg(20, 10)] * 3 + [jpeg(40, 30)] + [saved(Image.new("L", (20, 10)))] * 2 + [b"none"]
    strings = of_rows([{"image": picture} for picture in pictures], tmp_path).features["image"].strings
    assert strings is not None
    assert strings.contents == {"jpeg": 4, "png": 2, "text": 1}
    assert strings.formats == {"jpeg": 4, "png": 2}
    images = strings.images
    assert images is not None
    assert (images.count, images.distinct_sizes) == (6, 2)
    assert (images.widths.min, images.widths.max, images.heights.max) == (20, 40, 30)
    assert [(each.value, each.count) for each in images.common] == [((20, 10), 5), ((40, 30), 1)]


SAMPLES = [
    headers.jpeg(),
    headers.png(),
    headers.bmp(),
    headers.tiff("<"),
    headers.tiff(">"),
    headers.tensor_proto(1, [2, 3], bytes(24)),
    headers.webp(b"VP8X", bytes(4) + b"\x7f\x02\0\xdf\x01\0"),
    headers.webp(b"VP8L", b"\x2f\x7f\xc2\x77\0"),
    headers.webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"),
    b"GIF89a\x80\x02\xe0\x01",
    b"\0\0\0\x1cftypavif",
    b"\x80\x04.",
    b"\x93NUMPY\x01\0",
    "Grüße".encode(),
    b"\x1f\x8b\x08\0",
    b"RIFF\0\0\0\0WAVE",
    b"BMW",
    b"GIFT",
    b"",
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SAMPLES), st.binary(max_size=6), st.integers(0, 60), st.integers(0, 80), st.booleans())
def test_the_core_tells_what_bytes_are_as_inference_does(
    sample: bytes, noise: bytes, place: int, end: int, whole: bool
) -> None:
    value = sample[:place] + noise + sample[place + len(noise) :]
    value = value if whole else value[:end]
    expected = content_of(value)
    kind, width, height = _core.content_of(value)
    assert list(NAMES)[kind] == expected.kind
    measured = (expected.width, expected.height) if expected.width and expected.height else None
    assert ((width, height) if width and height else None) == measured


# Groups -----------------------------------------------------------------------------------------------------


def test_groups_are_all_records_once(tmp_path: Path) -> None:
    rows = [{"label": i % 3, "x": float(i)} for i in range(90)] + [{"x": 1.0}, {"label": [1, 2], "x": 2.0}]
    found = of_rows(rows, tmp_path, by="label")
    check_counts(found)
    assert {value: group.records for value, group in found.groups.items()} == {None: 2, 0: 30, 1: 30, 2: 30}
    assert found.groups[1].features["x"].mean == np.mean(np.arange(1, 90, 3))
    assert found.features["x"].mean == pytest.approx((sum(range(90)) + 3) / 92)


def test_groups_of_texts(tmp_path: Path) -> None:
    found = of_rows([{"kind": kind} for kind in ("cat", "dog", "cat")], tmp_path, by="kind")
    assert {value: group.records for value, group in found.groups.items()} == {b"cat": 2, b"dog": 1}
    assert [group["value"] for group in found.to_dict()["groups"]] == ["cat", "dog"]


def test_groups_can_be_by_a_feature_that_is_not_shown(tmp_path: Path) -> None:
    rows = [{"label": i % 2, "x": float(i)} for i in range(10)]
    found = of_rows(rows, tmp_path, by="label", columns=["x"])
    assert list(found.features) == list(found.groups[0].features) == ["x"]


def test_a_missing_feature_makes_no_groups_and_the_error_knows_a_near_name(tmp_path: Path) -> None:
    with pytest.raises(tfreel.MissingFeatureError, match="did you mean 'label'"):
        of_rows([{"label": 1}], tmp_path, by="labels")


def test_floats_make_no_groups(tmp_path: Path) -> None:
    with pytest.raises(tfreel.FeatureError, match=r"record 1: feature 'x' holds floats"):
        of_rows([{"x": 1}, {"x": 0.5}], tmp_path, by="x")


def test_too_many_groups_are_refused_also_when_no_part_has_too_many(tmp_path: Path) -> None:
    for name, start in (("a", 0), ("b", 600)):
        tfreel.save(tmp_path / f"{name}.tfrecord", [{"id": i} for i in range(start, start + 600)])
    assert len(stats(tmp_path / "a.tfrecord", by="id").groups) == 600
    with pytest.raises(tfreel.FeatureError, match="more than 1,000 different values"):
        stats(str(tmp_path / "?.tfrecord"), by="id")


def test_too_many_features_are_refused(tmp_path: Path) -> None:
    rows = [{f"name {i} {j}": 1 for j in range(100)} for i in range(101)]
    with pytest.raises(tfreel.FeatureError, match=r"record 100: more than 10,000 different features"):
        of_rows(rows, tmp_path)
    assert stats(tmp_path / "some.tfrecord", columns=["name 7 7"]).features["name 7 7"].present == 1


# Threads, parts, damage -------------------------------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a small file is read in several parts."""
    monkeypatch.setattr(scan, "_PART_BYTES", 1 << 16)


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(3)
    paths = []
    for i in range(3):
        path = tmp_path / f"shard-{i}.tfrecord"
        rows = [
            {"id": 10_000 * i + j, "x": rng.normal(size=3), "t": f"text {rng.integers(3000)}", "label": j % 7}
            for j in range(8_000)
        ]
        tfreel.save(path, rows)
        paths.append(path)
    return paths


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("by", [None, "label"])
def test_the_number_of_threads_changes_nothing(shards: list[Path], by: str | None) -> None:
    one, two, many = (stats(shards, threads=threads, by=by) for threads in (1, 2, 7))
    check_counts(one)
    assert one == two == many
    assert one.to_json() == many.to_json()
    assert not one.features["id"].numbers.distinct_exact  # type: ignore[union-attr]
    assert one.report.files == 3
    assert one.report.records == one.records == 24_000


@pytest.mark.usefixtures("small_parts")
def test_parts_give_the_exact_figures_of_the_whole(shards: list[Path], tmp_path: Path) -> None:
    whole = tmp_path / "whole.tfrecord.gz"
    with tfreel.Writer(whole) as out:
        out.write_many(tfreel.read(shards))
    ours, theirs = stats(shards), stats(whole)  # a compressed file is read in one piece
    for name, feature in ours.features.items():
        other = theirs.features[name]
        assert (feature.present, feature.bytes, feature.mean, feature.std) == (
            other.present,
            other.bytes,
            other.mean,
            other.std,
        )
        assert feature.distinct == other.distinct


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("threads", [1, 4])
def test_damage_in_a_part_is_told_as_in_a_whole_file(shards: list[Path], threads: int) -> None:
    index = tfreel.open(shards[1])
    offset = int(sum(len(record) + 16 for record in index[:5000]))
    data = bytearray(shards[1].read_bytes())
    data[offset + 12] ^= 1
    shards[1].write_bytes(data)
    with pytest.raises(tfreel.ChecksumError, match=r"shard-1\.tfrecord: record 5000 at byte"):
        stats(shards, threads=threads)
    found = stats(shards, threads=threads, on_corrupt="skip")
    check_counts(found)
    assert found.records == 23_999
    assert (found.report.fault_count, found.report.records_lost, found.report.files) == (1, 1, 3)
    assert "Passed over 1 fault;" in found.to_html()


def test_a_file_that_was_cut_off_is_forgiven_as_in_read(tmp_path: Path) -> None:
    path = tmp_path / "cut.tfrecord"
    tfreel.save(path, [{"a": i} for i in range(10)])
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(tfreel.TruncatedError):
        stats(path)
    found = stats(path, on_corrupt="tail")
    assert (found.records, found.report.ok) == (9, False)


@pytest.mark.usefixtures("small_parts")
def test_a_record_that_is_no_example_is_named_with_its_ordinal(tmp_path: Path) -> None:
    path = tmp_path / "odd.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many([tfreel.encode({"a": "x" * 100})] * 4000)
        out.write(b"\xff\xff\xff")
        out.write_many([tfreel.encode({"a": "y" * 100})] * 4000)
    for threads in (1, 3):
        with pytest.raises(tfreel.DecodeError, match=r"odd\.tfrecord: record 4000: neither") as caught:
            stats(path, threads=threads)
        assert (caught.value.record, caught.value.byte) == (4000, 0)
        found = stats(path, threads=threads, on_corrupt="skip")
        assert (found.records, found.malformed, found.report.ok) == (8000, 1, True)
        assert found.features["a"].absent == 0


def test_a_record_that_is_malformed_late_is_not_counted_in_part(tmp_path: Path) -> None:
    good = tfreel.encode({"a": 1})
    found = of_records([good, good + b"\x0a\x05\x0a\x03\x0a\x09x"], tmp_path, on_corrupt="skip")
    assert (found.records, found.malformed, found.features["a"].present) == (1, 1, 1)


def test_no_records_have_no_features(tmp_path: Path) -> None:
    found = of_records([], tmp_path)
    assert (found.records, found.bytes, found.features, found.report.files) == (0, 0, {}, 1)
    assert of_records([], tmp_path, by="label").groups == {}
    assert "records" in found.to_html()


def test_empty_records_are_examples_without_features(tmp_path: Path) -> None:
    found = of_records([b"", b""], tmp_path)
    assert (found.records, found.bytes, found.other_bytes) == (2, 32, 32)


def test_streams_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "some.tfrecord"
    tfreel.save(path, [{"a": i} for i in range(10)])
    assert stats(io.BytesIO(path.read_bytes())).features["a"].mean == 4.5


def test_progress_adds_up_to_all_records(shards: list[Path]) -> None:
    told = Counter[str]()

    def progress(records: int, nbytes: int) -> None:
        told["records"] += records
        told["bytes"] += nbytes

    found = stats(shards, progress=progress)
    assert (told["records"], told["bytes"]) == (found.records, found.bytes)


def test_the_folder_of_a_data_set_is_taken(tmp_path: Path) -> None:
    for i in range(4):
        (tmp_path / "photos" / "rose").mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / "rose" / f"{i}.jpg").write_bytes(jpeg(20 + i, 10))
    tfreel.pack(tmp_path / "photos", tmp_path / "records", split={"train": 0.5, "test": 0.5})
    found = stats(tmp_path / "records")
    assert (found.records, found.report.files) == (4, 2)
    assert found.features["image/encoded"].strings.formats == {"jpeg": 4}  # type: ignore[union-attr]


PROGRAM = (
    PEAK_BYTES
    + """
from tfreel.profile import stats
stats(sys.argv[2])
before = peak_bytes()
found = stats(sys.argv[1], threads=2)
assert found.features["t"].strings.distinct > 100_000
print(peak_bytes() - before >> 10)
"""
)


def test_memory_does_not_grow_with_the_number_of_different_values(tmp_path: Path) -> None:
    big, small = tmp_path / "big.tfrecord", tmp_path / "small.tfrecord"
    tfreel.save(small, [{"t": "x"}])
    with tfreel.Writer(big) as out:
        for start in range(0, 150_000, 10_000):
            out.write_batch({"t": [b"%0500d" % i for i in range(start, start + 10_000)]})
    command = [sys.executable, "-c", PROGRAM, str(big), str(small)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 24 << 10  # KiB; the values themselves are 75 MB


# Merging ----------------------------------------------------------------------------------------------------


def test_merged_statistics_are_those_of_all_files(shards: list[Path]) -> None:
    merged = stats(shards[0]).merge(stats(shards[1]), stats(shards[2]))
    assert merged == stats(shards)
    assert stats(shards[0]) == stats(shards[0]).merge()


def test_merging_leaves_what_is_merged_as_it_was(tmp_path: Path) -> None:
    a, b = of_rows([{"x": 1}], tmp_path), of_rows([{"x": 3}], tmp_path)
    assert a.merge(b).features["x"].mean == a.merge(b).features["x"].mean == 2
    assert a.records == 1


def test_statistics_of_other_columns_or_of_groups_do_not_merge(tmp_path: Path) -> None:
    a = of_rows([{"x": 1}], tmp_path)
    b = of_rows([{"x": 1}], tmp_path, by="x")
    with pytest.raises(ValueError, match="same columns"):
        a.merge(b)
    with pytest.raises(ValueError, match="all records"):
        a.merge(b.groups[1])


# JSON and pages ---------------------------------------------------------------------------------------------

HOSTILE = '"><script>alert(1)</script><img src=http://x onerror=alert(2)>\x1b[31m\u202e'


class Tags(HTMLParser):
    """All tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("make", [Statistics.to_html, Statistics._repr_html_])
def test_nothing_in_a_page_is_what_a_file_wants_it_to_be(tmp_path: Path, make: Any) -> None:
    rows = [
        {HOSTILE: i, "t": HOSTILE, f"{HOSTILE} list": [HOSTILE] * (i + 1), "g": HOSTILE} for i in range(5)
    ]
    page = make(of_rows(rows, tmp_path, by="g"))
    found = Tags(page)
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "div", "span", "h1", "h2", "p", "b"}
    allowed |= {"table", "thead", "tbody", "tr", "th", "td", "details", "summary", "svg", "rect"}
    assert found.tags <= allowed
    assert not {name for name in found.attributes if name.startswith("on") or name in ("src", "href")}
    assert "<script>alert(1)</script>" in found.text
    assert "://" not in page.replace("http://x", "")
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_page_holds_charts_and_forbids_everything_else(tmp_path: Path) -> None:
    page = of_rows([{"x": float(i), "image": jpeg()} for i in range(50)], tmp_path).to_html()
    assert page.count('<svg class="histogram"') >= 4
    assert "default-src 'none'" in page
    assert "prefers-color-scheme:dark" in page


def test_json_says_everything_and_can_be_read_again(tmp_path: Path) -> None:
    rows = [{"label": i % 2, "t": b"\xff\xfe" if i else "text", HOSTILE: 1.5} for i in range(4)]
    found = of_rows(rows, tmp_path, by="label")
    read = json.loads(found.to_json())
    assert read["records"] == 4
    assert read["features"]["label"]["int64"]["common"] == [
        {"value": 0, "count": 2},
        {"value": 1, "count": 2},
    ]
    assert read["features"]["t"]["strings"]["common"][0] == {
        "value": {"base64": "//4="},
        "size": 2,
        "count": 3,
    }
    assert [group["value"] for group in read["groups"]] == [0, 1]
    assert HOSTILE in read["features"]
    assert read["report"]["ok"] is True
