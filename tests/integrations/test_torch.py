"""PyTorch's own loaders, real processes: each record once, one order, exact states, no hang."""

from __future__ import annotations

import json
import pickle

# pytest imports it where a finalizer failed, as those of PyTorch's iterators do in a forked worker;
# in the middle of another import that one breaks (Python before 3.12).
import tracemalloc  # noqa: F401
import warnings
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torch.utils.data._utils.pin_memory import pin_memory
from torchdata.stateful_dataloader import StatefulDataLoader

import tfreel
from tfreel.adapters.parcels import Parcel, WorkerOutput, for_sending
from tfreel.adapters.torch import Dataset, IterableDataset, Jagged, Loader, collate, to_torch
from tfreel.dataset.report import DatasetReport

from numbered import COUNT, even, fail_at_60
from side_by_side import told_by_ranks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning"),  # torchdata calls it
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),  # JAX, where somebody imported it
]


@pytest.fixture(scope="module")
def ds(path: str) -> tfreel.Dataset:
    return tfreel.Dataset(path, threads=1)


def numbers(batches: Any) -> list[list[int]]:
    return [batch["n"].tolist() for batch in batches]


def flat(batches: list[list[int]]) -> list[int]:
    return [n for batch in batches for n in batch]


# Values -----------------------------------------------------------------------------------------------------


def test_columns_become_tensors_without_a_copy_and_strings_stay_bytes(ds: tfreel.Dataset) -> None:
    batch = ds.batch(4)[0]
    made = to_torch(batch)
    assert made["x"].dtype == torch.float32
    assert made["x"].numpy().__array_interface__["data"] == batch["x"].__array_interface__["data"]
    assert made["n"].tolist() == [0, 1, 2, 3]
    assert made["t"] == [[b"0"], [b"1"] * 2, [b"2"] * 3, [b"3"]]


def test_small_columns_of_numbers_travel_as_one_parcel_and_arrive_as_tensors(ds: tfreel.Dataset) -> None:
    batch = {name: ds.batch(4)[0][name] for name in ("n", "x")}
    parcel = for_sending(batch)
    assert isinstance(parcel, Parcel)
    arrived = pickle.loads(pickle.dumps(parcel))
    assert {name: (value.dtype, value.tolist()) for name, value in arrived.items()} == {
        name: (value.dtype, value.tolist()) for name, value in to_torch(batch).items()
    }
    arrived["x"][0] = 7  # they may be written to
    large = {"x": np.zeros(1 << 20)}
    for other in (large, ds.batch(4)[0], ds.batch(4)[0]["x"], {}, [b"bytes"]):
        assert not isinstance(for_sending(other), Parcel)


@pytest.mark.parametrize("columns", [["n", "x"], ["n", "t"]])
def test_what_workers_send_is_what_is_made_here(path: str, columns: list[str]) -> None:
    plan = tfreel.Dataset(path, columns=columns).shuffle(seed=1).batch(7)
    here, sent = (list(DataLoader(IterableDataset(plan), batch_size=None, num_workers=n)) for n in (0, 2))
    assert repr(sent) == repr(here)


def test_values_at_positions_become_sparse_tensors() -> None:
    tfreel.save(
        "s.tfrecord", [{"i": [3, 1], "v": [0.5, 1.5], "w": ["a", "b"]}, {"i": [7], "v": [2.5], "w": ["c"]}]
    )
    sparse = tfreel.SparseFeature("i", "v", "float32", 10)
    ds = tfreel.Dataset("s.tfrecord", {"v": sparse})
    dense = ds.batch(2)[0]["v"].to_dense().tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = to_torch(ds.batch(2)[0])["v"]
    assert made.layout == torch.sparse_coo
    assert made.to_dense().tolist() == dense
    assert collate([to_torch(row) for row in ds])["v"].to_dense().tolist() == dense
    for batch in Loader(ds.batch(2), num_workers=1):
        assert batch["v"].to_dense().tolist() == dense
    texts = tfreel.Dataset("s.tfrecord", {"w": tfreel.SparseFeature("i", "w", "bytes", 10)})
    assert to_torch(texts[1])["w"] == [b""] * 7 + [b"c", b"", b""]
    wide = tfreel.Dataset("s.tfrecord", {"w": tfreel.SparseFeature("i", "w", "bytes", 10**9)})
    with pytest.raises(ValueError, match="no sparse tensors of strings"):
        to_torch(wide[0])
    narrow = tfreel.Dataset("s.tfrecord", {"v": tfreel.SparseFeature("i", "v", "float32", 5)})
    with pytest.raises(ValueError, match=r"position \[1, 7\] lies outside of the shape \[2, 5\]"):
        to_torch(narrow.batch(2)[0])


def test_rows_of_any_length_become_values_and_offsets() -> None:
    tfreel.save("r.tfrecord", [{"v": list(range(i)), "s": ["a"] * i} for i in range(1, 5)])
    features = {"v": tfreel.RaggedFeature("int64"), "s": tfreel.VarLenFeature("bytes")}
    made = to_torch(tfreel.Dataset("r.tfrecord", features).batch(3)[0])
    assert isinstance(made["v"], Jagged)
    assert [row.tolist() for row in made["v"].rows()] == [[0], [0, 1], [0, 1, 2]]
    assert made["v"].padded(-1).tolist() == [[0, -1, -1], [0, 1, -1], [0, 1, 2]]
    with pytest.raises(ValueError, match=r"rows of torch.int64 cannot be filled up with 0.5"):
        made["v"].padded(0.5)
    floats = Jagged(torch.arange(3.0), torch.tensor([0, 1, 3]))
    assert floats.padded(-torch.inf).tolist() == [[0, -torch.inf], [1, 2]]
    assert floats.padded(torch.nan).isnan().sum() == 1
    assert [row.tolist() for row in made["v"].nested().unbind()] == [[0], [0, 1], [0, 1, 2]]
    assert made["s"] == [[b"a"], [b"a"] * 2, [b"a"] * 3]
    sparse = tfreel.Dataset("r.tfrecord", {"v": tfreel.VarLenFeature("int64")}).batch(3)[0]
    assert to_torch(sparse)["v"].offsets.tolist() == [0, 1, 3, 6]
    padded = to_torch(tfreel.Dataset("r.tfrecord", features).batch(3, pad=0)[0])
    assert padded["v"].shape == (3, 3)


