"""Making indexes, and deciding whether an existing one still belongs to its file."""

from __future__ import annotations

import errno
import os
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tfreel import _core
from tfreel.compression import Codec
from tfreel.engines import Engine, gathered, is_local
from tfreel.errors import CorruptError, StaleIndexError, TfreelWarning
from tfreel.index.remote import RemoteRecords
from tfreel.index.sidecar import U32, U64, FileIndex, Header, find_sidecars, read_sidecar, write_sidecar
from tfreel.index.spans import Spans
from tfreel.index.text import TEXT_SUFFIX, read_text_index, write_text_index
from tfreel.records.frames import Position, ReadOptions, open_frames
from tfreel.records.parts import Progress, visit_in_parts
from tfreel.records.read import OnCorrupt, Reader
from tfreel.records.report import Fault, Report
from tfreel.storage.files import LocalFile
from tfreel.storage.names import Paths, resolve
from tfreel.storage.paths import INDEX_SUFFIX, display, naming
from tfreel.storage.places import File, open_file
from tfreel.storage.publish import write_atomically
from tfreel.storage.remote.cache import cache_home
from tfreel.storage.remote.objects import ObjectFile
from tfreel.storage.url import Url
from tfreel.threads import ALONE, Turn

IndexMode: TypeAlias = Literal["auto", "memory", "rebuild", "require", "text"]
IndexFormat: TypeAlias = Literal["tfreel", "text"]

_SAMPLES = 16
_NO_RECORDS = np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint32)
_ADVICE = '; index="rebuild" makes a new one, index="memory" does without'


def build_index(
    paths: Paths,
    *,
    format: IndexFormat = "tfreel",  # noqa: A002 - the word for it
    force: bool = False,
    threads: int | None = None,
    engine: Engine = "local",
    progress: Progress | None = None,
) -> list[str]:
    """Writes the index of each file beside it, so that `tfreel.open` need not scan; gives their paths.

    An index that is there and still right is left as it is. Where the directory cannot be written, the index
    goes to the cache directory (``TFREEL_CACHE_DIR``).

    Args:
        paths: As in `tfreel.read`.
        format: ``"tfreel"``, or ``"text"`` for the two-column text index of DALI and ``tfrecord``.
        force: Build anew in any case.
        threads: Files, and parts of large files, scanned at the same time; all processors by default.
        engine: ``"local"``, or ``"ray"`` for the workers of a Ray cluster, as in `tfreel.verify`.
        progress: Called with the number of records and bytes scanned since the last call.

    Raises:
        CorruptError: A file is damaged, the first that is: it gets no index, and the others got theirs.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord") as out:
        ...     out.write_many([b"one", b"two", b"three"])
        >>> tfreel.build_index("numbers.tfrecord")
        ['numbers.tfrecord.tfreel-index']
        >>> tfreel.open("numbers.tfrecord")[-1]
        b'three'
    """
    made = made_indexes(
        named_files(paths), format=format, force=force, threads=threads, engine=engine, progress=progress
    )
    for damage in made:
        if isinstance(damage, CorruptError):
            raise damage
    return [each for each in made if isinstance(each, str)]


def made_indexes(
    files: list[str],
    *,
    format: IndexFormat,  # noqa: A002 - the word for it
    force: bool,
    threads: int | None,
    engine: Engine,
    progress: Progress | None,
) -> list[str | CorruptError]:
    """The path of the index of each file, or why a damaged one has none."""
    if format not in ("tfreel", "text"):
        raise ValueError(f'format must be "tfreel" or "text", not {format!r}')

    def tell(built: _Built) -> None:
        if progress is not None:
            progress(built.records, built.bytes)

    work = _Build(format, force, progress if is_local(engine) else None)
    built = gathered(work, files, engine=engine, threads=threads, done=tell)
    return [each.made for each in built]


class _Built(NamedTuple):
    """The path of an index, or why there is none; and how much was read to build it."""

    made: str | CorruptError
    records: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Build:
    """The work of `build_index` on a file."""

    format: IndexFormat
    force: bool
    progress: Progress | None

    def __call__(self, path: str, turn: Turn) -> _Built:
        old = None if self.force else self._sound(path, turn)
        if old is not None:
            return _Built(old)
        try:
            index = scan(path, progress=self.progress, turn=turn)
        except CorruptError as damage:  # of this file, and no reason to leave the others without
            return _Built(damage)
        write = write_text_index if self.format == "text" else write_sidecar
        return _Built(write(path, index), len(index), index.stream_bytes)

    def _sound(self, path: str, turn: Turn) -> str | None:
        """The index that is there, if it still is right."""
        if self.format == "text":
            with suppress(StaleIndexError, FileNotFoundError):
                read_text_index(path)
                return path + TEXT_SUFFIX
            return None
        for sidecar in find_sidecars(path):
            with suppress(StaleIndexError):
                load_sidecar(path, sidecar, turn)
                return sidecar
        return None


