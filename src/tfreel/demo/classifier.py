"""A small neural network in NumPy: one hidden layer, softmax, gradient descent with momentum."""

from __future__ import annotations

import math
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.columns import Batch

Weights: TypeAlias = npt.NDArray[np.float32]

IMAGE, LABEL = "image/encoded", "image/class/label"
_POOL = 4  # pixels that are averaged, along each side: a fruit is large, and noise is not
_MOMENTUM = 0.9
_DECAY = 1e-3


class Classifier:
    """Tells classes of small pictures apart. Deterministic: the same batches make the same weights.

    Args:
        side: Height and width of the pictures.
        classes: How many.
        hidden: Units of the hidden layer.
        seed: Of the first weights.
        rate: The step size.
    """

    def __init__(
        self, *, side: int, classes: int, hidden: int = 32, seed: int = 0, rate: float = 0.02
    ) -> None:
        source = np.random.default_rng(seed)
        inputs = 3 * (side // _POOL) ** 2
        self._rate = rate
        self.weights: dict[str, Weights] = {
            "w1": _random(source, inputs, hidden),
            "b1": np.zeros(hidden, np.float32),
            "w2": _random(source, hidden, classes),
            "b2": np.zeros(classes, np.float32),
        }
        self._speeds = {name: np.zeros_like(value) for name, value in self.weights.items()}

    def learn(self, batch: Batch) -> float:
        """Takes one step downhill; gives the loss before it."""
        x, labels = _inputs(batch), np.asarray(batch[LABEL])
        hidden, odds = self._forward(x)
        rows = np.arange(len(labels))
        loss = float(-np.log(odds[rows, labels] + 1e-9).mean())
        slope = odds
        slope[rows, labels] -= 1
        slope /= len(labels)
        back = (slope @ self.weights["w2"].T) * (hidden > 0)
        self._step({"w1": x.T @ back, "b1": back.sum(0), "w2": hidden.T @ slope, "b2": slope.sum(0)})
        return loss

    def _step(self, slopes: dict[str, Weights]) -> None:
        for name, slope in slopes.items():
            speed = self._speeds[name]
            speed *= _MOMENTUM
            speed -= self._rate * (slope + _DECAY * self.weights[name])
            self.weights[name] += speed

    def right(self, batch: Batch) -> int:
        """How many pictures of a batch it tells right."""
        _, odds = self._forward(_inputs(batch))
        return int((odds.argmax(1) == np.asarray(batch[LABEL])).sum())

    def _forward(self, x: Weights) -> tuple[Weights, Weights]:
        hidden = np.maximum(x @ self.weights["w1"] + self.weights["b1"], 0)
        scores = hidden @ self.weights["w2"] + self.weights["b2"]
        odds = np.exp(scores - scores.max(1, keepdims=True))
        return hidden, odds / odds.sum(1, keepdims=True)

    def save(self, path: str) -> None:
        """Writes all that learning depends on to a ``.npz`` file."""
        speeds = {f"speed_{name}": value for name, value in self._speeds.items()}
        columns: dict[str, Any] = {**self.weights, **speeds}
        np.savez(path, **columns)

    def load(self, path: str) -> Self:
        """Goes on from what was saved."""
        with np.load(path, allow_pickle=False) as saved:
            self.weights = {name: saved[name] for name in self.weights}
            self._speeds = {name: saved[f"speed_{name}"] for name in self.weights}
        return self


def _random(source: np.random.Generator, rows: int, columns: int) -> Weights:
    weights: Weights = source.standard_normal((rows, columns)).astype(np.float32)
    return weights * np.float32(math.sqrt(2 / rows))


def _inputs(batch: Batch) -> Weights:
    """Pictures of (n, side, side, 3) as rows of averaged pixels around 0."""
    pixels: Weights = np.asarray(batch[IMAGE])
    n, side = pixels.shape[:2]
    small = pixels.reshape(n, side // _POOL, _POOL, side // _POOL, _POOL, 3).mean((2, 4))
    rows: Weights = (small - np.float32(0.5)).reshape(n, -1)
    return rows
