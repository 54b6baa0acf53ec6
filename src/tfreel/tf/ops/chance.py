"""Random numbers: the seeds that TensorFlow derives for its operations, and numbers drawn with them.

The numbers are our own: with a seed they are always the same, but not those of TensorFlow.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.modes import executing_eagerly
from tfreel.tf.graphs.operations import Node, Operation, is_tracing, operation
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.ops.static import known_sizes, one_number, spec, whole_numbers
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, float32, int64
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


class _Global:
    """The seed that `tf.random.set_seed` set, and the numbers handed out since to operations without one."""

    seed: int | None = None
    handed_out = random.Random(0)  # noqa: S311 - TensorFlow's own way, not for secrets


# Of calls with the same seeds and with values, the next one goes on where the last one stopped.
_going_on: dict[tuple[int, int], np.random.Generator] = {}


def set_seed(seed: int) -> None:
    """Sets the seed from which operations without one of their own take theirs."""
    _Global.seed = seed
    _Global.handed_out = random.Random(seed)  # noqa: S311 - TensorFlow's own way, not for secrets
    _going_on.clear()


def op_seeds(seed: int | None) -> tuple[int, int] | None:
    """The two seeds of an operation that was given one, or none; None if nothing was set anywhere."""
    if _Global.seed is None:
        pair = None if seed is None else (87654321, seed)
    else:
        pair = (_Global.seed, _Global.handed_out.randint(0, 2**31 - 1) if seed is None else seed)
    if pair is None:
        return None
    first, second = (each % (2**31 - 1) for each in pair)
    return (0, 2**31 - 1) if first == second == 0 else (first, second)


def fresh(seeds: tuple[int, int] | None) -> np.random.Generator:
    """Numbers from their beginning; without seeds, others every time."""
    return np.random.Generator(np.random.Philox(None if seeds is None else [each % 2**64 for each in seeds]))


def going_on(seeds: tuple[int, int] | None) -> np.random.Generator:
    """Numbers that go on where the last ones with the same seeds stopped."""
    if seeds is None:
        return fresh(None)
    return _going_on.setdefault(seeds, fresh(seeds))


def in_graph() -> bool:
    """Whether what is drawn now is to be drawn anew for every element and run."""
    return is_tracing() or not executing_eagerly()


def _next_key(source: np.random.Generator) -> Array:
    return source.integers(0, 2**63, 2, dtype=np.int64)


_drawn_key = Operation(_next_key, infer=lambda source: TensorSpec([2], int64), draws=True)


def _key(seed: Any) -> Any:
    """What the numbers of one call are made of: in a graph, something else for every element and run."""
    seeds = op_seeds(None if seed is None else one_number(seed, "seed"))
    if in_graph():
        return Node(_drawn_key, (fresh(seeds),), {}).results()
    return _next_key(fresh(seeds) if seed is None else going_on(seeds))


@operation(infer=lambda seed: TensorSpec([2], int64))
def _key_of(seed: Any) -> Array:
    """What the numbers are made of that two seeds stand for."""
    pair = array(seed)
    if pair.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(pair.shape)}")
    return np.array([int(each) % 2**63 for each in pair], np.int64)


def _numbers(key: Array) -> np.random.Generator:
    return np.random.Generator(np.random.Philox([int(each) for each in key]))


def _drawn_spec(key: Any, shape: Any, low: Any, high: Any, dtype: Any) -> TensorSpec:
    return TensorSpec(known_sizes(shape), dtype)


def _sizes(shape: Any) -> list[int]:
    if array(shape).ndim != 1:
        raise InvalidArgumentError("shape must be a vector of {int32,int64}")
    return whole_numbers(shape, "shape")


@operation(infer=_drawn_spec)
def _uniform(key: Array, shape: Any, low: Any, high: Any, dtype: Any) -> Array:
    least, beyond = array(low, dtype), array(high, dtype)
    if dtype.is_integer:
        if np.any(least >= beyond):
            raise InvalidArgumentError(f"Need minval < maxval, got {least} >= {beyond}")
        return np.asarray(_numbers(key).integers(least, beyond, _sizes(shape), dtype=dtype.numpy))
    numbers = _numbers(key).random(_sizes(shape), np.float64 if dtype.size == 8 else np.float32)
    return np.asarray(numbers * (beyond - least) + least, dtype.numpy)


_TYPES = ("float16", "float32", "float64", "int32", "int64")


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: Any = None, name: Any = None
) -> Any:
    """Numbers between two limits, all alike probable; the upper one is not among them.

    Raises:
        ValueError: The dtype is not one of those drawn, or whole numbers have no upper limit.
    """
    return _uniform_of(_key(seed), shape, minval, maxval, as_dtype(dtype))


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: Any = None,
    alg: Any = "auto_select",
) -> Any:
    """Numbers between two limits that always are the same for two seeds.

    Raises:
        ValueError: The dtype is not one of those drawn, or whole numbers have no upper limit.
    """
    return _uniform_of(_key_of(seed), shape, minval, maxval, as_dtype(dtype))


def _uniform_of(key: Any, shape: Any, minval: Any, maxval: Any, wanted: Any) -> Any:
    if wanted.name not in _TYPES:
        raise ValueError(f"Argument `dtype` got invalid value {wanted}. Accepted dtypes are {_TYPES}.")
    if maxval is None:
        if wanted.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {wanted!r}")
        maxval = 1
    low, high = convert_to_tensor(minval, wanted), convert_to_tensor(maxval, wanted)
    return _uniform(key, shape, low, high, wanted)


@operation(infer=_drawn_spec)
def _normal(key: Array, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Array:
    return np.asarray(_numbers(key).standard_normal(_sizes(shape)) * stddev + mean, dtype.numpy)


@operation(infer=_drawn_spec)
def _truncated(key: Array, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Array:
    source = _numbers(key)
    found = source.standard_normal(_sizes(shape))
    while np.any(far := np.abs(found) > 2):
        found = np.where(far, source.standard_normal(found.shape), found)
    return np.asarray(found * stddev + mean, dtype.numpy)


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None, name: Any = None
) -> Any:
    """Numbers around a mean, as far from it as a normal distribution says."""
    wanted = as_dtype(dtype)
    return _normal(
        _key(seed), shape, convert_to_tensor(mean, wanted), convert_to_tensor(stddev, wanted), wanted
    )


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None, name: Any = None
) -> Any:
    """Numbers of a normal distribution, without those more than two deviations away."""
    wanted = as_dtype(dtype)
    return _truncated(
        _key(seed), shape, convert_to_tensor(mean, wanted), convert_to_tensor(stddev, wanted), wanted
    )


@operation(infer=lambda key, value: spec(value))
def _shuffled(key: Array, value: Any) -> Array:
    made = array(value)
    return made[_numbers(key).permutation(len(made))] if made.ndim else made


def shuffle(value: Any, seed: Any = None, name: Any = None) -> Any:
    """The parts of a tensor along its first dimension, in any order."""
    return _shuffled(_key(seed), value)


@operation(infer=lambda key, logits, num_samples, dtype: TensorSpec([None, None], dtype))
def _chosen(key: Array, logits: Any, num_samples: Any, dtype: Any) -> Array:
    made, count = array(logits), one_number(num_samples, "num_samples")
    if made.ndim != 2:
        raise InvalidArgumentError(f"logits should be a matrix, got shape {list(made.shape)}")
    noise = _numbers(key).gumbel(size=(made.shape[0], count, made.shape[1]))
    return np.asarray(np.argmax(made[:, np.newaxis, :] + noise, -1), as_dtype(dtype).numpy)


def categorical(logits: Any, num_samples: Any, dtype: Any = int64, seed: Any = None, name: Any = None) -> Any:
    """Numbers of columns, each as probable as the exponential of its logit."""
    return _chosen(_key(seed), logits, num_samples, dtype)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: Any = None,
    alg: Any = "auto_select",
) -> Any:
    """Numbers around a mean that always are the same for two seeds."""
    wanted = as_dtype(dtype)
    return _normal(
        _key_of(seed), shape, convert_to_tensor(mean, wanted), convert_to_tensor(stddev, wanted), wanted
    )
