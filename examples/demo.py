"""The main job so far, before your eyes: write rows, parse columns, read at random, damage, verify, repair.

Run it with ``make demo``, or ``python examples/demo.py [directory]``.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from typing import Any

import tfreel

ROWS = 200_000


def main(directory: str = "demo-output") -> None:
    """Plays the whole life of a file in `directory`."""
    shutil.rmtree(directory, ignore_errors=True)
    path = os.path.join(directory, "flowers.tfrecord")
    rows = make_rows()
    write(path, rows)
    parse(path, rows)
    pick(path, rows)
    resume(path)
    mend(path, os.path.join(directory, "mended.tfrecord"))


def make_rows() -> list[dict[str, Any]]:
    """Flowers with four measures, a name and any number of visitors, the same every time."""
    source = random.Random(1)
    names = ("setosa", "versicolor", "virginica")
    return [
        {
            "measures": [source.random() * 8 for _ in range(4)],
            "label": i % 3,
            "name": names[i % 3],
            "visitors": [source.randrange(1000) for _ in range(source.randrange(1, 5))],
        }
        for i in range(ROWS)
    ]


def write(path: str, rows: list[dict[str, Any]]) -> None:
    """Python dicts become Examples."""
    started = time.perf_counter()
    with tfreel.Writer(path) as out:
        out.write_many(rows)
    took = time.perf_counter() - started
    say(f"wrote {len(rows):,} rows as Examples to {path} in {took:.2f} s; it appeared when it was whole")


def parse(path: str, rows: list[dict[str, Any]]) -> None:
    """Examples become columns, without a word about what is in them."""
    features = tfreel.infer_features(path)
    kinds = ", ".join(f"{name} is a {type(kind).__name__}" for name, kind in features.items())
    say(f"looked into it: {kinds}")
    started = time.perf_counter()
    batch = tfreel.load(path, features)
    took = time.perf_counter() - started
    assert batch["label"].tolist() == [row["label"] for row in rows]
    assert batch["visitors"].to_list() == [row["visitors"] for row in rows]
    say(f"parsed it into columns in {took:.2f} s, every checksum checked: measures {batch['measures'].shape}")


def pick(path: str, rows: list[dict[str, Any]]) -> None:
    """Any record, at any time."""
    (index,) = tfreel.build_index(path)
    flowers = tfreel.open(path)
    say(f"indexed it ({index}): {len(flowers):,} records; the last is {tfreel.decode(flowers[-1])['name']}")
    picks = random.Random(17).sample(range(len(flowers)), 1000)
    started = time.perf_counter()
    records = flowers[picks]
    took = 1000 * (time.perf_counter() - started)
    assert [tfreel.decode(record)["label"] for record in records] == [rows[i]["label"] for i in picks]
    say(f"read 1,000 records in random order in {took:.1f} ms")


def resume(path: str) -> None:
    """A reader that stops goes on in another process, to the record."""
    reader = tfreel.read(path)
    for _ in range(123_456):
        next(reader)
    resumed = tfreel.read(path)
    resumed.load_state_dict(reader.state_dict())
    assert next(resumed) == next(reader)
    say("stopped after 123,456 records, and went on from the saved state in another reader")


def mend(path: str, mended: str) -> None:
    """Damage costs the damaged record."""
    damage(path)
    report = tfreel.verify(path)
    say(f"flipped one bit; verify says: {report.faults[0]}")
    report = tfreel.repair(path, mended)
    assert tfreel.verify(mended).ok
    say(f"repaired: {report.records:,} records saved, {report.records_lost} lost; see {mended}.lost.jsonl")


def damage(path: str) -> None:
    """Flips a bit in the middle of a record, as a bad disk would."""
    flowers = tfreel.open(path)
    victim = flowers[len(flowers) // 2]
    with open(path, "r+b") as file:
        position = file.read().index(victim) + len(victim) // 2
        file.seek(position)
        file.write(bytes([victim[len(victim) // 2] ^ 1]))


def say(text: str) -> None:
    """Prints a line at once, so that the demo can be watched."""
    sys.stdout.write(f"  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:2])
