"""Files of records, bent: whatever reads them reads what is sound, or says what is wrong."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import strategies as st

import tfreel
from tfreel import profile

from corpus import frames
from doors.knocking import ASKING_ERRORS, bent, door, knock

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = [
    {"label": i, "name": f"name {i % 3}", "x": np.arange(i % 4, dtype=np.float32), "image": bytes([i]) * i}
    for i in range(12)
]
EXAMPLES = [tfreel.encode(row) for row in ROWS]
SEQUENCES = [tfreel.encode_sequence({"id": i}, {"words": [[b"a"] * i, [b"b"]]}) for i in range(5)]
PLAIN = frames(EXAMPLES)
FILES = [
    PLAIN,
    frames(SEQUENCES),
    gzip.compress(PLAIN, mtime=0),
    gzip.compress(PLAIN[:100], mtime=0) + gzip.compress(PLAIN[100:], mtime=0),
    zlib.compress(PLAIN),
    frames([b"", b"no message", bytes(50)]),
]
# Sound frames around bent messages, so that what is behind the checksums is reached too.
MESSAGES = st.lists(bent(*EXAMPLES[:4], *SEQUENCES[:2]), min_size=1, max_size=4).map(frames)
ANY_FILE = st.one_of(bent(*FILES), MESSAGES)
FEATURES = {
    "label": tfreel.FixedLenFeature([], np.int64, 0),
    "x": tfreel.VarLenFeature(np.float32),
    "name": tfreel.RaggedFeature(bytes),
}
FILE = "bent.tfrecord"


def written(content: bytes) -> str:
    Path(FILE).write_bytes(content)
    return FILE


def drain(things: Any) -> None:
    for _ in things:
        pass


def look_at_all(path: str) -> None:
    records = tfreel.open(path, index="memory")
    list(records)
    if len(records):
        records[-1]
        records[[0, len(records) - 1]]


READERS: dict[str, Callable[[str], Any]] = {
    "read": lambda path: drain(tfreel.read(path)),
    "read the tail": lambda path: drain(tfreel.read(path, on_corrupt="tail")),
    "salvage": lambda path: drain(tfreel.read(path, on_corrupt="skip", max_expanded_bytes=1 << 26)),
    "read unverified": lambda path: drain(tfreel.read(path, verify=False)),
    "open": look_at_all,
    "verify": lambda path: tfreel.verify(path, threads=2),
    "repair": lambda path: tfreel.repair(path, "repaired.tfrecord", mode="w", durable=False),
    "build_index": lambda path: tfreel.build_index(path, force=True),
    "infer_features": lambda path: tfreel.infer_features(path).to_python(),
    "load": tfreel.load,
    "load features": lambda path: tfreel.load(path, FEATURES),
    "dataset": lambda path: drain(tfreel.Dataset(path).shuffle(seed=1).batch(3)),
    "stream": lambda path: drain(tfreel.Dataset(path, stream=True, on_corrupt="skip")),
    "scan": lambda path: drain(tfreel.scan(path, where="label > 3").batches()),
    "stats": lambda path: profile.stats(path, threads=1).to_json(),
    "explain": lambda path: str(profile.explain(path, FEATURES)),
    "schema": lambda path: profile.infer_schema(path).to_json(),
    "validate": lambda path: str(profile.validate(path, profile.infer_schema(path))),
    "fingerprint": profile.fingerprint,
    "diff": lambda path: str(profile.diff(path, path)),
    "leaks": lambda path: str(profile.leaks({"a": path, "b": path})),
    "unpack": lambda path: tfreel.unpack(path, "out.jsonl", force=True, on_corrupt="skip"),
}
# What decides by what is in the data may say that there is too little of it, or that it is of two kinds.
UNDECIDED = {
    "scan",
    "unpack",
    "leaks",
    "explain",
    "schema",
    "validate",
    "diff",
    "dataset",
    "load",
    "load features",
}


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_are_read_or_refused(name: str) -> None:
    allowed = ASKING_ERRORS if name in UNDECIDED else (tfreel.TfreelError,)

    @door(ANY_FILE, examples=40)
    def reading(content: bytes) -> None:
        path = written(content)
        knock(lambda: READERS[name](path), allowed)

    reading()


@door(bent(*FILES), examples=150)
def test_a_salvaging_reader_gives_only_records_with_sound_checksums(content: bytes) -> None:
    path = written(content)
    found: list[bytes] = []
    knock(lambda: found.extend(tfreel.read(path, on_corrupt="skip")))
    for record in found:
        plain = expanded(content)
        assert frames([record]) in plain or record in plain


def expanded(content: bytes) -> bytes:
    """All that a compressed file holds, as far as zlib can tell, and the file itself."""
    found = content
    for begin in (
        at for at in range(len(content)) if content[at : at + 2] in (b"\x1f\x8b", b"x\x9c", b"x\xda")
    ):
        for bits in (31, 15):
            inflater = zlib.decompressobj(bits)
            try:
                for byte in content[begin:]:
                    found += inflater.decompress(bytes([byte]))
            except zlib.error:
                continue
    return found


@door(bent(*EXAMPLES[:6], *SEQUENCES), st.sampled_from([FEATURES, None]), examples=300)
def test_any_record_is_decoded_or_refused(record: bytes, features: Any) -> None:
    good = [knock(lambda: tfreel.decode(record)), knock(lambda: tfreel.decode_sequence(record))]
    if features:
        knock(lambda: tfreel.parse([record], features))
        knock(lambda: tfreel.parse_sequence([record], {}, {"words": tfreel.RaggedFeature(bytes)}))
    assert good[0] == knock(lambda: tfreel.Example.FromString(record), (Exception,))
