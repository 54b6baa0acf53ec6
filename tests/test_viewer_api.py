"""The interface of the viewer: what it tells about data of all kinds, sound and damaged."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfreel
from tfreel import images
from tfreel.viewer.distributions import NumberBars

from drawn import jpeg, put
from viewing import SCRIPT, Visitor, scene, visit

SCENES = 40


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    path = tmp_path_factory.mktemp("secret-folder") / "scenes.tfrecord"
    with tfreel.Writer(path) as out:
        for i in range(SCENES):
            out.write(scene(i))
    visitor = visit(path)
    yield visitor
    visitor.viewer.stop()


@pytest.fixture
def stopping() -> Iterator[list[Visitor]]:
    """Visitors whose viewers end with the test."""
    visitors: list[Visitor] = []
    yield visitors
    for visitor in visitors:
        visitor.viewer.stop()


def features_of(page: Any) -> dict[str, Any]:
    return {feature["name"]: feature for feature in page["features"]}


# Overview ---------------------------------------------------------------------------------------------------


def test_the_overview_tells_files_counts_and_what_was_looked_at(visitor: Visitor) -> None:
    page = visitor.json("overview")
    assert page["state"] == "ready"
    assert page["records"] == SCENES
    assert page["looked_at"] == {"records": SCENES, "all": True}
    assert page["health"]["verified_files"] == 1
    assert page["health"]["fault_count"] == 0
    assert [file["name"] for file in page["files"]] == ["scenes.tfrecord"]
    assert page["files"][0]["records"] == SCENES


def test_the_overview_names_no_folder(visitor: Visitor) -> None:
    body = visitor.get("overview").body.decode()
    folder = Path(visitor.viewer._service.collection.paths[0]).parent
    assert folder.is_absolute()
    assert str(folder) not in body
    assert folder.name not in body


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("image/encoded", "image"),
        ("image/segmentation/class/encoded", "mask"),
        ("label", "number"),
        ("embedding", "numbers"),
        ("name", "text"),
        ("sound", "audio"),
        ("pixels", "tensor"),
        ("blob", "bytes"),
    ],
)
def test_features_are_told_by_what_they_hold(visitor: Visitor, name: str, role: str) -> None:
    assert features_of(visitor.json("overview"))[name]["role"] == role


def test_distributions_count_every_value(visitor: Visitor) -> None:
    features = features_of(visitor.json("overview"))
    assert [bar["count"] for bar in features["label"]["distribution"]["bars"]] == [4] * 10
    tags = {bar["value"]: bar["count"] for bar in features["tags"]["distribution"]["bars"]}
    assert tags == {"all": 40, "even": 20, "odd": 20}


def test_boxes_and_masks_are_found_by_their_names(visitor: Visitor) -> None:
    overlays = visitor.json("overview")["overlays"]
    assert overlays["images"] == ["image/encoded"]
    assert overlays["masks"] == ["image/object/mask", "image/segmentation/class/encoded"]
    assert overlays["boxes"][0]["xmin"] == "image/object/bbox/xmin"
    assert overlays["boxes"][0]["labels"] == "image/object/class/text"


# Records ----------------------------------------------------------------------------------------------------


def test_a_page_of_records_has_shortened_values(visitor: Visitor) -> None:
    page = visitor.json("records", offset=5, limit=3)
    assert [row["record"] for row in page["rows"]] == [5, 6, 7]
    row = page["rows"][0]["features"]
    assert row["label"] == {"kind": "int64", "count": 1, "values": [5]}
    assert row["embedding"]["count"] == 64
    assert len(row["embedding"]["values"]) == 8
    assert row["name"]["items"][0]["text"] == "Scene 5"
    assert row["image/encoded"]["items"][0]["width"] == 20


def test_a_page_has_only_the_features_that_were_asked_for(visitor: Visitor) -> None:
    row = visitor.json("records", limit=1, features=json.dumps(["name", "nothing"]))["rows"][0]
    assert list(row["features"]) == ["name"]


def test_a_page_never_has_more_than_a_hundred_rows(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(tmp_path / "many.tfrecord", [{"n": i} for i in range(300)])
    stopping.append(visitor := visit(tmp_path / "many.tfrecord"))
    assert len(visitor.json("records", limit=5000)["rows"]) == 100
    assert visitor.json("records", offset=299)["rows"][0]["features"]["n"]["values"] == [299]
    assert visitor.json("records", offset=10**17)["rows"] == []


def test_a_record_comes_with_its_place_on_the_disk(visitor: Visitor) -> None:
    wire = visitor.json("records/0")["wire"]
    record = tfreel.encode(scene(0))
    assert (wire["offset"], wire["length"], wire["end"]) == (0, len(record), len(record) + 16)
    assert wire["file"]["name"] == "scenes.tfrecord"
    second = visitor.json("records/1")["wire"]
    assert second["offset"] == wire["end"]


def test_the_checksums_are_those_in_the_file(tmp_path: Path, stopping: list[Visitor]) -> None:
    path = tmp_path / "one.tfrecord"
    tfreel.save(path, [{"n": 1}])
    stopping.append(visitor := visit(path))
    data = path.read_bytes()
    wire = visitor.json("records/0")["wire"]
    assert wire["length_checksum"] == f"{int.from_bytes(data[8:12], 'little'):08x}"
    assert wire["checksum"] == f"{int.from_bytes(data[-4:], 'little'):08x}"


def test_features_of_a_record_are_shown_as_what_they_are(visitor: Visitor) -> None:
    features = features_of(visitor.json("records/3"))
    assert features["image/encoded"]["items"][0]["view"] == "image"
    assert features["image/segmentation/class/encoded"]["items"][0]["view"] == "mask"
    assert features["sound"]["items"][0]["view"] == "audio"
    assert features["name"]["items"][0]["text"] == "Scene 3"
    assert features["embedding"]["values"] == [float(i + 3) for i in range(64)]
    assert features["embedding"]["least"] == 3
    assert features["pixels"]["array"]["shape"] == [3, 4]
    assert features["blob"]["items"][0]["hex"] == bytes(range(200, 256)).hex()
    assert features[SCRIPT]["items"][0]["text"] == SCRIPT


def test_sequences_are_shown_step_by_step(tmp_path: Path, stopping: list[Visitor]) -> None:
    with tfreel.Writer(tmp_path / "steps.tfrecord") as out:
        out.write(tfreel.encode_sequence({"id": 7}, {"speed": [[0.5], [1.5]], "words": [[b"a", b"b"], []]}))
    stopping.append(visitor := visit(tmp_path / "steps.tfrecord"))
    record = visitor.json("records/0")
    assert record["kind"] == "SequenceExample"
    lists = {track["name"]: track for track in record["feature_lists"]}
    assert [step["values"] for step in lists["speed"]["steps"]] == [[0.5], [1.5]]
    assert [item["text"] for item in lists["words"]["steps"][0]["items"]] == ["a", "b"]
    assert visitor.json("overview")["features"][1]["in_lists"] is True
    assert visitor.found(where="speed > 1") == [0]


def test_not_a_number_and_large_integers_survive_json(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(tmp_path / "odd.tfrecord", [{"x": [np.nan, np.inf, -np.inf, 0.1], "n": 2**62 + 1}])
    stopping.append(visitor := visit(tmp_path / "odd.tfrecord"))
    features = features_of(visitor.json("records/0"))
    assert features["x"]["values"] == ["NaN", "Infinity", "-Infinity", 0.1]
    assert features["n"]["values"] == [str(2**62 + 1)]


def test_records_that_are_no_examples_are_shown_as_bytes(tmp_path: Path, stopping: list[Visitor]) -> None:
    with tfreel.Writer(tmp_path / "lines.tfrecord") as out:
        out.write_many([b"plain text", bytes(range(256))])
    stopping.append(visitor := visit(tmp_path / "lines.tfrecord"))
    assert visitor.json("overview")["unreadable"] == 2
    record = visitor.json("records/0")
    assert (record["kind"], record["data"]["text"]) == ("bytes", "plain text")
    assert visitor.json("records/1")["data"]["hex"].startswith("000102")
    assert visitor.json("records")["rows"][0]["data"]["items"][0]["text"] == "plain text"


def test_any_number_of_features_makes_no_endless_page(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(tmp_path / "many.tfrecord", [{f"feature {i:05d}": i for i in range(5000)}])
    stopping.append(visitor := visit(tmp_path / "many.tfrecord"))
    page = visitor.json("overview")
    assert (len(page["features"]), page["feature_count"]) == (1000, 5000)
    record = visitor.json("records/0")
    assert (len(record["features"]), record["feature_count"]) == (1000, 5000)
    assert len(visitor.json("records")["rows"][0]["features"]) == 1000
    assert visitor.found(where="`feature 04999` = 4999") == [0]


def test_sizes_of_images_are_counted_before_and_after_everything_was_read(
    tmp_path: Path, stopping: list[Visitor]
) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"image": jpeg(20 + i % 2, 10)} for i in range(5)])
    stopping.append(visitor := visit(tmp_path / "x.tfrecord"))
    counted = [{"value": "20×10", "count": 3}, {"value": "21×10", "count": 2}]
    assert features_of(visitor.json("overview"))["image"]["distribution"]["sizes"] == counted
    for _ in range(200):
        if visitor.json("scan")["done"]:
            break
        time.sleep(0.02)
    feature = features_of(visitor.json("overview"))["image"]
    assert feature["distribution"]["sizes"] == counted
    assert 0 < feature["share"] < 1


@pytest.mark.parametrize("path", ["records/40", "records/99999999999", "records/0/features/nothing"])
def test_what_is_not_there_is_not_found(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status == 404


@pytest.mark.parametrize("what", ["array", "mask", "legend", "audio", "thumbnail"])
def test_a_feature_that_is_not_there_is_not_found(visitor: Visitor, what: str) -> None:
    assert visitor.get(f"records/0/{what}", feature="nothing").status == 404


@pytest.mark.parametrize("names", ["x", "", '"label"', "[1]", "[" * 1_500])
def test_names_that_are_no_list_are_refused_in_words(visitor: Visitor, names: str) -> None:
    answer = visitor.get("records", features=names)
    assert answer.status == 400
    assert json.loads(answer.body)["error"] == (
        'features= must be a JSON list of names, such as ["image", "label"]'
    )


@pytest.mark.parametrize("parameters", [{"offset": "-1"}, {"limit": "x"}, {"offset": "9" * 30}])
def test_numbers_that_are_none_are_refused(visitor: Visitor, parameters: dict[str, str]) -> None:
    assert visitor.get("records", **parameters).status == 400


# Pictures ---------------------------------------------------------------------------------------------------


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_images_are_served_as_they_are(visitor: Visitor) -> None:
    answer = visitor.feature(3, "image/encoded")
    assert answer.type == "image/jpeg"
    assert answer.body == jpeg(20, 10)


def test_thumbnails_keep_the_proportions(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(tmp_path / "wide.tfrecord", [{"image": jpeg(400, 100)}])
    stopping.append(visitor := visit(tmp_path / "wide.tfrecord"))
    answer = visitor.get("records/0/thumbnail", feature="image", size=64)
    assert opened(answer.body).size == (64, 16)
    assert "immutable" in answer.headers["cache-control"]


def test_masks_are_painted_in_the_colours_of_the_legend(visitor: Visitor) -> None:
    asked = {"feature": "image/segmentation/class/encoded"}
    image = opened(visitor.get("records/0/mask", **asked).body).convert("RGBA")
    assert image.getpixel((12, 0)) == (128, 0, 0, 255)
    assert image.getpixel((0, 0))[3] == 0
    legend = visitor.json("records/0/legend", **asked)
    assert [(row["id"], row["color"], row["pixels"]) for row in legend["classes"]] == [
        (1, "#800000", 60),
        (15, "#c08080", 40),
        (0, "#000000", 100),
    ]


def test_masks_of_single_objects_become_one(visitor: Visitor) -> None:
    legend = visitor.json("records/0/legend", feature="image/object/mask")
    assert legend["instances"] is True
    assert [row["id"] for row in legend["classes"]] == [1, 2, 0]


def test_a_photo_is_no_mask(visitor: Visitor) -> None:
    assert visitor.get("records/0/mask", feature="image/encoded").status in (400, 422)


def test_arrays_become_pictures_by_their_stored_shape(visitor: Visitor) -> None:
    image = opened(visitor.get("records/0/array", feature="pixels").body)
    assert image.size == (4, 3)
    assert (image.getpixel((0, 0)), image.getpixel((3, 2))) == (0, 255)


@pytest.mark.parametrize(
    ("shape", "size", "planes"),
    [
        ((6, 5), (5, 6), 1),
        ((1, 6, 5, 1), (5, 6), 1),
        ((6, 5, 3), (5, 6), 1),
        ((3, 6, 5), (5, 6), 1),
        ((4, 6, 5), (5, 6), 4),
        ((2, 6, 5, 3), (5, 6), 2),
    ],
)
def test_arrays_of_many_shapes_are_pictures(
    tmp_path: Path, stopping: list[Visitor], shape: tuple[int, ...], size: tuple[int, int], planes: int
) -> None:
    tfreel.save(tmp_path / "a.tfrecord", [{"a": tfreel.tensor(np.ones(shape, np.uint8))}])
    stopping.append(visitor := visit(tmp_path / "a.tfrecord"))
    assert features_of(visitor.json("records/0"))["a"]["array"]["planes"] == planes
    answer = visitor.get("records/0/array", feature="a", plane=planes - 1)
    assert opened(answer.body).size == size
    assert visitor.get("records/0/array", feature="a", plane=planes).status == 400


def test_raw_pixels_take_their_shape_from_other_features(tmp_path: Path, stopping: list[Visitor]) -> None:
    rows = [{"image_raw": bytes(h * 4 * 3), "height": h, "width": 4, "depth": 3} for h in (2, 5)]
    tfreel.save(tmp_path / "raw.tfrecord", rows)
    stopping.append(visitor := visit(tmp_path / "raw.tfrecord"))
    assert opened(visitor.get("records/1/array", feature="image_raw").body).size == (4, 5)


def test_sound_is_served_as_wav(visitor: Visitor) -> None:
    assert visitor.get("records/0/audio", feature="sound").type == "audio/wav"
    assert visitor.get("records/0/audio", feature="page").status == 400


def test_an_image_that_is_cut_off_is_an_answer_not_a_crash(tmp_path: Path, stopping: list[Visitor]) -> None:
    rows = [{"image": jpeg(400, 300)[:200]}, {"image": b"\x89PNG\r\n\x1a\n" + bytes(40)}]
    tfreel.save(tmp_path / "cut.tfrecord", rows)
    stopping.append(visitor := visit(tmp_path / "cut.tfrecord"))
    for record in range(2):
        assert visitor.get(f"records/{record}/thumbnail", feature="image").status == 422
        assert visitor.get(f"records/{record}").status == 200


def test_a_bomb_is_refused_before_it_is_decoded(tmp_path: Path, stopping: list[Visitor]) -> None:
    png = bytearray(images.encode(np.zeros((1, 1), np.uint8), "png"))
    png[16:24] = (60_000).to_bytes(4, "big") * 2
    tfreel.save(tmp_path / "bomb.tfrecord", [{"image": bytes(png)}])
    stopping.append(visitor := visit(tmp_path / "bomb.tfrecord"))
    assert visitor.get("records/0/thumbnail", feature="image").status == 422
    assert visitor.feature(0, "image").status == 422


# Questions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ({"where": "label = 3"}, [3, 13, 23, 33]),
        ({"where": "label == 3 and score > 2"}, [23, 33]),
        ({"where": 'tags = "odd" and label in [1, 2]'}, [1, 11, 21, 31]),
        ({"where": "label is missing"}, []),
        ({"search": "scene 1"}, [1, *range(10, 20)]),
        ({"search": "ПЕРВАЯ"}, [0]),
        ({"search": "scene 3", "where": "label > 7"}, [38, 39]),
        ({"sort": "score", "descending": "1", "where": "label = 3"}, [33, 23, 13, 3]),
        ({"sort": "label", "where": "score < 1"}, [0, 1, 2, 3, 4, 5, 6]),
        ({"sort": "name", "where": "label = 3"}, [13, 23, 3, 33]),
    ],
)
def test_questions_find_records(visitor: Visitor, question: dict[str, str], found: list[int]) -> None:
    assert visitor.found(**question) == found


def test_a_question_that_makes_no_sense_is_answered_with_a_hint(visitor: Visitor) -> None:
    answer = visitor.get("queries", where="labl = 3")
    assert answer.status == 400
    assert "did you mean 'label'" in answer.json()["error"]


def test_a_comparison_of_text_with_a_number_says_so(visitor: Visitor) -> None:
    assert "holds text" in visitor.query(where="name = 3")["error"]


def test_neighbours_among_the_found_are_told(visitor: Visitor) -> None:
    query = visitor.query(where="label = 3")["id"]
    assert visitor.json(f"queries/{query}/next", record=13)["record"] == 23
    assert visitor.json(f"queries/{query}/next", record=13, back=1)["record"] == 3
    assert visitor.json(f"queries/{query}/next", record=33)["record"] is None
    assert visitor.json(f"queries/{query}/next", record=13, here=1)["place"] == 1


def test_a_record_that_was_not_found_has_neighbours_that_were(visitor: Visitor) -> None:
    query = visitor.query(where="label = 3")["id"]
    assert visitor.json(f"queries/{query}/next", record=14)["record"] == 23
    assert visitor.json(f"queries/{query}/next", record=14, back=1)["record"] == 13
    assert visitor.json(f"queries/{query}/next", record=14, here=1)["place"] is None
    assert visitor.json(f"queries/{query}/next", record=2, back=1)["record"] is None
    turned = visitor.query(where="label = 3", sort="score", descending=1)["id"]
    assert visitor.json(f"queries/{turned}/next", record=14)["record"] is None


def test_records_that_lack_what_is_sorted_by_come_last(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(
        tmp_path / "gaps.tfrecord", [{"x": 2.0, "i": 0}, {"i": 1}, {"x": float("nan"), "i": 2}, {"x": 1.0}]
    )
    stopping.append(visitor := visit(tmp_path / "gaps.tfrecord"))
    assert visitor.found(sort="x") == [3, 0, 1, 2]
    assert visitor.found(sort="x", descending="1") == [0, 3, 1, 2]


def test_odd_records_are_counted_and_do_not_end_a_search(tmp_path: Path, stopping: list[Visitor]) -> None:
    with tfreel.Writer(tmp_path / "mixed.tfrecord") as out:
        for i in range(50):
            out.write({"n": i} if i != 20 else {"n": "twenty"})
        out.write(b"\xff\xff no Example")
    stopping.append(visitor := visit(tmp_path / "mixed.tfrecord"))
    assert visitor.found(where="n >= 18 and n <= 22") == [18, 19, 21, 22]
    assert visitor.query(where="n >= 18")["unreadable"] == 2


def test_features_without_a_value_anywhere_can_be_asked_for(tmp_path: Path, stopping: list[Visitor]) -> None:
    records = [tfreel.encode_sequence({"n": i}, {"steps": []}) for i in range(3)]
    tfreel.save(tmp_path / "a.tfrecord", records)
    stopping.append(visitor := visit(tmp_path / "a.tfrecord"))
    assert visitor.found(sort="steps") == [0, 1, 2]
    assert visitor.found(where="steps is not missing and n > 0") == [1, 2]
    found = histogram(visitor, feature="steps")
    assert "error" not in found
    assert found["distribution"]["count"] == 0


def histogram(visitor: Visitor, **question: str) -> Any:
    found = visitor.json("histograms", **question)
    for _ in range(100):
        if found["done"]:
            break
        time.sleep(0.02)
        found = visitor.json("histograms", **question)
    return found


def test_a_histogram_can_be_of_what_was_found(visitor: Visitor) -> None:
    query = visitor.query(where="label < 2")["id"]
    found = histogram(visitor, feature="label", query=query)
    assert [(bar["value"], bar["count"]) for bar in found["distribution"]["bars"]] == [(0, 4), (1, 4)]
    assert visitor.get("histograms", feature="nothing").status == 404
    assert visitor.get("histograms", feature="label", query="nothing").status == 404


def test_queries_run_once_and_can_be_cancelled(tmp_path: Path, stopping: list[Visitor]) -> None:
    with tfreel.Writer(tmp_path / "large.tfrecord") as out:
        out.write_many([tfreel.encode({"n": i, "text": "x" * 2000}) for i in range(60_000)])
    stopping.append(visitor := visit(tmp_path / "large.tfrecord"))
    first = visitor.json("queries", search="nowhere")
    visitor.json(f"queries/{first['id']}/cancel")
    ended = visitor.query(search="nowhere")
    assert ended["id"] == first["id"]


# Splits and several files -----------------------------------------------------------------------------------


def test_a_packed_folder_has_splits_and_classes(tmp_path: Path, stopping: list[Visitor]) -> None:
    files: dict[str, bytes | str] = {
        f"{kind}/{i}.jpg": jpeg(8 + i, 8) for kind in ("cat", "dog") for i in range(5)
    }
    put(tmp_path / "photos", files)
    tfreel.pack(tmp_path / "photos", tmp_path / "records", split={"train": 0.8, "test": 0.2})
    stopping.append(visitor := visit(tmp_path / "records"))
    page = visitor.json("overview")
    assert {split["name"]: split["records"] for split in page["splits"]} == {"train": 8, "test": 2}
    assert set(page["classes"].values()) == {"cat", "dog"}
    assert page["title"] == "records"
    found = visitor.found(split="test")
    first = next(split["first"] for split in page["splits"] if split["name"] == "test")
    assert found == [first, first + 1]
    assert visitor.get("queries", split="nothing").status == 400


def test_files_in_several_folders_are_told_apart(tmp_path: Path, stopping: list[Visitor]) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        tfreel.save(tmp_path / folder / "x.tfrecord", [{"n": 1}, {"n": 2}])
    stopping.append(visitor := visit([tmp_path / "a/x.tfrecord", tmp_path / "b/x.tfrecord"]))
    assert [file["name"] for file in visitor.json("overview")["files"]] == ["a/x.tfrecord", "b/x.tfrecord"]
    assert visitor.found(file=1) == [2, 3]
    assert visitor.json("records/3")["wire"]["file"]["name"] == "b/x.tfrecord"


def test_compressed_files_are_shown_too(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(tmp_path / "x.tfrecord.gz", [{"n": i} for i in range(500)])
    stopping.append(visitor := visit(tmp_path / "x.tfrecord.gz"))
    assert visitor.json("overview")["files"][0]["codec"] == "gzip"
    assert visitor.json("records", offset=450, limit=1)["rows"][0]["features"]["n"]["values"] == [450]
    assert visitor.found(where="n in [3, 450]") == [3, 450]


def test_no_records_are_no_error(tmp_path: Path, stopping: list[Visitor]) -> None:
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    stopping.append(visitor := visit(tmp_path / "empty.tfrecord"))
    page = visitor.json("overview")
    assert (page["records"], page["features"]) == (0, [])
    assert visitor.json("records")["rows"] == []


def test_records_that_are_open_already_can_be_shown(tmp_path: Path, stopping: list[Visitor]) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"n": 1}])
    stopping.append(visitor := visit(tfreel.open(tmp_path / "x.tfrecord")))
    assert visitor.json("overview")["records"] == 1


# Damage -----------------------------------------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Ten records, of which the third is damaged, and the last is cut off."""
    path = tmp_path / "damaged.tfrecord"
    tfreel.save(path, [{"n": i, "text": "x" * 50} for i in range(10)])
    offset = tfreel.open(path).place(2)[2]
    data = bytearray(path.read_bytes())
    data[offset + 20] ^= 1
    path.write_bytes(data[:-5])
    return path


