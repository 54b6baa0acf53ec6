"""Pipelines put together at random: every order of steps is as good as any other."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = 5
PIPELINES = 12


def _filled_cache(ds: Any) -> Any:
    """What a cache keeps of a pass that stops on the way depends on how far TensorFlow has read ahead."""
    kept = ds.cache()
    list(kept)
    return kept


def _orders(tf: Any, draw: random.Random) -> dict[str, Callable[[Any], Any]]:
    k, seed = draw.randint(1, 9), draw.randint(0, 99)
    return {
        "shuffle": lambda ds: ds.shuffle(k, seed=seed),
        "shuffle once": lambda ds: ds.shuffle(k, seed=seed, reshuffle_each_iteration=False),
        "repeat": lambda ds: ds.repeat(k % 3 + 1),
        "repeat for ever": lambda ds: ds.repeat().take(17),
        "take": lambda ds: ds.take(2 * k),
        "skip": lambda ds: ds.skip(k // 2),
        "shard": lambda ds: ds.shard(k % 3 + 1, seed % (k % 3 + 1)),
        "concatenate": lambda ds: ds.concatenate(tf.data.Dataset.range(100, 100 + k)),
        "cache": _filled_cache,
        "prefetch": lambda ds: ds.prefetch(k),
        "unique": lambda ds: ds.unique(),
    }


def _changes(tf: Any, draw: random.Random) -> dict[str, Callable[[Any], Any]]:
    k, block = draw.randint(1, 5), draw.randint(1, 3)
    dataset = tf.data.Dataset
    return {
        "map": lambda ds: ds.map(lambda x: x * 3 + k),
        "filter": lambda ds: ds.filter(lambda x: x % 3 != 0),
        "flat_map": lambda ds: ds.flat_map(lambda x: dataset.range(x % 3, 4)),
        "interleave": lambda ds: ds.interleave(lambda x: dataset.range(x, x + x % 4), k, block),
        "enumerate": lambda ds: ds.enumerate().map(lambda i, x: i * 10 + x),
        "scan": lambda ds: ds.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total - x)),
        "take_while": lambda ds: ds.take_while(lambda x: x < 90),
        "zip": lambda ds: dataset.zip((ds, dataset.range(k * 5))).map(lambda a, b: a + b),
        "batch": lambda ds: ds.batch(k).unbatch(),
        "whole batches": lambda ds: ds.batch(k, drop_remainder=True).map(lambda x: x + 1).unbatch(),
        "window": lambda ds: ds.window(k, shift=block).flat_map(lambda w: w.batch(k)).unbatch(),
        "group": lambda ds: ds.group_by_window(lambda x: x % 2, lambda key, w: w.take(2), window_size=k + 1),
    }


def _some(tf: Any, seed: int) -> Any:
    draw = random.Random(seed)
    found = []
    for _ in range(PIPELINES):
        ds, names = tf.data.Dataset.range(draw.randint(0, 12)), []
        for _ in range(draw.randint(1, STEPS)):
            steps = {**_orders(tf, draw), **_changes(tf, draw)}
            names.append(draw.choice(sorted(steps)))
            ds = steps[names[-1]](ds).take(60)
        passes = [[int(x) for x in ds.as_numpy_iterator()] for _ in range(2)]
        # What a scan gives is known before it runs to TensorFlow only.
        found.append((names, passes, None if "scan" in names else int(ds.cardinality())))
    return found


def random_pipelines_one(tf: Any, folder: Path) -> Any:
    return _some(tf, 1)


def random_pipelines_two(tf: Any, folder: Path) -> Any:
    return _some(tf, 2)


def random_pipelines_three(tf: Any, folder: Path) -> Any:
    return _some(tf, 3)


def random_pipelines_four(tf: Any, folder: Path) -> Any:
    return _some(tf, 4)


def random_pipelines_five(tf: Any, folder: Path) -> Any:
    return _some(tf, 5)


def random_pipelines_six(tf: Any, folder: Path) -> Any:
    return _some(tf, 6)
