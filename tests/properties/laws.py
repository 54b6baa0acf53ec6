"""What must hold for every pipeline, whatever it is made of."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import tfreel
from properties.sources import COLUMNS, Sources
from properties.verbs import (
    At,
    Batch,
    Concat,
    Env,
    ImpossibleError,
    Map,
    Mix,
    Place,
    Plan,
    Prefetch,
    Repeat,
    Shard,
    Shuffle,
    Source,
    Zip,
    places,
    plain,
    rows_in,
)
from tfreel.adapters.ranks import RankPlan
from tfreel.dataset.shard import ShardSpec

from counting import count

ENDLESS = 24  # elements of a plan without an end that are looked at
SOME = 5  # states of a plan that are tried
REFUSALS = (TypeError, ValueError)


@dataclass
class Bench:
    """A plan to be tried, and what it is tried with."""

    sources: Sources
    folder: Path
    rng: Random

    def env(self, **options: Any) -> Env:
        return Env(self.sources, folder=str(self.folder), **options)


class BrokenLawError(AssertionError):
    """A law that a plan breaks."""


def taken(ds: Any, plan: Plan, limit: int | None = None) -> list[Any]:
    """The elements of a run, as models have them."""
    kind = plan.facts.kind
    return [plain(element, kind) for element in islice(iter(ds), limit)]


def same(found: Sequence[Any], expected: Sequence[Any], what: str, *, ordered: bool = True) -> None:
    """Makes sure that two runs are one."""
    if ordered and list(found) == list(expected):
        return
    if not ordered and Counter(found) == Counter(expected):
        return
    raise BrokenLawError(f"{what}:\n  found    {_short(found)}\n  expected {_short(expected)}")


def _short(values: Sequence[Any]) -> str:
    return repr([_brief(value) for value in values])


def _brief(value: Any) -> Any:
    """A value of a model in few letters: of a row its number."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple) and len(value[0]) == 2:
        return dict(value).get("n", value)
    if isinstance(value, tuple) and value and value[0] == "batch":
        return [_brief(each) for each in value[1]]
    if isinstance(value, tuple) and value and value[0] == "tuple":
        return tuple(map(_brief, value[1:]))
    return value if not isinstance(value, bytes) else value[:4]


# One rank ---------------------------------------------------------------------------------------------------


def built(plan: Plan, bench: Bench, **options: Any) -> tfreel.Dataset:
    return plan.build(bench.env(**options))


def is_refused(plan: Plan, bench: Bench) -> bool:
    """Whether it must be refused when it is built; then makes sure that it is."""
    if not plan.facts.refused:
        return False
    try:
        built(plan, bench)
    except REFUSALS as error:
        if not str(error):
            raise BrokenLawError("refused without a word") from error
        count("plans that must be refused, and were when they were built")
        return True
    raise BrokenLawError("what cannot work was not refused when it was built")


def iterates(plan: Plan, bench: Bench) -> None:
    """A run is the model, in this epoch and in the next; another run is the same."""
    facts = plan.facts
    limit = ENDLESS if facts.endless else None
    ds = built(plan, bench)
    for epoch in (0, 1):
        expected = plan.values(At(epoch=epoch), limit)
        for turn in range(2 - epoch):
            found = taken(ds.epoch(epoch), plan, limit)
            same(found, expected, f"run {turn} of epoch {epoch}", ordered=facts.ordered)
        if facts.kind[0] == "batch" and not ds._node.batched:
            raise BrokenLawError("its elements are batches, and it does not know")
    expected = plan.values(At(), limit)
    try:
        size = len(ds)
    except TypeError:
        if facts.positions and not facts.endless:
            raise
    else:
        same([size], [len(expected)], "its length")
    if facts.positions:
        _has_positions(ds, plan, expected, bench.rng)
    count("runs that were the model")


def _has_positions(ds: tfreel.Dataset, plan: Plan, expected: list[Any], rng: Random) -> None:
    """Elements by position are those of a run."""
    kind = plan.facts.kind
    if plan.facts.endless:
        return
    found = [plain(ds[position], kind) for position in range(len(expected))]
    same(found, expected, "its elements by position")
    if expected:
        picks = [rng.randrange(-len(expected), len(expected)) for _ in range(4)]
        wanted = [expected[pick] for pick in picks]
        same([plain(each, kind) for each in ds.__getitems__(picks)], wanted, "several elements by position")
        same(taken(ds[picks], plan), wanted, "a choice of elements")
        first = plan.values(At(epoch=1))
        if len(first) == len(expected):
            same([plain(ds.epoch(1)[-1], kind)], first[-1:], "the last element of another epoch")
    for outside in (len(expected), -len(expected) - 1):
        try:
            ds[outside]
        except IndexError:
            continue
        raise BrokenLawError(f"it has an element {outside}")


