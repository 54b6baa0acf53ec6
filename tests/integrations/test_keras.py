"""Keras models that learn from our datasets, with the backends of PyTorch and JAX.

A process has one backend for all its life, so each test has a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(200)

BEGIN = """
import keras, numpy as np, tfreel
from tfreel.adapters.keras import PyDataset, generate

x = np.random.default_rng(1).normal(size=(500, 3)).astype("f4")
y = x @ np.array([1, -2, 0.5], "f4")
tfreel.save("l.tfrecord", {"x": x, "y": y, "w": np.ones(500), "s": ["a"] * 500})
ds = tfreel.Dataset("l.tfrecord").shuffle(seed=1).batch(32)

def model():
    x = keras.Input((3,), name="x")
    made = keras.Model(x, keras.layers.Dense(1)(x))
    made.compile(keras.optimizers.SGD(0.1), "mse")
    return made
"""

LEARN = """
made = model()
data = PyDataset(ds, "x", "y", workers=WORKERS)
losses = made.fit(data, epochs=4, verbose=0).history["loss"]
assert losses[-1] < 1e-3 < losses[0], losses
assert made.evaluate(data, verbose=0) < 1e-3
assert made.predict(PyDataset(ds, "x"), verbose=0).shape == (500, 1)
weighted = PyDataset(ds, ["x"], "y", weights="w")
assert model().fit(weighted, epochs=1, verbose=0).history["loss"][0] > 0
"""

EPOCHS = """
data = PyDataset(ds, "x", "y")
assert len(data) == data.num_batches == 16

def epoch():
    return np.concatenate([inputs for inputs, _ in data])

data.on_epoch_end()
first = epoch()
assert np.array_equal(first, ds.load()["x"])
data.on_epoch_end()
second = epoch()
assert np.array_equal(second, ds.epoch(1).load()["x"])
assert not np.array_equal(first, second)
assert np.array_equal(np.sort(first, 0), np.sort(second, 0))

asked = []
class Watched(PyDataset):
    def __getitem__(self, index):
        batch = super().__getitem__(index)
        asked.append(self.epoch)
        return batch

for workers, options in (
    (1, dict(epochs=3)),
    (2, dict(epochs=3)),
    (1, dict(epochs=3, shuffle=False)),
    (1, dict(epochs=6, steps_per_epoch=8)),
):
    asked.clear()
    model().fit(Watched(ds, "x", "y", workers=workers), verbose=0, **options)
    counts = [asked.count(epoch) for epoch in range(4)]
    assert counts[0] >= 16, (options, asked)  # some may be looked at before
    if workers == 1:
        assert counts[1:] == [16, 16, 0], (options, asked)
    else:  # threads of Keras ask ahead, keep what they got, and do not ask for the last ones then
        assert counts[1] > 0 == counts[3], (options, asked)
"""

ENDLESS = """
endless = PyDataset(ds.repeat(), "x", "y")
assert endless.num_batches is None
assert model().fit(endless, epochs=3, steps_per_epoch=20, verbose=0).history["loss"][-1] < 1e-2
filtered = tfreel.Dataset("l.tfrecord").filter(lambda row: row["x"][0] > 0).batch(32)
data = generate(filtered.repeat(), "x", "y")
losses = model().fit(data, epochs=4, steps_per_epoch=8, verbose=0).history["loss"]
assert losses[-1] < losses[0]
"""

STATES = """
import json

def kept(data, *batches):
    return json.loads(json.dumps(data.state_dict(*batches)))

class Watched(PyDataset):
    def __getitem__(self, index):
        batch = super().__getitem__(index)
        seen.append(batch[0].tolist())
        return batch

