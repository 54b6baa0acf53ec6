"""What a generated pipeline is made of: every verb of a dataset, beside what it does to a plain list.

A verb says when it may stand where (`facts`), how it is drawn (`draw`), how it is said (`build`, `code`),
and what must come out of it (`model`). Models know lists and positions, and nothing of stages, orders or
states. Of what is random they ask a dataset of numbers, without anything below or above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, cycle, islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

import tfreel
from properties.sources import COLUMNS, FILES, READINGS, Sources, key_of, numbers, record, written
from tfreel.dataset.mix import MixDeal
from tfreel.dataset.order import drawn, mixed, round_epoch

if TYPE_CHECKING:
    from random import Random

Kind: TypeAlias = Any  # "row", "narrow", "bytes", "int", ("tuple", kind, …) or ("batch", kind)
Args: TypeAlias = tuple[Any, ...]


class ImpossibleError(Exception):
    """A verb cannot stand there."""


class Place(NamedTuple):
    """An element below a shard(): which shard, in which epoch, and where it lies there."""

    shard: tuple[int, ...]
    epoch: int
    position: int


class Element(NamedTuple):
    """An element of a model, and the places it was made of: one, or a tuple of them for each of its parts."""

    value: Any
    source: Any = ()


def places(source: Any) -> Iterator[Place]:
    """All of them."""
    if isinstance(source, Place):
        yield source
    else:
        for part in source:
            yield from places(part)


@dataclass(frozen=True)
class At:
    """Where a model is asked: in an epoch, by a rank; and what is no longer there."""

    epoch: int = 0
    rank: int | None = None
    world: int | None = None
    gone: frozenset[Place] = frozenset()
    path: tuple[int, ...] = ()
    batch: tuple[int, bool] | None = None  # size, and whether the remainder is dropped, right above a shard()

    def child(self, number: int = 0) -> At:
        return replace(self, path=(*self.path, number), batch=None)

    def in_epoch(self, epoch: int) -> At:
        return replace(self, epoch=epoch)


@dataclass(frozen=True)
class Facts:
    """What can be told of a plan without running it.

    Attributes:
        kind: What its elements are.
        positions: Whether elements can be asked for by position.
        endless: Whether it has no end.
        records: Whether its elements, or the rows of its batches, are records and nothing else.
        shards: How many shard() lie in each other.
        ordered: Whether its order is known.
        refused: Whether it must be refused when it is built.
        sure: Whether it has no positions for sure, if it has none.
        redraws: Whether elements are not only in another order in another epoch, but others.
    """

    kind: Kind
    positions: bool = True
    endless: bool = False
    records: bool = False
    shards: int = 0
    ordered: bool = True
    refused: bool = False
    sure: bool = True
    redraws: bool = False

    @property
    def featured(self) -> bool:
        """Whether features of its elements can be asked for."""
        return self.records and self.kind == "row"


@dataclass(frozen=True)
class Plan:
    """A pipeline: a verb, what it is told, and the plans it works on."""

    verb: Verb
    args: Args
    below: tuple[Plan, ...] = ()

    @property
    def facts(self) -> Facts:
        """What can be told of it.

        Raises:
            ImpossibleError: It is none.
        """
        return facts_of(self)

    @property
    def depth(self) -> int:
        return 1 + max((plan.depth for plan in self.below), default=0)

    def model(self, at: At = At()) -> Iterator[Element]:
        """What must come out of it."""
        return self.verb.model(self, at)

    def values(self, at: At = At(), limit: int | None = None) -> list[Any]:
        return [element.value for element in islice(self.model(at), limit)]

    def build(self, env: Env) -> tfreel.Dataset:
        """The same as a dataset."""
        return self.verb.build(self, env)

    def code(self) -> str:
        """The same in Python."""
        return self.verb.code(self)

    def without_drops(self) -> Plan:
        """The same, but that ranks and batches leave nothing out."""
        below = tuple(each.without_drops() for each in self.below)
        args = self.args
        if isinstance(self.verb, Shard):
            args = (*args[:2], "keep")
        elif isinstance(self.verb, Batch):
            args = (args[0], False, args[2])
        return replace(self, args=args, below=below)

    def all(self) -> Iterator[Plan]:
        """It, and all below it."""
        yield self
        for plan in self.below:
            yield from plan.all()

    def __str__(self) -> str:
        return self.code()


@lru_cache(maxsize=4096)
def facts_of(plan: Plan) -> Facts:
    below = [each.facts for each in plan.below]
    if any(each.refused for each in below):
        raise ImpossibleError("what is refused has nothing above it")
    return plan.verb.facts(plan, *below)


@dataclass(frozen=True)
class Env:
    """Where datasets are built.

    Attributes:
        sources: The files.
        threads: How many a source parses with.
        flipped: Whether functions are called in workers where the plan says here, and the other way round.
        rank: The rank whose part shard() gives, if not the one of the plan.
        world: The number of them.
        folder: For caches.
    """

    sources: Sources
    threads: int = 1
    flipped: bool = False
    rank: int | None = None
    world: int | None = None
    folder: str = ""


class Verb:
    """What all verbs have in common; most have one plan below them."""

    name: ClassVar[str]
    inputs: ClassVar[int] = 1
    weight: ClassVar[int] = 2
    passes_batch: ClassVar[bool] = False  # whether a batch above it evens out a shard() below it

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        """Arguments by chance.

        Raises:
            ImpossibleError: There are none for these plans.
        """
        return ()

    def facts(self, plan: Plan, below: Facts) -> Facts:
        return below

    def build(self, plan: Plan, env: Env) -> tfreel.Dataset:
        return self.apply(plan.below[0].build(env), plan, env)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        raise NotImplementedError

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        raise NotImplementedError

    def code(self, plan: Plan) -> str:
        return f"{plan.below[0].code()}.{self.name}({self.words(plan)})"

    def words(self, plan: Plan) -> str:
        return ", ".join(map(repr, plan.args))

    def __repr__(self) -> str:
        return self.name


def below_of(plan: Plan, at: At) -> Iterator[Element]:
    """What a verb with one plan below it works on."""
    inner = at.child()
    return plan.below[0].model(replace(inner, batch=at.batch) if plan.verb.passes_batch else inner)


def need(condition: object, why: str = "") -> None:
    if not condition:
        raise ImpossibleError(why)


def rearranged(below: Facts) -> Facts:
    """Of verbs that change nothing but the order: batches are then no longer those of records in a row."""
    return replace(below, records=below.records and not has_batches(below.kind))


def positions(below: Facts) -> Facts:
    """Of verbs that need positions and an end."""
    need(not below.endless and (below.positions or below.sure))
    return rearranged(replace(below, refused=not below.positions))


# Sources ----------------------------------------------------------------------------------------------------


class Source(Verb):
    name = "source"
    inputs = 0

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        name = rng.choices(list(FILES), [4, 4, 3, 3, 1, 1])[0]
        return name, rng.choices(READINGS, [8, 1, 1, 2, 1])[0]

    def facts(self, plan: Plan) -> Facts:  # type: ignore[override]
        _, reading = plan.args
        kind = {"rows": "row", "stream": "row", "narrow": "narrow"}.get(reading, "bytes")
        stream = reading.startswith("stream")
        return Facts(kind, positions=not stream, records=not stream)

    def build(self, plan: Plan, env: Env) -> tfreel.Dataset:
        return env.sources.open(*plan.args, env.threads)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        name, _ = plan.args
        kind = plan.facts.kind
        for number in numbers(name):
            yield Element(value_of(number, kind))

    def code(self, plan: Plan) -> str:
        return f"sources.open{(*plan.args, 1)}"


def value_of(number: int, kind: Kind) -> Any:
    """What comes of a record."""
    if kind == "bytes":
        return written(number)
    row = record(number)
    names = ["n"] if kind == "narrow" else sorted(row)
    return tuple((name, tuple(row[name]) if name == "v" else row[name]) for name in names)


# Some of the elements ---------------------------------------------------------------------------------------


class Take(Verb):
    name = "take"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return (rng.choice([0, 1, 2, 3, 5, 8, 13]),)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.ordered)
        return rearranged(replace(below, endless=False))

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.take(*plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        return islice(below_of(plan, at), plan.args[0])


class Skip(Take):
    name = "skip"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return (rng.choice([0, 1, 2, 3, 20]),)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.ordered)
        return rearranged(below)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.skip(*plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        return islice(below_of(plan, at), plan.args[0], None)


class Slice(Verb):
    name = "slice"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        ends = [None, 0, 1, 3, 7, -1, -2, -5]
        return rng.choice(ends), rng.choice(ends), rng.choice([None, 1, 2, 3, -1, -2])

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.positions and not below.endless)
        return rearranged(below)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds[slice(*plan.args)]

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        return iter(list(below_of(plan, at))[slice(*plan.args)])

    def code(self, plan: Plan) -> str:
        return f"{plan.below[0].code()}[{':'.join('' if end is None else str(end) for end in plan.args)}]"


class Choose(Verb):
    """By a list, or by a mask of the bits of a number."""

    name = "choose"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        if rng.random() < 0.4:
            return "mask", rng.getrandbits(6)
        return "list", tuple(rng.randrange(-20, 20) for _ in range(rng.randrange(7)))

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.positions and not below.endless)
        return rearranged(below)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds[choice(*plan.args, len(ds))]

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        elements = list(below_of(plan, at))
        picks = choice(*plan.args, len(elements))
        if plan.args[0] == "mask":
            return (element for element, wanted in zip(elements, picks, strict=True) if wanted)
        return (elements[pick] for pick in picks)

    def code(self, plan: Plan) -> str:
        return f"(lambda ds: ds[choice({self.words(plan)}, len(ds))])({plan.below[0].code()})"


def choice(how: str, what: Any, size: int) -> Any:
    """A mask, or positions from the front and from the end, among so many."""
    if how == "mask":
        return np.array([what >> (i % 6) & 1 for i in range(size)], bool)
    return [pick % size - size * (pick < 0) for pick in what] if size else []


class Split(Verb):
    name = "split"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        fractions = rng.choice([(0.5, 0.5), (0.25, 0.5, 0.25), (1.0,), (0.0, 1.0)])
        options: dict[str, Any] = {} if rng.random() < 0.3 else {"seed": rng.randrange(3)}
        if plans[0].facts.featured and rng.random() < 0.4:
            options[rng.choice(["by", "stratify"])] = "k"
        elif rng.random() < 0.3:
            options = {"shuffle": False}
        return fractions, tuple(options.items()), rng.randrange(len(fractions))

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(plan.args[2] < len(plan.args[0]) and not below.redraws)
        below = positions(below)
        need(below.featured or not {"by", "stratify"} & dict(plan.args[1]).keys())
        return below

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return split_of(ds, *plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        elements = list(below_of(plan, at.in_epoch(0)))
        if {"by", "stratify"} & dict(plan.args[1]).keys():
            return records_like(elements, lambda ds: split_of(ds, *plan.args))
        return picked(elements, ("split", plan.args), lambda ds: split_of(ds, *plan.args))

    def words(self, plan: Plan) -> str:
        fractions, options, _ = plan.args
        return ", ".join([*map(repr, fractions), *(f"{name}={value!r}" for name, value in options)])

    def code(self, plan: Plan) -> str:
        return f"{super().code(plan)}[{plan.args[2]}]"


def split_of(ds: tfreel.Dataset, fractions: Any, options: Any, part: int) -> tfreel.Dataset:
    return ds.split(*fractions, **dict(options))[part]


class Folds(Verb):
    name = "folds"
    weight = 1

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        count = rng.choice([2, 3])
        return count, rng.randrange(3), rng.randrange(count), rng.randrange(2)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        count, _, fold, side = plan.args
        need(fold < count > 1 and side < 2 and not below.redraws)
        return positions(below)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return fold_of(ds, *plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        elements = list(below_of(plan, at.in_epoch(0)))
        return picked(elements, ("folds", plan.args), lambda ds: fold_of(ds, *plan.args))

    def code(self, plan: Plan) -> str:
        count, seed, fold, side = plan.args
        return f"{plan.below[0].code()}.folds({count}, seed={seed})[{fold}][{side}]"


def fold_of(ds: tfreel.Dataset, count: int, seed: int, fold: int, side: int) -> tfreel.Dataset:
    return ds.folds(count, seed=seed)[fold][side]


class Sample(Verb):
    name = "sample"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        size = rng.choice([None, 0, 3, 9])
        if plans[0].facts.featured and rng.random() < 0.5:
            return "balance", "k", rng.randrange(3), size
        return "weights", rng.randrange(3), rng.randrange(3), size

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.positions and not below.endless)
        need((below.featured or plan.args[0] == "weights") and not below.redraws)
        need(below.shards == 0, "it may have nothing to draw from")
        return rearranged(below)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return sample_of(ds, *plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        elements = list(below_of(plan, at.in_epoch(0)))
        need(elements, "there is nothing to draw from")
        if plan.args[0] == "balance":
            return records_like(elements, lambda ds: sample_of(ds, *plan.args).epoch(at.epoch))
        return picked(
            elements, ("sample", plan.args, at.epoch), lambda ds: sample_of(ds, *plan.args).epoch(at.epoch)
        )

    def code(self, plan: Plan) -> str:
        return f"sample_of({plan.below[0].code()}, {self.words(plan)})"


def sample_of(ds: tfreel.Dataset, how: str, what: Any, seed: int, size: int | None) -> tfreel.Dataset:
    weights = what if how == "balance" else [(i * 7 + what) % 3 + (i == 0) for i in range(len(ds))]
    return ds.sample(seed=seed, size=size, **{how: weights})


# Another order ----------------------------------------------------------------------------------------------


class Shuffle(Verb):
    name = "shuffle"
    weight = 6
    passes_batch = True

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        options: dict[str, Any] = {"seed": rng.randrange(4)}
        kind = rng.random()
        if kind < 0.2:
            options["window"] = rng.choice([1, 3, 200])
            if kind < 0.08:
                options["lanes"] = rng.choice([1, 2, 4])
        return tuple(options.items())

    def facts(self, plan: Plan, below: Facts) -> Facts:
        return positions(below)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.shuffle(**dict(plan.args))

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        key = ("shuffle", plan.args, at.epoch)
        return picked(list(below_of(plan, at)), key, lambda ds: ds.shuffle(**dict(plan.args)).epoch(at.epoch))

    def words(self, plan: Plan) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in plan.args)


class ShuffleBuffer(Shuffle):
    name = "shuffle"
    weight = 3

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return ("seed", rng.randrange(4)), ("buffer", rng.choice([1, 2, 3, 5, 40]))

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.ordered)
        return replace(below, positions=False, records=False)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        (_, seed), (_, size) = plan.args
        key = mixed(at.epoch, seed)
        coming, buffer = below_of(plan, at), list[Element]()
        for number in count():
            buffer += islice(coming, size - len(buffer))
            if not buffer:
                return
            pick = drawn(number, key) % len(buffer)
            buffer[pick], buffer[-1] = buffer[-1], buffer[pick]
            yield buffer.pop()


# Again, and by ranks ----------------------------------------------------------------------------------------


class Repeat(Verb):
    name = "repeat"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        (below,) = plans
        if rng.random() < 0.15 and below.facts.positions and not below.facts.shards and below.values(limit=1):
            return (None,)
        return (rng.choice([0, 1, 2, 2, 3]),)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(not below.endless)
        endless = plan.args == (None,)
        need(not endless or (below.positions and not below.shards))
        return rearranged(replace(below, endless=endless))

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.repeat(*plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        (times,) = plan.args
        for number in count() if times is None else range(times):
            round_ = list(below_of(plan, at.in_epoch(round_epoch(at.epoch, times, number))))
            need(round_ or times is not None, "rounds without an end, and without an element")
            yield from round_


class Shard(Verb):
    name = "shard"
    weight = 2

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        world = rng.choice([1, 2, 3, 4])
        known = plans[0].facts.positions
        uneven = rng.choice(
            [None, None, None, "balance", "drop", "pad", "keep"] if known else ["drop", "pad", "keep"]
        )
        return rng.randrange(world), world, uneven

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.ordered and plan.args[0] < plan.args[1])
        need(below.positions or below.sure)
        refused = not below.positions and plan.args[2] in (None, "balance") and plan.args[1] > 1
        return rearranged(replace(below, refused=refused, shards=below.shards + 1))

    def rank(self, plan: Plan, at: At | Env) -> tuple[int, int]:
        index, world, _ = plan.args
        return (index, world) if at.rank is None or at.world is None else (at.rank, at.world)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.shard(*self.rank(plan, env), uneven=plan.args[2])

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        (index, world), uneven = self.rank(plan, at), plan.args[2]
        below = plan.below[0]
        whole = (
            Element(element.value, Place(at.path, at.epoch, i))
            for i, element in enumerate(below_of(plan, at))
        )
        if below.facts.endless:
            left = (element for element in whole if element.source not in at.gone)
            return islice(left, index, None, world)
        elements = list(whole)
        left_ = [element for element in elements if element.source not in at.gone]
        if uneven in (None, "balance") and below.facts.positions:
            step, drop = at.batch or (1, False)
            if drop:
                uneven = "drop"
            elif at.batch or uneven == "balance":
                return chain.from_iterable(balanced(left_, index, world, step))
        if uneven == "drop":
            return iter(left_[: len(left_) // world * world][index::world])
        if uneven == "pad" and left_:
            # By position from the front of all; of a stream from the front of its last turn.
            front = elements if below.facts.positions else left_[(len(left_) - 1) // world * world :]
            padded = left_ + list(islice(cycle(front), -len(left_) % world))
            return iter(padded[index::world])
        return iter(left_[index::world])

    def code(self, plan: Plan) -> str:
        index, world, uneven = plan.args
        option = "" if uneven is None else f", uneven={uneven!r}"
        return f"{plan.below[0].code()}.shard({index}, {world}{option})"


def divided_up(number: int, by: int) -> int:
    return -(number // -by)


def balanced(elements: list[Element], index: int, world: int, step: int) -> Iterator[list[Element]]:
    """What a rank has of each step, by the rule in words: only how many are left counts."""
    while elements:
        left = len(elements)
        steps = divided_up(divided_up(left, world), step)
        if steps == 1:
            size = left
        elif steps == 2 and left // world <= step:
            size = divided_up(left, 2)
        else:
            size = world * step
        now, elements = elements[:size], elements[size:]
        yield now[index::world] or [now[index % size]]


def shares(plan: Plan, at: At) -> list[int] | None:
    """How many elements each batch has, where a shard() right below decides it."""
    below, inner = plan.below[0], at.child()
    while below.verb.passes_batch:
        below, inner = below.below[0], inner.child()
    size, drop, _ = plan.args
    if not isinstance(below.verb, Shard) or below.args[2] not in (None, "balance") or drop:
        return None
    if not below.below[0].facts.positions or below.below[0].facts.endless:
        return None
    index, world = below.verb.rank(below, at)
    elements = [Element(None, Place(inner.path, at.epoch, i)) for i, _ in enumerate(below_of(below, inner))]
    left = [element for element in elements if element.source not in at.gone]
    return [len(each) for each in balanced(left, index, world, size)]


# Batches ----------------------------------------------------------------------------------------------------


class Batch(Verb):
    name = "batch"
    weight = 8

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        pad = rng.choice([None, None, 0]) if plans[0].facts.kind == "row" else None
        return rng.choice([1, 2, 3, 4, 5, 20]), rng.random() < 0.3, pad

    def facts(self, plan: Plan, below: Facts) -> Facts:
        size, drop, pad = plan.args
        need(size > 0 and below.ordered and not has_batches(below.kind))
        need(pad is None or below.kind == "row")
        return replace(below, kind=("batch", below.kind), records=below.records and not drop and pad is None)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        size, drop, pad = plan.args
        return ds.batch(size, drop_remainder=drop, pad=pad)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        size, drop, pad = plan.args
        sizes = shares(plan, at)
        elements = plan.below[0].model(replace(at.child(), batch=(size, drop)))
        for number in count():
            if sizes is not None and number == len(sizes):
                return
            some = list(islice(elements, size if sizes is None else sizes[number]))
            if not some or (drop and len(some) < size):
                return
            values = [element.value for element in some]
            value = ("batch", tuple(values if pad is None else padded(values)))
            yield Element(value, tuple(element.source for element in some))

    def words(self, plan: Plan) -> str:
        size, drop, pad = plan.args
        return f"{size}" + (", drop_remainder=True" if drop else "") + ("" if pad is None else f", pad={pad}")


def has_batches(kind: Kind) -> bool:
    return isinstance(kind, tuple) and (kind[0] == "batch" or any(map(has_batches, kind[1:])))


def padded(rows: list[Any]) -> list[Any]:
    longest = max(len(dict(row)["v"]) for row in rows)
    return [
        tuple((name, value + (0,) * (longest - len(value)) if name == "v" else value) for name, value in row)
        for row in rows
    ]


class Unbatch(Verb):
    name = "unbatch"
    weight = 4

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(isinstance(below.kind, tuple) and below.kind[0] == "batch")
        need(below.shards == 0 or not below.records, "the next batch decides what a rank has")
        return replace(
            below,
            kind=below.kind[1],
            positions=below.records,
            records=below.records,
            sure=below.sure and not below.positions,  # they may be the batches of records in a row
        )

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.unbatch()

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        for element in below_of(plan, at):
            _, values = element.value
            of_rows = element.source and not isinstance(element.source, Place)
            yield from map(Element, values, element.source if of_rows else [element.source] * len(values))


# Functions --------------------------------------------------------------------------------------------------


def shift(element: Any) -> Any:
    """The same with a number a thousand higher; of batches, of each row."""
    if isinstance(element, tuple):
        return tuple(map(shift, element))
    if isinstance(element, (bytes, list, tfreel.BytesColumn)):
        return element
    if hasattr(element, "keys"):
        return {**{name: element[name] for name in element}, "n": element["n"] + 1000}
    return element + 1000


def shifted(value: Any, kind: Kind) -> Any:
    """The same of a model."""
    if kind == "bytes":
        return value
    if kind == "int":
        return value + 1000
    if kind in ("row", "narrow"):
        return tuple((name, number + 1000 if name == "n" else number) for name, number in value)
    if kind[0] == "batch":
        return "batch", tuple(shifted(row, kind[1]) for row in value[1])
    return ("tuple", *(shifted(each, inner) for each, inner in zip(value[1:], kind[1:], strict=True)))


def fails(number: int) -> bool:
    """Whether `shift_some` fails on a record."""
    return number % 5 == 3


def shift_some(element: Any) -> Any:
    """The same as `shift`, which fails on some records, and on batches that hold one."""
    if np.any(fails(np.asarray(element["n"]))):
        raise ValueError("not this one")
    return shift(element)


class Map(Verb):
    """Workers, processes, batched, ordered."""

    name = "map"
    weight = 6
    passes_batch = True

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        workers = rng.choice([0, 0, 2])
        processes = workers > 0 and rng.random() < 0.03
        by_row = plans[0].facts.kind == ("batch", "row") and rng.random() < 0.4
        return workers, processes, not by_row, not (workers and rng.random() < 0.2)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        workers, processes, batched, ordered = plan.args
        need(below.ordered and (workers or not processes) and (workers or ordered))
        need(batched or below.kind == ("batch", "row"))
        return replace(below, records=False, ordered=ordered, positions=below.positions and ordered)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        workers, processes, batched, ordered = plan.args
        if env.flipped and ordered and not processes:
            workers = 2 - workers
        options = {"workers": workers, "processes": processes, "batched": batched, "ordered": ordered}
        return self.through(ds, options)

    def through(self, ds: tfreel.Dataset, options: dict[str, Any]) -> tfreel.Dataset:
        return ds.map(shift, **options)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        kind = plan.below[0].facts.kind
        return (element._replace(value=shifted(element.value, kind)) for element in below_of(plan, at))

    def words(self, plan: Plan) -> str:
        workers, processes, batched, ordered = plan.args
        return (
            "shift"
            + (f", workers={workers}" if workers else "")
            + (", processes=True" if processes else "")
            + ("" if batched else ", batched=False")
            + ("" if ordered else ", ordered=False")
        )


class MapSkip(Map):
    """The same, leaving out the records on which the function fails; of a batch the rows."""

    weight = 2
    passes_batch = False

    def facts(self, plan: Plan, below: Facts) -> Facts:
        kind = below.kind[1] if below.kind[0] == "batch" else below.kind
        need(kind in ("row", "narrow") and not below.endless)
        return replace(super().facts(plan, below), positions=False)

    def through(self, ds: tfreel.Dataset, options: dict[str, Any]) -> tfreel.Dataset:
        return ds.map(shift_some, on_error="skip", **options)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        kind = plan.below[0].facts.kind
        for value, source in below_of(plan, at):
            if kind[0] != "batch":
                left = [] if fails(key_in_model(value, kind)) else [Element(value, source)]
            else:
                sources = source if source and not isinstance(source, Place) else [source] * len(value[1])
                rows = [
                    Element(*row)
                    for row in zip(value[1], sources, strict=True)
                    if not fails(key_in_model(row[0], kind[1]))
                ]
                whole = "batch", tuple(row.value for row in rows)
                left = [Element(whole, tuple(row.source for row in rows))] if rows else []
            yield from (each._replace(value=shifted(each.value, kind)) for each in left)

    def words(self, plan: Plan) -> str:
        return super().words(plan).replace("shift", "shift_some", 1) + ', on_error="skip"'


class MapReplace(MapSkip):
    """The same, with others in their place. Which ones, a plan without anything above it says."""

    passes_batch = True

    def facts(self, plan: Plan, below: Facts) -> Facts:
        ordered = plan.args[3]
        need(below.shards == 0 and (below.positions or below.sure))
        facts = replace(super().facts(plan, below), positions=ordered, redraws=True)
        return facts if below.positions else replace(facts, refused=True)

    def through(self, ds: tfreel.Dataset, options: dict[str, Any]) -> tfreel.Dataset:
        return ds.map(shift_some, on_error="replace", **options)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        below = list(below_of(plan, at))
        kind = plan.below[0].facts.kind
        values = [element.value for element in below]
        rows = [row for _, rows in values for row in rows] if kind[0] == "batch" else values
        row_kind = kind[1] if kind[0] == "batch" else kind
        need(not rows or not all(fails(key_in_model(row, row_kind)) for row in rows), "nothing to draw from")
        found = ORACLE.replaced(plan, at.epoch)
        assert len(found) == len(below)
        for element, value in zip(below, found, strict=True):
            for row, other in _side_by_side(shifted(element.value, kind), value):
                number, drawn_ = (key_in_model(each, row_kind) - 1000 for each in (row, other))
                assert drawn_ == number if not fails(number) else not fails(drawn_)
            yield element._replace(value=value)

    def words(self, plan: Plan) -> str:
        return super().words(plan).replace("skip", "replace")


def _side_by_side(value: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """The rows of two batches, or two rows."""
    if value[0] == "batch":
        return zip(value[1], other[1], strict=True)
    return iter([(value, other)])


def keep_some(element: Any) -> bool:
    """Whether a filter lets it through: two of three do."""
    return key_of(element) % 3 != 1


def keep_few(element: Any) -> bool:
    """The others."""
    return key_of(element) % 3 == 1


def keep_none(element: Any) -> bool:
    return False


def key_in_model(value: Any, kind: Kind) -> int:
    """What `key_of` says of what the value stands for."""
    if kind in ("bytes", "int"):
        return key_of(value)
    if kind in ("row", "narrow"):
        return int(dict(value)["n"])
    if kind[0] == "batch":
        return sum(key_in_model(row, kind[1]) for row in value[1])
    return sum(key_in_model(each, inner) for each, inner in zip(value[1:], kind[1:], strict=True))


_KEEPERS = {"keep_some": keep_some, "keep_few": keep_few, "keep_none": keep_none}


class Filter(Verb):
    name = "filter"
    weight = 3

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return (rng.choice(["keep_some"] * 5 + ["keep_few"] * 2 + ["keep_none"]),)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(not below.endless)
        return replace(below, positions=False, records=False)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.filter(_KEEPERS[plan.args[0]])

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        kind = plan.below[0].facts.kind
        if plan.args[0] == "keep_none":
            return iter(())
        rests = (0, 2) if plan.args[0] == "keep_some" else (1,)
        return (e for e in below_of(plan, at) if key_in_model(e.value, kind) % 3 in rests)

    def words(self, plan: Plan) -> str:
        return str(plan.args[0])


# The same, otherwise ----------------------------------------------------------------------------------------


class Enumerate(Verb):
    name = "enumerate"
    passes_batch = True

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return (rng.choice([0, 5]),)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.ordered)
        return replace(below, kind=("tuple", "int", below.kind), records=False)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.enumerate(*plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        for number, element in enumerate(below_of(plan, at), plan.args[0]):
            yield element._replace(value=("tuple", number, element.value))


class Cache(Verb):
    name = "cache"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return (rng.random() < 0.15,)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(below.ordered and not below.endless)
        return replace(below, records=False, redraws=False)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.cache(env.folder) if plan.args[0] else ds.cache()

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        return below_of(plan, at.in_epoch(0))

    def words(self, plan: Plan) -> str:
        return "folder" if plan.args[0] else ""


class Prefetch(Verb):
    name = "prefetch"
    passes_batch = True

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return (rng.choice([1, 2, 5]),)

    def facts(self, plan: Plan, below: Facts) -> Facts:
        need(plan.args[0] > 0)
        return replace(below, records=False)

    def apply(self, ds: tfreel.Dataset, plan: Plan, env: Env) -> tfreel.Dataset:
        return ds.prefetch(*plan.args)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        return below_of(plan, at)


# Several ----------------------------------------------------------------------------------------------------


class Concat(Verb):
    name = "concat"
    inputs = 2
    weight = 5

    def facts(self, plan: Plan, *parts: Facts) -> Facts:  # type: ignore[override]
        first, *others = parts
        need(all(each.ordered for each in parts))
        refused = differ(parts)
        need(refused or all(each.kind == first.kind for each in others))
        return Facts(
            first.kind,
            positions=all(each.positions for each in parts),
            endless=any(each.endless for each in parts),
            shards=max(each.shards for each in parts),
            refused=refused,
            sure=all(each.sure for each in parts),
            redraws=any(each.redraws for each in parts),
        )

    def build(self, plan: Plan, env: Env) -> tfreel.Dataset:
        first, *others = (each.build(env) for each in plan.below)
        return first.concat(*others)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        for number, part in enumerate(plan.below):
            yield from part.model(at.child(number))

    def code(self, plan: Plan) -> str:
        first, *others = (each.code() for each in plan.below)
        return f"{first}.concat({', '.join(others)})"


def differ(parts: Sequence[Facts]) -> bool:
    """Whether it can be told that their elements cannot follow each other."""
    batches = {isinstance(part.kind, tuple) and part.kind[0] == "batch" for part in parts}
    kinds = {part.kind for part in parts}
    return len(batches) > 1 or (len(kinds) > 1 and all(part.records for part in parts))


class Mix(Concat):
    name = "mix"

    def draw(self, rng: Random, plans: tuple[Plan, ...]) -> Args:
        return rng.randrange(4), tuple(rng.choice([1, 1, 2, 5]) for _ in plans)

    def facts(self, plan: Plan, *parts: Facts) -> Facts:
        return replace(super().facts(plan, *parts), endless=all(each.endless for each in parts))

    def build(self, plan: Plan, env: Env) -> tfreel.Dataset:
        seed, weights = plan.args
        return tfreel.Dataset.mix([each.build(env) for each in plan.below], list(weights), seed=seed)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        seed, weights = plan.args
        parts = [part.model(at.child(number)) for number, part in enumerate(plan.below)]
        for owner in owners(weights, seed):
            element = next(parts[owner], None)
            if element is None:
                return
            yield element

    def code(self, plan: Plan) -> str:
        seed, weights = plan.args
        parts = ", ".join(each.code() for each in plan.below)
        return f"tfreel.Dataset.mix([{parts}], {list(weights)}, seed={seed})"


@lru_cache(maxsize=64)
def _first_owners(weights: tuple[int, ...], seed: int) -> list[int]:
    whose, _ = MixDeal.of([None] * len(weights), weights, seed).at(np.arange(2000, dtype=np.uint64))
    return list(map(int, whose))


def owners(weights: tuple[int, ...], seed: int) -> list[int]:
    """Whose turn it is, for longer than any test goes on."""
    return _first_owners(weights, seed)


class Zip(Verb):
    name = "zip"
    inputs = 2
    weight = 2

    def facts(self, plan: Plan, *parts: Facts) -> Facts:  # type: ignore[override]
        need(all(each.ordered for each in parts))
        return Facts(
            ("tuple", *(each.kind for each in parts)),
            positions=all(each.positions for each in parts),
            endless=all(each.endless for each in parts),
            shards=max(each.shards for each in parts),
            sure=all(each.sure for each in parts),
            redraws=any(each.redraws for each in parts),
        )

    def build(self, plan: Plan, env: Env) -> tfreel.Dataset:
        first, *others = (each.build(env) for each in plan.below)
        return first.zip(*others)

    def model(self, plan: Plan, at: At) -> Iterator[Element]:
        parts = [part.model(at.child(number)) for number, part in enumerate(plan.below)]
        for members in zip(*parts, strict=False):
            value = ("tuple", *(member.value for member in members))
            yield Element(value, tuple(member.source for member in members))

    def code(self, plan: Plan) -> str:
        first, *others = (each.code() for each in plan.below)
        return f"{first}.zip({', '.join(others)})"


# Elements as models have them -------------------------------------------------------------------------------


def plain(element: Any, kind: Kind) -> Any:
    """An element as models have it."""
    if kind == "int":
        assert int(element) == element
        return int(element)
    if kind == "bytes":
        assert isinstance(element, bytes)
        return element
    if kind in ("row", "narrow"):
        return tuple(sorted((name, value_in(element[name])) for name in element))
    if kind[0] == "tuple":
        assert isinstance(element, tuple)
        return ("tuple", *(plain(each, inner) for each, inner in zip(element, kind[1:], strict=True)))
    return "batch", tuple(rows_in(element, kind[1]))


def rows_in(batch: Any, kind: Kind) -> Iterator[Any]:
    """The rows of a batch, which are columns if they have parts."""
    if kind == "int":
        return iter(batch.tolist())
    if kind == "bytes":
        return iter([bytes(each) for each in batch])
    if isinstance(kind, tuple):
        columns = [rows_in(member, inner) for member, inner in zip(batch, kind[1:], strict=True)]
        return (("tuple", *members) for members in zip(*columns, strict=True))
    columns = [[(name, value_in(each)) for each in batch[name]] for name in sorted(batch)]
    return (tuple(members) for members in zip(*columns, strict=True))


def value_in(value: Any) -> Any:
    if isinstance(value, bytes):
        return value
    array = np.asarray(value)
    return tuple(array.tolist()) if array.ndim else array.item()


# What models ask datasets of numbers ------------------------------------------------------------------------

Rearrange: TypeAlias = Callable[[tfreel.Dataset], tfreel.Dataset]


class Oracle:
    """Datasets without anything below or above: of the numbers up to so many, and of all records."""

    sources: Sources
    numbers: tfreel.Dataset
    records: tfreel.Dataset

    def __init__(self) -> None:
        self.known: dict[Any, list[int]] = {}
        every = [number for parts in FILES.values() for part in parts for number in part]
        self.by_number = {number: place for place, number in enumerate(every)}

    def open(self, sources: Sources) -> None:
        """Writes its files."""
        folder = sources.folder
        self.sources = sources
        self.known.clear()
        self.made: dict[Any, list[Any]] = {}
        tfreel.save(folder / "numbers.tfrecord", {"n": np.arange(512)}, mode="w")
        self.numbers = tfreel.Dataset(folder / "numbers.tfrecord", threads=1)
        with tfreel.Writer(folder / "whole.tfrecord", mode="w") as out:
            out.write_many(map(written, self.by_number))
        features = {name: COLUMNS[name] for name in ("n", "k")}
        self.records = tfreel.Dataset(folder / "whole.tfrecord", features, threads=1)

    def replaced(self, plan: Plan, epoch: int) -> list[Any]:
        """What a map(on_error="replace") gives if nothing is above it, here and one by one."""
        if (plan, epoch) not in self.made:
            bare = replace(plan, args=(0, False, plan.args[2], True))
            ds = bare.build(Env(self.sources, folder=str(self.sources.folder))).epoch(epoch)
            self.made[plan, epoch] = [plain(ds[place], plan.facts.kind) for place in range(len(ds))]
        return self.made[plan, epoch]


ORACLE = Oracle()


def picked(elements: list[Element], key: Any, rearrange: Rearrange) -> Iterator[Element]:
    """The elements where `rearrange` puts as many numbers."""
    whole = len(elements), key
    if whole not in ORACLE.known:
        ORACLE.known[whole] = _asked(rearrange, ORACLE.numbers[: len(elements)])
    return (elements[place] for place in ORACLE.known[whole])


def records_like(elements: list[Element], rearrange: Rearrange) -> Iterator[Element]:
    """The elements where `rearrange` puts records like them; it may look at their features."""
    by_number = {dict(element.value)["n"]: element for element in elements}
    places_ = [ORACLE.by_number[dict(element.value)["n"]] for element in elements]
    return (by_number[number] for number in _asked(rearrange, ORACLE.records[places_]))


def _asked(rearrange: Rearrange, ds: tfreel.Dataset) -> list[int]:
    try:
        return [int(row["n"]) for row in rearrange(ds)]
    except ValueError as error:  # a part that would be empty
        raise ImpossibleError(str(error)) from error


SOURCE = Source()
SHARD = Shard()
VERBS: list[Verb] = [
    Take(), Skip(), Slice(), Choose(), Split(), Folds(), Sample(), Shuffle(), ShuffleBuffer(), Repeat(),
    SHARD, Batch(), Unbatch(), Map(), MapSkip(), MapReplace(), Filter(), Enumerate(), Cache(), Prefetch(),
    Concat(), Mix(), Zip(),
]  # fmt: skip
