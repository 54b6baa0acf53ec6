"""`tfreel.infer_features`: records in, the features that read them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tfreel.errors import DecodeError
from tfreel.examples.decode import decode_sequence
from tfreel.features.kinds import Feature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature
from tfreel.inference.conflicts import conflicts_of, without_records
from tfreel.inference.content import IMAGES
from tfreel.inference.pixels import Rows
from tfreel.inference.profile import FeatureProfile, Observer
from tfreel.inference.sample import Place, files_to_sample, path_of, sampled
from tfreel.inference.text import json_text, python_code, tensorflow_code
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import Paths, resolve


class InferredFeatures(dict[str, Feature]):
    """The features of some records: a dict for `tfreel.parse`, and what it was inferred from.

    Of SequenceExamples it holds the features of the context, for `tfreel.parse_sequence`.

    Attributes:
        records: How many records were looked at.
        files: The files they are from.
        sequence_features: The features in feature lists; empty for Examples.
        profiles: What was seen of each feature, by its name.
        sequence_profiles: What was seen of each feature in feature lists.
        conflicts: Where records disagree, each as a sentence with counter-examples.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"label": 7, "name": "cat"}, {"label": 3, "name": "kitten"}])
        >>> print(tfreel.infer_features("cats.tfrecord"))
        import tfreel
        <BLANKLINE>
        # From 2 records of 1 file.
        features = {
            "label": tfreel.FixedLenFeature([], "int64"),  # 3…7
            "name": tfreel.FixedLenFeature([], "bytes"),  # text: 'cat', 'kitten'
        }
        # batch = tfreel.parse(tfreel.read("cats.tfrecord"), features)
    """

    def __init__(self) -> None:
        super().__init__()
        self.records = 0
        self.files: list[str] = []
        self.sequence_features: dict[str, Feature] = {}
        self.profiles: dict[str, FeatureProfile] = {}
        self.sequence_profiles: dict[str, FeatureProfile] = {}
        self.conflicts: list[str] = []

    def to_python(self) -> str:
        """The features as Python code for tfreel, with what was seen as comments. `str` gives the same."""
        return python_code(self)

    def to_tensorflow(self) -> str:
        """The features as Python code for TensorFlow."""
        return tensorflow_code(self)

    def to_json(self) -> str:
        """The features and all that was seen, as a JSON object; its keys are in docs/columns.md."""
        return json_text(self)

    def __str__(self) -> str:
        return self.to_python()


def infer_features(
    paths: Paths,
    *,
    sample: int | None = 1000,
    on_corrupt: OnCorrupt = "raise",
    progress: Progress | None = None,
) -> InferredFeatures:
    """The features of Examples or SequenceExamples, found out by looking at some of them.

    A feature with one kind and the same number of values in every record becomes a `FixedLenFeature`, any
    other a `RaggedFeature`. Of different kinds the most frequent one is taken, and ``conflicts`` says where
    the others are. Files without records have no features, and one conflict that says so.

    Args:
        paths: As in `tfreel.read`.
        sample: How many records to look at: the first ones of each file, of at most 200 files spread evenly
            over all. ``None``: all records of all files.
        on_corrupt: As in `tfreel.read`.
        progress: Called with the number of records and bytes looked at since the last call.

    Raises:
        DecodeError: A record is neither an Example nor a SequenceExample.

    Example:
        >>> rows = [{"label": 7, "toys": ["ball"]}, {"label": 3, "toys": ["ball", "yarn"]}]
        >>> tfreel.save("cats.tfrecord", rows)
        >>> features = tfreel.infer_features("cats.tfrecord")
        >>> features["label"], features["toys"].dtype
        (FixedLenFeature(shape=(), dtype='int64', default_value=None), 'bytes')
        >>> tfreel.parse(tfreel.read("cats.tfrecord"), features)["toys"].to_list()
        [[b'ball'], [b'ball', b'yarn']]
    """
    if sample is not None and sample < 1:
        raise ValueError(f"sample must be at least 1, or None for all records, not {sample}")
    files = files_to_sample(resolve(paths), sample)
    survey = Survey()
    for place, record in sampled(files, sample, on_corrupt):
        survey.see(record, place)
        if progress is not None:
            progress(1, len(record))
    return survey.result([path_of(file) for file in files])


class Survey:
    """All features of all records so far."""

    def __init__(self) -> None:
        self._features: dict[str, Observer] = {}
        self._lists: dict[str, Observer] = {}
        self._rows = Rows()
        self._in_file: dict[str, int] = {}

    def see(self, record: bytes, place: Place) -> None:
        """Takes note of one record."""
        try:
            # An Example is a SequenceExample without feature lists, byte for byte.
            context, lists = decode_sequence(record, tensors=False)
        except DecodeError as error:
            raise _not_an_example(error, place) from None
        self.note(context, lists, place)

    def note(self, context: Mapping[str, Any], lists: Mapping[str, Any], place: Place) -> None:
        """Takes note of one record that is decoded already."""
        self._in_file[place.path] = self._in_file.get(place.path, 0) + 1
        for name, value in context.items():
            _observer(self._features, name).see(value, place)
        for name, steps in lists.items():
            _observer(self._lists, name).see_steps(steps, place)
        self._rows.keep(context)

    def result(self, files: list[str]) -> InferredFeatures:
        """What to make of it."""
        found = InferredFeatures()
        found.records = sum(self._in_file.values())
        found.files = files
        found.profiles = {
            name: self._with_arrays(seen.profile(found.records))
            for name, seen in sorted(self._features.items())
        }
        found.sequence_profiles = {
            name: seen.profile(found.records) for name, seen in sorted(self._lists.items())
        }
        found.update(_decided(found.profiles))
        found.sequence_features = _decided(found.sequence_profiles)
        observers = [*self._features.values(), *self._lists.values()]
        found.conflicts = [
            sentence
            for observer in sorted(observers, key=lambda seen: seen.name)
            for sentence in conflicts_of(observer, self._in_file)
        ] or without_records(found.records, len(observers))
        return found

    def _with_arrays(self, profile: FeatureProfile) -> FeatureProfile:
        """The profile with what other features say about the arrays in this one."""
        if profile.lengths != (1, 1) or set(profile.kinds) != {"bytes"}:
            return profile
        if (IMAGES | {"tensor", "npy"}).intersection(profile.contents):
            return profile
        array = self._rows.arrays_in(profile.name)
        if array is None or not (array.shape_from or profile.contents.get("binary")):
            return profile
        return replace(profile, array_dtype=array.dtype, array_shape=array.shape, shape_from=array.shape_from)


def _observer(observers: dict[str, Observer], name: str) -> Observer:
    found = observers.get(name)
    if found is None:
        found = observers[name] = Observer(name)
    return found


def _not_an_example(error: DecodeError, place: Place) -> DecodeError:
    why = str(error).removeprefix("not a valid SequenceExample: ")
    told = DecodeError(
        f"{place}: neither an Example nor a SequenceExample: {why}; the file may hold other messages:"
        " tfreel.read gives records of any kind",
        path=place.path,
        record=place.record,
        kind=error.kind,
    )
    told.byte = error.byte
    return told


def _decided(profiles: Mapping[str, FeatureProfile]) -> dict[str, Feature]:
    return {name: feature_for(profile) for name, profile in profiles.items() if profile.kinds}


def feature_for(profile: FeatureProfile) -> Feature:
    """The feature that reads all that was seen; of several kinds, all of the most frequent one."""
    dtype = next(iter(profile.kinds))
    least, most = profile.lengths or (0, 0)
    shape = [] if least == 1 else [least]
    fixed = least == most > 0 and not profile.empty and len(profile.kinds) == 1
    if profile.steps is not None:
        if fixed:
            return FixedLenSequenceFeature(shape, dtype, allow_missing=profile.absent > 0)
        return RaggedFeature(dtype)
    return FixedLenFeature(shape, dtype) if fixed and not profile.absent else RaggedFeature(dtype)