def resumes(plan: Plan, bench: Bench) -> None:
    """A state saved after any element gives exactly the tail, with other threads and workers too."""
    facts = plan.facts
    limit = ENDLESS if facts.endless else None
    epoch = bench.rng.randrange(2)
    expected = plan.values(At(epoch=epoch), limit)
    run = iter(built(plan, bench).epoch(epoch))
    states, copies, head = [run.state_dict()], [pickle.dumps(run)], []
    for element in islice(run, limit):
        head.append(plain(element, facts.kind))
        states.append(run.state_dict())
        copies.append(pickle.dumps(run) if len(head) < 3 else b"")
    other = built(plan, bench, threads=2, flipped=True)
    for position in _some(bench.rng, len(states)):
        state = json.loads(json.dumps(states[position]))
        again = iter(other)
        again.load_state_dict(state)
        same([json.dumps(again.state_dict())], [json.dumps(state)], f"the state after {position}, loaded")
        rest = taken(again, plan, None if limit is None else limit - position)
        _tail(rest, head[:position], expected, position, plan, "from a state")
        if facts.ordered and len(rest) > 1:
            _resumes_twice(other, plan, state, expected, position, limit)
        if copies[position]:
            rest = taken(pickle.loads(copies[position]), plan, None if limit is None else limit - position)
            _tail(rest, head[:position], expected, position, plan, "in a copy")
        count("states of one rank, resumed")


def _some(rng: Random, size: int) -> list[int]:
    """The first, the last, and some between."""
    inner = rng.sample(range(size), min(size, SOME - 2))
    return sorted({0, size - 1, *inner})


def _tail(rest: list[Any], head: list[Any], expected: list[Any], position: int, plan: Plan, how: str) -> None:
    if plan.facts.ordered:
        same(rest, expected[position:], f"the rest after {position} {how}")
    else:
        same(head + rest, expected, f"what came until {position}, and the rest {how}", ordered=False)


def _resumes_twice(
    ds: tfreel.Dataset, plan: Plan, state: Any, expected: list[Any], position: int, limit: int | None
) -> None:
    """A run that began at a state has states too."""
    run = iter(ds)
    run.load_state_dict(state)
    next(run)
    again = iter(ds)
    again.load_state_dict(json.loads(json.dumps(run.state_dict())))
    rest = taken(again, plan, None if limit is None else limit - position - 1)
    same(rest, expected[position + 1 :], f"the rest after {position} and one more")


def loops(plan: Plan, bench: Bench) -> None:
    """A loop over epochs has each of them once, and goes on from any state without an empty pass."""
    facts = plan.facts
    if facts.endless or not facts.ordered:
        return
    passes = [plan.values(At(epoch=epoch)) for epoch in range(3)]
    whole = built(plan, bench).epochs(3)
    for epoch, run in whole:
        same(taken(run, plan), passes[epoch], f"epoch {epoch} of a loop")
    stop = bench.rng.randrange(2)
    given = bench.rng.choice([0, len(passes[stop]), bench.rng.randrange(len(passes[stop]) + 1)])
    loop = built(plan, bench).epochs(3)
    for epoch, run in loop:
        if epoch == stop:
            head = taken(run, plan, given)
            break
    same(head, passes[stop][:given], f"the beginning of epoch {stop}")
    later = built(plan, bench, threads=2, flipped=True).epochs(3)
    later.load_state_dict(json.loads(json.dumps(loop.state_dict())))
    found = [(epoch, taken(run, plan)) for epoch, run in later]
    expected = [(stop, passes[stop][given:])] if given < len(passes[stop]) or not given else []
    expected += list(enumerate(passes))[stop + 1 :]
    same(found, expected, f"a loop from {given} elements of epoch {stop} on")
    count("loops over epochs, resumed")


