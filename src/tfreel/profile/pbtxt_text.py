"""Rules as a schema of tf.Metadata, in the text format of protocol buffers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tfreel.inference.content import IMAGES
from tfreel.profile.rules import Bounds, FeatureRules
from tfreel.profile.text_format import quoted

if TYPE_CHECKING:
    from tfreel.profile.schema import Schema

_TYPES = {"int64": "INT", "float32": "FLOAT", "bytes": "BYTES"}
# What the format has no words for.
_OURS_ALONE = ("value_bytes", "width", "height", "mask_ids")


def written(schema: Schema) -> str:
    """The schema as text, with a comment for every rule that the format cannot say."""
    lines: list[str] = []
    for name, rules in schema.rules.items():
        lines += _feature(name, rules, in_lists=False)
    if schema.sequence_rules:
        lines += ["feature {", '  name: "##SEQUENCE##"', "  type: STRUCT", "  struct_domain {"]
        for name, rules in schema.sequence_rules.items():
            lines += [f"    {line}" for line in _feature(name, rules, in_lists=True)]
        lines += ["  }", "}"]
    sizes = [f"  min_examples_count: {schema.min_records}"] if schema.min_records else []
    sizes += [] if schema.max_records is None else [f"  max_examples_count: {schema.max_records}"]
    if sizes:
        lines += ["dataset_constraints {", *sizes, "}"]
    return "\n".join(lines) + "\n"


def _feature(name: str, rules: FeatureRules, *, in_lists: bool) -> Iterator[str]:
    yield "feature {"
    yield f"  name: {quoted(name)}"
    if rules.kind is not None:
        yield f"  type: {_TYPES[rules.kind]}"
    presence = {"min_fraction": rules.presence, "min_count": rules.min_present}
    if rules.presence is not None or rules.min_present is not None:
        yield from _message("presence", presence)
    yield from _counts(rules, in_lists=in_lists)
    yield from _domain(name, rules)
    if rules.allowed_share is not None:
        yield from _message("distribution_constraints", {"min_domain_mass": rules.allowed_share})
    distances = {"infinity_norm": rules.drift, "jensen_shannon_divergence": rules.divergence}
    if any(distance is not None for distance in distances.values()):
        yield "  drift_comparator {"
        for key, threshold in distances.items():
            if threshold is not None:
                yield f"    {key} {{ threshold: {threshold!r} }}"
        yield "  }"
    yield from (f"  # {line}" for line in _unsaid(rules, in_lists=in_lists))
    yield "}"


def _message(name: str, fields: Mapping[str, object]) -> Iterator[str]:
    inside = " ".join(f"{key}: {value}" for key, value in fields.items() if value is not None)
    yield f"  {name} {{ {inside} }}" if inside else f"  {name} {{ }}"


def _bounds(bounds: Bounds | None) -> str:
    least, most = bounds or (None, None)
    inside = [f"min: {least}"] if least is not None else []
    inside += [f"max: {most}"] if most is not None else []
    return f"{{ {' '.join(inside)} }}" if inside else "{ }"


def _counts(rules: FeatureRules, *, in_lists: bool) -> Iterator[str]:
    if in_lists:
        if rules.steps is not None or rules.counts is not None:
            both = f"value_count {_bounds(rules.steps)} value_count {_bounds(rules.counts)}"
            yield f"  value_counts {{ {both} }}"
    elif rules.shape is not None and rules.presence == 1:
        sizes = " ".join(f"dim {{ size: {size} }}" for size in rules.shape)
        yield f"  shape {{ {sizes} }}" if sizes else "  shape { }"
    elif rules.counts is not None:  # a shape is only for what all records have
        yield f"  value_count {_bounds(rules.counts)}"


def _domain(name: str, rules: FeatureRules) -> Iterator[str]:
    if rules.kind == "bytes" and rules.allowed is not None:
        yield "  string_domain {"
        yield f"    name: {quoted(name)}"
        yield from (f"    value: {quoted(str(value))}" for value in rules.allowed)
        yield "  }"
    elif rules.contents and set(rules.contents) <= IMAGES:
        yield "  image_domain { }"
    elif rules.kind == "int64" and _whole_range(rules):
        yield f"  int_domain {_bounds(rules.range)}"  # type: ignore[arg-type]
    elif rules.kind == "float32" and (rules.range is not None or False in (rules.nan, rules.inf)):
        least, most = rules.range or (None, None)
        flags = {"disallow_nan": rules.nan, "disallow_inf": rules.inf}
        words: dict[str, object] = {"min": least, "max": most}
        words |= {key: "true" for key, value in flags.items() if value is False}
        yield from _message("float_domain", words)


def _whole_range(rules: FeatureRules) -> bool:
    return rules.range is not None and all(end is None or isinstance(end, int) for end in rules.range)


def _unsaid(rules: FeatureRules, *, in_lists: bool) -> Iterator[str]:
    found = rules.to_json()
    unsaid = {key for key in _OURS_ALONE if key in found}
    if rules.allowed is not None and rules.kind != "bytes":
        unsaid.add("allowed")
    if rules.contents is not None and (set(rules.contents) != IMAGES or rules.allowed is not None):
        unsaid.add("contents")
    if rules.range is not None and not (
        rules.kind == "float32" or (rules.kind == "int64" and _whole_range(rules))
    ):
        unsaid.add("range")
    if rules.steps is not None and not in_lists:
        unsaid.add("steps")
    for key in found:
        if key in unsaid:
            # As JSON, in ASCII: whatever a value holds, the comment ends with its line.
            yield f"not in this format: {key} {json.dumps(found[key])}"
