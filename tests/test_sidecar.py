"""The index sidecar: its bytes, its staleness, what is refused of it, and where it is kept."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, Any

import pytest

import tfreel
from tfreel.index.sidecar import INDEX_SUFFIX

from corpus import CODECS, RECORDS, compress, frames, masked_crc, offsets, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def sidecar_of(path: Path) -> Path:
    return path.with_name(path.name + INDEX_SUFFIX)


def hand_made(path: Path, records: list[bytes], codec: str = "none", **claims: Any) -> bytes:
    """The sidecar of a file by the letter of docs/format.md; `claims` replace what is true."""
    info = path.stat()
    starts = claims.get("offsets", offsets(records)[:-1])
    lengths = claims.get("lengths", [len(record) for record in records])
    checksums = claims.get("checksums", [masked_crc(record) for record in records])
    lengths_column = struct.pack(f"<{len(lengths)}Q", *lengths)
    checksums_column = struct.pack(f"<{len(checksums)}I", *checksums)
    fingerprint = hashlib.sha256(lengths_column + checksums_column).digest()
    header = claims.get("magic", b"TFREELIX") + struct.pack(
        "<IIQqQQ",
        claims.get("version", 1),
        claims.get("codec_number", CODECS.index(codec)),
        claims.get("size", info.st_size),
        claims.get("mtime_ns", info.st_mtime_ns),
        claims.get("stream_bytes", len(frames(records))),
        claims.get("count", len(starts)),
    )
    header += claims.get("fingerprint", fingerprint) + struct.pack("<I", 0)
    columns = struct.pack(f"<{len(starts)}Q", *starts) + lengths_column + checksums_column
    return header + struct.pack("<I", masked_crc(header)) + columns + struct.pack("<I", masked_crc(columns))


def forge(path: Path, records: list[bytes], codec: str = "none", **claims: Any) -> Path:
    """Puts a well-formed sidecar that does not tell the truth beside a file."""
    sidecar_of(path).write_bytes(hand_made(path, records, codec, **claims))
    return path


def set_mtime(path: Path, mtime_ns: int) -> None:
    os.utime(path, ns=(mtime_ns, mtime_ns))


def refusal(path: Path, mode: str = "require") -> tfreel.StaleIndexError:
    with pytest.raises(tfreel.StaleIndexError) as caught:
        tfreel.open(path, index=mode)  # type: ignore[arg-type]
    return caught.value


def check_each(records: tfreel.Records, expected: list[bytes]) -> dict[int, tfreel.TfreelError]:
    """Reads every record by its index: the right one or an error, never another. Gives the errors."""
    errors = {}
    for i, record in enumerate(expected):
        try:
            assert records[i] == record
        except tfreel.TfreelError as error:
            errors[i] = error
    return errors


# The bytes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("records", [RECORDS, [], [b""]], ids=["some", "none", "one empty"])
def test_the_sidecar_is_what_the_format_says(tmp_path: Path, codec: str, records: list[bytes]) -> None:
    path = write_file(tmp_path / "a", records, codec)
    tfreel.build_index(path)
    assert sidecar_of(path).read_bytes() == hand_made(path, records, codec)


@pytest.mark.parametrize("codec", CODECS)
def test_a_sidecar_made_by_the_letter_of_the_format_is_read(tmp_path: Path, codec: str) -> None:
    path = forge(write_file(tmp_path / "a", RECORDS, codec), RECORDS, codec)
    assert list(tfreel.open(path, index="require")) == RECORDS


def test_version_one_of_the_format_is_frozen(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", [b"one", b""])
    set_mtime(path, 1_234_567_890_123_456_789)
    tfreel.build_index(path)
    assert sidecar_of(path).read_bytes() == bytes.fromhex(
        "54465245 454c4958 01000000 00000000 23000000 00000000 1581e97d f4102211 23000000 00000000"
        "02000000 00000000 38b0200d d56d16a9 81307545 4ef175ec b6996fd4 afb2e126 0abcd081 0a76da44"
        "00000000 fe0150bb 00000000 00000000 13000000 00000000 03000000 00000000 00000000 00000000"
        "01405508 d8ea82a2 0877ecbc"
    )


def test_a_time_before_1970_is_kept(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    set_mtime(path, -1_000_000_007)
    tfreel.build_index(path)
    assert sidecar_of(path).read_bytes() == hand_made(path, RECORDS, mtime_ns=-1_000_000_007)
    assert list(tfreel.open(path, index="require")) == RECORDS


def test_the_fingerprint_depends_on_the_records_alone(tmp_path: Path) -> None:
    fingerprints = set()
    for codec in CODECS:
        path = write_file(tmp_path / codec, RECORDS, codec)
        tfreel.build_index(path)
        fingerprints.add(sidecar_of(path).read_bytes()[48:80])
    assert len(fingerprints) == 1


# Damage -----------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = write_file(tmp_path / "a", [b"one", b"", b"three"])
    tfreel.build_index(path)
    return path


def assert_corrupt(path: Path, mode: str = "require") -> None:
    error = refusal(path, mode)
    assert (error.kind, error.path) == ("index_corrupt", os.fspath(sidecar_of(path)))


def test_every_truncation_is_seen(small: Path) -> None:
    content = sidecar_of(small).read_bytes()
    for size in range(len(content)):
        sidecar_of(small).write_bytes(content[:size])
        assert_corrupt(small)


def test_every_flipped_bit_is_seen(small: Path) -> None:
    content = sidecar_of(small).read_bytes()
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        sidecar_of(small).write_bytes(flipped)
        assert_corrupt(small)


@pytest.mark.parametrize("more", [b"\0", b"\0" * 20, b"TFREELIX"])
def test_bytes_behind_the_end_are_seen(small: Path, more: bytes) -> None:
    with sidecar_of(small).open("ab") as file:
        file.write(more)
    assert_corrupt(small)


@pytest.mark.parametrize("mode", ["auto", "require"])
def test_a_damaged_index_is_an_error_that_names_the_ways_out(small: Path, mode: str) -> None:
    sidecar_of(small).write_bytes(b"")
    assert_corrupt(small, mode)
    message = str(refusal(small, mode))
    assert 'index="rebuild"' in message
    assert 'index="memory"' in message


def test_a_refused_index_leaves_no_file_open(small: Path) -> None:
    set_mtime(small, 1)
    sidecar_of(small).write_bytes(hand_made(small, [b"one", b"", b"eerht"]))
    before = sorted(os.listdir("/proc/self/fd"))
    for mode in ("auto", "require"):
        with pytest.raises(tfreel.StaleIndexError):
            tfreel.open(small, index=mode)  # type: ignore[arg-type]
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_sidecar_that_is_another_file_altogether_is_damage(small: Path) -> None:
    sidecar_of(small).write_bytes(small.read_bytes() * 10)
    assert_corrupt(small)


# Forgeries: every checksum is right, the content is not -----------------------------------------------------

THREE = [b"first", b"second", b"the third"]
A, B, C, END = offsets(THREE)
SUMS = [masked_crc(record) for record in THREE]
HUGE = 1 << 40

FORGERIES: dict[str, dict[str, Any]] = {
    "an offset past the end": {"offsets": [A, B, END]},
    "an offset far past the end": {"offsets": [A, B, 1 << 63]},
    "a length past the end": {"lengths": [5, 6, 10]},
    "offsets that do not increase": {"offsets": [A, C, B]},
    "offsets that stand still": {"offsets": [A, A, C]},
    "offsets that do not begin at zero": {"offsets": [1, B, C]},
    "a record left out in the middle": {
        "offsets": [A, C],
        "lengths": [5, 9],
        "checksums": [SUMS[0], SUMS[2]],
    },
    "a record left out at the end": {"offsets": [A, B], "lengths": [5, 6], "checksums": SUMS[:2]},
    "no records at all": {"offsets": [], "lengths": [], "checksums": [], "stream_bytes": 0},
    "no records in a stream that is not empty": {"offsets": [], "lengths": [], "checksums": []},
    "a count of 2^63": {"count": 1 << 63},
    "a count of 2^64 - 1": {"count": (1 << 64) - 1},
    "a count that multiplies to the size modulo 2^64": {"count": 3 + (1 << 62)},
    "a count of zero above columns": {"count": 0},
    "sums that overflow to what they should be": {
        "offsets": [A, B, 4],
        "lengths": [5, (1 << 64) + 4 - B - 16, (1 << 64) - 1 - 4 - 16],
        "stream_bytes": (1 << 64) - 1,
        "size": (1 << 64) - 1,
    },
    "a length of 2^64 - 1 in a stream of that size": {
        "offsets": [A, B, C],
        "lengths": [5, 6, (1 << 64) - 1],
        "stream_bytes": (1 << 64) - 1,
    },
    "a record of a terabyte in a stream to match": {
        "lengths": [5, 6, HUGE],
        "stream_bytes": C + HUGE + 16,
    },
    "a record of a terabyte in a file said to match": {
        "lengths": [5, 6, HUGE],
        "stream_bytes": C + HUGE + 16,
        "size": C + HUGE + 16,
    },
    "a record of 2^62 bytes in a file said to match": {
        "lengths": [5, 6, 1 << 62],
        "stream_bytes": C + (1 << 62) + 16,
        "size": C + (1 << 62) + 16,
    },
    "a version to come": {"version": 2},
    "version zero": {"version": 0},
    "a codec that is none": {"codec_number": 3},
    "a huge codec": {"codec_number": (1 << 32) - 1},
    "another magic": {"magic": b"TFREELIY"},
    "a fingerprint that contradicts the columns": {"fingerprint": bytes(32)},
}

REFUSE_ALL = """
import resource, sys
import tfreel
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20), used + (256 << 20)))
for path in sys.argv[1:]:
    try:
        print(path, tfreel.open(path, index="require", threads=1))
    except tfreel.StaleIndexError as error:
        print(path, error.kind)
