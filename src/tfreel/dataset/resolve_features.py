"""What is asked of each record: what the caller says, else the folder, else what a sample of them shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfreel.columns.parse import Features
from tfreel.columns.plan import no_such_feature
from tfreel.errors import FeatureError
from tfreel.features.described import from_json, parts_of
from tfreel.inference import InferredFeatures, infer_features
from tfreel.records.read import OnCorrupt
from tfreel.storage.dataset_folder import Folder
from tfreel.storage.names import Paths
from tfreel.storage.paths import display


def told(folder: Folder, files: Sequence[str], on_corrupt: OnCorrupt) -> Features:
    """What a folder says of its features, and what the records say where it is silent."""
    said = {name: from_json(found) for name, found in folder.features.items()}
    if folder.whole:
        return said
    parts = {key for feature in said.values() for key in parts_of(feature)}
    inferred = infer_features(files, on_corrupt=on_corrupt)
    return {**{name: inferred[name] for name in inferred if name not in parts}, **said}


def is_pipe(paths: Any) -> bool:
    """Whether one of these is a stream, which can be read only once."""
    if isinstance(paths, (list, tuple)):
        return any(is_pipe(path) for path in paths)
    return hasattr(paths, "read") or (isinstance(paths, str) and paths == "-")


def asked_of(
    paths: Paths,
    given: tuple[Features, Features] | None,
    columns: Sequence[str] | None,
    on_corrupt: OnCorrupt,
    *,
    raw: bool,
) -> tuple[Features | None, Features]:
    """What to read of each record, and of its feature lists.

    Raises:
        TypeError: Columns are one string, not a list of them.
        ValueError: No feature is called like one of them.
        FeatureError: Records have no features.
    """
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, not {columns!r}")
    if raw:
        return None, {}
    if given is None:
        inferred = infer_features(paths, on_corrupt=on_corrupt)
        given = inferred, inferred.sequence_features
        if inferred.records and not any(given):
            raise _featureless(inferred)
    features, lists = given
    for each in given:
        if not isinstance(each, Mapping):
            raise TypeError(
                f"features must be a dict of features by name, not {type(each).__name__}; columns=[…] reads"
                " some of those that there are"
            )
    if columns is None:
        return dict(features), dict(lists)
    columns = list(columns)  # a generator can be gone through only once
    missing = [name for name in columns if name not in features and name not in lists]
    if missing:
        raise ValueError(no_such_feature(missing[0], [*features, *lists]))
    return _only(features, columns), _only(lists, columns)


def _featureless(inferred: InferredFeatures) -> FeatureError:
    path = inferred.files[0]
    text = f"{display(path)}: no feature in {inferred.records:,} records; tfreel.read gives their bytes"
    return FeatureError(text, path=path)


def _only(features: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: features[name] for name in names if name in features}