def named_files(paths: Paths) -> list[str]:
    """The files that `paths` names; a stream is none of them."""
    files = resolve(paths)
    named = [file for file in files if isinstance(file, str) and file != "-"]
    if len(named) != len(files):
        raise ValueError("a stream has no random access: save it to a file first")
    return named


def scan(
    path: str,
    *,
    compression: Codec | None = None,
    progress: Progress | None = None,
    turn: Turn = ALONE,
) -> FileIndex:
    """The index of a file, by reading all of it and checking every checksum.

    Raises:
        CorruptError: The file is damaged.
    """
    file = open_file(path)
    options = ReadOptions(compression=compression)
    columns = visit_in_parts(path, _columns, options, turn=turn, progress=progress)
    codec: Codec = "none"
    stream_bytes = file.size
    if columns is None:
        frames = open_frames(path, options, Position(), _note)
        columns = []
        while (found := frames.step()) is not None:
            if isinstance(found, Fault):
                raise found.to_error("; tfreel.repair makes a sound copy")
            turn()
            columns.append(_columns(found))
            if progress is not None:
                progress(len(found), found.nbytes)
        codec = frames.codec
        stream_bytes = frames.position.offset
        frames.close()
    return _index(file, codec, stream_bytes, columns)


def _index(file: File, codec: Codec, stream_bytes: int, columns: list[tuple[U64, U64, U32]]) -> FileIndex:
    offsets, lengths, checksums = zip(_NO_RECORDS, *columns, strict=True)
    return FileIndex(
        codec=codec,
        size=file.size,
        mtime_ns=file.identity.mtime_ns,
        stream_bytes=stream_bytes,
        offsets=np.concatenate(offsets),
        lengths=np.concatenate(lengths),
        checksums=np.concatenate(checksums),
    )


def salvaged(
    path: str,
    on_corrupt: OnCorrupt,
    compression: Codec | None = None,
    *,
    progress: Progress | None = None,
    turn: Turn = ALONE,
) -> tuple[FileIndex, Report]:
    """The index of what is sound in a file, and what was wrong with the rest."""
    file = open_file(path)
    columns = []
    with Reader(path, on_corrupt=on_corrupt, compression=compression) as reader:
        for block in reader.blocks():
            turn()
            columns.append(_columns(block))
            if progress is not None:
                progress(len(block), block.nbytes)
        codec, report = reader.codec or "none", reader.report
        restarts = None if report.ok else tuple(reader.restarts)
    return replace(_index(file, codec, report.bytes, columns), restarts=restarts), report


def _columns(block: _core.Block) -> tuple[U64, U64, U32]:
    return block.offsets, block.lengths, block.checksums


def _note(text: str) -> None:
    warnings.warn(text, TfreelWarning, stacklevel=3)


def index_of(
    path: str, mode: IndexMode, compression: Codec | None, turn: Turn, *, seen: bool = False
) -> FileIndex:
    """The index of a file, from its sidecar or by a scan, as `mode` says.

    Args:
        path: The file.
        mode: As in `tfreel.open`.
        compression: As in `tfreel.open`.
        turn: Asked now and then.
        seen: Whether it is known that there is a sidecar beside the file.
    """
    if mode == "text":
        return read_text_index(path)
    stale: StaleIndexError | None = None
    for sidecar in () if mode == "memory" else find_sidecars(path, seen=seen):
        try:
            return load_sidecar(path, sidecar, turn)
        except StaleIndexError as error:
            stale = stale or error
    if mode == "rebuild":
        return _rebuilt(path, compression, turn)
    if stale is not None:
        stale.args = (f"{stale}{_ADVICE}",)
        try:
            raise stale
        finally:
            del stale  # or it would hold itself, and the open file, through its own traceback
    if mode == "require":
        raise FileNotFoundError(errno.ENOENT, "has no index; tfreel.build_index makes one", display(path))
    home = cache_home()
    if isinstance(path, Url) and home is not None and mode == "auto":
        return _kept(path, home, compression, turn)
    return scan(path, compression=compression, turn=turn)


def _kept(path: Url, home: str, compression: Codec | None, turn: Turn) -> FileIndex:
    """The index of an object from the cache, or by a scan, and from the cache the next time."""
    kept = os.path.join(home, "index", ObjectFile(path).key + INDEX_SUFFIX)
    with suppress(StaleIndexError, OSError):
        return load_sidecar(path, kept, turn)
    index = scan(path, compression=compression, turn=turn)
    with suppress(OSError):  # a cache is no reason to fail
        write_atomically(kept, index.to_bytes(), durable=False)
    return index