"""


@pytest.mark.parametrize("codec", CODECS)
def test_forgeries_are_refused_without_allocating_what_they_claim(tmp_path: Path, codec: str) -> None:
    names = {name.replace(" ", "-"): name for name in FORGERIES}
    if codec != "none":  # of a compressed stream nothing is known but that it cannot be endless
        del names["no-records-at-all"]
    for file, name in names.items():
        forge(write_file(tmp_path / file, THREE, codec), THREE, codec, **FORGERIES[name])
    command = [sys.executable, "-c", REFUSE_ALL, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    # A claim that would be possible is not refused for itself, but because the file has another size.
    stale = {"a-record-of-a-terabyte-in-a-file-said-to-match"}
    assert found == {file: "index_stale" if file in stale else "index_corrupt" for file in names}


def test_a_forged_compressed_size_is_no_reason_to_allocate(tmp_path: Path) -> None:
    # The largest stream that a file of this size could hold: allowed by arithmetic, not there in truth.
    path = write_file(tmp_path / "a", THREE, "gzip")
    length = path.stat().st_size * 1032 - C - 16
    forge(path, THREE, "gzip", lengths=[5, 6, length], stream_bytes=C + length + 16)
    errors = check_each(tfreel.open(path, index="require"), THREE)
    assert {i: error.kind for i, error in errors.items()} == {2: "index_stale"}


# Lies about single records ----------------------------------------------------------------------------------

MANY = [random.Random(i).randbytes(20 + i) for i in range(200)]
LIAR = 101  # far from those that are looked at when the file is opened


def lies() -> dict[str, dict[str, Any]]:
    checksums = [masked_crc(record) for record in MANY]
    lengths = [len(record) for record in MANY]
    starts = offsets(MANY)[:-1]
    another = [*checksums]
    another[LIAR] = checksums[7]
    swapped = [*checksums]
    swapped[LIAR], swapped[LIAR + 1] = swapped[LIAR + 1], swapped[LIAR]
    longer = [*lengths]
    longer[LIAR] += 9
    longer[LIAR + 1] -= 9
    shorter = [*lengths]
    shorter[LIAR] -= 9
    shorter[LIAR + 1] += 9
    after_longer, after_shorter = [*starts], [*starts]
    after_longer[LIAR + 1] += 9
    after_shorter[LIAR + 1] -= 9
    return {
        "the checksum of another": {"checksums": another},
        "the checksums of two neighbours swapped": {"checksums": swapped},
        "longer than it is": {"lengths": longer, "offsets": after_longer},
        "shorter than it is": {"lengths": shorter, "offsets": after_shorter},
    }


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("lie", lies())
def test_an_index_that_lies_about_a_record_never_gives_a_wrong_one(
    tmp_path: Path, codec: str, lie: str
) -> None:
    path = forge(write_file(tmp_path / "a", MANY, codec), MANY, codec, **lies()[lie])
    records = tfreel.open(path, index="require")
    errors = check_each(records, MANY)
    assert LIAR in errors
    assert set(errors) <= {LIAR, LIAR + 1}
    assert isinstance(errors[LIAR], tfreel.StaleIndexError)
    assert (errors[LIAR].kind, errors[LIAR].record, errors[LIAR].path) == (
        "index_stale",
        LIAR,
        os.fspath(path),
    )
    assert errors[LIAR].offset == offsets(MANY)[LIAR]
    with pytest.raises(tfreel.TfreelError):
        records[:]
    with pytest.raises(tfreel.TfreelError):
        list(records)
    assert records[: LIAR - 20] == MANY[: LIAR - 20]


@pytest.mark.parametrize("lie", lies())
def test_a_lie_about_one_of_a_few_records_is_seen_at_once(tmp_path: Path, lie: str) -> None:
    few = MANY[LIAR : LIAR + 3]
    whole = lies()[lie]
    base = offsets(MANY)[LIAR]
    claims = {name: column[LIAR : LIAR + 3] for name, column in whole.items()}
    if "offsets" in claims:
        claims["offsets"] = [start - base for start in claims["offsets"]]
    path = forge(write_file(tmp_path / "a", few), few, **claims)
    assert refusal(path).kind == "index_stale"


# Staleness --------------------------------------------------------------------------------------------------


def assert_stale(path: Path) -> None:
    for mode in ("auto", "require"):
        error = refusal(path, mode)
        assert (error.kind, error.path) == ("index_stale", os.fspath(sidecar_of(path)))
        assert 'index="rebuild"' in str(error)


@pytest.fixture(params=CODECS)
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    path = write_file(tmp_path / "a", RECORDS, request.param)
    tfreel.build_index(path)
    return path, request.param


@pytest.mark.parametrize("restore_mtime", [False, True])
def test_appended_data_makes_an_index_stale(indexed: tuple[Path, str], restore_mtime: bool) -> None:
    path, codec = indexed
    before = path.stat().st_mtime_ns
    with path.open("ab") as file:
        file.write(compress(frames([b"more"]), codec))
    if restore_mtime:
        set_mtime(path, before)
    assert_stale(path)
    if codec != "zlib":  # in which nothing may follow
        assert list(tfreel.open(path, index="memory")) == [*RECORDS, b"more"]
        assert list(tfreel.open(path, index="rebuild")) == [*RECORDS, b"more"]


@pytest.mark.parametrize("restore_mtime", [False, True])
@pytest.mark.parametrize("end", [0, 16])
def test_truncated_data_makes_an_index_stale(
    indexed: tuple[Path, str], restore_mtime: bool, end: int
) -> None:
    path, _ = indexed
    before = path.stat().st_mtime_ns
    os.truncate(path, end)
    if restore_mtime:
        set_mtime(path, before)
    assert_stale(path)


def test_data_cut_at_a_record_boundary_is_seen_with_the_index(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    os.truncate(path, offsets(RECORDS)[-2])
    assert list(tfreel.read(path)) == RECORDS[:-1]  # by the bytes alone it is sound
    assert_stale(path)


def test_data_rewritten_in_the_same_size_makes_an_index_stale(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    write_file(path, RECORDS[::-1])
    set_mtime(path, path.stat().st_mtime_ns + 1)
    assert_stale(path)


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_compressed_data_rewritten_in_the_same_size_makes_an_index_stale(tmp_path: Path, codec: str) -> None:
    def stored(records: list[bytes]) -> bytes:
        deflater = zlib.compressobj(0, zlib.DEFLATED, 31 if codec == "gzip" else 15)
        return deflater.compress(frames(records)) + deflater.flush()

    path = tmp_path / "a"
    path.write_bytes(stored(RECORDS))
    tfreel.build_index(path)
    before = path.stat()
    path.write_bytes(stored(RECORDS[::-1]))
    assert path.stat().st_size == before.st_size
    set_mtime(path, before.st_mtime_ns + 1)
    assert_stale(path)
    # With its time restored as well, the first look does not tell. The second does.
    set_mtime(path, before.st_mtime_ns)
    errors = check_each(tfreel.open(path, index="require"), RECORDS)
    assert set(errors) >= {i for i, record in enumerate(RECORDS) if record != RECORDS[-1 - i]}
    assert "index_stale" in {error.kind for error in errors.values()}


def test_data_rewritten_in_the_same_size_with_its_time_restored_makes_an_index_stale(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    before = path.stat().st_mtime_ns
    write_file(path, RECORDS[::-1])
    set_mtime(path, before)
    assert_stale(path)


def test_one_record_rewritten_among_many_with_the_time_restored_is_never_given_as_the_old_one(
    tmp_path: Path,
) -> None:
    path = write_file(tmp_path / "a", MANY)
    tfreel.build_index(path)
    before = path.stat().st_mtime_ns
    changed = [*MANY]
    changed[LIAR] = MANY[LIAR][::-1]
    write_file(path, changed)
    set_mtime(path, before)
    errors = check_each(tfreel.open(path, index="require"), MANY)
    assert {i: error.kind for i, error in errors.items()} == {LIAR: "index_stale"}


@pytest.mark.parametrize("same_mtime", [False, True])
def test_indexes_of_two_files_swapped_are_stale(tmp_path: Path, same_mtime: bool) -> None:
    one = write_file(tmp_path / "one", RECORDS)
    two = write_file(tmp_path / "two", RECORDS[::-1])
    set_mtime(two, one.stat().st_mtime_ns + (not same_mtime))
    tfreel.build_index([one, two])
    content = sidecar_of(one).read_bytes()
    sidecar_of(two).replace(sidecar_of(one))
    sidecar_of(two).write_bytes(content)
    assert_stale(one)
    assert_stale(two)


def test_the_index_of_a_file_of_another_codec_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS, "gzip")
    forge(path, RECORDS, "zlib")
    with pytest.raises(tfreel.TfreelError):
        list(tfreel.open(path, index="require"))


@pytest.mark.parametrize("shift_ns", [1, -1, 10**12, -(10**18)])
def test_the_same_content_with_another_time_is_accepted_after_a_look(
    indexed: tuple[Path, str], shift_ns: int
) -> None:
    path, _ = indexed
    before = sidecar_of(path).read_bytes()
    set_mtime(path, path.stat().st_mtime_ns + shift_ns)
    assert list(tfreel.open(path, index="require")) == RECORDS
    assert sidecar_of(path).read_bytes() == before


def test_a_copy_of_data_and_index_is_as_good_as_the_original(indexed: tuple[Path, str]) -> None:
    path, _ = indexed
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    shutil.copyfile(sidecar_of(path), sidecar_of(copy))
    set_mtime(copy, 1)
    assert list(tfreel.open(copy, index="require")) == RECORDS


def test_damaged_data_with_another_time_is_reported_as_damaged_data(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    content = bytearray(path.read_bytes())
    content[offsets(RECORDS)[2] + 20] ^= 1
    path.write_bytes(content)
    set_mtime(path, 1)
    with pytest.raises(tfreel.ChecksumError) as caught:
        tfreel.open(path, index="require")
    assert (caught.value.kind, caught.value.record) == ("data_crc", 2)


def test_an_index_that_promises_more_than_an_empty_file_is_stale(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    path.write_bytes(b"")
    assert_stale(path)


def test_index_there_and_data_missing_is_a_clear_error(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path)
    path.unlink()
    with pytest.raises(FileNotFoundError) as caught:
        tfreel.open(path, index="require")
    assert caught.value.filename == os.fspath(path)


def test_data_there_and_index_missing_is_an_error_where_it_is_required_and_a_scan_otherwise(
    tmp_path: Path,
) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    with pytest.raises(FileNotFoundError, match="no index") as caught:
        tfreel.open(path, index="require")
    assert caught.value.filename == os.fspath(path)
    assert list(tfreel.open(path)) == RECORDS


# Where it is kept -------------------------------------------------------------------------------------------


def command_works(*command: str | Path) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(params=["read-only file system", "immutable directory", "no permission"])
def sealed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """A function that makes a directory impossible to write, whoever we are, until the test is over."""
    undo: list[tuple[str | Path, ...]] = []

    def seal(directory: Path) -> None:
        if request.param == "read-only file system":
            seal_mount = ("mount", "--bind", directory, directory)
            if not command_works(*seal_mount):
                pytest.skip("may not mount")
            undo.append(("umount", "--lazy", directory))
            assert command_works("mount", "-o", "remount,bind,ro", directory)
        elif request.param == "immutable directory":
            if not command_works("chattr", "+i", directory):
                pytest.skip("may not set the immutable flag")
            undo.append(("chattr", "-i", directory))
        else:
            if os.geteuid() == 0:
                pytest.skip("permissions do not hold root back")
            directory.chmod(0o555)
            undo.append(("chmod", "755", directory))

    yield seal
    for command in undo:
        assert command_works(*command)


def in_cache(path: Path) -> str:
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return os.path.join(os.environ["TFREEL_CACHE_DIR"], "index", name + INDEX_SUFFIX)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    return write_file(directory / "a.tfrecord", RECORDS)


def test_where_the_directory_cannot_be_written_the_index_goes_to_the_cache(
    dataset: Path, sealed: Callable[[Path], None]
) -> None:
    sealed(dataset.parent)
    with pytest.raises(OSError, match=r"not permitted|Read-only|denied"):
        (dataset.parent / "x").touch()
    assert tfreel.build_index(dataset) == [in_cache(dataset)]
    assert os.listdir(dataset.parent) == [dataset.name]
    with open(in_cache(dataset), "rb") as file:
        assert file.read() == hand_made(dataset, RECORDS)
    assert list(tfreel.open(dataset, index="require")) == RECORDS
    assert tfreel.build_index(dataset) == [in_cache(dataset)]


def test_rebuild_works_where_the_directory_cannot_be_written(
    dataset: Path, sealed: Callable[[Path], None]
) -> None:
    sealed(dataset.parent)
    assert list(tfreel.open(dataset, index="rebuild")) == RECORDS
    assert list(tfreel.open(dataset, index="require")) == RECORDS
    assert os.path.exists(in_cache(dataset))


def test_a_stale_index_that_cannot_be_replaced_does_not_hide_the_good_one_in_the_cache(
    dataset: Path, sealed: Callable[[Path], None]
) -> None:
    forge(dataset, RECORDS[::-1])
    sealed(dataset.parent)
    assert refusal(dataset).kind == "index_stale"
    assert tfreel.build_index(dataset) == [in_cache(dataset)]
    for mode in ("auto", "require", "rebuild"):
        assert list(tfreel.open(dataset, index=mode)) == RECORDS  # type: ignore[arg-type]


def test_where_nothing_can_be_written_the_index_stays_in_memory(
    dataset: Path, sealed: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed(dataset.parent)
    monkeypatch.setenv("TFREEL_CACHE_DIR", os.fspath(dataset))  # a file: nothing goes into it
    assert list(tfreel.open(dataset)) == RECORDS
    with pytest.warns(tfreel.TfreelWarning, match="could not be saved"):
        assert list(tfreel.open(dataset, index="rebuild")) == RECORDS
    with pytest.raises(OSError, match=r"File exists|Not a directory") as caught:
        tfreel.build_index(dataset)
    assert caught.value.filename


def test_the_cache_is_where_the_environment_says(
    dataset: Path, sealed: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sealed(dataset.parent)
    name = os.path.basename(in_cache(dataset))
    monkeypatch.delenv("TFREEL_CACHE_DIR")
    monkeypatch.setenv("HOME", os.fspath(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "xdg"))
    assert tfreel.build_index(dataset) == [os.fspath(tmp_path / "xdg" / "tfreel" / "index" / name)]
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert tfreel.build_index(dataset) == [
        os.fspath(tmp_path / "home" / ".cache" / "tfreel" / "index" / name)
    ]


def test_the_cache_knows_a_file_by_any_of_its_names(
    dataset: Path, sealed: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed(dataset.parent)
    link = tmp_path / "link.tfrecord"
    link.symlink_to(dataset)
    tfreel.build_index(dataset)
    assert list(tfreel.open(link, index="require")) == RECORDS
    with monkeypatch.context() as patch:
        patch.chdir(dataset.parent)
        assert list(tfreel.open(dataset.name, index="require")) == RECORDS


def test_a_full_disk_is_an_error_of_build_index_and_no_hindrance_to_open(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not command_works("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk):
        pytest.skip("may not mount")
    try:
        path = write_file(disk / "a", RECORDS)
        with pytest.raises(OSError, match="No space left"):
            (disk / "ballast").write_bytes(bytes(1 << 20))
        before = sorted(os.listdir(disk))
        with pytest.raises(OSError, match="No space left") as caught:
            tfreel.build_index(path)
        assert caught.value.filename
        with pytest.warns(tfreel.TfreelWarning, match="No space left"):
            assert list(tfreel.open(path, index="rebuild")) == RECORDS
        assert sorted(os.listdir(disk)) == before
    finally:
        assert command_works("umount", "--lazy", disk)


# Several builders, and interrupted ones ---------------------------------------------------------------------

BUILD_AGAIN_AND_AGAIN = """
import os, sys, time
import tfreel
path = sys.argv[1]
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    assert tfreel.build_index(path, force=True) == [path + ".tfreel-index"]
    assert len(tfreel.open(path, index="require")) == 500