class Save(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 0 and data.epoch == 1:
            said.append(refused(lambda: data.state_dict()))
        if not shuffle:
            states.append((1 + len(states), kept(data, batch + 1)))
    def on_epoch_end(self, epoch, logs=None):
        between.append(kept(data))
        assert data.epoch == epoch + 1

def refused(function, kind=ValueError):
    try:
        function()
    except kind as error:
        return str(error)
    raise AssertionError("no error")

whole = [[batch["x"].tolist() for batch in ds.epoch(epoch)] for epoch in range(4)]
every = [batch for epoch in whole for batch in epoch]
for shuffle in (True, False):
    seen, said, states, between = [], [], [], []
    data = Watched(ds, "x", "y")
    model().fit(data, epochs=3, verbose=0, shuffle=shuffle, callbacks=[Save()])
    assert len(said) == 1 and "batches of epoch 1 were asked for" in said[0], said
    for epoch, state in enumerate(between, 1):
        assert (state["epoch"], state["state"]) == (epoch, None)
        data, seen = Watched(ds, "x", "y"), []
        data.load_state_dict(state)
        assert data.epoch == epoch
        made = model()
        made.build((None, 3))
        made.fit(data, initial_epoch=data.epoch, epochs=4, verbose=0, shuffle=False)
        left = [batch for epoch in whole[epoch:] for batch in epoch]
        assert seen[len(seen) - len(left) :] == left

for done, state in states[3::11]:
    data, seen = Watched(ds, "x", "y"), []
    data.load_state_dict(state)
    left = every[done:]
    rest = -done % 16 or 16
    assert len(data) == rest, (done, len(data))
    made = model()
    assert data.epoch == done // 16
    if rest < 16:
        made.fit(data, initial_epoch=data.epoch, epochs=data.epoch + 1, verbose=0, shuffle=False)
        assert seen[len(seen) - rest :] == left[:rest]
        assert len(data) == 16
    if data.epoch < 4:
        made.fit(data, initial_epoch=data.epoch, epochs=4, verbose=0, shuffle=False)
        after = every[-(-done // 16) * 16 :]
        assert seen[len(seen) - len(after) :] == after

data = PyDataset(ds, "x", "y")
data.load_state_dict(states[4][1])
again = lambda: model().fit(data, epochs=3, verbose=0, shuffle=False)
assert "give that rest a fit of its own" in refused(again)

data = PyDataset(ds, "x", "y")
[data[index] for index in (0, 1, 3)]
assert "shuffle=False" in refused(lambda: data.state_dict(3))
assert "only 3 batches were taken, not 4" in refused(lambda: data.state_dict(4))
assert "workers=1" in refused(PyDataset(ds, "x", "y", workers=2).state_dict, TypeError)

rows = tfreel.Dataset("l.tfrecord")[:65].shuffle(seed=1).batch(32)
ranks = [PyDataset(rows, "x", "y", rank=rank, world=2) for rank in range(2)]
assert [[len(x) for x, _ in data] for data in ranks] == [[17, 16], [16, 16]]
found = [row.tolist() for data in ranks for x, _ in data for row in x]
assert sorted(found) == sorted(rows.load()["x"].tolist())
[data.on_epoch_end() for data in ranks]
taken = [ranks[0][0], ranks[1][0]]
three = [PyDataset(rows, "x", "y", rank=rank, world=3) for rank in range(3)]
[data.load_state_dict(kept(ranks[1], 1)) for data in three]
assert {data.epoch for data in three} == {1} and len({len(data) for data in three}) == 1
found = [row.tolist() for x, _ in [*taken, *(batch for data in three for batch in data)] for row in x]
assert sorted(found) == sorted(rows.epoch(1).load()["x"].tolist())
assert "both rank and world" in refused(lambda: PyDataset(rows, "x", rank=0))
assert "shared out with shard()" in refused(lambda: PyDataset(ds.shard(0, 2), "x", rank=0, world=2))

endless = PyDataset(ds.repeat(), "x", "y")
model().fit(endless, epochs=2, steps_per_epoch=20, verbose=0)
later = PyDataset(ds.repeat(), "x", "y")
later.load_state_dict(kept(endless, 40))
assert np.array_equal(later[0][0], ds.epoch(2)[8]["x"])
"""

WRONG = """
def fails(kind, words, function):
    try:
        function()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("no error")

fails(TypeError, "took away", lambda: PyDataset(ds.filter(bool), "x"))
fails(KeyError, "no column is called 'z'; there are", lambda: PyDataset(ds, "z")[0])
fails(TypeError, "column 's' is no array of numbers", lambda: PyDataset(ds, "s")[0])
fails(TypeError, "a batch of columns, not tuple", lambda: next(generate(ds.map(tuple), "x")))
"""


def run(program: str, backend: str) -> None:
    environment = {**os.environ, "KERAS_BACKEND": backend}
    subprocess.run([sys.executable, "-c", BEGIN + program], check=True, env=environment, timeout=180)


@pytest.mark.parametrize(("backend", "workers"), [("torch", 1), ("torch", 2), ("jax", 1)])
def test_a_model_learns(backend: str, workers: int) -> None:
    run(LEARN.replace("WORKERS", str(workers)), backend)


def test_each_epoch_has_an_order_of_its_own_and_every_row() -> None:
    run(EPOCHS, "torch")


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_training_goes_on_from_states_between_epochs_and_within(backend: str) -> None:
    run(STATES, backend)


def test_datasets_without_end_and_without_positions_work_too() -> None:
    run(ENDLESS, "torch")


def test_what_keras_cannot_take_is_said() -> None:
    run(WRONG, "torch")
