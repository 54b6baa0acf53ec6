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
        asked.append(self._epoch)
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


def test_datasets_without_end_and_without_positions_work_too() -> None:
    run(ENDLESS, "torch")


def test_what_keras_cannot_take_is_said() -> None:
    run(WRONG, "torch")