def test_damaged_files_open_and_say_what_repair_would_keep(damaged: Path, stopping: list[Visitor]) -> None:
    stopping.append(visitor := visit(damaged))
    page = visitor.json("overview")
    assert page["records"] == 8
    assert page["health"]["fault_count"] == 2
    faults = visitor.json("faults")
    assert [fault["kind"] for fault in faults["files"][0]["faults"]] == ["data_crc", "truncated_body"]
    report = tfreel.repair(damaged, damaged.with_name("sound.tfrecord"))
    assert faults["files"][0]["kept"] == report.records
    assert "path" not in faults["files"][0]["faults"][0]


def test_records_behind_damage_are_the_right_ones(damaged: Path, stopping: list[Visitor]) -> None:
    stopping.append(visitor := visit(damaged))
    values = [row["features"]["n"]["values"][0] for row in visitor.json("records")["rows"]]
    assert values == [0, 1, 3, 4, 5, 6, 7, 8]
    assert visitor.found(where="n = 4") == [3]


def test_damage_behind_an_index_shows_when_everything_is_read(
    tmp_path: Path, stopping: list[Visitor]
) -> None:
    path = tmp_path / "x.tfrecord"
    tfreel.save(path, [{"n": i, "text": "x" * 50} for i in range(100)])
    tfreel.build_index(path)
    times = os.stat(path)
    offset = tfreel.open(path).place(51)[2]
    with open(path, "r+b") as file:
        file.seek(offset + 20)
        file.write(b"?")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    stopping.append(visitor := visit(path))
    assert visitor.json("overview")["health"]["verified_files"] == 0
    assert "checksum" in visitor.json("records/51")["error"]
    assert visitor.found(where="n >= 50 and n <= 53") == [50, 52, 53]
    assert visitor.query(where="n >= 50 and n <= 53")["unreadable"] == 1
    state = visitor.json("scan")
    for _ in range(200):
        if state["done"]:
            break
        time.sleep(0.02)
        state = visitor.json("scan")
    page = visitor.json("overview")
    assert page["health"]["verified_files"] == 1
    assert page["health"]["fault_count"] == 1
    assert features_of(page)["n"]["distribution"]["count"] == 99


