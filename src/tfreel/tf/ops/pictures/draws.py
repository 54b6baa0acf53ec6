"""Where the random functions of images take their numbers from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Node, Operation, operation
from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import float64
from tfreel.tf.values.handles import Array, is_promised
from tfreel.tf.values.shapes import TensorSpec

# Of calls with a seed and with values, the next one goes on where the last one with the same seed stopped.
_going_on: dict[tuple[int, int], np.random.Generator] = {}


_COUNT = 8  # numbers for one call: one for each dimension that may be cut


def _numbers(source: np.random.Generator) -> Array:
    return source.random(_COUNT)


def _numbers_spec(_: Any) -> TensorSpec:
    return TensorSpec([_COUNT], float64)


_drawn = Operation(_numbers, infer=_numbers_spec, draws=True)


def numbers(image: Any, seed: int | None) -> Any:
    """Random numbers from 0 to 1 for one call; of an image that is promised, for each that will come.

    In a graph each call has numbers of its own, as in TensorFlow: an image and its mask, flipped with the
    same seed in a function for `Dataset.map`, are flipped alike.
    """
    seeds = op_seeds(seed)
    if is_promised(image):
        return Node(_drawn, (_fresh(seeds),), {}).results()
    if seeds is None or seed is None:
        return _numbers(_fresh(seeds))
    if seeds not in _going_on:
        _going_on[seeds] = _fresh(seeds)
    return _numbers(_going_on[seeds])


@operation(infer=_numbers_spec)
def numbers_of(seed: Any) -> Array:
    """The random numbers from 0 to 1 that two seeds stand for."""
    pair = array(seed)
    if pair.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(pair.shape)}")
    return _numbers(_fresh((int(pair[0]), int(pair[1]))))


def _fresh(seeds: tuple[int, int] | None) -> np.random.Generator:
    words = None if seeds is None else [each % (1 << 64) for each in seeds]
    return np.random.Generator(np.random.Philox(words))