def test_whatever_numpy_has_becomes_a_tensor_or_stays() -> None:
    read_only = np.arange(3)
    read_only.flags.writeable = False
    objects = np.empty(2, object)
    objects[:] = [np.arange(2), np.arange(3)]
    made = to_torch(
        {
            "read only": read_only,
            "backward": np.arange(3)[::-1],
            "big-endian": np.arange(3, dtype=">i4"),
            "one": np.float32(1.5),
            "objects": objects,
            "text": np.array(["a", "b"]),
            "other": (1, "x", None, [np.int64(7)]),
        }
    )
    assert made["read only"].tolist() == made["big-endian"].tolist() == [0, 1, 2]
    assert made["backward"].tolist() == [2, 1, 0]
    assert made["one"] == torch.tensor(1.5)
    assert [each.tolist() for each in made["objects"]] == [[0, 1], [0, 1, 2]]
    assert made["text"] == ["a", "b"]
    assert made["other"] == (1, "x", None, [torch.tensor(7)])


def test_sequences_keep_their_three_parts() -> None:
    with tfreel.Writer("s.tfrecord") as out:
        for i in range(3):
            out.write(tfreel.encode_sequence({"id": i}, {"v": [[1.0]] * (i + 1)}))
    context, sequences, lengths = to_torch(tfreel.Dataset("s.tfrecord").batch(3)[0])
    assert context["id"].tolist() == [0, 1, 2]
    assert sequences["v"].shape[:2] == (3, 3)
    assert lengths["v"].tolist() == [1, 2, 3]


def test_rows_of_rows_are_lists_of_tensors() -> None:
    inner = Jagged(torch.arange(6), torch.tensor([0, 1, 3, 6]))
    rows = Jagged(inner, torch.tensor([0, 1, 3])).rows()
    assert [[step.tolist() for step in row] for row in rows] == [[[0]], [[1, 2], [3, 4, 5]]]


# By position ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 2])
def test_a_map_style_dataset_works_with_samplers_and_collates_strings(
    ds: tfreel.Dataset, workers: int
) -> None:
    loader = DataLoader(Dataset(ds), batch_size=10, shuffle=True, num_workers=workers, collate_fn=collate)
    seen = {}
    for batch in loader:
        assert batch["x"].shape[1:] == (2,)
        seen.update(zip(batch["n"].tolist(), batch["t"], strict=True))
    assert seen == {n: [str(n).encode()] * (n % 3 + 1) for n in range(COUNT)}


def test_features_of_a_fixed_shape_work_with_the_default_collate(path: str) -> None:
    plan = tfreel.Dataset(path, columns=["n", "x"])
    batches = list(DataLoader(Dataset(plan), batch_size=50))
    assert flat(numbers(batches)) == list(range(COUNT))
    assert batches[0]["x"].dtype == torch.float32


def test_collate_takes_what_transforms_make() -> None:
    rows = [{"a": torch.ones(i + 1), "b": (i, b"x"), "c": torch.ones(2, i + 1)} for i in range(2)]
    made = collate(rows)
    assert made["a"].offsets.tolist() == [0, 1, 3]
    assert made["b"][0].tolist() == [0, 1]
    assert made["b"][1] == [b"x", b"x"]
    assert [each.shape for each in made["c"]] == [(2, 1), (2, 2)]


def test_a_map_style_dataset_needs_positions_and_an_end(ds: tfreel.Dataset) -> None:
    assert len(Dataset(ds)) == COUNT
    assert Dataset(ds)[-1]["n"] == COUNT - 1
    with pytest.raises(TypeError, match=r"filter\(even\) took away"):
        Dataset(ds.filter(even))
    with pytest.raises(TypeError, match="no length"):
        Dataset(ds.repeat())


# Ranks and workers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("uneven", ["balance", "keep", "pad", "drop"])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_ranks_and_workers_share_all_records_in_one_order(
    ds: tfreel.Dataset, world: int, uneven: Any
) -> None:
    seen: Counter[int] = Counter()
    lengths = set()
    for rank in range(world):
        dataset = IterableDataset(ds.shuffle(seed=1).batch(4), rank=rank, world=world, uneven=uneven)
        runs = []
        for workers in (0, 1, 2, 3):
            dataset.set_epoch(0)
            runs.append(numbers(DataLoader(dataset, batch_size=None, num_workers=workers)))
        assert all(run == runs[0] for run in runs)
        assert len(dataset) == len(runs[0])
        lengths.add(len(flat(runs[0])))
        seen.update(flat(runs[0]))
    missing, extra = COUNT - len(seen), seen.total() - len(seen)
    assert missing < (world if uneven == "drop" else 1)
    assert extra < (world if uneven == "pad" else 2 * world if uneven == "balance" else 1)
    if uneven in ("pad", "drop"):
        assert len(lengths) == 1


@pytest.mark.parametrize("world", [1, 2])
@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_filtered_records_come_once_whatever_shares_them(
    ds: tfreel.Dataset, world: int, workers: int
) -> None:
    seen = []
    for rank in range(world):
        plan = ds.shuffle(seed=1).filter(even).batch(4)
        dataset = IterableDataset(plan, rank=rank, world=world, uneven="keep")
        seen += flat(numbers(DataLoader(dataset, batch_size=None, num_workers=workers)))
        with pytest.raises(TypeError, match=r"no length, because of filter\(even\)"):
            len(dataset)
    assert sorted(seen) == list(range(0, COUNT, 2))