def test_something_that_is_no_tfrecord_opens_as_damaged(tmp_path: Path, stopping: list[Visitor]) -> None:
    (tmp_path / "text.tfrecord").write_text("this is no TFRecord at all, but a text\n" * 20)
    stopping.append(visitor := visit(tmp_path / "text.tfrecord"))
    page = visitor.json("overview")
    assert page["records"] == 0
    assert page["health"]["fault_count"] == 1


def test_a_file_that_changes_is_told_without_its_path(tmp_path: Path, stopping: list[Visitor]) -> None:
    path = tmp_path / "x.tfrecord"
    tfreel.save(path, [{"n": i} for i in range(10)])
    stopping.append(visitor := visit(path))
    path.write_bytes(path.read_bytes()[:40])
    record = visitor.json("records/9")
    assert record["kind"] == "damaged"
    assert str(tmp_path) not in json.dumps(record)


def test_a_missing_file_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tfreel.view(tmp_path / "nothing.tfrecord")
    with pytest.raises(IsADirectoryError):
        tfreel.view(tmp_path)


def test_a_dataset_is_refused_with_words(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"n": 1}])
    with pytest.raises(TypeError, match="give it the paths"):
        tfreel.view(tfreel.Dataset(tmp_path / "x.tfrecord"))  # type: ignore[arg-type]


