"""Records in, a classifier out; and the same again with an interruption on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import islice

import numpy as np

from tfreel import images
from tfreel.columns import Batch
from tfreel.dataset import Dataset, DatasetIterator
from tfreel.demo.classifier import IMAGE, LABEL, Classifier
from tfreel.demo.fruit import KINDS
from tfreel.demo.place import Place

SIDE = 32
BATCH_ROWS = 32
EPOCHS = 20
SEED = 7


def decoded(records: Dataset) -> Dataset:
    """Records as batches of small pictures."""
    return records.batch(BATCH_ROWS).map(images.decoder(IMAGE, size=(SIDE, SIDE), scale=True))


def lessons(place: Place) -> Dataset:
    """All batches of a training, each epoch in an order of its own."""
    train = Dataset(place.fruit_records, split="train")
    return decoded(train.shuffle(seed=SEED)).repeat(EPOCHS)


def beginner() -> Classifier:
    """A classifier that knows nothing yet."""
    return Classifier(side=SIDE, classes=len(KINDS), seed=SEED)


def study(
    steps: DatasetIterator,
    classifier: Classifier,
    batches: int | None = None,
    after: Callable[[int, float], object] | None = None,
) -> list[str]:
    """Learns from the next batches.

    Args:
        steps: Where they come from.
        classifier: Who learns.
        batches: How many; all that are left by default.
        after: Called after each batch with the number of batches so far and the loss.

    Returns:
        A hash of each batch, in order.
    """
    seen = []
    for done, batch in enumerate(islice(steps, batches), start=1):
        loss = classifier.learn(batch)
        seen.append(_digest(batch))
        if after is not None:
            after(done, loss)
    return seen


def _digest(batch: Batch) -> str:
    digest = hashlib.sha256()
    for column in (IMAGE, LABEL):
        digest.update(np.asarray(batch[column]).tobytes())
    return digest.hexdigest()


def score(place: Place, split: str, classifier: Classifier) -> tuple[int, int]:
    """How many pictures of a split are told right, and how many there are."""
    pictures = Dataset(place.fruit_records, split=split)
    return sum(classifier.right(batch) for batch in decoded(pictures)), len(pictures)


def interrupt(place: Place, steps: DatasetIterator, classifier: Classifier) -> int:
    """Saves all that is needed to go on; gives the number of bytes that the place in the data takes."""
    classifier.save(place.weights)
    text = json.dumps(steps.state_dict())
    with open(place.state, "w", encoding="utf-8") as file:
        file.write(text)
    return len(text)


def resume(place: Place) -> tuple[DatasetIterator, Classifier]:
    """The same iterator and classifier again, from nothing but files."""
    steps = iter(lessons(place))
    with open(place.state, encoding="utf-8") as file:
        steps.load_state_dict(json.load(file))
    return steps, beginner().load(place.weights)
