"""JAX on the CPU, with several devices and several processes: whole batches, exact states, no silent cuts."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import pytest

import tfreel
from tfreel.adapters.jax import Loader, iterate

from numbered import COUNT, even, write_numbered
from side_by_side import told_by_ranks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:JAX keeps integers:tfreel.TfreelWarning"),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_numbered(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def ds(path: str) -> tfreel.Dataset:
    return tfreel.Dataset(path, columns=["n", "x"])


def numbers(batches: Any) -> list[list[int]]:
    return [batch["n"].tolist() for batch in batches]


def test_batches_are_arrays_of_jax_and_alike(ds: tfreel.Dataset) -> None:
    batches = list(iterate(ds.shuffle(seed=1).batch(10)))
    assert all(isinstance(array, jax.Array) for batch in batches for array in batch.values())
    assert {batch["x"].shape for batch in batches} == {(10, 2)}
    assert numbers(batches) == numbers(ds.shuffle(seed=1).batch(10))[:-1]
    everything = list(iterate(ds.batch(10), drop_remainder=False))
    assert [len(batch["n"]) for batch in everything] == [10] * 10 + [3]


def test_smaller_batches_are_filled_up_and_masked(ds: tfreel.Dataset) -> None:
    batches = list(iterate(ds.batch(10), pad_to=10))
    assert {batch["x"].shape for batch in batches} == {(10, 2)}
    assert batches[-1]["mask"].tolist() == [True] * 3 + [False] * 7
    assert sum(int(batch["mask"].sum()) for batch in batches) == COUNT
    assert batches[-1]["n"][batches[-1]["mask"]].tolist() == [100, 101, 102]
    with pytest.raises(ValueError, match="a batch has 10 rows, and pad_to=8"):
        next(iterate(ds.batch(10), pad_to=8))


def test_rows_without_numbers_are_real_too(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", {"name": ["a", "b", "c"]})
    (batch, others), *_ = iterate(tfreel.Dataset(tmp_path / "a").batch(4), pad_to=4, others="split")
    assert batch["mask"].tolist() == [True, True, True, False]
    assert others["name"].to_list() == [b"a", b"b", b"c"]


def test_batches_that_were_rearranged_must_be_whole_themselves(ds: tfreel.Dataset) -> None:
    with pytest.raises(TypeError, match="must be batched first"):
        iterate(ds)
    with pytest.raises(ValueError, match="drop_remainder=True"):
        iterate(ds.batch(10).shuffle(seed=1))
    whole = ds.batch(10, drop_remainder=True).shuffle(seed=1)
    assert numbers(iterate(whole, drop_remainder=False)) == numbers(whole)
    mapped = ds.batch(10).map(lambda batch: {"n": batch["n"]}).repeat(2).prefetch(2)
    assert len(numbers(iterate(mapped))) == 20


def test_columns_that_no_device_holds_are_named_dropped_or_split(path: str) -> None:
    plan = tfreel.Dataset(path).batch(10)
    with pytest.raises(TypeError, match="no device can hold 't': choose columns"):
        next(iterate(plan))
    assert sorted(next(iterate(plan, others="drop"))) == ["c", "n", "x"]
    arrays, others = next(iterate(plan, others="split"))
    assert sorted(arrays) == ["c", "n", "x"]
    assert others["t"].to_list()[1] == [b"1"] * 2
    rows = tfreel.Dataset(path).batch(10).map(tuple)
    with pytest.raises(TypeError, match="a batch of columns, not tuple"):
        next(iterate(rows))


@pytest.mark.filterwarnings("error")
def test_large_integers_are_an_error_and_small_ones_one_warning() -> None:
    tfreel.save("small.tfrecord", {"n": range(10)})
    with pytest.warns(tfreel.TfreelWarning, match="'n' has, in 32") as told:
        assert len(list(iterate(tfreel.Dataset("small.tfrecord").batch(2)))) == 5
    assert len(told) == 1
    for value in (2**31, -(2**31) - 1):
        tfreel.save("large.tfrecord", {"n": [1, value]}, mode="w")
        steps = iterate(tfreel.Dataset("large.tfrecord").batch(2))
        for _ in range(2):  # it is not left out the second time
            with pytest.raises(OverflowError, match=f"column 'n' has {value}, which is no int32"):
                next(steps)


def test_with_64_bits_nothing_is_said_or_changed() -> None:
    program = """
import jax, tfreel, warnings
warnings.simplefilter("error")
jax.config.update("jax_enable_x64", True)
from tfreel.adapters.jax import iterate
tfreel.save("large.tfrecord", {"n": [1, 2**40]})
assert next(iterate(tfreel.Dataset("large.tfrecord").batch(2)))["n"].tolist() == [1, 2**40]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("prefetch", [0, 1, 2, 20])
def test_states_are_exact_in_spite_of_what_is_made_ahead(ds: tfreel.Dataset, prefetch: int) -> None:
    for plan in (ds.shuffle(seed=1).batch(10).repeat(2), ds.shuffle(seed=1).filter(even).batch(5)):
        whole = numbers(iterate(plan, prefetch=prefetch))
        for stop in range(len(whole) + 1):
            steps = iterate(plan, prefetch=prefetch)
            assert numbers(islice(steps, stop)) == whole[:stop]
            resumed = iterate(plan, prefetch=2)
            resumed.load_state_dict(json.loads(json.dumps(steps.state_dict())))
            assert numbers(resumed) == whole[stop:]
            steps.close()
            assert numbers(steps) == whole[stop:]