# Speed ------------------------------------------------------------------------------------------------------

FIRST_PAGE = """
import http.cookiejar, json, time, urllib.request
import tfreel
with tfreel.view("million.tfrecord") as viewer:
    viewer.wait_until_open()
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    browser = urllib.request.build_opener(cookies)
    browser.open(viewer.url).close()
    overview = json.load(browser.open(viewer.address + "api/overview"))
    rows = json.load(browser.open(viewer.address + "api/records"))["rows"]
    print(overview["records"], len(rows), time.process_time())
"""


def test_the_first_page_of_a_million_records_takes_less_than_a_second() -> None:
    with tfreel.Writer("million.tfrecord", durable=False) as out:
        out.write_many([tfreel.encode({"label": 7, "x": [0.5, 1.5]})] * 1_000_000)
    tfreel.build_index("million.tfrecord")
    seconds = []
    for _ in range(3):  # of the processor: others may be busy
        command = [sys.executable, "-c", FIRST_PAGE]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        records, rows, spent = done.stdout.split()
        assert (records, rows) == ("1000000", "50")
        seconds.append(float(spent))
    assert min(seconds) < 1


# Life and death ---------------------------------------------------------------------------------------------


def test_a_stopped_viewer_leaves_no_threads_and_no_port(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"n": 1}])
    before = threading.active_count()
    with tfreel.view(tmp_path / "x.tfrecord") as viewer:
        assert viewer.running
        assert viewer.wait_until_open(20)
        visitor = Visitor(viewer).enter()
        visitor.json("overview")
    assert not viewer.running
    with pytest.raises(ConnectionError):
        visitor.get("overview")
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before
    assert "stopped" in viewer._repr_html_()


