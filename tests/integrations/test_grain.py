"""Grain on a source of ours: its shuffle, its shares, its states."""

from __future__ import annotations

import json
import pickle
import shutil
from itertools import islice
from typing import TYPE_CHECKING, Any

import grain
import numpy as np
import pytest

import tfreel
from tfreel.adapters.grain import Source, collate

from numbered import COUNT, even, write_numbered

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_numbered(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def source(path: str) -> Source:
    return Source(tfreel.Dataset(path))


def numbers(batches: Any) -> list[list[int]]:
    return [np.atleast_1d(batch["n"]).tolist() for batch in batches]


def test_a_source_is_what_grain_asks_for(source: Source) -> None:
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    assert len(source) == COUNT
    assert source[41]["t"].tolist() == [b"41"] * 3
    assert [row["n"] for row in source._getitems([5, 1])] == [5, 1]


def test_grain_shuffles_and_shares_out(source: Source) -> None:
    shuffled = grain.MapDataset.source(source).shuffle(seed=1)
    seen = [n for rank in range(3) for row in numbers(shuffled[rank::3]) for n in row]
    assert sorted(seen) == list(range(COUNT))
    assert seen != sorted(seen)


def test_strings_survive_batches(source: Source) -> None:
    batch = grain.MapDataset.source(source).batch(4, batch_fn=collate)[0]
    assert batch["x"].shape == (4, 2)
    assert [texts.tolist() for texts in batch["t"]] == [[b"0"], [b"1"] * 2, [b"2"] * 3, [b"3"]]
    tfreel.save("z.tfrecord", {"s": [b"a\0", b"b\0\0"]})
    zeros = Source(tfreel.Dataset("z.tfrecord"))
    assert grain.MapDataset.source(zeros).batch(2, batch_fn=collate)[0]["s"].tolist() == [b"a\0", b"b\0\0"]


def test_grain_resumes_exactly(source: Source, path: str) -> None:
    def run(source: Source) -> Any:
        dataset = grain.MapDataset.source(source).shuffle(seed=1).repeat(2).batch(5, batch_fn=collate)
        return iter(dataset.to_iter_dataset())

    whole = numbers(run(source))
    for stop in (0, 1, 20, len(whole)):
        first = run(source)
        assert numbers(islice(first, stop)) == whole[:stop]
        second = run(Source(tfreel.Dataset(path)))
        second.set_state(json.loads(json.dumps(first.get_state())))
        assert numbers(second) == whole[stop:]


def test_the_older_loader_compares_sources_by_their_words(source: Source, path: str, tmp_path: Path) -> None:
    def loader(source: Source) -> Any:
        sampler = grain.samplers.IndexSampler(
            len(source), shard_options=grain.sharding.NoSharding(), shuffle=True, num_epochs=1, seed=1
        )
        return grain.DataLoader(data_source=source, sampler=sampler, worker_count=0)

    first = iter(loader(source))
    list(islice(first, 7))
    state = first.get_state()
    rest = numbers(first)
    for file in tfreel.read(path).files:
        shutil.copy(str(file), tmp_path)
    moved = iter(loader(Source(tfreel.Dataset(str(tmp_path / "*.tfrecord*")))))
    moved.set_state(state)
    assert numbers(moved) == rest
    other = iter(loader(Source(tfreel.Dataset(path, columns=["n"]))))
    with pytest.raises(ValueError, match="source"):
        other.set_state(state)


def test_sources_pickle_and_keep_their_words(source: Source) -> None:
    again = pickle.loads(pickle.dumps(source))
    assert repr(again) == repr(source)
    assert again[7]["n"] == 7


def test_a_source_needs_positions_and_an_end(path: str) -> None:
    with pytest.raises(TypeError, match=r"filter\(even\) took away"):
        Source(tfreel.Dataset(path).filter(even))
    with pytest.raises(TypeError, match="no length"):
        Source(tfreel.Dataset(path).repeat())
