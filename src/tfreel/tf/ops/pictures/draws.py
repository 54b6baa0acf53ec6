"""Where the random functions of images take their numbers from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Node, Operation, operation
from tfreel.tf.ops.chance import fresh, going_on, in_graph, op_seeds
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import float64
from tfreel.tf.values.handles import Array, is_promised
from tfreel.tf.values.shapes import TensorSpec

_COUNT = 8  # numbers for one call: one for each dimension that may be cut


def _numbers(source: np.random.Generator) -> Array:
    return source.random(_COUNT)


def _numbers_spec(_: Any) -> TensorSpec:
    return TensorSpec([_COUNT], float64)


_drawn = Operation(_numbers, infer=_numbers_spec, draws=True)


def numbers(image: Any, seed: int | None) -> Any:
    """Random numbers from 0 to 1 for one call; in a graph, or of a promised image, for each that will come.

    In a graph each call has numbers of its own, as in TensorFlow: an image and its mask, flipped with the
    same seed in a function for `Dataset.map`, are flipped alike.
    """
    seeds = op_seeds(seed)
    if in_graph() or is_promised(image):
        return Node(_drawn, (fresh(seeds),), {}).results()
    return _numbers(fresh(seeds) if seed is None else going_on(seeds))


@operation(infer=_numbers_spec)
def numbers_of(seed: Any) -> Array:
    """The random numbers from 0 to 1 that two seeds stand for."""
    pair = array(seed)
    if pair.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(pair.shape)}")
    return _numbers(fresh((int(pair[0]), int(pair[1]))))
