"""The options of Spark's readers and writers: strings in, typed values out; what is unknown is refused."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from tfreel.compression import Codec, codec_named
from tfreel.features.described import from_json
from tfreel.features.kinds import Feature
from tfreel.records.read import OnCorrupt
from tfreel.storage.url import place

RecordType: TypeAlias = Literal["Example", "SequenceExample", "ByteArray"]

_RECORD_TYPES: dict[str, RecordType] = {
    "example": "Example",
    "sequenceexample": "SequenceExample",
    "bytearray": "ByteArray",
}
_BOTH = ("path", "paths", "recordType")
_READING = ("features", "columns", "where", "verify", "onCorrupt", "rowsPerPartition", "sample")
_WRITING = ("codec", "level")
# What others call it.
_ALIASES = {
    "compression": "codec",
    "schema": "features",
    "filter": "where",
    "select": "columns",
    "pushdown": "where",
}
# The names that Hadoop has for codecs, as the connector for Spark 3 takes them.
_HADOOP: dict[str, Codec] = {"gzipcodec": "gzip", "defaultcodec": "zlib", "deflatecodec": "zlib"}
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What a reader was told.

    Attributes:
        paths: What to read.
        record_type: What the records are; None if that is to be found out.
        features: What to read, as in `tfreel.parse`.
        columns: The columns to read, of those that there are.
        where: Which records to read.
        verify: Check the checksums of payloads.
        on_corrupt: As in `tfreel.read`.
        rows_per_partition: Cut files into partitions of so many rows.
        sample: How many records to look at to find out the columns.
    """

    paths: tuple[str, ...]
    record_type: RecordType | None = None
    features: Mapping[str, Feature] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    where: str | None = None
    verify: bool = True
    on_corrupt: OnCorrupt = "raise"
    rows_per_partition: int | None = None
    sample: int = 1000


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """What a writer was told.

    Attributes:
        path: The folder to write.
        record_type: What the records are; None if the columns tell it.
        codec: How to compress the files.
        level: How hard.
    """

    path: str
    record_type: RecordType | None = None
    codec: Codec = "none"
    level: int | None = None


def reading_options(options: Mapping[str, str]) -> ReadingOptions:
    """What the options of a reader mean.

    Raises:
        ValueError: One is not known, or its value is not.
    """
    said = _Said(options, known=(*_BOTH, *_READING), others=_WRITING, others_are="for writing only")
    return ReadingOptions(
        paths=_paths(said),
        record_type=said.read("recordType", _record_type),
        features=said.read("features", _features) or {},
        columns=said.read("columns", _columns),
        where=said.read("where", str),
        verify=said.read("verify", _boolean, default=True),
        on_corrupt=said.read("onCorrupt", _on_corrupt, default="raise"),
        rows_per_partition=said.read("rowsPerPartition", _positive),
        sample=said.read("sample", _positive, default=1000),
    )


def writing_options(options: Mapping[str, str]) -> WritingOptions:
    """What the options of a writer mean.

    Raises:
        ValueError: One is not known, or its value is not.
    """
    said = _Said(options, known=(*_BOTH, *_WRITING), others=_READING, others_are="for reading only")
    paths = _paths(said)
    if len(paths) != 1:
        raise ValueError(f"one folder can be written at a time, not {len(paths)}")
    return WritingOptions(
        path=paths[0],
        record_type=said.read("recordType", _record_type),
        codec=said.read("codec", _codec, default="none"),
        level=said.read("level", _level),
    )


class _Said:
    """Options by name, whatever the case they were written in."""

    def __init__(
        self, options: Mapping[str, str], *, known: tuple[str, ...], others: tuple[str, ...], others_are: str
    ) -> None:
        self._values = {name.lower(): value for name, value in options.items()}
        spelled = {name.lower(): name for name in known}
        for name in self._values:
            if name in spelled:
                continue
            if name in (other.lower() for other in others):
                raise ValueError(f"the option {name!r} is {others_are}")
            near = difflib.get_close_matches(name, spelled, n=1, cutoff=0.6)
            guess = _ALIASES.get(name) or (spelled[near[0]] if near else None)
            hint = f" — did you mean {guess!r}?" if guess in known else ""
            raise ValueError(f"no option is called {name!r}; there are {', '.join(known[1:])}{hint}")

    def read(self, name: str, convert: Callable[[str], Any], *, default: Any = None) -> Any:
        """The value of an option, converted."""
        value = self._values.get(name.lower())
        if value is None:
            return default
        try:
            return convert(value)
        except ValueError as error:
            raise ValueError(f"option {name}: {error}") from None


def _paths(said: _Said) -> tuple[str, ...]:
    several = said.read("paths", _several)
    paths = several or [path for path in [said.read("path", str)] if path is not None]
    if not paths:
        raise ValueError("say what to read or write, as in .load(path) and .save(path)")
    return tuple(place(re.sub(r"^file:(//)?(?=/)", "", path)) for path in paths)


def _strings(text: str) -> list[str]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"expected a JSON list of strings, not {text!r}")
    return found


def _several(text: str) -> list[str]:
    try:
        return _strings(text)
    except ValueError:  # which shows what it was given: a URL may hold a password
        raise ValueError("expected a JSON list of strings") from None


def _record_type(text: str) -> RecordType:
    if text.lower() not in _RECORD_TYPES:
        raise ValueError(f"expected {', '.join(_RECORD_TYPES.values())}, not {text!r}")
    return _RECORD_TYPES[text.lower()]


def _codec(text: str) -> Codec:
    return _HADOOP.get(text.rpartition(".")[2].lower()) or codec_named(text)


def _columns(text: str) -> tuple[str, ...]:
    names = _strings(text) if text.lstrip().startswith("[") else [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(f"expected names, each once, not {text!r}")
    return tuple(names)


def _features(text: str) -> Mapping[str, Feature]:
    try:
        described = json.loads(text)
        return {str(name): from_json(feature) for name, feature in described.items()}
    except (AttributeError, TypeError) as error:
        raise ValueError(f"expected a JSON object of features, as dataset.json has them: {error}") from None


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError(f"expected true or false, not {text!r}")
    return _BOOLEANS[text.lower()]


def _on_corrupt(text: str) -> OnCorrupt:
    if text.lower() not in ("raise", "tail", "skip"):
        raise ValueError(f"expected raise, tail or skip, not {text!r}")
    return cast(OnCorrupt, text.lower())


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(f"expected a number from 1 on, not {text!r}")
    return int(text)


def _level(text: str) -> int:
    if text.strip() not in tuple("0123456789"):
        raise ValueError(f"expected a number from 0 to 9, not {text!r}")
    return int(text)
