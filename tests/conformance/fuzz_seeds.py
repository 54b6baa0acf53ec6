"""Writes the seeds of the core's fuzzers: small messages of every sort, the same each time.

Run it in tests/ as ``python -m conformance.fuzz_seeds``.
"""

from __future__ import annotations

import random
from pathlib import Path

from conformance.messages import Builder

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


def main() -> None:
    chosen = random.Random(1)
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