def _rebuilt(path: str, compression: Codec | None, turn: Turn) -> FileIndex:
    index = scan(path, compression=compression, turn=turn)
    try:
        write_sidecar(path, index)
    except OSError as error:  # the index is made, and good: where to keep it is the smaller trouble
        text = f"{display(path)}: its index could not be saved and is kept in memory only ({error})"
        warnings.warn(text, TfreelWarning, stacklevel=2)
    return index


def load_sidecar(path: str, sidecar: str, turn: Turn = ALONE) -> FileIndex:
    """The index in a sidecar, if it belongs to the file as it is now.

    Raises:
        StaleIndexError: It does not, or it is damaged.
    """
    index, fingerprint = read_sidecar(sidecar)
    file = open_file(path)
    if file.size != index.size:
        raise _other_size(sidecar, file, index)
    _check_fingerprint(index, fingerprint, sidecar)
    if file.identity.mtime_ns == index.mtime_ns or isinstance(file, ObjectFile):
        _check_samples(file, index, sidecar)
        # To look at all of an object is dear, its time is that of its upload, and whatever is read by the
        # help of an index is checked anyway.
        return index.dated(file.identity.mtime_ns)
    # The time differs. A copy or a restored backup is as good as the original, if it holds the same: look.
    actual = scan(path, compression=index.codec, turn=turn)
    if actual.fingerprint != fingerprint:
        raise _stale(sidecar, "the file was changed after it was indexed")
    return actual


def load_promised(path: str, sidecar: str, promise: Header, *, checked: bool) -> FileIndex:
    """The index that a sidecar promised when its header was read, for the file as it was then.

    Args:
        path: The file.
        sidecar: Its sidecar.
        promise: What the header said; with the time of the file as it was then, unless it is an object.
        checked: Whether it was loaded before, and found to belong to the file.

    Raises:
        StaleIndexError: It does not belong to the file, it is damaged, or something changed since.
    """
    index, fingerprint = read_sidecar(sidecar)
    file = open_file(path)
    seen = file.size, file.identity.mtime_ns
    if isinstance(file, LocalFile) and seen != (promise.size, promise.mtime_ns):
        raise changed_since(path)
    if (fingerprint, len(index), index.size) != (promise.fingerprint, promise.records, promise.size):
        raise changed_since(path)
    if file.size != index.size:
        raise _other_size(sidecar, file, index)
    if not checked:
        _check_fingerprint(index, fingerprint, sidecar)
        _check_samples(file, index, sidecar)
    return index.dated(file.identity.mtime_ns)


def changed_since(path: str) -> StaleIndexError:
    """The error for a file that is not the one any more whose index is known."""
    return StaleIndexError(
        f"{display(path)}: the file changed after its index was loaded; open it again",
        path=path,
        kind="file_changed",
    )


def _check_fingerprint(index: FileIndex, fingerprint: bytes, sidecar: str) -> None:
    if index.fingerprint != fingerprint:
        raise StaleIndexError(
            f"{display(sidecar)}: the index is damaged: its fingerprint does not fit its content",
            path=sidecar,
            kind="index_corrupt",
        )


def _check_samples(file: File, index: FileIndex, sidecar: str) -> None:
    if not _samples_match(file, index):
        raise _stale(sidecar, "the file holds other records, though its size is the same")


def _samples_match(file: File, index: FileIndex) -> bool:
    """Whether a few records, spread over the file, are what the index promises."""
    if index.codec != "none" or not len(index):
        return True
    picks = np.unique(np.linspace(0, len(index) - 1, _SAMPLES).astype(np.uint64))
    if isinstance(file, ObjectFile):
        return isinstance(RemoteRecords(file, index, Spans()).fetch(picks), list)
    records = _core.IndexedFile(file.descriptor, index.offsets, index.lengths, index.checksums)
    while len(picks):
        with naming(file.path):
            found = records.fetch(picks)
        if isinstance(found, _core.Fault):
            return False
        picks = picks[len(found) :]
    return True


def _other_size(sidecar: str, file: File, index: FileIndex) -> StaleIndexError:
    return _stale(sidecar, f"the file has {file.size:,} bytes, the index is of one with {index.size:,}")


def _stale(sidecar: str, why: str) -> StaleIndexError:
    return StaleIndexError(f"{display(sidecar)}: the index is stale: {why}", path=sidecar, kind="index_stale")