LOADER_PLANS = {
    "positions": lambda ds: ds.shuffle(seed=1).batch(20),
    "no positions": lambda ds: ds.shuffle(seed=1).filter(even).batch(5),
}


@pytest.mark.parametrize("name", LOADER_PLANS)
def test_a_loader_counts_epochs_and_goes_on_from_any_state(ds: tfreel.Dataset, name: str) -> None:
    plan = LOADER_PLANS[name](ds)
    whole = [numbers(iterate(plan.epoch(epoch))) for epoch in range(3)]
    assert whole[0] != whole[1] != whole[2]
    loader = Loader(plan)
    states = []
    for epoch in range(2):
        states.append((epoch, 0, json.loads(json.dumps(loader.state_dict()))))
        for done, _ in enumerate(loader, 1):
            assert loader.epoch == epoch
            states.append((epoch, done, json.loads(json.dumps(loader.state_dict()))))
        assert loader.epoch == epoch + 1
    for epoch, done, state in states:
        later = Loader(plan)
        later.load_state_dict(state)
        steps = []
        for this in range(later.epoch, 3):
            later.set_epoch(this)
            steps += [(this, each) for each in numbers(later)]
        left = [(this, each) for this in range(epoch, 3) for each in whole[this]]
        assert steps == left[done:]


