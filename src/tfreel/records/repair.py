"""`tfreel.verify` and `tfreel.repair`: find every fault, and save every record that is not damaged."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import BinaryIO, Self

from tfreel import _core
from tfreel.compression import codec_named
from tfreel.engines import Engine, gathered, is_local, refuse_streams
from tfreel.records.frames import ReadOptions
from tfreel.records.parts import Progress, size_in_parts, size_of
from tfreel.records.read import Reader, read
from tfreel.records.report import Fault, Report
from tfreel.records.targets import Mode
from tfreel.records.write import Writer
from tfreel.storage.names import PathLike, Paths, resolve
from tfreel.storage.places import exists, remove
from tfreel.storage.publish import new_file
from tfreel.storage.url import Url
from tfreel.threads import Turn

LEDGER_SUFFIX = ".lost.jsonl"


def verify(
    paths: Paths,
    *,
    compression: str | None = None,
    max_record_bytes: int = 1 << 32,
    threads: int | None = None,
    engine: Engine = "local",
    progress: Progress | None = None,
) -> Report:
    """Reads everything, checks every checksum, and reports every fault.

    Args:
        paths: As in `tfreel.read`.
        compression: As in `tfreel.read`.
        max_record_bytes: As in `tfreel.read`.
        threads: Files, and parts of large files, checked at the same time; all processors by default.
        engine: ``"local"``: threads of this process. ``"ray"``: the workers of a Ray cluster, each with a
            file, which they must find under the same name.
        progress: Called with the number of records and bytes checked since the last call, perhaps from
            several threads; less than none where they have to be checked again.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord") as out:
        ...     out.write_many([b"one", b"two", b"three"])
        >>> report = tfreel.verify("numbers.tfrecord")
        >>> report.ok, report.records
        (True, 3)
    """
    if compression is not None:
        codec_named(compression)  # what is wrong is said before anything is read
    files = resolve(paths)
    refuse_streams(files, engine)
    look = _Look(compression, max_record_bytes, progress if is_local(engine) else None)

    def tell(report: Report) -> None:
        if progress is not None:
            progress(report.records, report.bytes)

    total = Report()
    for report in gathered(look, files, engine=engine, threads=threads, done=tell):
        total.merge(report)
    return total


@dataclass(frozen=True, slots=True)
class _Look:
    """The work of `verify` on a file."""

    compression: str | None
    max_record_bytes: int
    progress: Progress | None

    def __call__(self, file: str | BinaryIO, turn: Turn) -> Report:
        options = ReadOptions(
            compression=None if self.compression is None else codec_named(self.compression),
            max_record_bytes=self.max_record_bytes,
        )
        if isinstance(file, str) and file != "-":
            sound = size_in_parts(file, options, turn=turn, progress=self.progress)
            if sound is not None:
                return Report(1, *sound)
        reader = read(
            [file],
            on_corrupt="skip",
            compression=self.compression,
            max_record_bytes=self.max_record_bytes,
        )
        for block in reader.blocks():
            turn()
            _tell(self.progress, block)
        return reader.report


def repair(
    source: Paths,
    destination: PathLike,
    *,
    mode: Mode = "x",
    compression: str | None = None,
    level: int | None = None,
    durable: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Copies every undamaged record of `source` to a new, sound file.

    Where something was lost, a ledger beside the new file (``…​.lost.jsonl``, one line for each fault) says
    what and where. The source is not touched.

    Args:
        source: The damaged files, as in `tfreel.read`.
        destination: The new file.
        mode: ``"x"`` fails if it exists, ``"w"`` replaces it.
        compression: Of the new file; told from its suffix if not given.
        level: As in `Writer`.
        durable: As in `Writer`.
        progress: As in `verify`.

    Raises:
        CorruptError: The source is something else than TFRecord files, and there is nothing to save.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord") as out:
        ...     out.write_many([b"one", b"two", b"three"])
        >>> with open("numbers.tfrecord", "r+b") as file:
        ...     _ = file.seek(12), file.write(b"O")
        >>> report = tfreel.repair("numbers.tfrecord", "sound.tfrecord")
        >>> report.records, report.records_lost
        (2, 1)
        >>> list(tfreel.read("sound.tfrecord"))
        [b'two', b'three']
    """
    if mode not in ("x", "w"):
        raise ValueError(f'mode must be "x" or "w", not {mode!r}')
    reader = read(source, on_corrupt="skip")
    with Writer(destination, mode=mode, compression=compression, level=level, durable=durable) as out:
        _refuse_own_source(reader, out.path)
        with _Ledger(out.path + LEDGER_SUFFIX, replace=mode == "w") as ledger:
            reader.report.listen(ledger.add)
            for block in reader.blocks():
                out.write_block(block)
                _tell(progress, block)
            _refuse_foreign(reader.report)
    return reader.report


class _Ledger:
    """A file with one line for each fault. It appears, before the repaired file does, if there is any."""

    def __init__(self, path: str, *, replace: bool) -> None:
        self._path = path
        self._replace = replace
        self._empty = True
        self._file = new_file(path, replace=replace, durable=True)

    def add(self, fault: Fault) -> None:
        self._empty = False
        self._file.write(os.fsencode(json.dumps(fault.to_dict()) + "\n"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and not self._empty:
            self._file.publish()
            return
        self._file.abort()
        if kind is None and self._replace and exists(self._path):
            remove(self._path)  # of an earlier, damaged source


def _refuse_foreign(report: Report) -> None:
    """Nothing is saved of files that never had records; where some had, the ledger names the others."""
    if not report.records and report.faults and all(fault.is_foreign for fault in report.faults):
        raise report.faults[0].to_error()


def _refuse_own_source(reader: Reader, destination: str) -> None:
    for file in reader.files:
        if not isinstance(file, str) or file == "-":
            continue
        if isinstance(file, Url) or isinstance(destination, Url):
            same = file == destination
        else:
            same = os.path.exists(destination) and os.path.samefile(file, destination)
        if same:
            raise ValueError(f"{destination}: repair writes a new file; it does not overwrite its source")


def _tell(progress: Progress | None, block: _core.Block) -> None:
    if progress is not None:
        progress(*size_of(block))
