"""Random numbers: the seeds that TensorFlow derives for its operations, and numbers drawn with them."""

from __future__ import annotations

import random


class _Global:
    """The seed that `tf.random.set_seed` set, and the numbers handed out since to operations without one."""

    seed: int | None = None
    handed_out = random.Random(0)  # noqa: S311 - TensorFlow's own way, not for secrets


def set_seed(seed: int) -> None:
    """Sets the seed from which operations without one of their own take theirs."""
    _Global.seed = seed
    _Global.handed_out = random.Random(seed)  # noqa: S311 - TensorFlow's own way, not for secrets


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
