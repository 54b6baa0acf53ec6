"""Looks for pipelines that break a law: the same ones in the tests, new ones for as long as one likes.

``python -m properties.search --seconds 60``, in the folder of the tests, begins with a new seed; ``--seed``
and ``--plan`` bring a failure back.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count as count_from
from pathlib import Path
from random import Random

from properties.laws import LAWS, Bench, Law, moves, try_plan
from properties.plans import code_of, generated, shared, shrunk
from properties.sources import Sources
from properties.verbs import ORACLE, Plan

import counting
from counting import count

DEEPEST = 7
MOVES = 3  # pairs of worlds and positions that a plan of ranks is tried with


class Search:
    """Trials in a folder."""

    def __init__(self, folder: Path) -> None:
        self.sources = Sources(folder)
        self.folder = folder
        self.shared = 0
        self.refused = 0
        ORACLE.open(self.sources)

    def finds(self, seed: int, verbs: set[str], most: int) -> bool:
        """Whether a plan among so many, which have these verbs in them, breaks a law."""
        left = most
        for number in count_from():
            try:
                plan, laws, drawn = self._drawn(seed, number, forbidding=0.8)
            except AssertionError:  # a model has seen it
                return True
            if verbs <= {each.verb.name for each in plan.all()}:
                if self._try(plan, laws, drawn) is not None:
                    return True
                left -= 1
            if not left or number == 100 * most:
                return False
        raise AssertionError

    def wrong(self, plan: Plan, seed: int) -> str | None:
        """What is wrong with a plan, by all laws; None if nothing is."""
        return self._try(plan, [law for law, _ in LAWS] + [self._moves] * 25 * bool(plan.facts.shards), seed)

    def failure(self, seed: int, number: int) -> str | None:
        """What is wrong with a plan, with the smallest like it as a program; None if nothing is."""
        count("generated pipelines")
        plan, laws, drawn = self._drawn(seed, number)
        wrong = self._try(plan, laws, drawn)
        if wrong is None:
            return None
        small = shrunk(plan, lambda less: _kind(self._try(less, laws, drawn)) == _kind(wrong))
        return (
            f"plan {number} of seed {seed}: {self._try(small, laws, drawn) or wrong}\n\n{code_of(small)}\n\n"
            f"found as\n{plan}"
        )

    def _drawn(self, seed: int, number: int, forbidding: float = 0.15) -> tuple[Plan, list[Law], int]:
        """A plan, the laws to be tried on it, and a seed for what they draw."""
        rng = Random(f"{seed} {number}")
        depth = rng.randint(1, DEEPEST)
        of_ranks = rng.random() < 0.4
        plan = shared(rng, max(2, depth), forbidding) if of_ranks else generated(rng, depth)
        laws = [law for law, share in LAWS if rng.random() < share]
        return plan, laws + [self._moves] * MOVES * of_ranks, rng.getrandbits(32)

    def _try(self, plan: Plan, laws: list[Law], drawn: int) -> str | None:
        return try_plan(plan, Bench(self.sources, self.folder, Random(drawn)), laws)

    def _moves(self, plan: Plan, bench: Bench) -> None:
        self.shared += 1
        if not moves(plan, bench):
            self.refused += 1
            count("states that only their own ranks can go on from, and said so")


def _kind(wrong: str | None) -> str:
    """What is wrong, without where."""
    return "" if wrong is None else wrong.split(":")[0].rstrip("0123456789")


def failures(search: Search, seed: int, seconds: float) -> Iterator[str]:
    """What is found in so much time."""
    end = time.monotonic() + seconds
    for number in count_from():
        if time.monotonic() > end:
            return
        wrong = search.failure(seed, number)
        if wrong is not None:
            yield wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--plan", type=int, help="try this one only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        search = Search(Path(folder))
        if options.plan is not None:
            found = filter(None, [search.failure(options.seed, options.plan)])
        else:
            found = failures(search, options.seed, options.seconds)
        wrong = next(iter(found), None)
    print(f"seed {options.seed}", *counting.summary(), sep="\n")
    if wrong is not None:
        print(wrong)
    return wrong is not None


if __name__ == "__main__":
    sys.exit(main())