def test_a_notebook_gets_a_frame(visitor: Visitor) -> None:
    shown = visitor.viewer._repr_html_()
    assert shown.startswith('<iframe src="http://127.0.0.1:')
    assert "<script" not in shown


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"n": 1}])
    with pytest.raises(ValueError, match="lang"):
        tfreel.view(tmp_path / "x.tfrecord", lang="tlh")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="port"):
        tfreel.view(tmp_path / "x.tfrecord", port=70000)
    with pytest.raises(ValueError, match="no address"):
        tfreel.view(tmp_path / "x.tfrecord", host="no such host")


# Bars -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_bars_hold_every_number_however_the_range_grows(seed: int) -> None:
    random = np.random.default_rng(seed)
    bars, total = NumberBars(), 0
    for power in random.permutation(12):
        values = (random.normal(size=100) * 10.0 ** float(power)).astype(np.float32)
        bars.add(values)
        total += len(values)
    result = bars.result()
    assert sum(bar["count"] for bar in result["bars"]) == total
    first, last = result["bars"][0], result["bars"][-1]
    assert first["from"] <= np.float32(result["least"]) <= first["to"]
    assert last["from"] <= np.float32(result["greatest"]) <= last["to"]


def test_few_numbers_have_a_bar_each() -> None:
    bars = NumberBars()
    bars.add(np.array([5, -3, 5, 10**15]))
    assert [(bar["value"], bar["count"]) for bar in bars.result()["bars"]] == [(-3, 1), (5, 2), (10**15, 1)]
