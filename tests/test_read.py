"""Ordinary reading: names, order, counters, states, options, reports."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfreel

from corpus import CODECS, RECORDS, SUFFIXES, compress, frame, frames, offsets, write_file


def write_shards(directory: Path, count: int, prefix: str = "train") -> list[Path]:
    """A set of shards, each with one record that says which it is."""
    return [
        write_file(directory / f"{prefix}-{i:05d}-of-{count:05d}.tfrecord", [f"{i}/{count}".encode()])
        for i in range(count)
    ]


def write_manifest(directory: Path, shards: list[Path], name: str = "train.tfrecord") -> Path:
    rows = [{"name": shard.name, "records": 1, "bytes": shard.stat().st_size} for shard in shards]
    path = directory / f"{name}.manifest.json"
    path.write_text(
        json.dumps({"format": "tfreel-manifest", "version": 1, "records": len(rows), "shards": rows})
    )
    return path


# Names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_records_of_a_file_come_as_bytes_in_order(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / f"a{SUFFIXES[codec]}", RECORDS, codec)
    reader = tfreel.read(path)
    assert iter(reader) is reader
    assert list(reader) == RECORDS
    assert all(type(record) is bytes for record in tfreel.read(path))
    assert list(reader) == []  # it stays at the end


def test_any_kind_of_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write_file(tmp_path / "a.tfrecord", RECORDS)
    for name in (str(path), path, os.fsencode(path), "a.tfrecord", b"a.tfrecord", Path("a.tfrecord")):
        assert list(tfreel.read(name)) == RECORDS, name
    for name in ("~/a.tfrecord", b"~/a.tfrecord", Path("~/a.tfrecord"), "~/*.tfrecord"):
        assert list(tfreel.read(name)) == RECORDS, name


@pytest.mark.parametrize("wrong", [None, 7, 1.5, [None], [7], object()])
def test_what_is_no_path_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="expected a path"):
        tfreel.read(wrong)


def test_data_is_no_path_of_it(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", {"x": range(100)})
    data = (tmp_path / "a").read_bytes()
    with pytest.raises(
        TypeError, match=f"{len(data):,} bytes that are no path; data is read from io.BytesIO"
    ):
        tfreel.read(data)
    assert len(list(tfreel.read(io.BytesIO(data)))) == 100
    ds: Any = tfreel.Dataset(tmp_path / "a")
    for door in (
        tfreel.read,
        tfreel.open,
        tfreel.Dataset,
        tfreel.scan,
        tfreel.load,
        tfreel.verify,
        tfreel.profile.stats,
        lambda data: tfreel.profile.leaks(data, data),
    ):
        with pytest.raises(TypeError, match=r"expected paths, not a Dataset; tfreel.save"):
            door(ds)


def test_list_keeps_its_order_and_its_repetitions(tmp_path: Path) -> None:
    b, a = write_file(tmp_path / "b", [b"b"]), write_file(tmp_path / "a", [b"a"])
    assert list(tfreel.read([b, a, b])) == [b"b", b"a", b"b"]
    assert list(tfreel.read(iter((b, str(a))))) == [b"b", b"a"]
    assert list(tfreel.read([])) == []


def test_files_of_all_codecs_can_be_read_together(tmp_path: Path) -> None:
    files = [write_file(tmp_path / codec, [codec.encode()], codec) for codec in CODECS]
    assert list(tfreel.read(files)) == [b"none", b"gzip", b"zlib"]


def test_glob_is_sorted_naturally(tmp_path: Path) -> None:
    for i in (10, 9, 1, 100, 2):
        write_file(tmp_path / f"part-{i}.tfrecord", [str(i).encode()])
    assert list(tfreel.read("part-*.tfrecord")) == [b"1", b"2", b"9", b"10", b"100"]
    assert list(tfreel.read(str(tmp_path / "part-?.tfrecord"))) == [b"1", b"2", b"9"]


def test_glob_goes_into_directories(tmp_path: Path) -> None:
    for name in ("a", "d/b", "d/e/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_file(tmp_path / f"{name}.tfrecord", [name.encode()])
    assert list(tfreel.read("**/*.tfrecord")) == [b"a", b"d/b", b"d/e/c"]
    assert list(tfreel.read("*/*.tfrecord")) == [b"d/b"]


def test_glob_leaves_out_directories_and_what_tfreel_puts_beside_data(tmp_path: Path) -> None:
    write_file(tmp_path / "a.tfrecord", [b"a"])
    for sidecar in ("a.tfrecord.tfreel-index", "a.tfrecord.manifest.json", "a.tfrecord.lost.jsonl"):
        (tmp_path / sidecar).write_bytes(b"beside")
    (tmp_path / "a.tfrecord.directory").mkdir()
    assert list(tfreel.read("a.tfrecord*")) == [b"a"]


def test_missing_file_and_empty_glob_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file matches: 'nothing-\\*'"):
        tfreel.read("nothing-*")
    with pytest.raises(FileNotFoundError, match="no such file: 'nothing'"):
        tfreel.read("nothing")
    with pytest.raises(FileNotFoundError, match="no such directory: 'nothing/'"):
        tfreel.read("nothing/")
    with pytest.raises(FileNotFoundError, match="no such file: there is no directory 'no/where'"):
        tfreel.read("no/where/a.tfrecord")


def test_one_missing_file_of_a_list_is_named_before_anything_is_read(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", [b"a"])
    with pytest.raises(FileNotFoundError, match="'b'"):
        tfreel.read([path, "b"])


def test_brace_ranges_are_expanded_as_in_a_shell(tmp_path: Path) -> None:
    for i in range(12):
        write_file(tmp_path / f"part-{i:03d}.tfrecord", [str(i).encode()])
    assert list(tfreel.read("part-{000..003}.tfrecord")) == [b"0", b"1", b"2", b"3"]
    assert list(tfreel.read("part-{009..011}.tfrecord")) == [b"9", b"10", b"11"]
    assert list(tfreel.read("part-{003..001}.tfrecord")) == [b"3", b"2", b"1"]
    assert list(tfreel.read("part-{011,002}.tfrecord")) == [b"11", b"2"]
    assert list(tfreel.read("part-0{0,1}{0..1}.tfrecord")) == [b"0", b"1", b"10", b"11"]
    assert list(tfreel.read("part-{00,01}?.tfrecord")) == [str(i).encode() for i in range(12)]


def test_missing_file_of_a_brace_range_is_named(tmp_path: Path) -> None:
    write_file(tmp_path / "part-0", [b"0"])
    with pytest.raises(FileNotFoundError, match=r"one of 'part-\{0\.\.1\}'.*: 'part-1'"):
        tfreel.read("part-{0..1}")


def test_endless_brace_ranges_are_refused(tmp_path: Path) -> None:
    for pattern in ("x{0..99999999999}", "x{0..999}{0..999}{0..999}", "x@99999999999"):
        with pytest.raises(ValueError, match="more than 1,000,000"):
            tfreel.read(pattern)


def test_file_whose_name_looks_like_a_pattern_is_read_as_it_is(tmp_path: Path) -> None:
    for name in ("a[1].tfrecord", "b{1..3}", "c@2.tfrecord", "d*", "e?"):
        write_file(tmp_path / name, [name.encode()])
        assert list(tfreel.read(name)) == [name.encode()], name


# Shards -----------------------------------------------------------------------------------------------------


def test_whole_set_of_shards_is_found_by_glob_and_by_count(tmp_path: Path) -> None:
    write_shards(tmp_path, 12)
    expected = [f"{i}/12".encode() for i in range(12)]
    for pattern in ("train-*", "train-*-of-00012.tfrecord", "train@12.tfrecord", "train-@12.tfrecord"):
        assert list(tfreel.read(pattern)) == expected, pattern
    assert list(tfreel.read("train-{00000..00011}-of-00012.tfrecord")) == expected


def test_missing_shard_is_named(tmp_path: Path) -> None:
    shards = write_shards(tmp_path, 10)
    shards[3].unlink()
    for pattern in ("train-*", "train@10.tfrecord", "train-*-of-00010.tfrecord"):
        with pytest.raises(FileNotFoundError, match="train-00003-of-00010"):
            tfreel.read(pattern)


@pytest.mark.parametrize("missing", range(10))
def test_any_missing_shard_is_named(tmp_path: Path, missing: int) -> None:
    write_shards(tmp_path, 10)[missing].unlink()
    with pytest.raises(
        FileNotFoundError, match=f"9 of 10 are there: 'train-0000{missing}-of-00010.tfrecord'"
    ):
        tfreel.read("train-*")


def test_deliberate_subset_is_allowed(tmp_path: Path) -> None:
    write_shards(tmp_path, 10)
    assert list(tfreel.read("train-0000[0-2]-of-00010.tfrecord")) == [b"0/10", b"1/10", b"2/10"]
    assert list(tfreel.read("train-0000[!0-7]*")) == [b"8/10", b"9/10"]
    assert list(tfreel.read("train-{00004,00002}-of-00010.tfrecord")) == [b"4/10", b"2/10"]
    assert list(tfreel.read("train-00007-of-00010.tfrecord")) == [b"7/10"]


def test_hole_in_a_deliberate_subset_is_named(tmp_path: Path) -> None:
    shards = write_shards(tmp_path, 10)
    shards[7].unlink()
    assert list(tfreel.read("train-0000[0-6]-of-00010.tfrecord")) == [f"{i}/10".encode() for i in range(7)]
    with pytest.raises(FileNotFoundError, match="train-00007-of-00010"):
        tfreel.read("train-0000[5-9]-of-00010.tfrecord")


def test_two_sets_under_one_name_are_refused(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    write_shards(tmp_path, 3)
    with pytest.raises(ValueError, match="sets of 2 and 3 shards"):
        tfreel.read("train-*")
    assert len(list(tfreel.read("train-*-of-00003*"))) == 3
    assert len(list(tfreel.read("train@2.tfrecord"))) == 2


def test_sets_of_other_names_do_not_mix(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    write_shards(tmp_path, 3, "test")
    assert list(tfreel.read("t*")) == [b"0/3", b"1/3", b"2/3", b"0/2", b"1/2"]


def test_set_with_a_manifest_is_found_by_its_name(tmp_path: Path) -> None:
    write_manifest(tmp_path, write_shards(tmp_path, 3))
    for name in ("train.tfrecord", "train-*", "train@3.tfrecord"):
        assert list(tfreel.read(name)) == [b"0/3", b"1/3", b"2/3"], name


def test_shard_of_another_size_than_its_manifest_promises_is_stale(tmp_path: Path) -> None:
    shards = write_shards(tmp_path, 3)
    write_manifest(tmp_path, shards)
    for content in (b"", frame(b"0"), frames([b"more", b"than", b"promised"])):
        shards[1].write_bytes(content)
        for name in ("train.tfrecord", "train-*", "train@3.tfrecord"):
            with pytest.raises(tfreel.StaleIndexError, match=r"00001-of-00003.*promises 19") as caught:
                tfreel.read(name)
            assert caught.value.kind == "index_stale"
            assert caught.value.path.endswith(shards[1].name)


def test_missing_shard_of_a_manifest_is_named(tmp_path: Path) -> None:
    shards = write_shards(tmp_path, 3)
    write_manifest(tmp_path, shards)
    shards[2].unlink()
    with pytest.raises(FileNotFoundError, match="train-00002-of-00003"):
        tfreel.read("train.tfrecord")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "null",
        "{}",
        '{"format": "other", "version": 1, "shards": []}',
        '{"format": "tfreel-manifest", "version": 2, "shards": []}',
        '{"format": "tfreel-manifest", "version": 1, "shards": [{"name": "a"}]}',
        '{"format": "tfreel-manifest", "version": 1, "shards": [{"name": "", "records": 1e999, "bytes": 1}]}',
        '{"format": "tfreel-manifest", "version": 1, "shards": [{"name": "a", "records": NaN, "bytes": 1}]}',
        "[" * 100_000,
        "\xff",
    ],
    ids=lambda text: text[-20:],
)
def test_damaged_manifest_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.tfrecord.manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(tfreel.StaleIndexError, match=r"train\.tfrecord\.manifest\.json") as caught:
        tfreel.read("train.tfrecord")
    assert caught.value.kind == "index_corrupt"


def test_manifest_cannot_point_out_of_its_directory(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    secret = write_file(tmp_path / "secret", [b"secret"])
    rows = [{"name": "../secret", "records": 1, "bytes": secret.stat().st_size}]
    manifest = {"format": "tfreel-manifest", "version": 1, "records": 1, "shards": rows}
    (tmp_path / "data" / "train.manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileNotFoundError, match="data/secret"):
        tfreel.read("data/train")


# Streams ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_standard_input_is_read(codec: str) -> None:
    script = "import sys, tfreel\nfor record in tfreel.read('-'): print(len(record))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        input=compress(frames(RECORDS), codec),
        capture_output=True,
        check=True,
    )
    assert list(map(int, run.stdout.split())) == list(map(len, RECORDS))


@pytest.mark.parametrize("codec", CODECS)
def test_open_files_are_read_and_left_open(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / "a", RECORDS, codec)
    for buffering in (-1, 0):
        with path.open("rb", buffering=buffering) as file:
            assert list(tfreel.read(file)) == RECORDS
            assert not file.closed
    assert list(tfreel.read(io.BytesIO(path.read_bytes()))) == RECORDS


def test_open_file_is_read_from_where_it_stands(tmp_path: Path) -> None:
    with write_file(tmp_path / "a", [b"one", b"two"]).open("rb") as file:
        file.seek(19)
        assert list(tfreel.read(file)) == [b"two"]


def test_streams_and_files_can_be_read_together(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", [b"a"])
    assert list(tfreel.read([io.BytesIO(frame(b"x")), path, io.BytesIO(frame(b"y"))])) == [b"x", b"a", b"y"]


@pytest.mark.parametrize("codec", CODECS)
def test_pipe_that_gives_little_at_a_time_is_read(codec: str) -> None:
    class Trickle(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self._data = io.BytesIO(data)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            piece = self._data.read(min(3, len(buffer)))
            buffer[: len(piece)] = piece
            return len(piece)

    assert list(tfreel.read(Trickle(compress(frames(RECORDS), codec)))) == RECORDS


def test_records_of_a_pipe_come_before_it_is_closed() -> None:
    read_end, write_end = os.pipe()
    with open(read_end, "rb", buffering=0) as source, open(write_end, "wb", buffering=0) as sink:
        sink.write(frame(b"x" * 600))
        reader = tfreel.read(source)
        assert next(reader) == b"x" * 600
        sink.write(frame(b"second"))
        assert next(reader) == b"second"


def test_text_files_are_a_type_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    with (tmp_path / "a").open() as file, pytest.raises(TypeError, match="binary mode"):
        list(tfreel.read(file))


def test_a_file_of_records_opened_as_text_is_refused_before_its_bytes_are_taken_for_letters(
    tmp_path: Path,
) -> None:
    with tfreel.Writer(tmp_path / "a") as out:
        out.write(b"\xff\x86" * 100)
    with (tmp_path / "a").open(encoding="utf-8") as file, pytest.raises(TypeError, match="binary mode"):
        list(tfreel.read(file))


def test_stream_that_was_let_go_is_not_read_on_as_if_nothing_were_missing() -> None:
    for let_go in (tfreel.Reader.close, tfreel.Reader.reset):
        reader = tfreel.read(io.BytesIO(frames(RECORDS)))
        next(reader)
        let_go(reader)
        with pytest.raises(ValueError, match="stream"):
            list(reader)


# Counters and reports ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_counters_count_what_was_delivered(tmp_path: Path, codec: str) -> None:
    files = [write_file(tmp_path / name, RECORDS, codec) for name in "abc"]
    reader = tfreel.read(files)
    assert (reader.records_produced, reader.files_completed) == (0, 0)
    for i in range(3 * len(RECORDS)):
        next(reader)
        assert reader.records_produced == i + 1
        assert reader.files_completed in (i // len(RECORDS), (i + 1) // len(RECORDS))
    assert list(reader) == []
    assert (reader.records_produced, reader.files_completed) == (3 * len(RECORDS), 3)


def test_reset_goes_back_to_the_beginning(tmp_path: Path) -> None:
    files = [write_file(tmp_path / name, RECORDS) for name in "ab"]
    reader = tfreel.read(files)
    for steps in (0, 1, len(RECORDS) + 2, 2 * len(RECORDS)):
        for _ in range(steps):
            next(reader)
        reader.reset()
        assert (reader.records_produced, reader.files_completed) == (0, 0)
        assert list(reader) == RECORDS * 2
        reader.reset()


def test_reset_forgets_a_failure(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    os.truncate(path, path.stat().st_size - 1)
    reader = tfreel.read(path)
    with pytest.raises(tfreel.TruncatedError):
        list(reader)
    write_file(path, RECORDS)
    reader.reset()
    assert list(reader) == RECORDS
    assert reader.report.ok


def test_report_of_sound_files_says_what_was_read(tmp_path: Path) -> None:
    files = [write_file(tmp_path / codec, RECORDS, codec) for codec in CODECS]
    reader = tfreel.read(files)
    list(reader)
    report = reader.report
    assert report.ok
    assert (report.files, report.records, report.records_lost) == (3, 3 * len(RECORDS), 0)
    assert report.bytes == 3 * offsets(RECORDS)[-1]
    assert report.compressed_bytes == sum(path.stat().st_size for path in files[1:])
    assert (report.faults, report.fault_count, report.notes) == ([], 0, [])
    assert json.loads(json.dumps(report.to_dict()))["records"] == 3 * len(RECORDS)


def test_report_lists_each_fault_with_its_place(tmp_path: Path) -> None:
    data = bytearray(frames(RECORDS))
    data[offsets(RECORDS)[2] + 20] ^= 1
    path = tmp_path / "a"
    path.write_bytes(data[:-1])
    reader = tfreel.read(path, on_corrupt="skip")
    assert list(reader) == RECORDS[:2] + RECORDS[3:-1]
    report = reader.report
    assert not report.ok
    assert [(f.path, f.kind, f.record, f.offset) for f in report.faults] == [
        (str(path), "data_crc", 2, offsets(RECORDS)[2]),
        (str(path), "truncated_body", 6, offsets(RECORDS)[6]),
    ]
    assert report.records_lost is None
    assert str(report.faults[0]).startswith(f"{path}: record 2 at byte 33: checksum mismatch (stored ")
    as_json = json.loads(json.dumps(report.to_dict()))
    assert as_json["ok"] is False
    assert [fault["kind"] for fault in as_json["faults"]] == ["data_crc", "truncated_body"]
    assert as_json["faults"][0]["end"] == offsets(RECORDS)[3]


def test_closing_and_going_on_counts_no_record_twice(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    found = []
    for _ in RECORDS:
        found.append(next(reader))
        reader.close()
    assert found + list(reader) == RECORDS
    assert reader.report.records == reader.records_produced == len(RECORDS)


def test_reader_is_a_context_manager(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    with tfreel.read(path) as reader:
        assert next(reader) == RECORDS[0]
    assert list(reader) == RECORDS[1:]


def test_reader_holds_one_file_open_at_a_time(tmp_path: Path) -> None:
    files = [write_file(tmp_path / f"{i}", [b"x"]) for i in range(50)]
    before = len(os.listdir("/proc/self/fd"))
    reader = tfreel.read(files)
    for _ in range(25):
        next(reader)
    assert len(os.listdir("/proc/self/fd")) <= before + 2  # its own, and that of its reader
    list(reader)
    assert len(os.listdir("/proc/self/fd")) == before


# Blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_blocks_hold_the_same_records_with_their_places(tmp_path: Path, codec: str) -> None:
    records = [bytes([i % 256]) * (i % 900) for i in range(2000)]  # several blocks
    files = [write_file(tmp_path / name, records, codec) for name in "ab"]
    found: list[bytes] = []
    places: list[int] = []
    numbers: list[int] = []
    for block in tfreel.read(files).blocks():
        assert block.lengths.tolist() == [len(record) for record in block.to_list()]
        assert [block[i] for i in range(len(block))] == block.to_list()
        assert block[-1] == block[len(block) - 1]
        assert block.frames() == frames(block.to_list())
        assert block.nbytes == sum(block.lengths.tolist()) + 16 * len(block)
        found += block.to_list()
        places += block.offsets.tolist()
        numbers += range(block.first_record, block.first_record + len(block))
    assert found == records * 2
    assert places == offsets(records)[:-1] * 2
    assert numbers == [*range(2000)] * 2


def test_blocks_go_on_where_the_records_stopped(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    for taken in range(len(RECORDS) + 1):
        reader = tfreel.read(path)
        for _ in range(taken):
            next(reader)
        rest = [record for block in reader.blocks() for record in block.to_list()]
        assert rest == RECORDS[taken:], taken
        assert reader.records_produced == len(RECORDS), taken
        assert reader.report.records == len(RECORDS), taken


def test_blocks_count_as_produced_when_they_are_handed_over(tmp_path: Path) -> None:
    files = [write_file(tmp_path / name, RECORDS) for name in "abc"]
    reader = tfreel.read(files)
    for i, block in enumerate(reader.blocks()):
        assert len(block) == len(RECORDS)
        assert reader.records_produced == (i + 1) * len(RECORDS)
        state = reader.state_dict()
        again = tfreel.read(files)
        again.load_state_dict(state)
        assert list(again) == RECORDS * (2 - i)
        assert again.records_produced == 3 * len(RECORDS)


def test_taking_up_blocks_forgets_no_fault(tmp_path: Path) -> None:
    data = bytearray(frames(RECORDS))
    data[offsets(RECORDS)[1] + 12] ^= 1
    path = tmp_path / "a"
    path.write_bytes(data)
    reader = tfreel.read(path, on_corrupt="skip")
    assert [next(reader), next(reader)] == [RECORDS[0], RECORDS[2]]
    assert [record for block in reader.blocks() for record in block.to_list()] == RECORDS[3:]
    assert [fault.record for fault in reader.report.faults] == [1]
    assert reader.report.records == len(RECORDS) - 1


# States -----------------------------------------------------------------------------------------------------


def states_of(files: Any, **options: Any) -> list[tuple[dict[str, Any], int]]:
    """The state before every record and at the end, through JSON, and the records produced by then."""
    reader = tfreel.read(files, **options)
    states = [(json.loads(json.dumps(reader.state_dict())), 0)]
    for i, _ in enumerate(reader):
        states.append((json.loads(json.dumps(reader.state_dict())), i + 1))
    states.append((json.loads(json.dumps(reader.state_dict())), reader.records_produced))
    return states


@pytest.mark.parametrize("codec", CODECS)
def test_every_state_gives_exactly_the_tail(tmp_path: Path, codec: str) -> None:
    contents = {"a": RECORDS, "b": [], "c": [b"only"], "d": RECORDS[::-1]}
    files = [write_file(tmp_path / name, records, codec) for name, records in contents.items()]
    whole = [record for records in contents.values() for record in records]
    for state, produced in states_of(files):
        reader = tfreel.read(files)
        reader.load_state_dict(state)
        assert reader.records_produced == produced
        assert list(reader) == whole[produced:], produced
        assert (reader.records_produced, reader.files_completed) == (len(whole), 4)


@pytest.mark.parametrize("codec", CODECS)
def test_every_state_gives_exactly_the_tail_across_blocks(tmp_path: Path, codec: str) -> None:
    records = [bytes([i]) * (i * 489 % 27000) for i in range(150)]  # more than one block
    path = write_file(tmp_path / "a", records, codec)
    assert len(list(tfreel.read(path).blocks())) > 1
    for state, produced in states_of(path):
        reader = tfreel.read(path)
        reader.load_state_dict(state)
        assert list(reader) == records[produced:], produced


@pytest.mark.parametrize("codec", CODECS)
def test_every_state_of_a_salvaging_reader_gives_exactly_the_tail(tmp_path: Path, codec: str) -> None:
    data = bytearray(frames(RECORDS * 2))
    starts = offsets(RECORDS * 2)
    data[starts[2] + 30] ^= 1  # a payload
    data[starts[9] + 3] ^= 1  # a header
    path = tmp_path / "a"
    path.write_bytes(compress(bytes(data), codec))
    whole = [record for i, record in enumerate(RECORDS * 2) if i not in (2, 9)]
    assert list(tfreel.read(path, on_corrupt="skip")) == whole
    for state, produced in states_of(path, on_corrupt="skip"):
        reader = tfreel.read(path, on_corrupt="skip")
        reader.load_state_dict(state)
        assert list(reader) == whole[produced:], produced


def test_state_can_be_loaded_into_a_reader_in_use_and_again_and_again(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    next(reader)
    state = reader.state_dict()
    for _ in range(3):
        next(reader, None)
        reader.load_state_dict(state)
        assert reader.state_dict() == state
        assert list(reader) == RECORDS[1:]


def test_state_after_an_error_stands_before_the_damaged_record(tmp_path: Path) -> None:
    data = bytearray(frames(RECORDS))
    data[offsets(RECORDS)[2] + 20] ^= 1
    path = tmp_path / "a"
    path.write_bytes(data)
    reader = tfreel.read(path)
    with pytest.raises(tfreel.ChecksumError):
        list(reader)
    state = reader.state_dict()
    assert (state["record"], state["offset"], state["records_produced"]) == (2, offsets(RECORDS)[2], 2)
    again = tfreel.read(path)
    again.load_state_dict(state)
    with pytest.raises(tfreel.ChecksumError):
        next(again)
    salvaging = tfreel.read(path, on_corrupt="skip")
    salvaging.load_state_dict(state)
    assert list(salvaging) == RECORDS[3:]


def test_state_of_moved_files_is_good(tmp_path: Path) -> None:
    write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read("a")
    next(reader)
    state = reader.state_dict()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a").rename(tmp_path / "elsewhere" / "a")
    moved = tfreel.read("elsewhere/a")
    moved.load_state_dict(state)
    assert list(moved) == RECORDS[1:]


def test_state_of_a_stream_is_good_for_the_same_bytes_again() -> None:
    for codec in CODECS:
        data = compress(frames(RECORDS), codec)
        reader = tfreel.read(io.BytesIO(data))
        next(reader), next(reader)
        again = tfreel.read(io.BytesIO(data))
        again.load_state_dict(reader.state_dict())
        assert list(again) == RECORDS[2:], codec


def test_state_is_small_and_holds_no_directory(tmp_path: Path) -> None:
    files = [write_file(tmp_path / f"{i:04d}", [b"x"]) for i in range(300)]
    reader = tfreel.read(files)
    next(reader)
    text = json.dumps(reader.state_dict())
    assert len(text) < 600
    assert str(tmp_path) not in text


def test_state_of_other_files_is_refused(tmp_path: Path) -> None:
    a, b = write_file(tmp_path / "a", RECORDS), write_file(tmp_path / "b", RECORDS)
    state = tfreel.read([a, b]).state_dict()
    for files in ([b, a], [a, a]):
        with pytest.raises(tfreel.StateError, match="the names or their order differ"):
            tfreel.read(files).load_state_dict(state)
    for files in ([a], [a, b, a]):
        with pytest.raises(tfreel.StateError, match=f"saved with 2 files; this reader has {len(files)}"):
            tfreel.read(files).load_state_dict(state)


@pytest.mark.parametrize("change", ["longer", "shorter", "gone"])
def test_state_of_a_file_whose_size_changed_is_refused(tmp_path: Path, change: str) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    next(reader)
    again = tfreel.read(path)
    state = reader.state_dict()
    if change == "gone":
        path.unlink()
    else:
        write_file(path, [*RECORDS, b"more"] if change == "longer" else RECORDS[:-1])
    with pytest.raises(tfreel.StateError, match=str(path)) as caught:
        again.load_state_dict(state)
    assert caught.value.path == str(path)


def test_damaged_state_is_refused_whichever_value_changed(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    next(reader)
    state = reader.state_dict()
    assert state["check"]
    for key, value in state.items():
        wrong = {**state, key: value + 1 if isinstance(value, int) else f"{value}x"}
        with pytest.raises(tfreel.StateError):
            tfreel.read(path).load_state_dict(wrong)
        without = {k: v for k, v in state.items() if k != key}
        with pytest.raises(tfreel.StateError):
            tfreel.read(path).load_state_dict(without)
    with pytest.raises(tfreel.StateError, match="version 2"):
        tfreel.read(path).load_state_dict({**state, "version": 2})
    with pytest.raises(tfreel.StateError, match="checksum"):
        tfreel.read(path).load_state_dict({**state, "offset": 0})


@pytest.mark.parametrize("wrong", [None, [], {}, "state", 7, {"format": "tfreel-pipeline"}])
def test_what_is_no_state_is_refused(tmp_path: Path, wrong: Any) -> None:
    reader = tfreel.read(write_file(tmp_path / "a", RECORDS))
    with pytest.raises(tfreel.StateError, match="not the state of a reader"):
        reader.load_state_dict(wrong)


def test_refused_state_leaves_the_reader_where_it_was(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    next(reader)
    with pytest.raises(tfreel.StateError):
        reader.load_state_dict({})
    assert list(reader) == RECORDS[1:]


# Pickling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_reader_pickles_with_its_place_and_options(tmp_path: Path, codec: str) -> None:
    data = bytearray(frames(RECORDS))
    data[-1] ^= 1
    files = [tmp_path / "a", write_file(tmp_path / "b", [b"b"])]
    files[0].write_bytes(compress(bytes(data), codec))
    for taken in range(len(RECORDS) - 1):
        reader = tfreel.read(files, on_corrupt="skip")
        for _ in range(taken):
            next(reader)
        again = pickle.loads(pickle.dumps(reader))
        assert type(again) is tfreel.Reader
        assert again.records_produced == taken
        assert list(again) == list(reader) == [*RECORDS[taken:-1], b"b"]
        assert not again.report.ok


def test_reader_pickles_its_limits(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", [b"x" * 100])
    reader = tfreel.read(path, max_record_bytes=99, verify=False)
    with pytest.raises(tfreel.CorruptError, match="limit of 99"):
        list(pickle.loads(pickle.dumps(reader)))


def test_reader_of_a_stream_does_not_pickle() -> None:
    for source in (io.BytesIO(b""), "-"):
        with pytest.raises(TypeError, match="stream cannot be pickled"):
            pickle.dumps(tfreel.read(source))


def test_errors_survive_pickling_with_all_they_carry(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(frame(b"one") + frame(b"two")[:-1] + b"?")
    with pytest.raises(tfreel.ChecksumError) as caught:
        list(tfreel.read(path))
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is tfreel.ChecksumError
    assert (str(error), error.__dict__) == (str(caught.value), caught.value.__dict__)
    assert (error.path, error.record, error.offset, error.kind) == (str(path), 1, 19, "data_crc")
    assert error.expected != error.actual


# Options ----------------------------------------------------------------------------------------------------


def test_without_verification_sound_files_read_the_same(tmp_path: Path) -> None:
    for codec in CODECS:
        path = write_file(tmp_path / codec, RECORDS, codec)
        assert list(tfreel.read(path, verify=False)) == RECORDS, codec


def test_without_verification_a_damaged_payload_is_the_callers_choice(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(frame(b"one").replace(b"one", b"two"))
    assert list(tfreel.read(path, verify=False)) == [b"two"]
    with pytest.raises(tfreel.ChecksumError):
        list(tfreel.read(path))


@pytest.mark.parametrize("codec", CODECS)
def test_compression_is_told_from_the_content_and_not_from_the_name(tmp_path: Path, codec: str) -> None:
    for suffix in (*SUFFIXES.values(), ""):
        assert list(tfreel.read(write_file(tmp_path / f"a{suffix}", RECORDS, codec))) == RECORDS


@pytest.mark.parametrize("codec", CODECS)
def test_compression_can_be_stated_in_the_spelling_of_tensorflow(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / "a", RECORDS, codec)
    for name in (codec, codec.upper(), codec.title(), *([""] if codec == "none" else [])):
        assert list(tfreel.read(path, compression=name)) == RECORDS, name


@pytest.mark.parametrize("name", ["gz", "zip", "snappy", "deflate", "gzip ", 7])
def test_unknown_compression_is_a_value_error_that_lists_the_known_ones(tmp_path: Path, name: Any) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    with pytest.raises(ValueError, match='"none", "gzip" or "zlib"'):
        tfreel.read(path, compression=name)


@pytest.mark.parametrize("mode", ["ignore", "", None, "RAISE"])
def test_unknown_on_corrupt_is_a_value_error_that_lists_the_known_ones(tmp_path: Path, mode: Any) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    with pytest.raises(ValueError, match='"raise", "tail" or "skip"'):
        tfreel.read(path, on_corrupt=mode)


def test_repr_tells_where_the_reader_stands(tmp_path: Path) -> None:
    reader = tfreel.read([write_file(tmp_path / "a", RECORDS)] * 2)
    next(reader)
    assert repr(reader) == "<tfreel.Reader of 2 files, 1 records produced>"


def test_compressible_data_of_any_size_is_read_to_its_end(tmp_path: Path) -> None:
    """ISA-L may hold the last bytes of a stream itself while it lacks room for the output."""
    for size in (262_144 * k + d for k in (1, 2, 4) for d in (-64, -16, -5, 0, 1, 37)):
        for codec in ("gzip", "zlib"):
            path = write_file(tmp_path / f"{size}.{codec}", [bytes(size), b"last"], codec)
            assert [len(record) for record in tfreel.read(path)] == [size, 4], (size, codec)
            with path.open("rb") as stream:
                assert [len(record) for record in tfreel.read(stream)] == [size, 4], (size, codec)


HANDLED = """
import signal, sys, time
from itertools import islice

import tfreel

long, short = bytes(40_000), b"short"
path, taken, refused = sys.argv[1], [], 0
records = [b"%06d" % i + (short if i % 200 < 100 else long) for i in range(2_000)]
with tfreel.Writer(path) as out:
    out.write_many(records)

def handle(*_):
    global refused
    try:
        taken.extend(islice(reader, 1))
    except RuntimeError:
        refused += 1

signal.signal(signal.SIGALRM, handle)
end = time.monotonic() + 2
while refused == 0 or time.monotonic() < end:
    reader, taken = tfreel.read(path), []
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    found = list(reader)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(found) + len(taken) == len(records), (len(found), len(taken))
    assert sorted(found + taken) == records
    assert found == sorted(found)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
assert refused
"""


def test_the_handler_of_a_signal_takes_no_records_out_of_the_middle_of_a_step(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", HANDLED, tmp_path / "records.tfrecord"], check=True)
