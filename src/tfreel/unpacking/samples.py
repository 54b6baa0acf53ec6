"""Records as samples: a main file, files beside it, and all that is left as JSON.

Which feature is the file, which one its name and which one its class is told from what they hold and from the
names that data sets commonly give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring as json_string
from typing import Any

from tfreel.columns.batch import Batch
from tfreel.columns.flat import flat_values
from tfreel.columns.plan import no_such_feature
from tfreel.inference.profile import FeatureProfile
from tfreel.unpacking.lines import members_of
from tfreel.unpacking.media import Media, holds_images, holds_media, holds_pixels, media_of
from tfreel.unpacking.names import own_name, part_of_name, safe_group, safe_name, split_extension
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import Wishes, without_binary

_FILES = ("image/encoded", "image", "img", "jpg", "jpeg", "png", "image_raw", "audio", "video", "data")
_NAMES = (
    *("image/filename", "filename", "file_name", "image/source_id", "image/key/sha256", "image/name"),
    *("name", "key", "__key__", "image_id", "image/id", "id", "path"),
)
_LABELS = ("image/class/label", "class/label", "label", "class", "category", "target", "y")
_CLASSES = ("image/class/text", "class/text", "class", "class_name", "image/class/label", "label", "category")


# The file of a source without records, which has no features either.
_NOTHING = Column("", single=True, is_bytes=True, is_text=False, profile=FeatureProfile("", 0, 0, 0, {}))


@dataclass(frozen=True, slots=True)
class Beside:
    """A file beside the main one: the feature it is of, which of its values, and its content."""

    feature: str
    index: int | None
    media: Media

    @property
    def part(self) -> str:
        """What tells its name from that of the main file."""
        return part_of_name(self.feature) + ("" if self.index is None else f".{self.index}")


@dataclass(frozen=True, slots=True)
class Sample:
    """One record.

    Attributes:
        name: Of its files, safe and without extension; empty if the record says none.
        kept: The extension that the name had.
        group: The class, safe for a folder; empty if there is none.
        label: The class as a number; None if there is none.
        renamed: The name is not quite the one that the record has.
        main: The main file; None if the record lacks it.
        beside: Other files.
        members: What is left, as members of a JSON object.
    """

    name: str
    kept: str
    group: str
    label: int | None
    renamed: bool
    main: Media | None
    beside: list[Beside]
    members: list[str]


class Samples:
    """How the records of a source become samples."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column]) -> None:
        by_name = {column.name: column for column in columns}
        chosen = _chosen(by_name, wishes.column, "column")
        self.main = chosen or (_main(columns) if columns else _NOTHING)
        rest = [column for column in columns if column is not self.main]
        self.name = _chosen(by_name, wishes.name, "name") or _usual(rest, _NAMES)
        self.by = _chosen(by_name, wishes.by, "by") or _usual(rest, _CLASSES)
        self.label = _label(rest, self.by)
        self.beside = [column for column in rest if column.binary and holds_media(column.profile)]
        told = [column for column in rest if column not in self.beside]
        self._told, self.notes = without_binary(told, wishes.binary) if told else ([], [])
        self._note_guess()

    def _note_guess(self) -> None:
        profile = self.main.profile
        if not holds_media(profile) and profile.array_shape and not profile.shape_from:
            shape = "×".join(map(str, profile.array_shape))
            self.notes.append(
                f"{self.main.name} is written as an image of {shape}, which is guessed from its size"
            )

    def of(self, batch: Batch) -> Iterator[Sample]:
        """The samples of a batch."""
        members = [members_of(column, batch) for column in self._told]
        for i, row in enumerate(_rows(batch)):
            given, group = _first(row, self.name), _first(row, self.by)
            safe = "" if given is None else safe_name(given)
            folder = "" if group is None else safe_group(group)
            name, kept = split_extension(safe)
            values = row.get(self.main.name, ())
            yield Sample(
                name,
                kept,
                folder,
                _first(row, self.label),
                isinstance(given, bytes) and own_name(given) != safe.encode(),
                media_of(values[0], self.main.profile, row) if values else None,
                list(self._files_beside(row)),
                [member for column in members if (member := column[i]) is not None],
            )

    def _files_beside(self, row: dict[str, Any]) -> Iterator[Beside]:
        for column in self.beside:
            for i, value in enumerate(row.get(column.name, ())):
                yield Beside(column.name, None if column.single else i, media_of(value, column.profile, row))


def _first(row: dict[str, Any], column: Column | None) -> Any:
    """The value of a column in a row; None without one."""
    return None if column is None else next(iter(row.get(column.name, ())), None)


def _rows(batch: Batch) -> Iterator[dict[str, Any]]:
    """The rows as lists of plain values; what a record lacks is not in its row."""
    flat = {name: flat_values(column) for name, column in batch.items()}
    lists = {
        name: (
            found.values if isinstance(found.values, list) else found.values.tolist(),
            found.offsets.tolist(),
        )
        for name, found in flat.items()
    }
    for i in range(batch.num_rows):
        yield {
            name: values[offsets[i] : offsets[i + 1]]
            for name, (values, offsets) in lists.items()
            if not flat[name].missing[i]
        }


def _chosen(columns: dict[str, Column], name: str | None, option: str) -> Column | None:
    if name is None:
        return None
    if name not in columns:
        raise ValueError(f"{option}: {no_such_feature(name, columns)}")
    if not columns[name].single:
        raise ValueError(f"{option}: feature {name!r} does not hold one value in each record")
    if option == "column" and not columns[name].is_bytes:
        raise ValueError(f"{option}: feature {name!r} holds numbers, and only bytes can be a file")
    return columns[name]


def _usual(columns: Sequence[Column], names: Sequence[str]) -> Column | None:
    """The first of the usual names that holds one value in each record."""
    single = {column.name.lower(): column for column in columns if column.single and _is_word(column)}
    return next((single[name] for name in names if name in single), None)


def _is_word(column: Column) -> bool:
    """Whether most of the values are numbers or text; a few may have been written in another encoding."""
    contents = column.profile.contents
    return 2 * contents.get("text", 0) > sum(contents.values()) if column.is_bytes else True


def _label(columns: Sequence[Column], by: Column | None) -> Column | None:
    """The class as a number."""
    whole = [column for column in columns if list(column.profile.kinds) == ["int64"]]
    return by if by in whole else _usual(whole, _LABELS)


def _main(columns: Sequence[Column]) -> Column:
    """The feature that becomes a file: an image rather than an array, and that rather than other bytes.

    Raises:
        ValueError: There is none.
    """
    single = [column for column in columns if column.single and column.binary]
    for fits in (holds_images, holds_pixels, holds_media, lambda _: True):
        found = {column.name.lower(): column for column in single if fits(column.profile)}
        if found:
            return next((found[name] for name in _FILES if name in found), next(iter(found.values())))
    raise ValueError(
        "no feature holds an image or other bytes to make files of; say which with column=, or write"
        " .jsonl, .csv or .parquet"
    )


def json_member(key: str, value: str) -> str:
    """A text as a member of a JSON object."""
    return f"{json_string(key)}: {json_string(value)}"
