"""Where ``tfreel.tf`` answers otherwise than TensorFlow on purpose: what both do, side by side."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as theirs  # noqa: ICN001 - both are tf

from tfreel import tf as ours

from integrations.scripts.builders import int64s, write
from integrations.scripts.results import raised


@pytest.fixture(autouse=True)
def _no_seed_is_left() -> Iterator[None]:
    yield
    theirs.random.set_seed(None)
    ours.random.set_seed(None)


def records(tf: Any, path: Path, *args: Any) -> list[bytes]:
    return list(tf.data.TFRecordDataset(str(path), *args).as_numpy_iterator())


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_compression_is_found_out_where_tensorflow_sees_damage(kind: str, tmp_path: Path) -> None:
    write(theirs, tmp_path / "a", [b"one", b"two"], kind)
    assert raised(theirs, lambda: records(theirs, tmp_path / "a")) == "DataLossError"
    assert records(ours, tmp_path / "a") == [b"one", b"two"]


def test_an_unknown_compression_is_an_error_not_no_compression(tmp_path: Path) -> None:
    write(theirs, tmp_path / "a", [b"one"])
    assert records(theirs, tmp_path / "a", "gzip9") == [b"one"]
    assert raised(ours, lambda: records(ours, tmp_path / "a", "gzip9")) == "ValueError"


def test_a_file_cut_inside_a_header_is_damaged_not_at_its_end(tmp_path: Path) -> None:
    path = Path(write(theirs, tmp_path / "a", [b"one", b"two"]))
    path.write_bytes(path.read_bytes() + b"\0" * 5)
    assert records(theirs, path) == [b"one", b"two"]
    assert raised(ours, lambda: records(ours, path)) == "DataLossError"


def test_bytes_behind_a_zlib_stream_are_damage_not_ignored(tmp_path: Path) -> None:
    data = Path(write(theirs, tmp_path / "plain", [b"one"])).read_bytes()
    (tmp_path / "a").write_bytes(zlib.compress(data) + b"more")
    assert records(theirs, tmp_path / "a", "ZLIB") == [b"one"]
    assert raised(ours, lambda: records(ours, tmp_path / "a", "ZLIB")) == "DataLossError"


def test_skipped_records_are_checked(tmp_path: Path) -> None:
    path = Path(write(theirs, tmp_path / "a", [b"one" * 9, b"two" * 9]))
    data = bytearray(path.read_bytes())
    data[15] ^= 1
    path.write_bytes(data)
    assert list(theirs.data.TFRecordDataset(str(path)).skip(1).as_numpy_iterator()) == [b"two" * 9]
    assert raised(ours, lambda: list(ours.data.TFRecordDataset(str(path)).skip(1))) == "DataLossError"


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    for tf, early in ((theirs, True), (ours, False)):
        path = tmp_path / tf.__name__
        writer = tf.io.TFRecordWriter(str(path))
        writer.write(b"one")
        writer.flush()
        assert path.exists() == early
        writer.close()
        assert records(theirs, path) == [b"one"]


def test_paths_of_pathlib_can_be_written(tmp_path: Path) -> None:
    assert raised(theirs, lambda: theirs.io.TFRecordWriter(tmp_path / "a")) == "TypeError"
    with ours.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(memoryview(b"one"))
    assert records(theirs, tmp_path / "a") == [b"one"]


def test_truth_values_are_taken_as_numbers() -> None:
    assert list(int64s(ours, True, np.bool_(False)).int64_list.value) == [1, 0]


def test_readers_save_their_state(tmp_path: Path) -> None:
    v1 = ours.compat.v1
    path = write(ours, tmp_path / "a", [b"one", b"two", b"three"])
    queue = v1.train.string_input_producer([path], shuffle=False, num_epochs=1)
    reader = v1.TFRecordReader()
    _, value = reader.read(queue)
    with v1.Session() as session:
        assert session.run(value) == b"one"
        state = session.run(reader.serialize_state())
        assert session.run(value) == b"two"
        session.run(reader.restore_state(state))
        assert session.run(value) == b"two"
    assert v1.TFRecordReader().supports_serialize
    with theirs.Graph().as_default():
        assert not theirs.compat.v1.TFRecordReader().supports_serialize


def test_queues_need_no_runners(tmp_path: Path) -> None:
    v1 = ours.compat.v1
    path = write(ours, tmp_path / "a", [b"one", b"two"])
    _, value = v1.TFRecordReader().read(v1.train.string_input_producer([path], shuffle=False))
    batch = v1.train.batch([value], batch_size=3)
    with v1.Session() as session:
        assert session.run(batch).tolist() == [b"one", b"two", b"one"]


def test_random_numbers_are_not_those_of_tensorflow() -> None:
    for tf in (theirs, ours):
        tf.random.set_seed(5)
    assert theirs.random.uniform([4]).numpy().tolist() != ours.random.uniform([4]).numpy().tolist()


def test_functions_with_side_effects_run_for_every_element() -> None:
    for tf, most in ((theirs, 1), (ours, 3)):
        seen: list[Any] = []

        def look(i: Any, seen: list[Any] = seen) -> Any:
            seen.append(i)
            return i if i > 1 else -i

        assert list(tf.data.Dataset.range(3).map(look).as_numpy_iterator()) == [0, -1, 2]
        assert len(seen) >= most
        assert (len(seen) < 3) == (tf is theirs)
