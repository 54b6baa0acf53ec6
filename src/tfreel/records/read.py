"""`tfreel.read`: records of files, globs and streams, in order, one `bytes` after the other."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, Literal, NamedTuple, Self, TypeAlias

from tfreel import _core
from tfreel.compression import Codec, codec_named
from tfreel.errors import StateError, TfreelError
from tfreel.records.frames import Frames, Position, ReadOptions, open_frames
from tfreel.records.members import Restart
from tfreel.records.report import TAIL_KINDS, Fault, Report
from tfreel.states import check_seal, require_counts, sealed
from tfreel.storage.names import Paths, resolve
from tfreel.storage.paths import display
from tfreel.storage.places import size_of

OnCorrupt: TypeAlias = Literal["raise", "tail", "skip"]

_STATE_VERSION = 1
_ADVICE = '; on_corrupt="skip" reads past it'


def read(
    paths: Paths,
    *,
    verify: bool = True,
    on_corrupt: OnCorrupt = "raise",
    compression: str | None = None,
    max_record_bytes: int = 1 << 32,
    max_expanded_bytes: int | None = None,
    follow: float | None = None,
) -> Reader:
    """An iterator over the records of one or many files, as `bytes`.

    Args:
        paths: A path, a glob, a shard pattern (``train@8.tfrecord``, ``train-{00000..00007}-of-00008``),
            ``-`` for standard input, an open binary file, or a list of these.
        verify: Check the checksum of every payload. Headers are always checked.
        on_corrupt: ``"raise"`` stops at the first fault, after every record before it. ``"tail"`` forgives a
            file that was cut off. ``"skip"`` reads past all damage. What was passed over stands in
            ``reader.report``.
        compression: ``"gzip"``, ``"zlib"`` or ``"none"``; told from the content if not given.
        max_record_bytes: A header that claims a longer record is a fault.
        max_expanded_bytes: A compressed file that holds more is a fault.
        follow: At the end of a file that is still being written, wait up to this many seconds for more of it.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord") as out:
        ...     out.write_many([b"one", b"two", b"three"])
        >>> [len(record) for record in tfreel.read("numbers.tfrecord")]
        [3, 3, 5]
    """
    return Reader(
        paths,
        verify=verify,
        on_corrupt=on_corrupt,
        compression=compression,
        max_record_bytes=max_record_bytes,
        max_expanded_bytes=max_expanded_bytes,
        follow=follow,
    )


def read_from(path: str, start: Position, *, verify: bool = True, on_corrupt: OnCorrupt = "raise") -> Reader:
    """A reader of one file that begins at a record in the middle of it."""
    reader = Reader([], verify=verify, on_corrupt=on_corrupt)
    reader.files = [path]
    reader._go_to(0, start)
    return reader


class _Place(NamedTuple):
    """Where a step begins."""

    file: int
    position: Position
    files_completed: int


class Reader(_core.BlockIterator):
    """The iterator that `tfreel.read` returns.

    It counts what it delivers, reports what was wrong, saves its state and goes on from a saved one. One
    thread at a time may use it: another one that comes in between gets a RuntimeError. It pickles as its
    files, options and position.

    Example:
        >>> with tfreel.Writer("numbers.tfrecord") as out:
        ...     out.write_many([b"one", b"two", b"three"])
        >>> reader = tfreel.read("numbers.tfrecord")
        >>> next(reader)
        b'one'
        >>> state = reader.state_dict()
        >>> later = tfreel.read("numbers.tfrecord")
        >>> later.load_state_dict(state)
        >>> list(later)
        [b'two', b'three']
    """

    def __init__(
        self,
        paths: Paths,
        *,
        verify: bool = True,
        on_corrupt: OnCorrupt = "raise",
        compression: str | None = None,
        max_record_bytes: int = 1 << 32,
        max_expanded_bytes: int | None = None,
        follow: float | None = None,
    ) -> None:
        super().__init__()
        if on_corrupt not in ("raise", "tail", "skip"):
            raise ValueError(f'on_corrupt must be "raise", "tail" or "skip", not {on_corrupt!r}')
        self.files: list[str | BinaryIO] = resolve(paths)
        self._on_corrupt = on_corrupt
        self._options = ReadOptions(
            verify=verify,
            salvage=on_corrupt == "skip",
            compression=None if compression is None else codec_named(compression),
            max_record_bytes=max_record_bytes,
            max_expanded_bytes=max_expanded_bytes,
            follow_seconds=follow,
        )
        self._begun_streams: set[int] = set()
        self._go_to(0, Position())

    def _go_to(self, file: int, position: Position, *, records: int = 0, files: int = 0) -> None:
        self._clear()
        self._failure: Exception | None = None
        self._frames: Frames | None = None
        self._file = file
        self._start = position
        self._delivered = records
        self._block_size = 0
        self._long_reported = 0
        self.files_completed = files
        self.codec: Codec | None = None  # of the file read last
        self.restarts: Sequence[Restart] = ()  # in it
        self._report = Report()
        self._step_from: _Place | None = None  # where the step began that is under way

    @property
    def records_produced(self) -> int:
        """Records delivered since the beginning, also across a saved state."""
        # Between two blocks the last one counts as a whole.
        of_block = self._block_size if self._block is None else self._taken
        if self._step_from is not None:  # what it takes is not delivered yet
            of_block = 0
        return self._delivered + of_block + self._long_records

    @property
    def report(self) -> Report:
        """What was read so far, and what was wrong with it."""
        new = self._long_records - self._long_reported
        report = self._report
        report.records, self._long_reported = report.records + new, self._long_reported + new
        return report

    def _position(self) -> Position:
        if self._step_from is not None:
            return self._step_from.position
        block = self._block
        if block is not None and self._taken < len(block):
            return Position(int(block.offsets[self._taken]), block.first_record + self._taken)
        return self._start if self._frames is None else self._frames.position

    def reset(self) -> None:
        """Goes back to the beginning: counters to zero, faults forgotten."""
        self._alone(partial(self._begin_at, 0, Position()))

    def _begin_at(self, file: int, position: Position, *, records: int = 0, files: int = 0) -> None:
        self._let_go()
        self._go_to(file, position, records=records, files=files)

    def _next_block(self) -> _core.Block | None:
        """Called by the core when a block is used up."""
        if self._failure is not None:
            raise self._failure
        try:
            return self._found_block()
        finally:
            self._step_from = None

    def _found_block(self) -> _core.Block | None:
        self._delivered, self._block_size = self._delivered + self._block_size, 0
        while self._file < len(self.files):
            self._step_from = None
            place = self._step_from = _Place(self._file, self._position(), self.files_completed)
            reported = None
            try:
                found = self._step()
                if isinstance(found, _core.Block):
                    self._offer_file(self._open().file_reader)
                    size = len(found)
                    self._block_size = size
                    self._report.records += size
                    return found
                reported = self.report.mark()
                if found is None or self._forgive(found):
                    self._finish_file()
            except TfreelError:
                raise
            except BaseException as error:
                # Ctrl-C may strike at any call, with something taken that nobody has seen.
                self._go_back(place, error)
                if reported is not None:
                    self.report.return_to(reported)
                raise
        return None

    def _step(self) -> _core.Block | Fault | None:
        try:
            return self._open().step()
        except OSError as error:
            if error.filename is None:
                error.filename = self.path
            raise

    def _go_back(self, place: _Place, error: BaseException) -> None:
        """Lets go of the file, to open it again where the last block that was delivered ended."""
        self._offer_file(None)
        if self._frames is not None:
            self._frames.close()
        self._frames = None
        self._file = place.file
        self._start = place.position
        self._block_size = 0
        self.files_completed = place.files_completed
        if not isinstance(self.files[place.file], str) or self.files[place.file] == "-":
            # A stream has no way back: to read on would be to leave out what was taken from it.
            interrupted = RuntimeError("the reader was interrupted in the middle of a stream")
            self._failure = error if isinstance(error, Exception) else interrupted

    def blocks(self) -> Iterator[_core.Block]:
        """The records from here on in blocks: for callers that want no Python object per record."""
        if self._block is not None:
            self.close()
        while (block := self._alone(self._next_block)) is not None:
            self._delivered += self._block_size  # handed over is delivered
            self._block_size = 0
            yield block

    def _open(self) -> Frames:
        if self._frames is None:
            self._refuse_second_reading()
            self._frames = open_frames(self.files[self._file], self._options, self._start, self.report.note)
            self.codec, self.restarts = self._frames.codec, self._frames.restarts
        return self._frames

    def _refuse_second_reading(self) -> None:
        """Fails if the next file is a stream of which something was taken already: it has no way back."""
        if isinstance(self.files[self._file], str) and self.files[self._file] != "-":
            return
        if self._file in self._begun_streams:
            raise ValueError("a stream can be read only once: what was taken from it cannot be read again")
        self._begun_streams.add(self._file)

    def _finish_file(self) -> None:
        frames = self._open()
        self.report.files += 1
        self.report.bytes += frames.position.offset
        self.report.compressed_bytes += frames.compressed_bytes
        self.report._expanded += frames.position.offset if frames.compressed_bytes else 0
        frames.close()
        self._frames = None
        self._file += 1
        self._start = Position()
        self.files_completed += 1

    def _forgive(self, fault: Fault) -> bool:
        """Takes note of a fault, or raises it; True if it ends the file."""
        if self._on_corrupt == "skip":
            self.report.add(fault)
            return False
        if self._on_corrupt == "tail" and (tail := self._tail_from(fault)):
            for part in tail:
                self.report.add(part)
            return True
        if self._frames is not None:
            self._frames.close()
        # It is raised again by every later call: to go on as if the file had ended here would hide it.
        self._failure = fault.to_error(_ADVICE if self._on_corrupt == "raise" else "")
        raise self._failure

    def _tail_from(self, fault: Fault) -> list[Fault]:
        """The faults that end a file which was cut off, beginning with this one; none if this is no tail."""
        if fault.kind in TAIL_KINDS:
            return [fault]
        source = self.files[self._file]
        if fault.kind != "data_crc" or fault.expected != 0 or not isinstance(source, str) or source == "-":
            return []
        # The mark of a crash: a header was written, but nothing from the record's footer on.
        rest = open_frames(source, self._options, Position(fault.end, fault.record + 1), self.report.note)
        try:
            found = rest.step()
        finally:
            rest.close()
        if isinstance(found, Fault) and found.kind in ("zero_filled_tail", "truncated_header"):
            return [fault, found]
        return [fault] if found is None else []

    @property
    def path(self) -> str:
        """The file that the last block came from; ``<stream>`` for an open file."""
        return self._path_of(self._file)

    def _path_of(self, file: int) -> str:
        source = self.files[file] if file < len(self.files) else ""
        return source if isinstance(source, str) else "<stream>"

    def _fingerprint(self) -> str:
        names = [os.path.basename(file) if isinstance(file, str) else "<stream>" for file in self.files]
        return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def state_dict(self) -> dict[str, Any]:
        """Where the reader stands, as a small dict that JSON can hold.

        A handler of a signal may ask for it too, which finds the reader in the middle of a step.
        """
        self._check_others()
        place = self._step_from or _Place(self._file, self._position(), self.files_completed)
        path = self._path_of(place.file)
        state: dict[str, Any] = {
            "format": "tfreel-reader",
            "version": _STATE_VERSION,
            "files": len(self.files),
            "fingerprint": self._fingerprint(),
            "file": place.file,
            "path": os.path.basename(path),
            "size": _size_of(path),
            "offset": place.position.offset,
            "record": place.position.record,
            "records_produced": self.records_produced,
            "files_completed": place.files_completed,
        }
        return sealed(state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to where `state` was saved.

        Raises:
            StateError: It is damaged, or was saved with other files.
        """
        file, position = self._checked(state)
        counts = {"records": state["records_produced"], "files": state["files_completed"]}
        self._alone(partial(self._begin_at, file, position, **counts))

    def _checked(self, state: dict[str, Any]) -> tuple[int, Position]:
        check_seal(state, form="tfreel-reader", version=_STATE_VERSION, owner="reader")
        require_counts(state, "files", "file", "offset", "record", "records_produced", "files_completed")
        if state["files"] != len(self.files):
            raise StateError(
                f"the state was saved with {state['files']} files; this reader has {len(self.files)}"
            )
        if state.get("fingerprint") != self._fingerprint():
            raise StateError("the state was saved with other files: the names or their order differ")
        file = state["file"]
        name = self.files[file] if file < len(self.files) else ""
        if isinstance(name, str) and (size := _size_of(name)) != state.get("size"):
            raise StateError(
                f"{display(name)}: had {state.get('size')} bytes when the state was saved and "
                + ("is not there now" if size is None else f"has {size} now"),
                path=name,
            )
        return file, Position(state["offset"], state["record"])

    def __reduce__(self) -> tuple[Any, ...]:
        if not all(isinstance(file, str) and file != "-" for file in self.files):
            raise TypeError("a reader of an open stream cannot be pickled")
        return _restore, (type(self), self.files, self._on_corrupt, self._options, self.state_dict())

    def close(self) -> None:
        """Lets go of the open file; the next record opens it again."""
        self._alone(self._let_go)

    def _let_go(self) -> None:
        if self._frames is not None:
            start = self._position()
            records = self.records_produced
            if self._block is not None:
                self.report.records -= len(self._block) - self._taken
            self._frames.close()
            self._clear()
            self._long_reported = 0
            self._frames = None
            self._start = start
            self._delivered = records
            self._block_size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tfreel.Reader of {len(self.files)} files, {self.records_produced} records produced>"


def _restore(
    cls: type[Reader], files: list[str], on_corrupt: OnCorrupt, options: ReadOptions, state: dict[str, Any]
) -> Reader:
    reader = cls([], on_corrupt=on_corrupt)
    reader.files = list(files)
    reader._options = options
    reader.load_state_dict(state)
    return reader


def _size_of(path: str) -> int | None:
    try:
        return size_of(path)
    except OSError:
        return None
