"""The main job so far, before your eyes: write, index, read at random, damage a byte, verify, repair.

Run it with ``make demo``, or ``python examples/demo.py [directory]``.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time

import tfreel

RECORDS = 200_000


def main(directory: str = "demo-output") -> None:
    """Plays the whole life of a file in `directory`."""
    shutil.rmtree(directory, ignore_errors=True)
    records = make_records()
    path = os.path.join(directory, "letters.tfrecord")

    started = time.perf_counter()
    with tfreel.Writer(path) as out:
        out.write_many(records)
    took = time.perf_counter() - started
    say(f"wrote {len(records):,} records to {path} in {took:.2f} s; it appeared when it was whole")

    started = time.perf_counter()
    count = sum(1 for _ in tfreel.read(path))
    say(f"read {count:,} records back in {time.perf_counter() - started:.2f} s, every checksum checked")

    (index,) = tfreel.build_index(path)
    letters = tfreel.open(path)
    say(f"indexed it ({index}): len = {len(letters):,}, [-1] = {letters[-1][:24]!r}…")
    picks = random.Random(17).sample(range(len(letters)), 1000)
    started = time.perf_counter()
    assert letters[picks] == [records[i] for i in picks]
    say(f"read 1,000 records in random order in {1000 * (time.perf_counter() - started):.1f} ms")

    reader = tfreel.read(path)
    for _ in range(123_456):
        next(reader)
    resumed = tfreel.read(path)
    resumed.load_state_dict(reader.state_dict())
    assert next(resumed) == records[123_456]
    say("stopped after 123,456 records, and went on from the saved state in another reader")

    damage(path, letters)
    report = tfreel.verify(path)
    say(f"flipped one bit; verify says: {report.faults[0]}")
    mended = os.path.join(directory, "mended.tfrecord")
    report = tfreel.repair(path, mended)
    assert tfreel.verify(mended).ok
    say(f"repaired: {report.records:,} records saved, {report.records_lost} lost; see {mended}.lost.jsonl")


def make_records() -> list[bytes]:
    """Letters of all lengths, the same every time."""
    source = random.Random(1)
    return [f"letter {i}: ".encode() + source.randbytes(source.randrange(400)) for i in range(RECORDS)]


def damage(path: str, letters: tfreel.Records) -> None:
    """Flips a bit of a record in the middle, as a bad disk would."""
    victim = letters[len(letters) // 2]
    with open(path, "r+b") as file:
        position = file.read().index(victim)
        file.seek(position)
        file.write(bytes([victim[0] ^ 1]))


def say(text: str) -> None:
    """Prints a line at once, so that the demo can be watched."""
    sys.stdout.write(f"  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:2])
