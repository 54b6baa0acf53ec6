"""Random numbers outside of datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.results import approximately


def random_numbers_have_shape_and_range(tf: Any, folder: Path) -> Any:
    x = tf.random.uniform([100], 5, 10, dtype=tf.int32)
    y = tf.random.normal([3, 2])
    return (
        bool(tf.reduce_all((x >= 5) & (x < 10))),
        y.shape,
        y.dtype,
        sorted(tf.random.shuffle(tf.range(5)).numpy()),
    )


def seeded_random_numbers(tf: Any, folder: Path) -> Any:
    tf.random.set_seed(5)
    return tf.random.uniform([5], seed=3), tf.random.uniform([4], 0, 100, tf.int32, seed=3)


@approximately
def seeded_normal_numbers(tf: Any, folder: Path) -> Any:
    tf.random.set_seed(5)
    return tf.random.normal([6], seed=3), tf.random.stateless_uniform([4], seed=[1, 2])
