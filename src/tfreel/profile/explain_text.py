"""Explanations as text: sentences for people, and code to keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfreel.inference.text import call, quoted
from tfreel.profile.asked import Asked
from tfreel.profile.misfits import Misfit, asked_count
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.profile.explain import Explanation, FeatureExplanation

_TENSORFLOW_DTYPES = {"int64": "tf.int64", "float32": "tf.float32", "bytes": "tf.string"}
_MOST_UNUSED = 20


def plural(count: int, noun: str) -> str:
    """``1 record``, ``2,000 records``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sentence(misfit: Misfit, asked: Asked, records: int) -> str:
    """What is wrong, with numbers and a record to look at."""
    share = (
        "all records" if misfit.records == records else f"{misfit.records:,} of {plural(records, 'record')}"
    )
    first = f"the first is {misfit.first}"
    if misfit.what == "missing":
        return f"is missing in {share}" + ("" if misfit.records == records else f"; {first}")
    if misfit.what == "kind" and asked.feature is not None:
        return f"is {misfit.found} in {share}, not {asked.feature.dtype}; {first}"
    if misfit.what == "count" and asked.feature is not None:
        return f"has {misfit.found} in {share}, not {asked_count(asked.feature)}; {first}"
    return f"its values do not go together in {share}; {first}: {misfit.found}"


def scanned(found: Explanation) -> str:
    """What was looked at."""
    rest = ", all there are" if found.everything else "; the others may differ"
    return f"looked at {plural(found.records, 'record')} of {plural(len(found.files), 'file')}{rest}"


def unused(found: Explanation) -> str:
    """What the features do not ask for, in one line; empty if there is nothing."""
    if not found.unused:
        return ""
    named = [f"{name!r} ({words})" for name, words in list(found.unused.items())[:_MOST_UNUSED]]
    more = f" and {len(found.unused) - _MOST_UNUSED:,} more" if len(found.unused) > _MOST_UNUSED else ""
    return f"not asked for: {', '.join(named)}{more}"


def plain_text(found: Explanation) -> str:
    """The explanation, line by line."""
    lines = [display(problem) for problem in found.problems]
    for feature in found.features:
        lines.append(display(f"{feature.name}: {feature.asked} {_verdict(feature)}"))
        lines += [f"    {display(problem)}" for problem in feature.problems]
        if feature.meant is not None:
            lines.append(f"    {display(f'did you mean {feature.meant!r}?')}")
    lines += [display(text) for text in (unused(found), scanned(found)) if text]
    return "\n".join(lines)


def _verdict(feature: FeatureExplanation) -> str:
    return "parses" if feature.ok else "will not parse"


def fixed_code(found: Explanation, *, tensorflow: bool) -> str:
    """The features that do parse, as code; what is left out is a comment."""
    sequences = any(feature.where != "example" for feature in found.features)
    first = [feature for feature in found.features if feature.where != "lists"]
    lines = _dict("context_features" if sequences else "features", first, tensorflow=tensorflow)
    if sequences:
        lists = [feature for feature in found.features if feature.where == "lists"]
        lines += _dict("sequence_features", lists, tensorflow=tensorflow)
    return "\n".join(lines)


def _dict(name: str, features: Iterable[FeatureExplanation], *, tensorflow: bool) -> list[str]:
    module, dtypes = ("tf.io.", _TENSORFLOW_DTYPES) if tensorflow else ("tfreel.", {})
    lines = [f"{name} = {{"]
    for feature in features:
        if feature.fixed is None:
            lines.append(f"    # {display(quoted(feature.name))}: {display(feature.note)}")
            continue
        note = f"  # {display(feature.note)}" if feature.note else ""
        made = f"{module}{call(feature.fixed, dtypes, module)}"
        lines.append(f"    {quoted(feature.fixed_name)}: {made},{note}")
    return [*lines, "}"]