def test_ranks_come_from_the_environment(ds: tfreel.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ds.batch(4)
    assert flat(numbers(IterableDataset(plan))) == list(range(COUNT))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    dataset = IterableDataset(plan)
    assert flat(numbers(dataset)) == list(range(1, COUNT, 2))
    travelled = pickle.dumps(dataset)
    monkeypatch.delenv("RANK")
    monkeypatch.delenv("WORLD_SIZE")
    assert flat(numbers(pickle.loads(travelled))) == list(range(1, COUNT, 2))
    assert "shard 1 of 2" in repr(pickle.loads(travelled))


def test_a_loader_asks_for_its_rank_when_it_begins(
    ds: tfreel.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = Loader(ds.shuffle(seed=1).batch(4))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    steps = iter(ds.shuffle(seed=1).shard(1, 2).batch(4))
    assert numbers(islice(loader, 3)) == numbers(islice(steps, 3))
    assert loader.state_dict() == steps.state_dict()


def test_what_the_user_shared_out_is_not_shared_out_again(
    ds: tfreel.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = ds.shard(0, 2).batch(4)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert flat(numbers(IterableDataset(mine))) == list(range(0, COUNT, 2))
    assert flat(numbers(IterableDataset(mine, rank=0, world=1))) == list(range(0, COUNT, 2))
    with pytest.raises(ValueError, match=r"shared out with shard\(\): give no rank"):
        IterableDataset(mine, rank=0, world=2)


@pytest.mark.parametrize(
    ("rank", "world", "words"),
    [
        ("5", "2", "RANK is '5' and WORLD_SIZE is '2'"),
        ("2", "2", "RANK is '2' and WORLD_SIZE is '2'"),
        ("-1", "2", "RANK is '-1' and WORLD_SIZE is '2'"),
        ("one", "2", "RANK is 'one' and WORLD_SIZE is '2'"),
        ("0", "", "RANK is '0' and WORLD_SIZE is ''"),
        ("0", "0", "RANK is '0' and WORLD_SIZE is '0'"),
        ("0", None, "RANK is '0' and WORLD_SIZE is not set"),
        (None, "2", "RANK is not set and WORLD_SIZE is '2'"),
    ],
)
def test_wrong_ranks_in_the_environment_are_named(
    ds: tfreel.Dataset, monkeypatch: pytest.MonkeyPatch, rank: str | None, world: str | None, words: str
) -> None:
    for name, value in (("RANK", rank), ("WORLD_SIZE", world)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    for adapter in (IterableDataset, Loader):
        with pytest.raises(ValueError, match=f"in the environment {words}: .* set both, or neither"):
            adapter(ds.batch(4))
        adapter(ds.batch(4), rank=0, world=2)  # which is not looked up then


def test_wrong_ranks_are_refused_at_once(ds: tfreel.Dataset) -> None:
    with pytest.raises(ValueError, match="both rank and world"):
        IterableDataset(ds, rank=1)
    with pytest.raises(ValueError, match="from 0 to 1, not 2"):
        IterableDataset(ds, rank=2, world=2)
    with pytest.raises(ValueError, match='uneven must be "balance", "pad", "drop" or "keep"'):
        IterableDataset(ds, uneven="wrap")  # type: ignore[arg-type]


DISTRIBUTED = """
import json, sys
import torch
import tfreel
from tfreel.adapters.parcels import Parcel, for_sending
from tfreel.adapters.torch import IterableDataset

if __name__ == "__main__":
    path, store, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    dataset = IterableDataset(tfreel.Dataset(path).shuffle(seed=1).batch(4))
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=None, num_workers=1, multiprocessing_context="spawn"
    )
    print(json.dumps([n for batch in loader for n in batch["n"].tolist()]))
    torch.distributed.destroy_process_group()
"""


def test_ranks_come_from_a_process_group_even_if_it_begins_later(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    program = tmp_path / "program.py"
    program.write_text(DISTRIBUTED)
    seen = told_by_ranks(str(program), path, tmp_path / "store", world=2)
    assert seen[0]
    assert sorted(seen[0] + seen[1]) == list(range(COUNT))


# Epochs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("persistent", [False, True])
def test_epochs_have_orders_of_their_own_also_for_workers_that_live_on(
    ds: tfreel.Dataset, *, persistent: bool
) -> None:
    plan = ds.shuffle(seed=1).batch(8)
    dataset = IterableDataset(plan)
    loader = DataLoader(dataset, batch_size=None, num_workers=2, persistent_workers=persistent)
    ours = Loader(plan, num_workers=2, persistent_workers=persistent)
    for epoch in (0, 1, 3):
        dataset.set_epoch(epoch)
        ours.set_epoch(epoch)
        expected = numbers(plan.epoch(epoch))
        assert numbers(loader) == expected
        assert numbers(ours) == expected
    assert numbers(plan.epoch(0)) != numbers(plan.epoch(1))


EPOCH_PLANS = {
    "positions": lambda ds: ds.shuffle(seed=1).batch(20),
    "no positions": lambda ds: ds.shuffle(seed=1).filter(even).batch(10),
    "a buffer": lambda ds: ds[:60].shuffle(seed=1, buffer=20).batch(20),
}


@pytest.mark.parametrize("name", EPOCH_PLANS)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_counts_epochs(ds: tfreel.Dataset, name: str, workers: int) -> None:
    plan = EPOCH_PLANS[name](ds)
    loader = Loader(plan, num_workers=workers)
    here = Loader(plan)
    for epoch in range(3):
        state = kept(loader)  # between epochs there are some, workers or not
        assert (loader.epoch, state["epoch"], state["state"]) == (epoch, epoch, None)
        expected = numbers(plan.epoch(epoch)) if workers == 0 else numbers(fed(plan, epoch, workers))
        seen = []
        for batch in loader:
            assert loader.epoch == epoch
            seen += numbers([batch])
        assert seen == expected
        assert sorted(flat(seen)) == sorted(flat(numbers(here)))
    loader.set_epoch(0)
    assert loader.epoch == 0


def fed(plan: tfreel.Dataset, epoch: int, workers: int) -> Any:
    """What PyTorch's own loader gives of an epoch, with workers who share records that have no positions."""
    dataset = IterableDataset(plan)
    dataset.set_epoch(epoch)
    return DataLoader(dataset, batch_size=None, num_workers=workers)


@pytest.mark.parametrize("name", EPOCH_PLANS)
def test_a_state_behind_the_last_batch_goes_on_with_the_next_epoch(ds: tfreel.Dataset, name: str) -> None:
    plan = EPOCH_PLANS[name](ds)
    whole = [numbers(plan.epoch(epoch)) for epoch in range(3)]
    first = Loader(plan)
    states = []
    for batch in first:
        states.append(kept(first))
        assert numbers([batch])[0] == whole[0][len(states) - 1]
    states.append(kept(first))
    for done, state in enumerate(states, 1):
        later = Loader(plan)
        later.load_state_dict(state)
        steps = [
            (epoch, step)
            for epoch in range(later.epoch, 3)  # the loop of a job that is begun again
            for step in (later.set_epoch(epoch), *numbers(later))
            if step
        ]
        left = [(epoch, step) for epoch in range(3) for step in whole[epoch]][min(done, len(whole[0])) :]
        assert steps == left
        assert later.epoch == 3


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_a_pass_that_was_broken_off_begins_again_and_others_are_not_counted(
    ds: tfreel.Dataset, workers: int, *, persistent: bool
) -> None:
    plan = ds.shuffle(seed=1).batch(20)
    loader = Loader(plan, num_workers=workers, persistent_workers=persistent)
    list(loader)
    for _ in range(2):
        for batch in loader:
            assert numbers([batch]) == numbers(plan.epoch(1))[:1]
            break
        assert loader.epoch == 1
        assert kept(loader)["state"] == 1
    loader.set_epoch(1)
    assert kept(loader)["state"] == 1  # it is the one it is in
    assert numbers(loader) == numbers(plan.epoch(1))
    old = iter(loader)
    next(old)
    loader.set_epoch(7)
    assert numbers(old) == numbers(plan.epoch(2))[1:]
    assert (loader.epoch, kept(loader)["state"]) == (7, None)
    next(iter(loader))
    later = Loader(plan, num_workers=workers, persistent_workers=persistent)
    for _ in range(2):  # each time anew
        later.load_state_dict(kept(loader))
        assert numbers(islice(later, 1)) == numbers(plan.epoch(7))[1:2]
    assert numbers(later) == numbers(plan.epoch(7))  # from its beginning: the state was gone on from
    assert numbers(later) == numbers(plan.epoch(8))
    for wrong, error in ((-1, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="number must be"):
            loader.set_epoch(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_pass_is_complete_when_the_last_batch_was_handed_out(ds: tfreel.Dataset, workers: int) -> None:
    plan = ds.shuffle(seed=1).batch(20)
    loader = Loader(plan, num_workers=workers)
    for epoch in range(3):  # nobody asks for a batch behind the last one
        assert numbers(islice(loader, len(loader))) == numbers(plan.epoch(epoch))
        assert (loader.epoch, kept(loader)["epoch"]) == (epoch, epoch + 1)
    loader.set_epoch(2)
    assert numbers(loader) == numbers(plan.epoch(2))
    loader.set_epoch(np.int64(1))
    assert kept(loader)["epoch"] == 1


def test_a_state_that_was_loaded_before_the_ranks_were_known_is_shared_out(
    ds: tfreel.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ds[:96].shuffle(seed=1).batch(8)
    alone = Loader(plan)
    seen = flat(numbers(islice(alone, 3)))
    loaders = [Loader(plan) for _ in range(2)]
    for rank, loader in enumerate(loaders):
        loader.load_state_dict(kept(alone))
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        seen += flat(numbers(loader))
    assert sorted(seen) == list(range(96))


def test_some_rank_that_has_no_more_does_not_end_the_epoch_of_others(ds: tfreel.Dataset) -> None:
    plan = ds[:5].batch(1)
    short, long = (Loader(plan, rank=rank, world=2, uneven="keep") for rank in (1, 0))
    assert len(list(islice(short, 2))) == 2
    for loader, epoch, left in ((long, 0, [[4]]), (short, 1, [[1], [3]])):
        loader.load_state_dict(kept(short))
        assert loader.epoch == epoch
        assert numbers(loader) == left
    list(islice(long, 3))
    short.load_state_dict(kept(long))
    assert numbers(short) == [[1], [3]]


SAME_ORDER = "epoch 0 was gone through, and begins once more in the same order"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_second_pass_in_the_same_order_is_told_once(ds: tfreel.Dataset, workers: int) -> None:
    def passes(plan: tfreel.Dataset, count: int = 3, **options: Any) -> None:
        dataset = IterableDataset(plan)
        loader = DataLoader(dataset, batch_size=None, num_workers=workers, **options)
        for epoch in range(count):
            if options:
                dataset.set_epoch(epoch)
            list(loader)

    shuffled = ds.shuffle(seed=1).batch(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(tfreel.TfreelWarning, match=SAME_ORDER):
            passes(shuffled)
        passes(ds.batch(40))
        passes(shuffled.cache("kept"))
        passes(shuffled, pin_memory=False)
        broken_off = IterableDataset(ds.shuffle(seed=1).batch(4))
        for _ in range(3):
            next(iter(DataLoader(broken_off, batch_size=None, num_workers=workers)))
    if workers == 0:
        with pytest.warns(tfreel.TfreelWarning, match=SAME_ORDER) as told:
            passes(shuffled, 4)
        assert len(told) == 1


# States -----------------------------------------------------------------------------------------------------


def kept(loader: Any) -> Any:
    return json.loads(json.dumps(loader.state_dict()))


@pytest.mark.filterwarnings("ignore:epoch 0 was gone through")
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", [0, 1, 5, 13])
def test_torchdata_resumes_exactly(ds: tfreel.Dataset, workers: int, stop: int) -> None:
    for plan in (ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).filter(even).batch(8)):

        def loader(plan: tfreel.Dataset = plan) -> Any:
            return StatefulDataLoader(IterableDataset(plan), batch_size=None, num_workers=workers)

        first = loader()
        run = iter(first)
        before = numbers(islice(run, stop))
        state = kept(first)
        over = len(before) < stop  # then it begins anew
        rest = before if over else numbers(run)
        second = loader()
        second.load_state_dict(state)
        assert numbers(second) == rest


@pytest.mark.parametrize(("before", "after"), [(2, 3)])  # torchdata takes its time to give up
def test_another_number_of_workers_is_an_error_with_words_in_torchdata(
    ds: tfreel.Dataset, before: int, after: int
) -> None:
    plan = ds.shuffle(seed=1).batch(8)
    first = StatefulDataLoader(IterableDataset(plan), batch_size=None, num_workers=before)
    next(iter(first))
    second = StatefulDataLoader(IterableDataset(plan), batch_size=None, num_workers=after)
    second.load_state_dict(kept(first))
    with pytest.raises(
        tfreel.StateError, match=f"saved with num_workers={before}, and there are {after} now"
    ):
        list(second)


PLANS = {
    "batches": lambda ds: ds.shuffle(seed=1).batch(5),
    "epochs": lambda ds: ds[:33].shuffle(seed=1).repeat(3).batch(5),
    "epochs of batches": lambda ds: ds[:33].shuffle(seed=1).batch(5).repeat(3),
    "mapped": lambda ds: ds.shuffle(seed=1).map(dict).batch(5).prefetch(2),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0), (2, 3), (3, 2)])
def test_our_loader_resumes_with_any_number_of_workers(
    ds: tfreel.Dataset, name: str, before: int, after: int
) -> None:
    plan = PLANS[name](ds)
    whole, following = numbers(plan), numbers(plan.epoch(1))
    for stop in (0, 1, 4):
        first = Loader(plan, num_workers=before)
        assert numbers(islice(first, stop)) == whole[:stop]
        state = kept(first)
        second = Loader(plan, num_workers=after)
        second.load_state_dict(state)
        assert kept(second) == state
        run = iter(second)
        assert numbers(islice(run, 2)) == whole[stop : stop + 2]
        third = Loader(plan, num_workers=before)
        third.load_state_dict(kept(second))
        assert numbers(third) == numbers(run) == whole[stop + 2 :]
        assert numbers(second) == following  # which is from its beginning


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 3), (3, 2)])
def test_our_loader_resumes_with_any_number_of_ranks(ds: tfreel.Dataset, before: int, after: int) -> None:
    plan = ds[:96].shuffle(seed=1).batch(4)
    for stop in (0, 1, 3):
        loaders = [Loader(plan, num_workers=rank, rank=rank, world=before) for rank in range(before)]
        seen = [n for loader in loaders for n in flat(numbers(islice(loader, stop)))]
        states = [kept(loader) for loader in loaders]
        assert all(state["state"] == states[0]["state"] for state in states)
        for rank in range(after):
            loader = Loader(plan, num_workers=2 - rank, rank=rank, world=after)
            loader.load_state_dict(states[0])
            seen += flat(numbers(loader))
        assert sorted(seen) == list(range(96))


def test_the_state_of_the_loader_is_that_of_the_dataset(ds: tfreel.Dataset) -> None:
    loader = Loader(ds.shuffle(seed=1).batch(8), num_workers=2, rank=0, world=2)
    list(islice(loader, 3))
    steps = iter(ds.shuffle(seed=1).shard(0, 2).batch(8))
    list(islice(steps, 3))
    assert loader.state_dict() == steps.state_dict()


def test_the_epoch_is_in_the_state(ds: tfreel.Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(8)
    first = Loader(plan)
    first.set_epoch(2)
    list(islice(first, 3))
    second = Loader(plan, num_workers=2)
    second.load_state_dict(kept(first))
    assert second.epoch == 2
    second.set_epoch(2)  # as a loop over epochs does: it stays where it is
    assert numbers(second) == numbers(plan.epoch(2))[3:]
    second.set_epoch(3)
    assert numbers(second) == numbers(plan.epoch(3))


def test_states_without_positions_need_no_workers(ds: tfreel.Dataset) -> None:
    plan = ds.shuffle(seed=1).filter(even).batch(8)
    whole = numbers(plan)
    first = Loader(plan)
    assert numbers(islice(first, 3)) == whole[:3]
    second = Loader(plan)
    second.load_state_dict(kept(first))
    assert numbers(second) == whole[3:]
    with pytest.raises(TypeError, match=r"filter\(even\) took away; use num_workers=0"):
        Loader(plan, num_workers=1).load_state_dict(kept(first))
    workers = Loader(plan, num_workers=1)
    next(iter(workers))
    with pytest.raises(TypeError, match=r"filter\(even\) took away; use num_workers=0"):
        workers.state_dict()
    workers.set_epoch(1)
    second.load_state_dict(kept(workers))  # between epochs there is nothing that only a worker knows
    assert numbers(second) == numbers(plan.epoch(1))


def test_states_of_other_plans_are_refused(ds: tfreel.Dataset) -> None:
    state = Loader(ds.shuffle(seed=1).batch(8)).state_dict()
    with pytest.raises(tfreel.StateError, match="shuffled with seed 1"):
        Loader(ds.shuffle(seed=2).batch(8)).load_state_dict(state)


def test_what_the_dataset_decides_is_not_for_the_loader(ds: tfreel.Dataset) -> None:
    with pytest.raises(TypeError, match="batch_size is decided by the dataset"):
        Loader(ds, batch_size=4)
    assert len(Loader(ds.batch(10))) == 11


# Training together ------------------------------------------------------------------------------------------

TRAINING = """
import json, sys, warnings
import torch
import tfreel
from tfreel.adapters.torch import Loader

def even(row):
    return bool(row["n"] % 2 == 0)

def train(model, loader, stop):
    '''Goes on to the end of the third epoch, or so many steps into the second one: what came in each.'''
    optimizer = torch.optim.SGD(model.parameters(), 1e-6)
    epochs = {}
    for epoch in range(loader.epoch, 3):
        loader.set_epoch(epoch)
        epochs[epoch] = []
        for step, batch in enumerate(loader, 1):
            epochs[epoch].append(batch["n"].tolist())
            optimizer.zero_grad()
            model(batch["n"].float()[:, None]).square().mean().backward()  # which waits for the other ranks
            optimizer.step()
            if (epoch, step) == (1, stop):
                return epochs, loader.state_dict()
    return epochs, loader.state_dict()

if __name__ == "__main__":
    path, cases, store, rank, world = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    found = []
    for case in json.loads(cases):
        ds = tfreel.Dataset(path, threads=1)[: case["count"]].shuffle(seed=1)
        plan = ds.batch(case["batch"], drop_remainder=case.get("drop", False))
        loader = Loader(plan, num_workers=case.get("workers", 0))
        if "state" in case:
            loader.load_state_dict(case["state"])
        torch.manual_seed(0)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
        epochs, state = train(model, loader, case.get("stop"))
        found.append([epochs, state, [p.item() for p in model.parameters()]])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in Loader(ds.filter(even).batch(4), uneven="keep"):
            pass
    print(json.dumps([found, [str(each.message) for each in told if each.category is tfreel.TfreelWarning]]))
    torch.distributed.destroy_process_group()
"""


def trained(tmp_path: Path, path: str, cases: list[dict[str, Any]], world: int) -> list[list[Any]]:
    """What each rank had in each case: its batches by epoch, its state, its weights."""
    program = tmp_path / "training.py"
    program.write_text(TRAINING)
    store = tmp_path / f"store-{len(list(tmp_path.iterdir()))}"
    ranks = told_by_ranks(str(program), path, json.dumps(cases), store, world=world, seconds=90)
    for _, told in ranks:
        assert len(told) == 1
        assert "filter(even) hides how many batches there are" in told[0]
        assert "wait for the others for ever" in told[0]
    for case in range(len(cases)):
        assert len({str(found[case][2]) for found, _ in ranks}) == 1  # the model stayed one
    return [found for found, _ in ranks]


def steps_in(epochs: dict[str, list[list[int]]]) -> dict[str, int]:
    return {epoch: len(batches) for epoch, batches in epochs.items()}


@pytest.mark.parametrize("world", [2, 3])
def test_ranks_that_wait_for_each_other_make_as_many_steps(path: str, tmp_path: Path, world: int) -> None:
    cases: list[dict[str, Any]] = [
        {"count": 65, "batch": 32},
        {"count": 65, "batch": 32, "workers": 2},
        {"count": 65, "batch": 5},
        {"count": world - 1, "batch": 2},
        {"count": 103, "batch": 16, "drop": True},
        {"count": 103, "batch": 16, "drop": True, "workers": 2},
    ]
    ranks = trained(tmp_path, path, cases, world)
    for number, case in enumerate(cases):
        runs = [rank[number][0] for rank in ranks]
        assert all(steps_in(run) == steps_in(runs[0]) for run in runs)
        for epoch in "012":
            seen = Counter(n for run in runs for n in flat(run[epoch]))
            if "drop" in case:
                assert steps_in(runs[0])[epoch] == case["count"] // world // case["batch"]
                assert {len(batch) for run in runs for batch in run[epoch]} == {case["batch"]}
                assert set(seen.values()) == {1}
            else:
                assert sorted(seen) == list(range(case["count"]))
                assert seen.total() - len(seen) < 2 * world
        assert case["count"] < world or runs[0]["0"] != runs[0]["1"]
    if world == 2:
        assert [[len(batch) for batch in rank[0][0]["0"]] for rank in ranks] == [[17, 16], [16, 16]]
        assert ranks[0][0][0] == ranks[0][1][0]  # workers change nothing


@pytest.mark.parametrize(("before", "after"), [(2, 2), (2, 3), (3, 2)])
def test_ranks_that_wait_for_each_other_go_on_in_the_middle_of_an_epoch(
    path: str, tmp_path: Path, before: int, after: int
) -> None:
    cases = [{"count": 65, "batch": 7, "stop": 3, "workers": workers} for workers in (0, 2)]
    first = trained(tmp_path, path, cases, before)
    again = [
        {"count": 65, "batch": 7, "workers": 2 - case["workers"], "state": first[before - 1][number][1]}
        for number, case in enumerate(cases)
    ]
    second = trained(tmp_path, path, again, after)
    for number in range(len(cases)):
        earlier, later = ([rank[number][0] for rank in ranks] for ranks in (first, second))
        assert all(list(run) == ["1", "2"] and steps_in(run) == steps_in(later[0]) for run in later)
        for epoch, runs in (("1", earlier + later), ("2", later)):
            seen = Counter(n for run in runs for n in flat(run[epoch]))
            assert sorted(seen) == list(range(65))
            assert seen.total() - len(seen) < 2 * after


# Processes --------------------------------------------------------------------------------------------------


@pytest.mark.timeout(60)
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_read_after_the_parent_did_however_they_begin(ds: tfreel.Dataset, method: str) -> None:
    plan = ds.shuffle(seed=1).batch(8).map(dict, workers=2).prefetch(2)
    parent = iter(plan)
    before = numbers(islice(parent, 2))  # its threads are alive while the workers begin
    loader = Loader(plan, num_workers=2, multiprocessing_context=method, timeout=20)
    assert numbers(loader) == before + numbers(parent)
    map_style = DataLoader(
        Dataset(ds),
        batch_size=50,
        num_workers=2,
        collate_fn=collate,
        multiprocessing_context=method,
        timeout=20,
    )
    assert flat(numbers(map_style)) == list(range(COUNT))


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_worker_names_the_record(ds: tfreel.Dataset, path: str, workers: int) -> None:
    for plan in (ds.batch(1).map(fail_at_60), ds.map(fail_at_60).batch(4)):
        with pytest.raises(ZeroDivisionError) as caught:
            list(Loader(plan, num_workers=workers))
        told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        assert "record 19 of" in told
        assert "c.tfrecord" in told
    wrong = tfreel.Dataset(path, {"m": tfreel.FixedLenFeature([], "int64")}).batch(8)
    with pytest.raises(tfreel.MissingFeatureError, match=r"record 0 of .*a.tfrecord; it has"):
        list(Loader(wrong, num_workers=workers))


def test_a_damaged_record_is_named_by_a_worker(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "d.tfrecord", {"n": range(20)})
    content = bytearray((tmp_path / "d.tfrecord").read_bytes())
    content[-10] ^= 1
    (tmp_path / "d.tfrecord").write_bytes(content)
    plan = tfreel.Dataset(
        tmp_path / "d.tfrecord", {"n": tfreel.FixedLenFeature([], "int64")}, stream=True
    ).batch(4)
    with pytest.raises(tfreel.CorruptError, match=r"d.tfrecord: record 19"):
        list(Loader(plan, num_workers=2))


def fail_on_some(element: Any) -> Any:
    """Fails on rows, and on batches that hold such rows."""
    if (wrong := np.intersect1d(element["n"], [0, 7, 8, 60, 102])).size:
        raise ValueError(f"not {wrong}")
    return element


REPORTED: dict[str, Any] = {
    "rows": lambda ds: ds.shuffle(seed=1).map(fail_on_some, on_error="replace").batch(7),
    "batches": lambda ds: ds.shuffle(seed=1).batch(7).map(fail_on_some, on_error="replace"),
    "whole batches": lambda ds: ds.map(fail_on_some, on_error="replace").batch(10, drop_remainder=True),
    "repeated": lambda ds: ds[:20].map(fail_on_some, on_error="replace").batch(6).repeat(2),
    "skipped rows": lambda ds: ds.batch(7).map(fail_on_some, on_error="skip"),
    "nothing left at the end": lambda ds: ds.batch(1).map(fail_on_some, on_error="skip"),
    "skipped, limited": lambda ds: ds.map(fail_on_some, on_error="skip").take(100).batch(7),
}


def told(report: Any) -> Any:
    examples = Counter((each.stage, str(each.error), each.path, each.record) for each in report.examples)
    return report.skipped, report.replaced, report.repeated, examples, report.faults


@pytest.mark.parametrize("name", REPORTED)
def test_a_loader_reports_what_its_workers_did(ds: tfreel.Dataset, name: str) -> None:
    plan = REPORTED[name](ds)
    for workers in (0, 1, 2, 3):
        loader = Loader(plan, num_workers=workers, uneven="keep")
        for epoch in range(2):  # each pass has a report of its own
            steps = iter(plan.epoch(epoch))
            batches = numbers(steps)
            assert steps.report.skipped + steps.report.replaced >= 4
            found = list(loader)
            assert told(loader.report) == told(steps.report)
            if plan._node.unindexable_reason is None:
                assert numbers(found) == batches
            else:
                assert sorted(flat(numbers(found))) == sorted(flat(batches))
            assert all(batch is not None for batch in found)


@pytest.mark.parametrize("name", ["rows", "batches", "whole batches", "repeated"])
def test_replacements_are_the_same_after_a_state_whoever_makes_them(ds: tfreel.Dataset, name: str) -> None:
    plan = REPORTED[name](ds)
    for before, after in ((0, 2), (2, 0), (2, 3)):
        loader = Loader(plan, num_workers=before, uneven="keep")
        run = iter(loader)
        first = numbers(islice(run, 3))
        state = loader.state_dict()
        del run
        other = Loader(plan, num_workers=after, uneven="keep")
        other.load_state_dict(state)
        assert first + numbers(other) == numbers(plan)


def test_a_report_grows_with_the_batches(ds: tfreel.Dataset) -> None:
    loader = Loader(ds.batch(10).map(fail_on_some, on_error="replace"), num_workers=2)
    run = iter(loader)
    next(run)
    assert loader.report.replaced == 3
    for _ in range(6):
        next(run)
    assert loader.report.replaced == 4
    again = pickle.loads(pickle.dumps(loader))
    assert told(again.report) == told(loader.report)


def test_what_comes_once_more_is_reported_with_workers_too(ds: tfreel.Dataset) -> None:
    for workers in (0, 2):
        found = []
        for rank in range(2):
            loader = Loader(
                ds.map(fail_on_some, on_error="replace").batch(10),
                num_workers=workers, rank=rank, world=2, uneven="pad",
            )  # fmt: skip
            list(loader)
            found.append((loader.report.replaced, loader.report.repeated))
        assert [repeated for _, repeated in found] == [0, 1]
        assert sum(replaced for replaced, _ in found) == 6  # 0 comes twice


def test_damage_that_was_passed_over_is_reported_once(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"n": range(40)})
    content = bytearray((tmp_path / "a.tfrecord").read_bytes())
    content[30] ^= 255
    (tmp_path / "a.tfrecord").write_bytes(content)
    features = {"n": tfreel.FixedLenFeature([], "int64")}
    for stream in (False, True):
        ds = tfreel.Dataset(tmp_path / "a.tfrecord", features, on_corrupt="skip", stream=stream)
        for workers in (0, 3):
            loader = Loader(ds.batch(4), num_workers=workers, uneven="keep")
            assert sum(len(batch["n"]) for batch in loader) == 39
            assert [fault.kind for fault in loader.report.faults] == ["length_crc"]


def sorted_columns(batch: Any) -> list[str]:
    return sorted(batch)


def test_a_function_of_the_user_sees_batches(ds: tfreel.Dataset) -> None:
    for workers in (0, 1):
        loader = Loader(ds.batch(50), num_workers=workers, collate_fn=sorted_columns)
        assert list(loader) == [["c", "n", "t", "x"]] * 3


def test_what_is_handed_over_can_be_pinned() -> None:
    given = WorkerOutput(({"n": "a"},), DatasetReport(skipped=1))
    assert pin_memory(given) == given
    assert type(pin_memory(given)) is WorkerOutput


def test_other_loaders_get_nothing_but_batches(ds: tfreel.Dataset) -> None:
    plan = ds.batch(1).map(fail_on_some, on_error="skip")
    for workers in (0, 2):
        loader = DataLoader(IterableDataset(plan), batch_size=None, num_workers=workers)
        assert len(numbers(loader)) == COUNT - 5


REPORTING = """
import json, sys
import torch
import tfreel
from tfreel.adapters.torch import Loader

def no_sevens(batch):
    if 7 in batch["n"] or 60 in batch["n"]:
        raise ValueError("no")
    return batch

if __name__ == "__main__":
    path, store, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    plan = tfreel.Dataset(path, threads=1).batch(7).map(no_sevens, on_error="replace")
    loader = Loader(plan, num_workers=rank, rank=rank, world=world)  # one has a worker, the other none
    list(loader)
    alone = loader.report.gather()  # before there are ranks
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    whole = loader.report.gather()
    torch.distributed.destroy_process_group()
    records = sorted(each.record for each in whole.examples)
    print(json.dumps([alone.replaced, loader.report.replaced, whole.replaced, records]))
"""


def test_one_report_of_all_ranks(path: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(REPORTING)
    found = told_by_ranks(str(program), path, tmp_path / "store", world=2)
    assert sum(replaced for replaced, *_ in found) == 2
    assert [[replaced, 2, [7, 19]] for replaced, *_ in found] == [rest for _, *rest in found]


def test_adapters_pickle(ds: tfreel.Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(8)
    for adapter in (Dataset(plan), IterableDataset(plan, rank=0, world=2), Loader(plan, rank=0, world=2)):
        for epoch in range(2):
            if isinstance(adapter, IterableDataset):
                adapter.set_epoch(epoch)
            again = pickle.loads(pickle.dumps(adapter))
            assert len(again) == len(adapter)
            assert numbers(again) == numbers(adapter)
    loader = Loader(plan, rank=0, world=2)
    next(iter(loader))
    assert numbers(pickle.loads(pickle.dumps(loader))) == numbers(loader)  # both from the beginning


def test_streams_are_shared_out_too(path: str) -> None:
    stream = tfreel.Dataset(path, stream=True).batch(5)
    seen = []
    for rank in range(2):
        dataset = IterableDataset(stream, rank=rank, world=2, uneven="keep")
        seen += flat(numbers(DataLoader(dataset, batch_size=None, num_workers=2)))
    assert sorted(seen) == list(range(COUNT))


@pytest.mark.parametrize("workers", [0, 2])
def test_what_is_shared_out_behind_a_filter_gives_all_ranks_as_many(ds: tfreel.Dataset, workers: int) -> None:
    plan = ds[:90].shuffle(seed=1).filter(even).batch(4)
    whole = numbers(plan)
    ranks = [numbers(Loader(plan.shard(rank, 5, uneven="drop"), num_workers=workers)) for rank in range(5)]
    assert [len(batches) for batches in ranks] == [len(whole) // 5] * 5
    assert sorted(batch for batches in ranks for batch in batches) == sorted(whole[: len(whole) // 5 * 5])


@pytest.mark.parametrize("adapter", [IterableDataset, Loader])
def test_where_nobody_knows_how_many_there_are_ranks_must_say_what_to_do(
    ds: tfreel.Dataset, path: str, adapter: Any
) -> None:
    for plan in (
        ds.filter(even).batch(4),
        tfreel.Dataset(path, stream=True).batch(5),
        ds.batch(8).map(dict).unbatch(),
    ):
        adapter(plan, rank=0, world=1)
        adapter(plan, rank=0, world=2, uneven="keep")
        with pytest.raises(TypeError, match=r'uneven=.*"keep"'):
            adapter(plan, rank=0, world=2)


@pytest.mark.parametrize("adapter", [Dataset, IterableDataset, Loader])
def test_files_are_no_dataset_yet(adapter: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a tfreel.Dataset, not str"):
        adapter("a.tfrecord")
