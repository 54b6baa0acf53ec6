"""Writes the seeds of the core's fuzzers: small messages of every sort, the same each time.

Run it in tests/ as ``python -m conformance.fuzz_seeds``.
"""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path

import tfreel
from tfreel import _core

from conformance.messages import Builder
from corpus import frames

SEEDS = Path(__file__).parents[2] / "core" / "fuzz" / "seeds"
COUNT = 16
LONGEST = 200


def messages(chosen: random.Random) -> list[bytes]:
    builder = Builder(chosen)
    made = []
    while len(made) < COUNT:
        message = builder.example() if len(made) % 2 else builder.sequence_example()
        if 10 < len(message) < LONGEST:
            made.append(message)
    return made


def streams(chosen: random.Random) -> list[bytes]:
    """For the decoder of frames: how it is read, then what it is made of, in turn."""
    frame, anything, header, zeros = 0, 1, 2, 3
    made = []
    for i in range(COUNT):
        parts = b""
        for what in [
            frame,
            *chosen.choices([frame, frame, anything, header, zeros], k=chosen.randrange(1, 7)),
        ]:
            size = chosen.choice([0, 1, 3, 12, 16, 40, 200])
            scale = chosen.choice([0, 0, 8, 31, 55]) if what == header else 0
            content = chosen.randbytes(size) if what in (frame, anything) else b""
            parts += bytes([what + 4 * scale, size]) + content
        made.append(
            bytes([chosen.choice([0, 4, 11, 255]), chosen.choice([0, 16, 255]), (40, 6, 63)[i % 3]]) + parts
        )
    return made


def indexes(chosen: random.Random) -> list[bytes]:
    """For `fetch`: picks behind their number, then rows: of which record, which column, and by how much."""
    made = []
    for i in range(COUNT):
        rows = [bytes([record, 0, 0, 0]) for record in range(6)]
        if i:
            changed = chosen.randrange(6)
            by = chosen.choice([1, 16, 17, 600, 65535]).to_bytes(2, "little")
            rows[changed] = bytes([changed, 1 + i % 4]) + by
        picks = bytes([*range(6), *chosen.choices(range(7 if i % 5 == 4 else 6), k=4)])
        made.append(bytes([len(picks)]) + picks + b"".join(rows))
    return made


def saved_statistics(chosen: random.Random) -> list[bytes]:
    """What statistics of a few records are when they go to another process."""
    made = []
    for _ in range(COUNT // 2):
        rows = [
            {"label": i % 3, "x": [0.5, float(i)], "name": f"name {i}"} for i in range(chosen.randrange(1, 5))
        ]
        reader = tfreel.read(io.BytesIO(frames(map(tfreel.encode, rows))))
        statistics = _core.Statistics(columns=None, by=None, most_features=100, most_groups=100)
        for block in reader.blocks():
            statistics.add(block, 0)
        made.append(statistics.save())
    return made


def views(chosen: random.Random) -> list[bytes]:
    """Views of strings, short and long ones, right and wrong; and texts."""
    made = ["ä€😀 text".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"abcdefgh\xc3", b"\xe2\x28\xa1"]
    made += [
        b"12345678\xff",
        b"\xe2\x82",
        b"\xe2\x82\x28",
        b"\xf0\x9f\x98",
        b"\xf0\x9f\x98\x28",
        b"\xf0\x9f\x28\x80",
    ]
    while len(made) < 2 * COUNT:
        rows = []
        for _ in range(3):
            length = chosen.choice([0, 5, 12, 13, 20, 13, 20, -1, 1 << 30])
            buffer, begin = chosen.choice([0, 1, 0, 1, 2, -1]), chosen.choice([0, 3, 0, 3, 90, -1])
            rows.append(struct.pack("<iiii", length, 7, buffer, begin))
        made.append(bytes([3]) + b"".join(rows) + bytes(range(100)))
    return made


def main() -> None:
    chosen = random.Random(1)
    for target, make in (
        ("frame", streams),
        ("index", indexes),
        ("saved", saved_statistics),
        ("strings", views),
    ):
        folder = SEEDS / target
        folder.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(make(random.Random(target))):
            (folder / f"{i:02}").write_bytes(seed)
    for target in ("wire", "example", "columns"):
        folder = SEEDS / target
        folder.mkdir(parents=True, exist_ok=True)
        for i, message in enumerate(messages(chosen)):
            seed = message
            if target == "columns":  # what is asked for, and the records, each behind its length
                is_sequence = i % 2 == 0
                asked = bytes([0x06 | is_sequence | (i % 4 == 1) << 7]) + chosen.randbytes(4)
                records = [message, *chosen.sample(messages(chosen), 2)]
                seed = asked + b"".join(bytes([len(record)]) + record for record in records)
            (folder / f"{i:02}").write_bytes(seed)


if __name__ == "__main__":
    main()
