"""Where the random functions of images take their numbers from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.values.handles import is_promised

# Of calls with a seed and with values, the next one goes on where the last one with the same seed stopped.
_going_on: dict[tuple[int, int], np.random.Generator] = {}


def draws_for(image: Any, seed: int | None) -> np.random.Generator:
    """The numbers for one call, or for one node of a graph, which has numbers of its own as in TensorFlow.

    So an image and its mask, flipped in a function for `Dataset.map` with the same seed, are flipped alike.
    """
    seeds = op_seeds(seed)
    if seeds is None:
        return np.random.default_rng()
    if seed is None or is_promised(image):
        return np.random.Generator(np.random.Philox(list(seeds)))
    if seeds not in _going_on:
        _going_on[seeds] = np.random.Generator(np.random.Philox(list(seeds)))
    return _going_on[seeds]
