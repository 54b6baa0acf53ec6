"""The story, step by step. Whatever it says was checked; what turns out otherwise is a `TfreelError`."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np

from tfreel import images
from tfreel.dataset import Dataset
from tfreel.demo import training
from tfreel.demo.classifier import Weights
from tfreel.demo.fruit import draw_fruit
from tfreel.demo.place import Place
from tfreel.demo.scenes import Ids, draw_scenes, mask_path
from tfreel.demo.stage import Stage
from tfreel.errors import TfreelError
from tfreel.index import open as open_records

FRUIT = 600
SCENES = 24
SEED = 7
WANTED_ACCURACY = 0.9

_MASK = "image/segmentation/class/encoded"
_TOLD_EPOCHS = (1, 2, 5, 10, 20)
_INTERRUPTED_AFTER = 101  # batches: in the ninth epoch


def tell(stage: Stage, place: Place) -> None:
    """Tells the whole story.

    Args:
        stage: Where it is shown.
        place: Where it plays: a folder that was claimed.

    Raises:
        TfreelError: Something did not turn out as it has to.
    """
    with stage.step("Draw something to pack"):
        drawn = _draw(stage, place)
    with stage.step("Pack a folder of pictures, and look at the records"):
        _pack_fruit(stage, place)
    with stage.step("Pack pictures with masks, and prove that no class id changed"):
        _pack_scenes(stage, place)
        _prove_masks(stage, place, drawn)
    with stage.step("Train a classifier on shuffled batches"):
        seen, weights = _train(stage, place)
    with stage.step("Interrupt the training, and go on where it was"):
        _train_again(stage, place, seen, weights)
    with stage.step("Damage a file, find the damage, save the rest"):
        _mend(stage, place)
    stage.title("Now with your own pictures")
    _what_next(stage)


def _require(held: object, otherwise: str) -> None:
    if not held:
        raise TfreelError(f"the demo failed: {otherwise}")


def _draw(stage: Stage, place: Place) -> dict[str, Ids]:
    draw_fruit(place.fruit, FRUIT, SEED)
    stage.say(f"{FRUIT} apples and oranges, JPEG and PNG: {place.fruit}")
    drawn = draw_scenes(place.scenes, SCENES, SEED)
    stage.say(f"{SCENES} scenes with palette masks, laid out as Pascal VOC: {place.scenes}")
    return drawn


def _run(stage: Stage, *words: str, code: int = 0) -> None:
    found = stage.run(*words)
    _require(found == code, f"tfreel {words[0]} ended with {found} in place of {code}")


def _pack_fruit(stage: Stage, place: Place) -> None:
    splits = ("--split", "train=0.6,val=0.2,test=0.2", "--stratify", "label")
    _run(stage, "pack", place.fruit, place.fruit_records, *splits, "--shards", "2")
    _run(stage, "verify", place.fruit_records)
    _run(stage, "info", place.fruit_records)
    _run(
        stage,
        "head",
        place.fruit_records,
        "-n",
        "3",
        "--columns",
        "image/encoded,image/class/text,image/filename",
    )


def _pack_scenes(stage: Stage, place: Place) -> None:
    _run(stage, "pack", place.scenes, place.scene_records, "--task", "segmentation")


def _prove_masks(stage: Stage, place: Place, drawn: dict[str, Ids]) -> None:
    stage.python(
        f'ds = tfreel.Dataset({_quoted(place.scene_records)}, split="train")',
        f'tfreel.images.decode(ds[0]["{_MASK}"], "labels")',
    )
    found: set[int] = set()
    compared = 0
    for split in ("train", "val"):
        for row in Dataset(place.scene_records, split=split):
            ids = images.decode(row[_MASK], "labels")
            name = row["image/source_id"].decode()
            _require(np.array_equal(ids, drawn[name]), f"the mask of {name} is not what was drawn")
            found.update(images.label_values(ids))
            compared += 1
    _require(compared == len(drawn), f"{compared} masks of {len(drawn)} are in the records")
    stage.proved(f"{compared} masks of {compared} are what was drawn, pixel by pixel: ids {_set(found)}")
    _show_the_trap(stage, place, max(drawn, key=lambda name: len(np.unique(drawn[name]))))


def _show_the_trap(stage: Stage, place: Place, name: str) -> None:
    """What decoders make of the very same file that put colours in place of ids."""
    with open(mask_path(place.scenes, name), "rb") as file:
        data = file.read()
    colors = images.decode(data, "rgb")
    stage.say(f"a decoder that applies the palette gives other values: {_set(images.label_values(colors))}")


def _quoted(path: str) -> str:
    """As Python code, with the quotes of this house."""
    return json.dumps(path, ensure_ascii=False)


def _set(values: set[int] | list[int]) -> str:
    return "{" + ", ".join(map(str, sorted(values))) + "}"


def _train(stage: Stage, place: Place) -> tuple[list[str], dict[str, Weights]]:
    side = training.SIDE
    stage.python(
        f'train = tfreel.Dataset({_quoted(place.fruit_records)}, split="train")',
        f'pixels = tfreel.images.decoder("image/encoded", size=({side}, {side}), scale=True)',
        f"batches = train.shuffle(seed={training.SEED}).batch({training.BATCH_ROWS})"
        f".map(pixels).repeat({training.EPOCHS})",
        "for batch in batches: classifier.learn(batch)",
    )
    classifier = training.beginner()
    lessons = training.lessons(place)
    an_epoch = len(lessons) // training.EPOCHS

    def report(done: int, loss: float) -> None:
        epoch, rest = divmod(done, an_epoch)
        if not rest and epoch in _TOLD_EPOCHS:
            share = _share(*training.score(place, "val", classifier))
            stage.say(f"epoch {epoch:2}   loss {loss:.3f}   validation {share}")

    seen = training.study(iter(lessons), classifier, after=report)
    right, count = training.score(place, "test", classifier)
    told = f"test accuracy {_share(right, count)}: {right} of {count} pictures that it had never seen"
    _require(right > WANTED_ACCURACY * count, told)
    stage.proved(told)
    return seen, classifier.weights


def _share(right: int, count: int) -> str:
    return f"{100 * right / count:.1f} %"


def _train_again(stage: Stage, place: Place, seen: list[str], weights: dict[str, Weights]) -> None:
    steps, classifier = iter(training.lessons(place)), training.beginner()
    before = training.study(steps, classifier, _INTERRUPTED_AFTER)
    nbytes = training.interrupt(place, steps, classifier)
    stage.python("json.dump(steps.state_dict(), file)")
    stage.say(f"stopped after {len(before)} of {len(seen)} batches, in the middle of an epoch;")
    stage.say(f"{place.state} has the place in the data, {nbytes} bytes")
    steps, classifier = training.resume(place)
    stage.python("steps = iter(batches)", "steps.load_state_dict(json.load(file))")
    after = training.study(steps, classifier)
    _require(before + after == seen, "the resumed training saw other batches")
    stage.proved(f"{len(before)} + {len(after)} batches, the same bytes in the same order as without a stop")
    same = all(np.array_equal(weights[name], classifier.weights[name]) for name in weights)
    _require(same, "the resumed training ended with other weights")
    stage.proved("the same weights at the end, bit for bit")


def _mend(stage: Stage, place: Place) -> None:
    whole = os.path.join(place.fruit_records, "test-00000-of-00002.tfrecord")
    shutil.copyfile(whole, place.damaged)
    _flip_a_bit(place.damaged)
    stage.say(f"flipped one bit in a copy of {os.path.basename(whole)}")
    _run(stage, "verify", place.damaged, code=1)
    _run(stage, "repair", place.damaged, place.mended, code=1)
    _run(stage, "verify", place.mended)
    lost = len(open_records(whole)) - len(open_records(place.mended))
    _require(lost == 1, f"{lost} records were lost in place of one")
    stage.proved("one bad bit cost one record")


def _flip_a_bit(path: str) -> None:
    """As a bad disk would, in the middle of a record in the middle of the file."""
    records = open_records(path)
    victim = records[len(records) // 2]
    middle = len(victim) // 2
    with open(path, "r+b") as file:
        file.seek(file.read().index(victim) + middle)
        file.write(bytes([victim[middle] ^ 1]))


def _what_next(stage: Stage) -> None:
    stage.shell("pack", "YOUR_FOLDER", "records/", "--split", "train=0.8,val=0.1,test=0.1")
    stage.shell("info", "records/")
    stage.shell("head", "records/")
    stage.shell("unpack", "records/", "pictures/")
    stage.python(
        "import tfreel",
        'train = tfreel.Dataset("records", split="train")',
        'pixels = tfreel.images.decoder("image/encoded", size=(224, 224), scale=True)',
        "for batch in train.shuffle(seed=1).batch(32).map(pixels): …",
    )
