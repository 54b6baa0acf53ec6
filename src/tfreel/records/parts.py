"""A large plain file, read at several places at once.

Where a record begins is told only by the record before it. So a place in the middle of a file is found by
search. That may be wrong, because a payload can hold records of its own; it is proved afterwards. If all
parts are sound, and each ends just where the next begins, they are what reading from the beginning would have
given. If not, the file has to be read from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeAlias, TypeVar

from tfreel import _core
from tfreel.compression import detect
from tfreel.records.frames import ReadOptions, next_of
from tfreel.storage.files import LocalFile
from tfreel.storage.url import Url
from tfreel.threads import Turn, in_threads

Result = TypeVar("Result")
# Told of every piece of work done: how many records and bytes more (or fewer, if it was in vain).
Progress: TypeAlias = Callable[[int, int], None]
# Where a part of a file begins and ends.
Part: TypeAlias = tuple[int, int]

_SMALLEST_PART = 32 << 20
_SEARCH_BYTES = 16 << 20


def visit_in_parts(
    path: str,
    visit: Callable[[_core.Block], Result],
    options: ReadOptions,
    *,
    turn: Turn,
    progress: Progress | None,
) -> list[Result] | None:
    """What `visit` makes of each block, in order; None if the file must be read from its beginning to know.

    The ordinals of the blocks mean nothing: every part counts from 0.
    """
    if turn.threads < 2:
        return None
    file, parts = find_parts(path, options, part_bytes=_SMALLEST_PART, most=turn.threads)
    if file is None or len(parts) < 2:
        return None
    tell: Progress = progress or (lambda *_: None)
    told = []

    def read_part(part: Part, part_turn: Turn) -> list[Result]:
        results = []
        for block in blocks_of(file, options, part):
            part_turn()
            results.append(visit(block))
            told.append(size_of(block))
            tell(*told[-1])
        return results

    try:
        found = in_threads(read_part, parts, turn.threads, within=turn)
        if not file.changed():
            return [result for part in found for result in part]
    except (UnsoundPart, OSError):
        pass  # the reading from the beginning will tell more
    for records, size in told:
        tell(-records, -size)
    return None


def size_in_parts(
    path: str, options: ReadOptions, *, turn: Turn, progress: Progress | None
) -> tuple[int, int] | None:
    """How many records and bytes a sound file holds; None if it must be read from its beginning to know."""
    sizes = visit_in_parts(path, size_of, options, turn=turn, progress=progress)
    if sizes is None:
        return None
    return sum(records for records, _ in sizes), sum(size for _, size in sizes)


def size_of(block: _core.Block) -> tuple[int, int]:
    """How many records and bytes a block holds."""
    return len(block), block.nbytes


class UnsoundPart(Exception):  # noqa: N818 - not an error: it only ends an attempt
    """A part is not what it was taken for."""


def find_parts(
    path: str, options: ReadOptions, *, part_bytes: int, most: int | None = None
) -> tuple[LocalFile | None, list[Part]]:
    """The parts of a file, as it seems, of about so many bytes or more if there would be more than `most`.

    One or none if it should be read from its beginning.
    """
    if isinstance(path, Url):  # more connections at once do not bring more bytes
        return None, []
    file = LocalFile(path)
    wanted = file.size // part_bytes
    wanted = wanted if most is None else min(most, wanted)
    if wanted < 2 or options.compression not in (None, "none") or detect(file.read(2, 0)) != "none":
        return file, []
    return file, list(pairwise(_find_bounds(file, options, wanted)))


def blocks_of(file: LocalFile, options: ReadOptions, part: Part) -> Iterator[_core.Block]:
    """The blocks of a part.

    Raises:
        UnsoundPart: It is damaged, or does not end where the next one begins.
    """
    reader = _open(file, options, *part)
    while (found := next_of(reader, file)) is not None:
        if not isinstance(found, _core.Block):
            raise UnsoundPart
        yield found
    if reader.offset != part[1]:
        raise UnsoundPart


def _open(
    file: LocalFile, options: ReadOptions, begin: int, end: int, *, salvage: bool = False
) -> _core.FileReader:
    return _core.FileReader(
        file.descriptor,
        size=end,
        offset=begin,
        verify=options.verify,
        salvage=salvage,
        max_record_bytes=options.max_record_bytes,
    )


def _find_bounds(file: LocalFile, options: ReadOptions, parts: int) -> list[int]:
    """The beginning, the end, and where records seem to begin between them, in parts of about one size."""
    bounds = {0, file.size}
    for part in range(1, parts):
        guess = file.size * part // parts
        limit = min(file.size, guess + _SEARCH_BYTES)
        found = next_of(_open(file, options, guess, limit, salvage=True), file)
        if isinstance(found, _core.Block):
            bounds.add(guess)
        elif found is not None and found.end < limit:
            bounds.add(found.end)
    return sorted(bounds)
