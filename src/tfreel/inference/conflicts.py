"""Where records disagree about a feature: what was seen in, sentences with counter-examples out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tfreel.inference.content import IMAGES, NAMES
from tfreel.inference.profile import Observer
from tfreel.inference.sample import Place
from tfreel.storage.paths import display

_ENOUGH_RECORDS = 3  # of a file, to say that it agrees with itself


def without_records(records: int, features: int) -> list[str]:
    """What there is to say if nothing was found at all."""
    if not records:
        return ["there are no records, and so no features"]
    if not features:
        return ["no record has a feature: the files may hold other messages than Examples"]
    return []


def conflicts_of(seen: Observer, records_in_file: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with one feature, if anything."""
    name = f"feature {seen.name!r}"
    if not seen.kinds:
        yield f"{name} has no values in any record: it is left out"
        return
    if len(seen.kinds) > 1:
        parts = [_counted(kind, count, seen.first_of_kind[kind]) for kind, count in seen.kinds.most_common()]
        yield f"{name} is of several kinds: {', '.join(parts)}; {seen.kinds.most_common(1)[0][0]} is taken"
    yield from _contents(name, seen)
    yield from _files(name, seen, records_in_file)


def _counted(what: str, count: int, first: Place) -> str:
    return f"{what} {count:,}× (first in {first})"


def _contents(name: str, seen: Observer) -> Iterator[str]:
    """Something else among images: most often a download that failed, or a file that was cut off."""
    images = sum(count for kind, count in seen.contents.items() if kind in IMAGES)
    others = [(kind, count) for kind, count in seen.contents.most_common() if kind not in IMAGES]
    if others and images > sum(count for _, count in others):
        parts = [_counted(NAMES[kind], count, seen.first_of_content[kind]) for kind, count in others]
        yield f"{name} holds images {images:,}×, but also {', '.join(parts)}"


def _files(name: str, seen: Observer, records_in_file: Mapping[str, int]) -> Iterator[str]:
    """Files that agree within themselves, but not with each other: most often written by two programs."""
    without = [path for path in records_in_file if path not in seen.present_in]
    everywhere = all(records_in_file[path] == count for path, count in seen.present_in.items())
    if without and everywhere:
        first = display(next(iter(seen.present_in)))
        yield f"{name} is in every record of {first} that was looked at, and in none of {_some(without)}"
    few = min(records_in_file[path] for path in seen.present_in) < _ENOUGH_RECORDS
    ends = [(span.ends or (0, 0), path) for path, span in seen.lengths_in.items()]
    firsts = {length: path for (length, _), path in reversed(ends)}
    if not few and len(firsts) > 1 and all(least == most for (least, most), _ in ends):
        parts = [f"{length:,} in {display(path)}" for length, path in sorted(firsts.items())[:3]]
        yield f"{name} has a fixed number of values in each file, but not the same: {', '.join(parts)}"


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return display(paths[0]) + more
