"""Records in, a folder of files out: one for each record, and `metadata.jsonl` with all that is no file.

It is the layout that Hugging Face calls an image folder. Files lie in a sub-folder for each class, if there
is one; ``file_name`` in `metadata.jsonl` says which file a line belongs to, ``<feature>_file_name`` names
files beside it, and ``<feature>_file_names`` several of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from json.encoder import encode_basestring as json_string

from tfreel.columns.batch import Batch
from tfreel.storage.folders import NewFolder
from tfreel.unpacking.names import split_extension
from tfreel.unpacking.samples import Sample, Samples, json_member
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import Wishes

METADATA = "metadata.jsonl"
MADE_BY = "tfreel unpack"
MARKER = ".tfreel-unpacked.json"  # tells a folder that we made, and may replace, from any other


class Folder:
    """A folder that is being filled."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column]) -> None:
        self._samples = Samples(wishes, columns)
        self.columns = tuple(column.name for column in columns)
        self.notes = self._samples.notes
        self.files = 0
        self._records = 0
        self._without_file = 0
        self._numbered = 0
        self._renamed = 0
        self._other_extension = 0
        self._again: dict[str, int] = {}
        self._folder = NewFolder(wishes.path, force=wishes.force, made_by_us=made_files)
        try:
            self._metadata = self._folder.create(METADATA)
        except BaseException:
            self._folder.abort()
            raise
        self._taken = _keys([column.name for column in self._samples.beside]).intersection(self.columns)
        for name in sorted(self._taken):
            self.notes.append(f"the feature {name} is called 'feature {name}' in {METADATA}")

    def write(self, batch: Batch) -> None:
        """Adds a file and a line for each record."""
        lines = [self._line(sample) for sample in self._samples.of(batch)]
        self._metadata.write("".join(lines).encode())

    def _line(self, sample: Sample) -> str:
        base = sample.name or f"{self._records:08d}"
        self._records += 1
        self._renamed += sample.renamed
        told: list[str] = []
        if sample.main is None:
            self._without_file += 1
        else:
            kept = sample.kept.lower() in (sample.main.extension, *sample.main.also)
            self._other_extension += bool(sample.kept) and not kept
            extension = sample.kept if kept else sample.main.extension
            path = self._put(sample.group, base, extension, sample.main.data)
            base = split_extension(os.path.basename(path))[0]
            told.append(json_member("file_name", path))
        several: dict[str, list[str]] = {}
        for beside in sample.beside:
            path = self._put(sample.group, f"{base}.{beside.part}", beside.media.extension, beside.media.data)
            if beside.index is None:
                told.append(json_member(f"{beside.feature}_file_name", path))
            else:
                several.setdefault(beside.feature, []).append(path)
        told += [
            f"{json_string(f'{name}_file_names')}: {json.dumps(paths)}" for name, paths in several.items()
        ]
        members = [self._called(member) for member in sample.members]
        return f"{{{', '.join([*told, *members])}}}\n"

    def _called(self, member: str) -> str:
        """The member, under another name if its own is needed for a file."""
        for name in self._taken:
            key = json_string(name)
            if member.startswith(f"{key}: "):
                return json_string(f"feature {name}") + member[len(key) :]
        return member

    def _put(self, group: str, stem: str, extension: str, data: bytes) -> str:
        """Writes a file under a name that is free. Gives its path in the folder."""
        wanted = path = os.path.join(group, f"{stem}.{extension}")
        while True:
            try:
                with self._folder.create(path) as file:
                    file.write(data)
            except FileExistsError:
                # The file system knows best which names are the same to it.
                self._numbered += wanted == path
                self._again[wanted] = number = self._again.get(wanted, 1) + 1
                path = os.path.join(group, f"{stem}-{number}.{extension}")
            else:
                self.files += 1
                return path

    def publish(self) -> None:
        """Makes the folder appear."""
        self._metadata.close()
        marker = {
            "made_by": MADE_BY,
            "column": self._samples.main.name,
            "beside": [column.name for column in self._samples.beside],
            "records": self._records,
        }
        with self._folder.create(MARKER) as file:
            file.write(json.dumps(marker).encode() + b"\n")
        self.files += 1  # with the metadata
        self._note()
        self._folder.publish()

    def _note(self) -> None:
        for count, words in (
            (self._without_file, f"records without {self._samples.main.name}, and so without file_name"),
            (self._renamed, f"names made safe for a file ({METADATA} has them as they were)"),
            (self._numbered, "names that came twice, and had a number added"),
            (self._other_extension, "extensions that were not those of the content, and were changed"),
        ):
            if count:
                self.notes.append(f"{words}: {count:,}")

    def abort(self) -> None:
        """Leaves nothing."""
        self._metadata.close()
        self._folder.abort()


def _keys(beside: Sequence[str]) -> set[str]:
    """The keys under which `metadata.jsonl` names files."""
    return {"file_name", *(f"{name}_file_name{end}" for name in beside for end in ("", "s"))}


def made_files(path: str) -> set[str] | None:
    """The files in a folder that `unpack` made, by what it says itself; None if it made no such folder."""
    try:
        with open(os.path.join(path, MARKER), "rb") as file:
            marker = json.loads(file.read(1 << 20))
        if marker["made_by"] != MADE_BY:
            return None
        keys = _keys(marker["beside"])
        names = {MARKER, METADATA}
        with open(os.path.join(path, METADATA), encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                for value in (row[key] for key in keys if key in row):
                    names.update([value] if isinstance(value, str) else value)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return names
