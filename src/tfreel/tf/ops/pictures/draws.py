"""Where the random functions of images take their numbers from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.graphs.operations import Node, Operation
from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.values.dtypes import float64
from tfreel.tf.values.handles import Array, is_promised
from tfreel.tf.values.shapes import TensorSpec

# Of calls with a seed and with values, the next one goes on where the last one with the same seed stopped.
_going_on: dict[tuple[int, int], np.random.Generator] = {}


def _numbers(source: np.random.Generator, count: int) -> Array:
    return source.random(count)


def _numbers_spec(source: np.random.Generator, count: int) -> TensorSpec:
    del source
    return TensorSpec([count], float64)


_drawn = Operation(_numbers, infer=_numbers_spec, draws=True)


def numbers(image: Any, seed: int | None, count: int = 1) -> Any:
    """Random numbers from 0 to 1 for one call; of an image that is promised, for each that will come.

    In a graph each call has numbers of its own, as in TensorFlow: an image and its mask, flipped with the
    same seed in a function for `Dataset.map`, are flipped alike.
    """
    seeds = op_seeds(seed)
    if is_promised(image):
        return Node(_drawn, (_fresh(seeds), count), {}).results()
    if seeds is None or seed is None:
        return _numbers(_fresh(seeds), count)
    if seeds not in _going_on:
        _going_on[seeds] = _fresh(seeds)
    return _numbers(_going_on[seeds], count)


def _fresh(seeds: tuple[int, int] | None) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(None if seeds is None else [abs(each) for each in seeds]))