def test_a_pass_that_was_broken_off_begins_again(ds: tfreel.Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(20)
    loader = Loader(plan)
    assert len(loader) == 5
    for _ in range(2):
        next(iter(loader))
        assert (loader.epoch, loader.state_dict()["state"]) == (0, 1)
    assert numbers(loader) == numbers(iterate(plan))
    assert loader.epoch == 1
    assert numbers(islice(loader, 5)) == numbers(iterate(plan.epoch(1)))
    assert numbers(loader) == numbers(iterate(plan.epoch(2)))  # all of the one before was handed out
    loader.set_epoch(4)
    assert numbers(loader) == numbers(iterate(plan.epoch(4)))
    with pytest.raises(TypeError, match="no length"):
        len(Loader(ds.filter(even).batch(5)))


def test_errors_come_in_their_place(ds: tfreel.Dataset) -> None:
    def fail(batch: Any) -> Any:
        if 35 in batch["n"]:
            raise ZeroDivisionError
        return batch

    steps = iterate(ds.batch(10).map(fail))
    assert numbers(islice(steps, 3)) == [list(range(i, i + 10)) for i in (0, 10, 20)]
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            next(steps)


def test_an_interruption_loses_no_batch(ds: tfreel.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [batch["n"].tolist() for batch in iterate(ds.batch(4))]
    placed = 0

    def interrupted(array: Any) -> Any:
        nonlocal placed
        placed += 1
        if placed == 7:
            raise KeyboardInterrupt
        return put(array)

    put = jax.device_put
    monkeypatch.setattr(jax, "device_put", interrupted)
    steps, got = iterate(ds.batch(4)), []
    while len(got) < len(expected):
        with suppress(KeyboardInterrupt):
            got.append(next(steps)["n"].tolist())
    assert placed > 7
    assert got == expected


def test_sequences_stand_beside_their_context() -> None:
    with tfreel.Writer("sequences.tfrecord") as out:
        for i in range(4):
            out.write(tfreel.encode_sequence({"n": i}, {"f": [[0.5, 1.5]] * (i + 1)}))
    (batch,) = iterate(tfreel.Dataset("sequences.tfrecord").batch(4))
    assert batch["n"].tolist() == [0, 1, 2, 3]
    assert batch["f"].shape == (4, 4, 2)


def test_wrong_options_are_refused(ds: tfreel.Dataset) -> None:
    with pytest.raises(ValueError, match="prefetch must be 0 or more"):
        iterate(ds.batch(2), prefetch=-1)
    with pytest.raises(ValueError, match='others must be "raise"'):
        iterate(ds.batch(2), others="keep")  # type: ignore[arg-type]


DEVICES = """
import jax, numpy as np, sys, tfreel
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from tfreel.adapters.jax import iterate

assert len(jax.devices()) == 4
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
ds = tfreel.Dataset(sys.argv[1], columns=["n", "x"]).shuffle(seed=1)
batches = list(iterate(ds.batch(8), sharding=sharding))
assert len(batches) == 12
assert all(array.sharding == sharding for batch in batches for array in batch.values())
total = jax.jit(lambda batch: batch["n"].sum())
expected = [n for batch in ds.batch(8).take(12) for n in batch["n"].tolist()]
assert sum(int(total(batch)) for batch in batches) == sum(expected)
"""


def test_batches_are_spread_over_devices(path: str) -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    subprocess.run([sys.executable, "-c", DEVICES, path], check=True, env=environment)


PROCESSES = """
import json, sys
import jax, numpy as np, tfreel

path, address, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(address, world, rank)
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from tfreel.adapters.jax import iterate

sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
total = jax.jit(lambda batch: batch["n"].sum())
ds = tfreel.Dataset(path, columns=["n"]).shuffle(seed=1).batch(4)
shapes, sums, mine = set(), 0, []
for batch in iterate(ds, sharding=sharding):
    shapes.add(batch["n"].shape)
    sums += int(total(batch))
    mine += [n for shard in batch["n"].addressable_shards for n in shard.data.tolist()]
print(json.dumps([sorted(shapes), sums, mine]))
"""


def free_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_processes_share_records_and_make_global_arrays(path: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROCESSES)
    told = told_by_ranks(str(program), path, free_address(), world=2)
    assert [each[0] for each in told] == [[[8]], [[8]]]
    seen = told[0][2] + told[1][2]
    assert len(seen) == len(set(seen)) == 96  # of 51 for each, twelve batches of 4
    assert told[0][1] == told[1][1] == sum(seen)


EPOCHS = """
import json, sys, warnings
import jax, numpy as np, tfreel

path, address, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(address, world, rank)
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from tfreel.adapters.jax import Loader

sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
total = jax.jit(lambda batch: batch["n"].sum())  # of all processes: each waits for the others
ds = tfreel.Dataset(path, columns=["n"])

def mine(array):
    return [value for shard in array.addressable_shards for value in shard.data.tolist()]

def passes(loader, end):
    found = {}
    for epoch in range(loader.epoch, end):
        found[epoch] = []
        for batch in loader:
            total(batch)
            mask = mine(batch["mask"]) if "mask" in batch else [True] * len(mine(batch["n"]))
            found[epoch].append([n for n, real in zip(mine(batch["n"]), mask) if real])
    return found

def loaders():
    yield Loader(ds[:65].shuffle(seed=1).batch(16), sharding=sharding)
    yield Loader(ds[:65].shuffle(seed=1).batch(16), sharding=sharding, pad_to=16, uneven="balance")
    yield Loader(ds[:65].shuffle(seed=1).batch(16), sharding=sharding, pad_to=16)
    yield Loader(ds[: world - 1].batch(4), sharding=sharding, pad_to=4, uneven="balance")

found = []
for loader, again in zip(loaders(), loaders()):
    whole = passes(loader, 2)
    for batch in (batches := iter(again)):
        total(batch)
        break
    later = again.state_dict()
    again.set_epoch(9)
    again.load_state_dict(later)
    found.append([whole, passes(again, 1)])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    Loader(ds.filter(lambda row: row["n"] > 9).batch(4), uneven="keep")
print(json.dumps([found, [str(each.message) for each in told]]))
"""


def test_processes_make_as_many_steps_in_every_epoch(path: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(EPOCHS)
    ranks = told_by_ranks(str(program), path, free_address(), world=2)
    for _, told in ranks:
        assert [words for words in told if "hides how many batches there are" in words]
    dropped, balanced, padded, tiny = ([found[i] for found, _ in ranks] for i in range(4))
    for runs, steps in ((dropped, 2), (balanced, 3), (padded, 2), (tiny, 1)):
        for whole, rest in runs:
            assert [len(batches) for batches in whole.values()] == [steps, steps]
            assert rest == ({"0": whole["0"][1:]} if steps > 1 else {})
    for epoch in "01":
        of = {
            name: sorted(n for whole, _ in runs for batch in whole[epoch] for n in batch)
            for name, runs in {"drop": dropped, "balance": balanced, "pad": padded, "tiny": tiny}.items()
        }
        assert len(of["drop"]) == len(set(of["drop"])) == 64
        assert set(of["balance"]) == set(range(65))
        assert len(of["balance"]) <= 66
        assert len(of["pad"]) == len(set(of["pad"])) == 64  # one does not come out even
        assert of["tiny"] == [0, 0]  # the other process waits for a step of this one


def test_a_model_learns(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(512, 3)).astype("f4")
    tfreel.save(tmp_path / "l.tfrecord", {"x": x, "y": x @ np.array([1.0, -2.0, 0.5], "f4")})

    @jax.jit
    def step(weights: Any, batch: Any) -> Any:
        loss = lambda w: ((batch["x"] @ w - batch["y"]) ** 2).mean()  # noqa: E731
        return weights - 0.1 * jax.grad(loss)(weights)

    weights = jax.numpy.zeros(3)
    for batch in iterate(tfreel.Dataset(tmp_path / "l.tfrecord").shuffle(seed=1).repeat(5).batch(32)):
        weights = step(weights, batch)
    assert np.allclose(weights, [1, -2, 0.5], atol=0.01)