def shares_with_workers(plan: Plan, bench: Bench) -> None:
    """Workers who take turns give the run of one, from any position on."""
    facts = plan.facts
    if not facts.positions or facts.endless or facts.shards:
        return
    ds = built(plan, bench)
    expected = plan.values()
    whole = RankPlan.of(ds, ShardSpec(0, 1))
    workers = bench.rng.choice([2, 3])
    begin = bench.rng.randrange(len(expected) + 1)
    state = json.loads(json.dumps(whole.state_dict(begin)))
    rest = whole.resumed(state)
    runs = [taken(rest.run(worker, workers), plan) for worker in range(workers)]
    found = [runs[i % workers][i // workers] for i in range(sum(map(len, runs)))]
    same(found, expected[begin:], f"what {workers} workers give from {begin} on")
    same(taken(rest.run(), plan), expected[begin:], "the state of a loader")
    count("runs shared by workers")


# All at once ------------------------------------------------------------------------------------------------


def writes(plan: Plan, bench: Bench) -> None:
    """`load()`, Arrow, `save` and `unpack` have what a run has."""
    kind, facts = plan.facts.kind, plan.facts
    rows = kind[1] if kind[0] == "batch" else kind
    if facts.endless or not facts.ordered or rows not in ("row", "narrow"):
        return
    expected = plan.values()
    if kind[0] == "batch":
        expected = [row for _, batch in expected for row in batch]
    if not expected:
        return
    ds = built(plan, bench)
    same(list(rows_in(ds.load(), rows)), expected, "what is loaded")
    path = bench.folder / "saved.tfrecord"
    tfreel.save(path, ds, mode="w")
    names = sorted(dict(expected[0]))
    kept = tfreel.Dataset(path, {name: feature for name, feature in COLUMNS.items() if name in names})
    same(
        taken(kept, Plan(Source(), ("plain", "rows" if rows == "row" else "narrow"))),
        expected,
        "what is saved",
    )
    count("plans that were loaded and saved")
    lines = bench.folder / "lines.jsonl"
    lines.unlink(missing_ok=True)
    tfreel.unpack(ds, lines)
    found = [json.loads(line)["n"] for line in lines.read_text().splitlines()]
    same(found, [dict(row)["n"] for row in expected], "what is unpacked")
    try:
        batch = tfreel.Batch.from_arrow(ds)
    except RuntimeError as error:
        if "of another type than in the batches before" not in str(
            error
        ):  # of rows filled up to other lengths
            raise
    else:
        same(list(rows_in(batch, rows)), expected, "what Arrow has")


# Ranks ------------------------------------------------------------------------------------------------------

_EXACT = (Source, Shard, Shuffle, Batch, Map, Prefetch, Zip, Concat, Mix, Repeat)


def moves(plan: Plan, bench: Bench) -> bool:
    """The ranks of a world together give the whole; the state of one serves all, of this world and others.

    Returns:
        Whether it was exact; otherwise it was refused with an error that says why.
    """
    facts = plan.facts
    rng = bench.rng
    for each in plan.all():
        if len({part.facts.shards for part in each.below}) > 1:
            raise ImpossibleError("what is not shared out has no places that models could tell")
    world, epoch = rng.choice([1, 2, 3, 4]), rng.randrange(2)
    limit = ENDLESS if facts.endless else None
    here = At(epoch=epoch, world=world)
    models = [plan.values(replace(here, rank=rank), limit) for rank in range(world)]
    given = rng.randrange(min(map(len, models)) + 1)
    states = []
    for rank in range(world):
        ds = built(plan, bench, rank=rank, world=world).epoch(epoch)
        same(taken(ds, plan, limit), models[rank], f"rank {rank} of {world}", ordered=facts.ordered)
        run = iter(ds)
        for _ in islice(run, given):
            pass
        states.append(json.loads(json.dumps(run.state_dict())))
    count("runs of ranks that were the model", world)
    gone = _gone(plan, here, world, given)
    exact = True
    for other in dict.fromkeys([world, rng.choice([1, 2, 3, 4])]):
        state = rng.choice(states)
        for rank in range(other):
            try:
                ds = built(plan, bench, rank=rank, world=other)
                run = iter(ds)
                run.load_state_dict(state)
                rest = taken(run, plan, limit)
            except tfreel.StateError as error:
                if len(str(error)) < 20 or (other == world and rank == 0 and state is states[0]):
                    raise
                if _must_be_exact(plan):
                    raise BrokenLawError(f"refused from {world} to {other} ranks: {error}") from error
                exact = False
                break
            what = f"rank {rank} of {other}, after {given} elements of each of {world}"
            if other == world:
                expected = models[rank][given:]
            elif any(isinstance(each.verb, Mix) for each in plan.all()):
                continue  # where it ends depends on what is left of each part
            else:
                # What a world has dropped of a round or a part that is over need not come again.
                dropped = frozenset() if facts.endless else _dropped(plan, here, gone)
                for lost in _some_parts(dropped):
                    expected = plan.values(At(epoch, rank, other, gone | lost), limit)
                    if rest == expected:
                        break
            if limit is not None:
                rest, expected = rest[: len(expected)], expected[: len(rest)]
            same(rest, expected, what, ordered=facts.ordered)
        else:
            count("states that moved to all ranks of a world")
    return exact


def _gone(plan: Plan, here: At, world: int, given: int) -> frozenset[Place]:
    """What was taken from below the shard() of all ranks."""
    elements = (
        element for rank in range(world) for element in islice(plan.model(replace(here, rank=rank)), given)
    )
    return frozenset(place for element in elements for place in places(element.source))


def _dropped(plan: Plan, here: At, gone: frozenset[Place]) -> frozenset[Place]:
    """What ranks and batches left out of parts that have come to their end."""
    assert here.world is not None
    kept: Counter[tuple[tuple[int, ...], int]] = Counter()
    everything = _gone(plan.without_drops(), here, here.world, 1 << 20)
    left_in = _gone(plan, here, here.world, 1 << 20)
    for place in left_in - gone:
        kept[place[:2]] += 1
    return frozenset(place for place in everything - left_in if not kept[place[:2]])


def _some_parts(dropped: frozenset[Place]) -> Iterator[frozenset[Place]]:
    """What was dropped of none of the rounds and parts, of some, of all."""
    parts = sorted({place[:2] for place in dropped})[:8]
    for bits in range(1 << len(parts)):
        chosen = {part for i, part in enumerate(parts) if bits >> i & 1}
        yield frozenset(place for place in dropped if place[:2] in chosen)


def _must_be_exact(plan: Plan) -> bool:
    """Whether it is made of nothing but what states of ranks must always be good for."""
    verbs = [each.verb for each in _from_shards_on(plan)]
    ordered = plan.facts.ordered and all(each.facts.ordered for each in plan.all())
    return ordered and all(type(verb) in _EXACT for verb in verbs) and _is_plain(plan)


def _from_shards_on(plan: Plan) -> Iterator[Plan]:
    yield plan
    if not isinstance(plan.verb, Shard):
        for below in plan.below:
            yield from _from_shards_on(below)


def _is_plain(plan: Plan) -> bool:
    """Not shuffled behind shard(), all parts shared out, none more often than once, ranks alike."""
    return all(
        not (isinstance(each.verb, Shuffle) and each.facts.shards)
        and (
            not each.facts.shards
            or all(part.facts.shards == 1 for part in each.below)
            or isinstance(each.verb, Shard)
        )
        and all(part.facts.positions for part in each.below)
        for each in _from_shards_on(plan)
    ) and _alike(plan)


def _alike(plan: Plan) -> bool:
    """Whether all ranks have as many of every part that others follow."""
    return not any(isinstance(each.verb, (Repeat, Concat)) for each in plan.all()) or all(
        each.args[2] in ("drop", "pad") for each in plan.all() if isinstance(each.verb, Shard)
    )


Law: TypeAlias = Callable[[Plan, Bench], Any]
LAWS: list[tuple[Law, float]] = [
    (iterates, 1.0),
    (resumes, 1.0),
    (loops, 0.5),
    (shares_with_workers, 0.5),
    (writes, 0.1),
]


def try_plan(plan: Plan, bench: Bench, laws: Sequence[Law]) -> str | None:
    """What is wrong with a plan; None if nothing is."""
    try:
        for each in plan.all() if not plan.facts.refused else ():
            each.values(limit=1)  # or there is nothing to draw from, say, in a part that never has its turn
        if not is_refused(plan, bench):
            for law in laws:
                law(plan, bench)
    except ImpossibleError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
        name = type(error).__name__
        return f"{error}" if isinstance(error, BrokenLawError) else f"{name}: {error}"
    return None
