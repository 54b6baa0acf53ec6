"""Work on a Ray cluster: the same results and the same bytes as here, also when workers die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tfreel
from tfreel.engines import streamed
from tfreel.engines.ray import on_cluster

from on_workers import DeadlyFolder, Skewed, Squared, refuse
from photos import photo_folder

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("cluster")]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return photo_folder(tmp_path / "photos", {"apple": 12, "orange": 8})


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# Work -------------------------------------------------------------------------------------------------------


def test_results_come_in_order_from_other_processes(tmp_path: Path) -> None:
    found = list(streamed(Squared(tmp_path), range(30), engine="ray"))
    assert found == [number * number for number in range(30)]
    assert str(os.getpid()) not in os.listdir(tmp_path)


def test_a_worker_that_is_killed_loses_and_repeats_nothing(tmp_path: Path) -> None:
    found = list(streamed(Squared(tmp_path, deadly=4), range(12), engine="ray"))
    assert found == [number * number for number in range(12)]
    assert (tmp_path / "died").exists()


def test_an_error_in_a_worker_is_raised_here_as_what_it_is() -> None:
    results = on_cluster(refuse, range(10))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three is one too many") as caught:
        next(results)
    assert type(caught.value) is ValueError


def test_no_more_items_are_taken_than_there_is_room_for() -> None:
    taken = []

    def numbers() -> object:
        for number in range(100):
            taken.append(number)
            yield number

    results = on_cluster(refuse, numbers(), most=1)  # type: ignore[arg-type]
    next(results)
    results.close()
    assert len(taken) < 5


def test_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfreel.engines.ray.version", lambda _: "9.9.9")
    with pytest.raises(
        tfreel.TfreelError, match=r"this worker has tfreel .*, but .* tfreel 9\.9\.9"
    ) as caught:
        list(on_cluster(Skewed(), [1]))
    assert caught.value.kind == "version_skew"


# Records ----------------------------------------------------------------------------------------------------


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    with tfreel.ShardedWriter(tmp_path / "train.tfrecord", shards=5) as out:
        out.write_many({"label": i % 7, "x": [i / 4, -i / 2], "name": f"row {i}"} for i in range(1000))
    return tmp_path / "train.tfrecord"


def test_verify_finds_every_fault_on_a_cluster_too(shards: Path) -> None:
    assert tfreel.verify(shards, engine="ray") == tfreel.verify(shards)
    with open(shards.parent / "train-00003-of-00005.tfrecord", "r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    told: list[tuple[int, int]] = []
    report = tfreel.verify(shards, engine="ray", progress=lambda *done: told.append(done))
    assert report == tfreel.verify(shards)
    assert not report.ok
    assert report.faults[0].path.endswith("train-00003-of-00005.tfrecord")
    assert sum(records for records, _ in told) == report.records


def test_names_of_files_mean_the_same_to_workers(shards: Path) -> None:
    assert tfreel.verify("train-*.tfrecord", engine="ray").records == 1000


def test_indexes_are_those_that_are_built_here(shards: Path) -> None:
    here = tfreel.build_index(shards)
    before = [Path(path).read_bytes() for path in here]
    for path in here:
        os.unlink(path)
    assert tfreel.build_index(shards, engine="ray") == here
    assert [Path(path).read_bytes() for path in here] == before


@pytest.mark.parametrize("by", [None, "label"])
def test_statistics_are_the_same_to_the_last_bit(tmp_path: Path, by: str | None) -> None:
    random = np.random.default_rng(1)
    rows = {
        "label": random.integers(0, 7, 40_000),
        "weight": random.normal(size=40_000).astype(np.float32),
        "name": [f"row {i * i}" for i in range(40_000)],
        "blob": random.integers(0, 256, (40_000, 900), np.uint8).view("S900")[:, 0],
    }
    tfreel.save(tmp_path / "large.tfrecord", rows)  # of more than one part
    tfreel.save(tmp_path / "small.tfrecord", {"label": [1, 2]})
    files = [tmp_path / "large.tfrecord", tmp_path / "small.tfrecord"]
    told: list[tuple[int, int]] = []
    here = tfreel.profile.stats(files, by=by)
    there = tfreel.profile.stats(files, by=by, engine="ray", progress=lambda *done: told.append(done))
    assert there.to_json() == here.to_json()
    assert len(told) > 2
    assert sum(records for records, _ in told) == there.records == 40_002
    assert there.merge(here).records == 80_004


def test_statistics_of_damaged_files_are_those_of_one_machine(shards: Path) -> None:
    with open(shards.parent / "train-00003-of-00005.tfrecord", "r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    here, there = (tfreel.profile.stats(shards, on_corrupt="skip", engine=e) for e in ("local", "ray"))
    assert here.to_json() == there.to_json()
    with pytest.raises(tfreel.CorruptError) as caught:
        tfreel.profile.stats(shards, engine="ray")
    assert caught.value.path is not None


def test_a_damaged_file_reaches_the_driver_with_path_record_and_offset(shards: Path) -> None:
    damaged = shards.parent / "train-00002-of-00005.tfrecord"
    places = tfreel.open(damaged)
    path, record, offset = places.place(50)
    with open(damaged, "r+b") as file:
        file.seek(offset + 12)
        file.write(b"\xff\xff")
    with pytest.raises(tfreel.ChecksumError) as caught:
        tfreel.build_index(shards, engine="ray")
    assert (caught.value.path, caught.value.record, caught.value.offset) == (path, record, offset)


def test_streams_are_refused(shards: Path) -> None:
    with (
        open(shards.parent / "train-00002-of-00005.tfrecord", "rb") as file,
        pytest.raises(ValueError, match="stream"),
    ):
        tfreel.verify(file, engine="ray")
    with pytest.raises(ValueError, match="engine must be"):
        tfreel.verify(shards, engine="dask")  # type: ignore[arg-type]


# Packing ----------------------------------------------------------------------------------------------------

SPLIT = {"train": 0.75, "test": 0.25}


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_pictures_become_the_same_bytes_on_a_cluster(photos: Path, tmp_path: Path, compression: str) -> None:
    options = {"split": SPLIT, "shards": 3, "compression": compression, "resize": (8, 8)}
    here = tfreel.pack(photos, tmp_path / "here", **options)  # type: ignore[arg-type]
    there = tfreel.pack(photos, tmp_path / "there", engine="ray", **options)  # type: ignore[arg-type]
    assert content(tmp_path / "here") == content(tmp_path / "there")
    assert (here.written, here.splits) == (there.written, there.splits)
    assert sorted(os.listdir(tmp_path / "there")) == sorted(os.listdir(tmp_path / "here"))


def test_a_table_becomes_the_same_bytes_on_a_cluster(tmp_path: Path) -> None:
    lines = [f"{i},{i / 8},{['red', 'blue'][i % 2]}" for i in range(500)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,weight,colour", *lines]))
    options = {"label": "colour", "stratify": "label", "split": SPLIT, "shards": 2}
    tfreel.pack(tmp_path / "rows.csv", tmp_path / "here", **options)  # type: ignore[arg-type]
    tfreel.pack(tmp_path / "rows.csv", tmp_path / "there", engine="ray", **options)  # type: ignore[arg-type]
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_archives_and_records_become_the_same_bytes_on_a_cluster(photos: Path, tmp_path: Path) -> None:
    import shutil

    sources = [shutil.make_archive(str(tmp_path / "photos"), kind, photos) for kind in ("zip", "tar")]
    tfreel.pack(photos, tmp_path / "records", shards=2)
    for number, source in enumerate([*sources, tmp_path / "records"]):
        here, there = tmp_path / f"here-{number}", tmp_path / f"there-{number}"
        tfreel.pack(source, here, split=SPLIT, shards=2)
        tfreel.pack(source, there, split=SPLIT, shards=2, engine="ray", verify="all")
        assert content(here) == content(there)


def test_a_worker_killed_while_it_packs_changes_no_byte(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tfreel.pack(photos, tmp_path / "here", shards=4)

    def opened(tree: object, options: object) -> DeadlyFolder:
        folder = DeadlyFolder(tree, options)  # type: ignore[arg-type]
        folder.marker = tmp_path / "died"
        return folder

    monkeypatch.setattr("tfreel.packing.pictures.folder.opened", opened)
    tfreel.pack(photos, tmp_path / "there", shards=4, engine="ray")
    assert (tmp_path / "died").exists()
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_a_bad_picture_stops_all_or_is_listed_as_it_is_here(photos: Path, tmp_path: Path) -> None:
    (photos / "apple" / "bad.png").write_bytes(b"no picture")
    with pytest.raises(tfreel.TfreelError, match=r"apple/bad\.png") as caught:
        tfreel.pack(photos, tmp_path / "out", shards=2, engine="ray")
    assert caught.value.path == "apple/bad.png"
    assert not (tmp_path / "out" / "dataset.json").exists()
    for engine in ("local", "ray"):
        tfreel.pack(photos, tmp_path / engine, shards=2, on_error="skip", engine=engine)  # type: ignore[arg-type]
    assert content(tmp_path / "local") == content(tmp_path / "ray")
    assert json.loads((tmp_path / "ray" / "rejects.jsonl").read_text())["item"] == "apple/bad.png"


def test_what_a_killed_run_finished_is_not_done_again(photos: Path, tmp_path: Path) -> None:
    (photos / "apple" / "bad.png").write_bytes(b"no picture")
    with pytest.raises(tfreel.TfreelError):
        tfreel.pack(photos, tmp_path / "out", shards=21, shuffle=False, engine="ray", workers=1)
    whole = [name for name in os.listdir(tmp_path / "out" / ".packing") if name.endswith(".note.json")]
    report = tfreel.pack(photos, tmp_path / "out", shards=21, shuffle=False, on_error="skip")
    assert report.reused == len(whole) > 0


def test_progress_counts_all_items(photos: Path, tmp_path: Path) -> None:
    told = []
    tfreel.pack(photos, tmp_path / "out", shards=3, engine="ray", progress=told.append)
    writing = [progress for progress in told if progress.phase == "writing"]
    assert (len(writing), writing[-1].done, writing[-1].total) == (3, 20, 20)
    assert told[-1].phase == "checking"
    assert told[-1].done == told[-1].total
    assert np.all(np.diff([progress.done for progress in writing]) > 0)


# The command line -------------------------------------------------------------------------------------------


def test_commands_run_on_the_cluster_that_is_there(shards: Path, photos: Path, cluster: str) -> None:
    def run(*command: str) -> str:
        environment = {**os.environ, "RAY_ADDRESS": cluster}
        done = subprocess.run(
            [sys.executable, "-m", "tfreel", *command, "--engine", "ray"],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return done.stdout

    assert json.loads(run("verify", str(shards)))["records"] == 1000
    assert len(run("index", str(shards)).splitlines()) == 5
    assert json.loads(run("pack", str(photos), "out"))["records"] == 20
    assert json.loads(run("stats", "--json", str(shards)))["records"] == 1000


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_on_the_cluster(number: int, code: int, tmp_path: Path, cluster: str) -> None:
    command = [
        sys.executable,
        "-m",
        "tfreel",
        "verify",
        "--engine",
        "ray",
        str(tmp_path / "large.tfrecord.gz"),
    ]
    with tfreel.Writer(tmp_path / "member.gz", level=9) as out:
        out.write_many([bytes(1 << 20)] * 64)
    (tmp_path / "large.tfrecord.gz").write_bytes((tmp_path / "member.gz").read_bytes() * 2000)
    environment = {**os.environ, "RAY_ADDRESS": cluster}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        time.sleep(8)  # a driver starts in a second or two
        assert process.poll() is None
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert errors.endswith(b"tfreel: interrupted\n" if code == 130 else b"tfreel: terminated\n")
