"""Files that lie beside records, bent: indexes, manifests, descriptions, schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import tfreel
from tfreel import profile
from tfreel.profile import spec_file

from doors.knocking import ASKING_ERRORS, bent, door, knock
from doors.shapes import changes_of
from photos import photo_folder
from tfds_like import flowers

RECORDS = [b"record %d" % i for i in range(20)]
MODES = ("auto", "require", "rebuild")


def records_are_right(mode: Any) -> None:
    """Whatever the index says, no wrong record comes."""
    records = tfreel.open("a.tfrecord", index=mode)
    assert [records[i] for i in range(len(records))] == RECORDS
    assert records[[19, 0, 7]] == [RECORDS[19], RECORDS[0], RECORDS[7]]


def test_any_index_is_used_or_refused() -> None:
    with tfreel.Writer("a.tfrecord") as out:
        out.write_many(RECORDS)
    (sidecar,) = tfreel.build_index("a.tfrecord")
    good = Path(sidecar).read_bytes()

    @door(bent(good), st.sampled_from(MODES), examples=150)
    def opening(content: bytes, mode: str) -> None:
        Path(sidecar).write_bytes(content)
        taken = knock(lambda: records_are_right(mode), (tfreel.TfreelError,))
        assert taken or mode != "rebuild"

    opening()


def test_any_text_index_is_used_or_refused() -> None:
    with tfreel.Writer("a.tfrecord") as out:
        out.write_many(RECORDS)
    (sidecar,) = tfreel.build_index("a.tfrecord", format="text")
    good = Path(sidecar).read_bytes()

    @door(bent(good, good.replace(b"0", b"nan", 1), b"0 99999999999999999999999999\n"), examples=150)
    def opening(content: bytes) -> None:
        Path(sidecar).write_bytes(content)
        knock(lambda: records_are_right("text"), (tfreel.TfreelError,))

    opening()


def test_any_manifest_of_shards_is_used_or_refused() -> None:
    with tfreel.ShardedWriter("a.tfrecord", shards=3) as out:
        out.write_many(RECORDS)
    manifest = Path("a.tfrecord.manifest.json")
    good = manifest.read_bytes()

    @door(
        bent(good) | changes_of(json.loads(good)).map(lambda value: json.dumps(value).encode()), examples=150
    )
    def reading(content: bytes) -> None:
        manifest.write_bytes(content)
        found: list[bytes] = []
        if knock(lambda: found.extend(tfreel.read("a.tfrecord")), ASKING_ERRORS):
            assert sorted(found) == sorted(RECORDS)

    reading()


def manifest_of_a_packed_set() -> Path:
    photo_folder(Path("photos"), {"rose": 4, "daisy": 4})
    tfreel.pack("photos", "set", split={"train": 0.5, "test": 0.5}, durable=False)
    (path,) = Path("set").glob("*.json")
    return path


def info_of_a_tfds_folder() -> Path:
    return flowers(Path("set/1.0.0")) / "dataset_info.json"


def features_of_a_tfds_folder() -> Path:
    return flowers(Path("set/1.0.0")) / "features.json"


@pytest.mark.parametrize("make", [manifest_of_a_packed_set, info_of_a_tfds_folder, features_of_a_tfds_folder])
def test_any_description_of_a_folder_is_used_or_refused(make: Any) -> None:
    path = make()
    folder, good = str(path.parent), path.read_bytes()

    @door(
        bent(good) | changes_of(json.loads(good)).map(lambda value: json.dumps(value).encode()), examples=80
    )
    def opening(content: bytes) -> None:
        path.write_bytes(content)
        knock(lambda: [*tfreel.Dataset(folder, split="train")], ASKING_ERRORS)

    opening()


SCHEMA = {
    "schema_version": 1,
    "min_records": 1,
    "max_records": 9,
    "other_features": "refuse",
    "rules": {
        "label": {
            "kind": "int64",
            "presence": 0.5,
            "count": [1, None],
            "range": [None, 9],
            "allowed": [1, 2],
        },
        "name": {
            "kind": "bytes",
            "shape": [],
            "allowed": ["a", "b"],
            "allowed_share": 0.9,
            "value_bytes": [1, 9],
        },
    },
    "sequence_rules": {"x": {"steps": [1, 5]}},
}
TEXT = b"""feature { name: "label" type: INT presence { min_fraction: 1.0 } int_domain { min: 0 max: 9 } }
feature { name: "name" type: BYTES value_count { max: 2 } string_domain { value: "a" value: "b\\303\\244" } }
"""


def validated(path: str) -> None:
    profile.validate("a.tfrecord", profile.Schema.load(path), threads=1)


@door(changes_of(SCHEMA), bent(TEXT), examples=80)
def test_any_schema_is_used_or_refused(schema: Any, text: bytes) -> None:
    tfreel.save("a.tfrecord", {"label": [1, 2], "name": [b"a", b"b"]}, mode="w")
    Path("schema.json").write_text(json.dumps(schema))
    Path("schema.pbtxt").write_bytes(text)
    knock(lambda: validated("schema.json"), ASKING_ERRORS)
    knock(lambda: validated("schema.pbtxt"), ASKING_ERRORS)


SCRIPT = b"""import tensorflow as tf
features = {"label": tf.io.FixedLenFeature([], tf.int64), "name": tf.io.VarLenFeature(tf.string)}
def parse(record):
    return tf.io.parse_single_example(record, features)
"""


@door(bent(SCRIPT), examples=150)
def test_any_script_is_read_or_refused(script: bytes) -> None:
    Path("script.py").write_bytes(script)
    knock(lambda: spec_file.read_features("script.py"), ASKING_ERRORS)
