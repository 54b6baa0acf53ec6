"""Random numbers outside of datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def random_numbers_have_shape_and_range(tf: Any, folder: Path) -> Any:
    x = tf.random.uniform([100], 5, 10, dtype=tf.int32)
    y = tf.random.normal([3, 2])
    return (
        bool(tf.reduce_all((x >= 5) & (x < 10))),
        y.shape,
        y.dtype,
        sorted(tf.random.shuffle(tf.range(5)).numpy()),
    )


def seeded_numbers_come_again(tf: Any, folder: Path) -> Any:
    def draw() -> Any:
        tf.random.set_seed(5)
        first = tf.random.uniform([5]), tf.random.normal([2], mean=3.0), tf.random.uniform([3], seed=1)
        return [each.numpy().tolist() for each in first]

    once, again = draw(), draw()
    tf.random.set_seed(6)
    return once == again, tf.random.uniform([5]).numpy().tolist() == once[0]


def images_changed_at_random_keep_shape_and_type(tf: Any, folder: Path) -> Any:
    image = tf.cast(tf.reshape(tf.range(75), [5, 5, 3]), tf.uint8)
    changed = (
        tf.image.random_flip_left_right(image),
        tf.image.random_flip_up_down(image),
        tf.image.random_brightness(image, 0.2),
        tf.image.random_contrast(image, 0.8, 1.2),
        tf.image.random_crop(image, [3, 2, 3]),
    )
    return [(each.shape, each.dtype) for each in changed], tf.reduce_sum(tf.cast(changed[0], tf.int32))
