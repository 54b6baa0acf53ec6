"""Softmax regression in NumPy, on any folder of pictures that was packed with a train and a val split.

tfreel pack photos/ records/ --split train=0.8,val=0.2 --stratify label
python examples/train_softmax.py records/
"""

from __future__ import annotations

import sys

import numpy as np

import tfreel

IMAGE, LABEL = "image/encoded", "image/class/label"
SIDE, EPOCHS, RATE = 16, 10, 0.05


def main(records: str) -> None:
    """Trains on one split, and tells after each epoch how much of the other is told right."""
    train, val = (batches(records, split) for split in ("train", "val"))
    classes = 1 + max(int(batch[LABEL].max()) for batch in train)
    weights = np.zeros((3 * SIDE * SIDE + 1, classes))
    for epoch, shuffled in train.epochs(EPOCHS):
        for batch in shuffled:
            x = rows(batch)
            slope = odds(x, weights) - np.eye(classes)[batch[LABEL]]
            weights -= RATE * x.T @ slope / len(x)
        right = np.concatenate([odds(rows(batch), weights).argmax(1) == batch[LABEL] for batch in val])
        print(f"epoch {epoch + 1}: {right.mean():.1%} of {len(right)} pictures")


def batches(records: str, split: str) -> tfreel.Dataset:
    """Small pictures in random order, of values from 0 to 1."""
    pixels = tfreel.images.decoder(IMAGE, size=(SIDE, SIDE), scale=True, antialias=True)
    return tfreel.Dataset(records, split=split).shuffle(seed=1).batch(32).map(pixels)


def rows(batch: tfreel.Batch) -> np.ndarray:
    """A row for each picture, with a 1 at its end for the bias."""
    flat = batch[IMAGE].reshape(batch.num_rows, -1) - 0.5
    return np.hstack([flat, np.ones((len(flat), 1))])


def odds(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How likely each class is, for each row."""
    scores = x @ weights
    grown = np.exp(scores - scores.max(1, keepdims=True))
    return grown / grown.sum(1, keepdims=True)


if __name__ == "__main__":
    main(sys.argv[1])
