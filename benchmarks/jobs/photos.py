"""Epochs of photos: decoded, resized and scaled, as every tutorial for images begins."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import away
import numpy as np
import peers
from bench import Bench, opened
from data import Shape
from harness import Entry, Outcome, compare

import tfreel

NAME = "photos"
TITLE = "14. Epochs of photos (JPEG, about 70 KB), decoded, resized to 96 × 96, divided by 255"

_BATCH = 32
_SIZE = (96, 96)
_CLOSE = 0.03  # of the whole range, on average


def run(bench: Bench) -> Outcome:
    """Against the pipeline of TensorFlow's tutorials, first with equal pixels, then with close ones."""
    outcome = Outcome(NAME, TITLE)
    shape = bench.data.shape("photos")
    _race(bench, shape, outcome, "equal pixels", _digest, {"tfreel": {"dct": "fast"}}, {"tfreel": 1})
    teams = {"tfreel, accurate transform": {}, "tfreel, fast=True": {"fast": True}}
    limits = dict(zip(teams, (1, 1.8), strict=True))
    _race(bench, shape, outcome, "close pixels", partial(_is_close, shape), teams, limits)
    return outcome


def _race(
    bench: Bench,
    shape: Shape,
    outcome: Outcome,
    name: str,
    proof: Callable[[Iterator[Any]], Any],
    teams: dict[str, dict[str, Any]],
    limits: dict[str, float],
) -> None:
    entries = [*_entries(teams, proof), *away.entries("tensorflow", _tensorflow, proof)]
    race = bench.race(name, entries, shape, work=shape.count, unit="photos", limit=("JPEG", shape.count))
    outcome.races.append(race)
    for team, limit in limits.items():
        text = f"{{fast}} against {{slow}}, {name}"
        outcome.lines.append(compare(race, "TensorFlow", team, text, limit=limit))


def _plan(shape: Shape, **options: Any) -> Any:
    decoder = tfreel.images.decoder("image", size=_SIZE, scale=True, **options)
    return tfreel.Dataset(shape.path).batch(_BATCH).map(decoder).prefetch(2)


def _in_workers(shape: Shape, **options: Any) -> Any:
    """Each processor has batches of its own."""
    decoder = tfreel.images.decoder("image", size=_SIZE, scale=True, threads=1, **options)
    return tfreel.Dataset(shape.path).batch(_BATCH).map(decoder, workers=os.cpu_count() or 1)


def _entries(teams: dict[str, dict[str, Any]], proof: Callable[[Iterator[Any]], Any]) -> list[Entry]:
    routes = {"batches shared by threads": _plan, "batches shared out": _in_workers}
    return [
        _entry(f"{team}, {name}", team, partial(route, **options), proof, _images)
        for team, options in teams.items()
        for name, route in routes.items()
    ]


def _entry(
    name: str,
    team: str,
    plan: Callable[[Shape], Any],
    proof: Callable[[Iterator[Any]], Any],
    images: Callable[[Any], Iterator[Any]],
) -> Entry:
    def rows(shape: Shape) -> int:
        return sum(len(batch) for batch in images(opened(plan, shape)))

    return Entry(name, rows, team, proof=lambda shape: proof(images(plan(shape))))


def _images(batches: Any) -> Iterator[Any]:
    return (batch["image"] for batch in batches)


def _digest(images: Iterator[Any]) -> str:
    digest = hashlib.sha256()
    for image in images:
        digest.update(np.ascontiguousarray(image))
    return digest.hexdigest()


def _is_close(shape: Shape, images: Iterator[Any]) -> bool:
    pairs = zip(_images(_plan(shape, dct="fast")), images, strict=True)
    return all(float(np.abs(one - other).mean()) < _CLOSE for one, other in pairs)


def _tensorflow(proof: Callable[[Iterator[Any]], Any]) -> list[Entry]:
    tf = peers.tensorflow()
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        row = tf.io.parse_single_example(record, features)
        image = tf.io.decode_jpeg(row["image"], channels=3)
        return tf.image.resize(image, _SIZE) / 255.0, row["label"]

    def plan(shape: Shape, calls: int) -> Any:
        batches = peers.dataset(shape).map(parse, num_parallel_calls=calls).batch(_BATCH)
        return batches.prefetch(tf.data.AUTOTUNE)

    def images(batches: Any) -> Iterator[Any]:
        return (image.numpy() for image, _ in batches)

    routes = {"AUTOTUNE": tf.data.AUTOTUNE, "a call for each processor": os.cpu_count() or 1}
    return [
        _entry(f"TensorFlow, {name}", "TensorFlow", partial(plan, calls=calls), proof, images)
        for name, calls in routes.items()
    ]
