"""Inferred features as text: Python code for tfreel or TensorFlow, JSON, and short words for people.

Names and values come from files that anyone may have written: whatever is not printable is escaped, so that
a comment stays a comment and a string a string.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tfreel.features.described import to_json
from tfreel.features.kinds import (
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Partition,
    RaggedFeature,
    SparseFeature,
)
from tfreel.inference.content import NAMES
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.inference.features import InferredFeatures
    from tfreel.inference.profile import FeatureProfile

_TENSORFLOW_DTYPES = {"int64": "tf.int64", "float32": "tf.float32", "bytes": "tf.string"}
_MOST_CONTENTS = 3
_MANY_VALUES = 8


def python_code(found: InferredFeatures) -> str:
    """The features as code for tfreel."""
    source = quoted(found.files[0]) if len(found.files) == 1 else "paths"
    if found.sequence_features:
        use = f"tfreel.parse_sequence(tfreel.read({source}), context_features, sequence_features)"
    else:
        use = f"tfreel.parse(tfreel.read({source}), features)"
    return _code(found, "import tfreel", "tfreel.", {}, [f"batch = {use}"])


def tensorflow_code(found: InferredFeatures) -> str:
    """The features as code for TensorFlow."""
    source = f"[{quoted(found.files[0])}]" if len(found.files) == 1 else "paths"
    if found.sequence_features:
        use = "tf.io.parse_sequence_example(records, context_features, sequence_features)"
    else:
        use = "tf.io.parse_example(records, features)"
    dataset = [
        f"dataset = tf.data.TFRecordDataset({source}{_compression(found.files)}).batch(32)",
        f"dataset = dataset.map(lambda records: {use})",
    ]
    return _code(found, "import tensorflow as tf", "tf.io.", _TENSORFLOW_DTYPES, dataset)


def _compression(files: Iterable[str]) -> str:
    from tfreel.compression import codec_for_path

    codec = next((codec_for_path(file) for file in files), "none")
    return "" if codec == "none" else f', compression_type="{codec.upper()}"'


def _code(
    found: InferredFeatures, imports: str, module: str, dtypes: Mapping[str, str], use: list[str]
) -> str:
    lines = [
        imports,
        "",
        f"# From {_plural(found.records, 'record')} of {_plural(len(found.files), 'file')}.",
    ]
    lines += [f"# Conflict: {display(sentence)}." for sentence in found.conflicts]
    name = "context_features" if found.sequence_features else "features"
    lines += _dict(name, found, found.profiles, module, dtypes)
    if found.sequence_features:
        lines += _dict("sequence_features", found.sequence_features, found.sequence_profiles, module, dtypes)
    if found or found.sequence_features:
        lines += [f"# {line}" for line in use]
    return "\n".join(lines)


def _dict(
    name: str,
    features: Mapping[str, Feature],
    profiles: Mapping[str, FeatureProfile],
    module: str,
    dtypes: Mapping[str, str],
) -> list[str]:
    if not features:
        return [f"{name} = {{}}"]
    lines = [f"{name} = {{"]
    for key, feature in features.items():
        comment = note(profiles[key])
        lines.append(
            f"    {quoted(key)}: {module}{call(feature, dtypes)}," + (f"  # {comment}" if comment else "")
        )
    return [*lines, "}"]


def call(feature: Feature, dtypes: Mapping[str, str] | None = None, module: str = "tfreel.") -> str:
    """The call that makes a feature, without the module in front of it."""
    dtype = (dtypes or {}).get(feature.dtype, f'"{feature.dtype}"')
    words = [dtype]
    if isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
        words.insert(0, str(list(feature.shape)))
        if isinstance(feature, FixedLenSequenceFeature) and feature.allow_missing:
            words.append("allow_missing=True")
        if feature.default_value is not None:
            words.append(f"default_value={_default(feature.default_value)}")
    elif isinstance(feature, SparseFeature):
        keys = [_listed(feature.index_key), feature.value_key]
        words = [*(repr(key) for key in keys), dtype, repr(_listed(feature.size))]
    elif isinstance(feature, RaggedFeature):
        words += [] if feature.value_key is None else [f"value_key={quoted(feature.value_key)}"]
        parts = ", ".join(f"{module}{_partition(part)}" for part in feature.partitions)
        words += [f"partitions=[{parts}]"] if parts else []
    return f"{type(feature).__name__}({', '.join(words)})"


def _default(value: Any) -> str:
    """A default as code; of many values that are all the same, short."""
    flat = [value]
    while flat and isinstance(flat[0], tuple):
        flat = [part for one in flat for part in one]
    if len(flat) > _MANY_VALUES and flat.count(flat[0]) == len(flat):
        return f"[{flat[0]!r}] * {len(flat)}"
    return repr(_listed(value))


def _listed(value: Any) -> Any:
    """Tuples as lists, as people write them."""
    return [_listed(part) for part in value] if isinstance(value, tuple) else value


def _partition(partition: Partition) -> str:
    name = type(partition).__name__.removeprefix("_")
    inside = partition.length if isinstance(partition, RaggedFeature.UniformRowLength) else partition.key
    return f"RaggedFeature.{name}({quoted(inside) if isinstance(inside, str) else inside})"


def quoted(text: str) -> str:
    """The text as a string of Python, in double quotes where that is plain to read."""
    if not text.isprintable():
        return repr(text)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def json_text(found: InferredFeatures) -> str:
    """The features and all that was seen, as a JSON object."""
    text = json.dumps(as_json(found), ensure_ascii=False, indent=2)
    # A byte of a file name that is no UTF-8 is a lone surrogate in Python: JSON can hold it, escaped.
    return text.encode("utf-8", "backslashreplace").decode()


def as_json(found: InferredFeatures) -> dict[str, Any]:
    """The same, of plain Python values. The keys are a promise: never rename one."""
    return {
        "records": found.records,
        "files": found.files,
        "features": _as_json(found, found.profiles),
        "sequence_features": _as_json(found.sequence_features, found.sequence_profiles),
        "conflicts": found.conflicts,
    }


def _as_json(features: Mapping[str, Feature], profiles: Mapping[str, FeatureProfile]) -> dict[str, Any]:
    described = {}
    for name, profile in profiles.items():
        seen = {key: value for key, value in asdict(profile).items() if key not in ("name", "records")}
        feature = features.get(name)
        described[name] = {"feature": None if feature is None else to_json(feature), **seen}
    return described


def note(profile: FeatureProfile) -> str:
    """What is known of a feature, in a few words."""
    words = [*_amounts(profile), *_numbers(profile), *_bytes(profile), *gaps(profile)]
    return display(", ".join(words))


def seen(profile: FeatureProfile) -> str:
    """What values a feature has, in a few words."""
    return display(", ".join([*_numbers(profile), *_bytes(profile)]))


def kind_and_shape(profile: FeatureProfile) -> str:
    """The kind of a feature and how many values it has: ``int64``, ``float32 [4]``, ``bytes [0…3]``."""
    kinds = " or ".join(profile.kinds) or "no kind"
    if profile.lengths is None:
        return kinds
    fixed = profile.lengths == (1, 1) and not profile.absent and not profile.empty
    sides = [] if fixed and profile.steps is None else [_ends(profile.lengths)]
    if profile.steps is not None:
        sides.insert(0, f"{_ends(profile.steps)} steps")
    return f"{kinds} [{', '.join(sides)}]" if sides else kinds


def _ends(span: tuple[int, int]) -> str:
    least, most = span
    return f"{most:,}" if least == most else f"{least:,}…{most:,}"


def gaps(profile: FeatureProfile) -> list[str]:
    """Where a feature has no values."""
    words = []
    if profile.absent:
        words.append(f"absent in {profile.absent:,} of {profile.records:,}")
    if profile.empty:
        words.append(f"{profile.empty:,} empty")
    return words


def _amounts(profile: FeatureProfile) -> list[str]:
    words = []
    if profile.steps is not None:
        words.append(_counted(profile.steps, "step"))
    if profile.lengths is not None and profile.lengths[0] != profile.lengths[1]:
        words.append(_counted(profile.lengths, "value"))
    return words


def _numbers(profile: FeatureProfile) -> list[str]:
    words = []
    if profile.values is not None:
        least, most = profile.values
        words.append(f"always {_number(least)}" if least == most else f"{_number(least)}…{_number(most)}")
    if profile.not_finite:
        words.append(f"{profile.not_finite:,} not finite")
    return words


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _bytes(profile: FeatureProfile) -> list[str]:
    if profile.sizes is None:
        return []
    if profile.shape_from or (profile.array_shape and "binary" in profile.contents):
        return [_array(profile)]
    if profile.words and set(profile.contents) == {"text"}:
        return [f"text: {', '.join(map(repr, profile.words))}"]
    words = [_contents(profile.contents)]
    if profile.image_sizes is not None:
        small, large = (f"{width}×{height}" for width, height in profile.image_sizes)
        words.append(small if small == large else f"{small}…{large}")
    elif profile.array_dtype is not None:
        words.append(" ".join(filter(None, [profile.array_dtype, _dimensions(profile.array_shape)])))
    elif set(profile.contents) <= {"text", "binary", "empty"}:
        words.append(_between(profile.sizes))
    return words


def _array(profile: FeatureProfile) -> str:
    least, most = profile.sizes or (0, 0)
    each = f" ({least:,} bytes each)" if least == most else ""
    shape = _dimensions(profile.array_shape)
    if not profile.shape_from:
        return f"raw pixels {shape}?{each}"
    what = " ".join(filter(None, [profile.array_dtype or "raw", "array", shape]))
    return f"{what}, shape in {', '.join(map(repr, profile.shape_from))}"


def _dimensions(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return ""
    return "×".join(map(str, shape)) or "scalar"


def _contents(contents: Mapping[str, int]) -> str:
    kinds = list(contents.items())
    if len(kinds) == 1:
        return NAMES[kinds[0][0]]
    parts = [f"{NAMES[kind]} ({count:,})" for kind, count in kinds[:_MOST_CONTENTS]]
    return " or ".join(parts) + (" or other" if len(kinds) > _MOST_CONTENTS else "")


def _between(sizes: tuple[int, int]) -> str:
    least, most = sizes
    return f"{_plural(least, 'byte')} each" if least == most else f"{least:,}…{most:,} bytes"


def _counted(span: tuple[int, int], noun: str) -> str:
    least, most = span
    return _plural(most, noun) if least == most else f"{least:,} to {_plural(most, noun)}"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
