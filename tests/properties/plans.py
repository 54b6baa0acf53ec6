"""Pipelines by chance, and smaller ones that fail as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from properties.verbs import (
    SHARD,
    SOURCE,
    VERBS,
    Batch,
    Cache,
    Concat,
    Enumerate,
    Filter,
    ImpossibleError,
    Map,
    MapSkip,
    Mix,
    Plan,
    Prefetch,
    Repeat,
    Shuffle,
    ShuffleBuffer,
    Skip,
    Take,
    Unbatch,
    Verb,
    Zip,
)  # fmt: skip

MOST_ELEMENTS = 60  # of a plan, so that all of its states can be tried


def generated(rng: Random, depth: int) -> Plan:
    """A plan of up to so many verbs above each other."""
    if depth <= 1:
        return Plan(SOURCE, SOURCE.draw(rng, ()))
    for _ in range(100):
        verb = rng.choices(VERBS, [each.weight for each in VERBS])[0]
        parts = rng.choice([2, 2, 2, 3]) if verb.inputs > 1 else 1
        deepest = rng.randrange(parts)
        below = tuple(
            generated(rng, depth - 1 if i == deepest else min(depth - 1, rng.randrange(1, 4)))
            for i in range(parts)
        )
        if plan := above(rng, verb, below):
            return plan
    raise AssertionError("nothing fits")


def above(rng: Random, verb: Verb, below: tuple[Plan, ...]) -> Plan | None:
    """A verb above plans, if it may stand there."""
    if any(each.facts.refused for each in below):
        return None
    try:
        plan = Plan(verb, verb.draw(rng, below), below)
        if plan.facts.refused and rng.random() < 0.8:  # refusals are quickly tried, and tell less
            return None
        if plan.facts.refused or plan.facts.endless or len(plan.values(limit=MOST_ELEMENTS)) < MOST_ELEMENTS:
            return plan
    except ImpossibleError:
        pass
    return None


# What ranks may have around a shard(), and must go on from with any number of them; and what may forbid it.
_AROUND: dict[type[Verb], int] = {Batch: 12, Map: 6, Prefetch: 2, Concat: 2, Mix: 2, Zip: 2, Repeat: 2}
_FORBIDDING: dict[type[Verb], int] = {
    Filter: 2, Unbatch: 2, ShuffleBuffer: 2, Shuffle: 1, Take: 1, Skip: 1, Enumerate: 1, Cache: 1, Map: 2,
    MapSkip: 1,
}  # fmt: skip


def shared(rng: Random, depth: int, forbidding: float = 0.15) -> Plan:
    """A plan that ranks share: with a shard() somewhere in it, and mostly with what belongs around one.

    Args:
        rng: Decides.
        depth: How many verbs there may be above each other.
        forbidding: How often one of them may keep a state from other ranks.
    """
    while True:
        below = generated(rng, rng.randrange(1, max(2, depth - 1)))
        if below.facts.refused or below.facts.shards or not below.facts.ordered:
            continue
        plan = above(rng, SHARD, (below,))
        if plan is None or plan.facts.refused:
            continue
        left = rng.randrange(depth - plan.depth + 1) if depth > plan.depth else 0
        hard = rng.random() < forbidding
        for number in range(max(left, 2 * hard)):
            verbs = _FORBIDDING if hard and number == left // 2 else _AROUND
            plan = _grown(rng, plan, verbs)
        return plan


def _grown(rng: Random, plan: Plan, weights: dict[type[Verb], int]) -> Plan:
    """A plan with one of these verbs above it, if one may stand there."""
    verbs = [verb for verb in VERBS if type(verb) in weights]
    for _ in range(20):
        verb = rng.choices(verbs, [weights[type(each)] for each in verbs])[0]
        parts = (plan,) if verb.inputs == 1 else (plan, _companion(rng, plan))
        grown = above(rng, verb, parts)
        if grown is not None and not grown.facts.refused:
            return grown
    return plan


def _companion(rng: Random, plan: Plan) -> Plan:
    """Another plan of the same verbs above other files."""
    if not plan.below:
        return Plan(SOURCE, (SOURCE.draw(rng, ())[0], plan.args[1]))
    return replace(plan, below=tuple(_companion(rng, each) for each in plan.below))


def chain(*steps: tuple[Verb, *tuple[Any, ...]]) -> Plan:
    """Verbs above each other, each with what it is told."""
    plan: tuple[Plan, ...] = ()
    for verb, *args in steps:
        plan = (Plan(verb, tuple(args), plan),)
    return plan[0]


def several(verb: Verb, *parts: Plan, args: tuple[Any, ...] = ()) -> Plan:
    """A verb above several plans."""
    return Plan(verb, args, parts)


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans that are a little less than this one, the smallest first."""
    yield from plan.below
    for i, below in enumerate(plan.below):
        for less in smaller(below):
            yield replace(plan, below=(*plan.below[:i], less, *plan.below[i + 1 :]))
    if len(plan.below) > 2:
        yield replace(plan, below=plan.below[:2])
    for i, arg in enumerate(plan.args):
        for less_ in _less(arg):
            yield replace(plan, args=(*plan.args[:i], less_, *plan.args[i + 1 :]))


def _less(arg: Any) -> Iterator[Any]:
    if isinstance(arg, bool):
        if arg:
            yield False
    elif isinstance(arg, int):
        yield from sorted({0, 1, 2, arg // 2} - {arg}) if arg > 0 else ()


def shrunk(plan: Plan, fails: Callable[[Plan], bool]) -> Plan:
    """A plan that fails, of which no smaller one does."""
    tried = {plan}
    while True:
        for less in smaller(plan):
            if less not in tried and len(tried) < 400:
                tried.add(less)
                if fails(less):
                    plan = less
                    break
        else:
            return plan


def code_of(plan: Plan) -> str:
    """A program that builds it, in the folder of the tests."""
    return (
        "import tempfile\n"
        "from properties.sources import *\n"
        "from properties.verbs import *\n"
        "folder = tempfile.mkdtemp()\n"
        "sources = Sources(Path(folder))\n"
        f"ds = {plan}\n"
    )