"""


def test_processes_that_build_the_same_index_at_once_all_end_well(tmp_path: Path) -> None:
    records = [random.Random(i).randbytes(i) for i in range(500)]
    path = write_file(tmp_path / "a", records)
    command = [sys.executable, "-c", BUILD_AGAIN_AND_AGAIN, os.fspath(path)]
    pipe = subprocess.PIPE
    builders = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]
    for builder in builders:
        assert builder.stdout is not None
        assert builder.stdout.readline() == "ready\n"
    for builder in builders:
        assert builder.stdin is not None
        builder.stdin.write("go\n")
        builder.stdin.flush()
    for builder in builders:
        _, errors = builder.communicate(timeout=60)
        assert (builder.returncode, errors) == (0, "")
    assert sorted(os.listdir(tmp_path)) == ["a", f"a{INDEX_SUFFIX}"]
    assert sidecar_of(path).read_bytes() == hand_made(path, records)


def test_threads_that_build_the_same_index_at_once_all_end_well(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    assert list(tfreel.open([path] * 16, index="rebuild", threads=16)) == RECORDS * 16
    assert sorted(os.listdir(tmp_path)) == ["a", f"a{INDEX_SUFFIX}"]


def test_a_build_that_fails_midway_leaves_nothing(tmp_path: Path) -> None:
    def progress(records: int, size: int) -> None:
        raise ZeroDivisionError

    path = write_file(tmp_path / "a", RECORDS)
    with pytest.raises(ZeroDivisionError):
        tfreel.build_index(path, progress=progress)
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("moment", ["write", "fsync", "rename"])
def test_ctrl_c_while_the_index_is_saved_leaves_the_old_one_or_the_new_one(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    forge(path, RECORDS[::-1])
    old = sidecar_of(path).read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            tfreel.build_index(path)
    assert sorted(os.listdir(tmp_path)) == ["a", f"a{INDEX_SUFFIX}"]
    assert sidecar_of(path).read_bytes() == old


DIE_AT = """
import os, signal, sys
import tfreel
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, sys.argv[2], die)
tfreel.build_index(sys.argv[1])
"""


@pytest.mark.parametrize("moment", ["write", "fsync", "rename"])
@pytest.mark.parametrize("is_stale", [False, True])
def test_a_killed_build_leaves_no_half_index_under_the_final_name(
    tmp_path: Path, moment: str, is_stale: bool
) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    if is_stale:
        forge(path, RECORDS[::-1])
    before = sidecar_of(path).read_bytes() if is_stale else None
    done = subprocess.run([sys.executable, "-c", DIE_AT, os.fspath(path), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (sidecar_of(path).read_bytes() if is_stale else None) == before
    assert sidecar_of(path).exists() == is_stale
    # What it left behind does not keep the next one from its work.
    tfreel.build_index(path)
    assert list(tfreel.open(path, index="require")) == RECORDS


def test_an_index_that_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    for name, make in {
        "a": lambda path: os.mkfifo(path),
        "b": lambda path: os.symlink("/dev/zero", path),
    }.items():
        path = tmp_path / f"{name}.tfrecord"
        tfreel.save(path, [{"x": 1}])
        make(f"{path}.tfreel-index")
        with pytest.raises(OSError, match=r"a FIFO|a character device"):
            tfreel.open(path)
