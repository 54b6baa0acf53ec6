"""`tfreel.profile.infer_schema`: records in, rules that hold for them out.

A rule is made only of what is likely to hold for other records too: kinds, shapes, presence, formats of
images, texts that come again and again, ids that are counted from 0 or 1. Ranges of measured numbers are not
rules: the next record may well lie outside. They stand beside the rules as facts, for a person to decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfreel import _core
from tfreel.errors import FeatureError, TfreelError
from tfreel.examples.decode import decode_sequence
from tfreel.images.decode import decode as decode_image
from tfreel.images.headers import pixels_of
from tfreel.inference.content import IMAGES, content_of
from tfreel.inference.features import InferredFeatures, Survey
from tfreel.inference.profile import FeatureProfile
from tfreel.inference.text import as_json
from tfreel.profile.chunks import Chunk, Chunks
from tfreel.profile.rules import FeatureRules
from tfreel.profile.scan import Scan
from tfreel.profile.schema import Schema
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import Paths

_MOST_TEXTS = 64  # different ones that are a rule
_LONGEST_TEXT = 48
_MOST_IDS = 10_000
_SEEN_PER_VALUE = 10  # with fewer values of each, nobody knows which others there are
_SIGN = np.uint64(1 << 63)


def infer_schema(
    paths: Paths,
    *,
    sample: int | None = 1000,
    masks: bool = False,
    on_corrupt: OnCorrupt = "raise",
    progress: Progress | None = None,
) -> Schema:
    """The rules that some records keep, to edit and to check other records with.

    Args:
        paths: As in `tfreel.read`.
        sample: How many records to look at, as in `tfreel.infer_features`. ``None``: all of them.
        masks: Decode label masks, and make a rule of the class ids in them.
        on_corrupt: As in `tfreel.read`.
        progress: Called with the number of records and bytes looked at since the last call.

    Raises:
        DecodeError: A record is neither an Example nor a SequenceExample.

    Example:
        >>> rows = [{"size": ["small", "large"][i % 2], "weight": i / 7} for i in range(100)]
        >>> tfreel.save("cats.tfrecord", rows)
        >>> schema = tfreel.profile.infer_schema("cats.tfrecord")
        >>> schema.rules["size"].allowed, schema.rules["weight"].range
        (('large', 'small'), None)
    """
    return schema_and_features(paths, sample=sample, masks=masks, on_corrupt=on_corrupt, progress=progress)[0]


def schema_and_features(
    paths: Paths,
    *,
    sample: int | None,
    masks: bool,
    on_corrupt: OnCorrupt = "raise",
    progress: Progress | None,
) -> tuple[Schema, InferredFeatures]:
    """The schema, and the features of the same records, in one pass: a stream comes only once."""
    chunks = Chunks(paths, sample=sample, on_corrupt=on_corrupt, progress=progress)
    survey, sketches, ids = Survey(), _Sketches(), _MaskIds()
    for chunk in chunks:
        for row in range(chunk.rows):
            record = chunk.record(row)
            survey.see(record, chunk.place(row))
            if masks:
                ids.see(record)
        sketches.see(chunk)
    found = survey.result(chunks.files)
    values = sketches.result()
    schema = Schema(
        {
            name: _rules(profile, values.get((name, False)), ids.found.get(name))
            for name, profile in found.profiles.items()
        },
        {
            name: _rules(profile, values.get((name, True)), None)
            for name, profile in found.sequence_profiles.items()
        },
        other_features="refuse",
        facts=as_json(found),
    )
    return schema, found


class _Sketches:
    """How values are distributed, by the core."""

    def __init__(self) -> None:
        self._scan: Scan | None = Scan(None, None)

    def see(self, chunk: Chunk) -> None:
        if self._scan is None:
            return
        blocks: Iterable[_core.Block] = chunk.blocks
        if not chunk.is_whole:
            blocks = [_core.framed([chunk.record(row) for row in range(chunk.rows)])]
        try:
            for block in blocks:
                self._scan.see(block, chunk.path, skip=True)
        except FeatureError:  # too many features: rules without values, then
            self._scan = None

    def result(self) -> dict[tuple[str, bool], dict[str, Any]]:
        """By name, and whether it is a feature list."""
        if self._scan is None:
            return {}
        _, _, features = self._scan.sketches.total()
        return {(each["name"], each["in_lists"]): each for each in features}


class _MaskIds:
    """The class ids in the masks of each feature; None where an image is no mask."""

    def __init__(self) -> None:
        self.found: dict[str, set[int] | None] = {}

    def see(self, record: bytes) -> None:
        context, _ = decode_sequence(record, tensors=False)
        for name, values in context.items():
            if isinstance(values, list) and self.found.get(name, set()) is not None:
                for value in values:
                    self._look(name, value)

    def _look(self, name: str, value: bytes) -> None:
        known = self.found.get(name, set())
        content = content_of(value)
        pixels = pixels_of(content.kind, value)
        single = pixels.palette or pixels.channels == 1
        if known is None or not single or content.kind not in IMAGES or content.kind == "jpeg":
            self.found[name] = None
            return
        try:
            known.update(np.unique(decode_image(value, "labels")).tolist())
            self.found[name] = known
        except (ValueError, TfreelError):
            self.found[name] = None


def _rules(profile: FeatureProfile, values: dict[str, Any] | None, ids: set[int] | None) -> FeatureRules:
    kind = next(iter(profile.kinds), None)
    least, most = profile.lengths or (0, 0)
    fixed = profile.lengths is not None and least == most and not (profile.steps is None and profile.empty)
    of_bytes = kind == "bytes"
    allowed = _texts(values["strings"]) if of_bytes and values is not None else None
    shape = None if not fixed or profile.empty else (() if most == 1 else (most,))
    return FeatureRules(
        kind=kind,
        presence=None if profile.absent or not profile.records else 1.0,
        shape=shape,
        range=None if kind != "int64" or values is None else _id_range(values["ints"]),
        nan=None if kind != "float32" or profile.not_finite else False,
        inf=None if kind != "float32" or profile.not_finite else False,
        allowed=allowed,
        contents=_contents(profile) if of_bytes and not allowed else None,
        width=_side(profile, 0) if of_bytes else None,
        height=_side(profile, 1) if of_bytes else None,
        mask_ids=tuple(sorted(ids)) if of_bytes and ids else None,
    )


def _id_range(ints: dict[str, Any] | None) -> tuple[int, int] | None:
    """From the least to the greatest, if these are ids: from 0 or 1 on, most of them used, and often."""
    if not ints or not ints["count"] or not ints["exact"]:
        return None
    keys = ints["frequent"][0] ^ _SIGN
    numbers = keys.view(np.int64)
    least, most = int(numbers.min()), int(numbers.max())
    many = ints["count"] >= _SEEN_PER_VALUE * len(numbers) and 2 <= len(numbers) <= _MOST_IDS
    dense = 2 * len(numbers) > most - least
    return (least, most) if least in (0, 1) and dense and many else None


def _texts(strings: dict[str, Any] | None) -> tuple[str, ...] | None:
    """The texts, if they are few and come again and again."""
    if not strings or not strings["values"]["exact"]:
        return None
    shown = strings["shown"]
    counts = Counter({value: count for value, size, count in shown if size <= _LONGEST_TEXT})
    if len(counts) != len(strings["values"]["frequent"][0]) or not counts or len(counts) > _MOST_TEXTS:
        return None
    if counts.total() < _SEEN_PER_VALUE * len(counts):
        return None
    if not all(content_of(value).kind in ("text", "empty") for value in counts):
        return None
    return tuple(sorted(value.decode() for value in counts))


def _contents(profile: FeatureProfile) -> tuple[str, ...] | None:
    """What bytes are, if that can be told of all of them."""
    if not profile.contents or "binary" in profile.contents or profile.shape_from:
        return None
    return tuple(sorted(profile.contents))


def _side(profile: FeatureProfile, side: int) -> tuple[int, int] | None:
    """The width or height of images, if they are all of one size."""
    sizes = profile.image_sizes
    if sizes is None or sizes[0] != sizes[1] or not set(profile.contents) <= IMAGES:
        return None
    return sizes[0][side], sizes[0][side]
