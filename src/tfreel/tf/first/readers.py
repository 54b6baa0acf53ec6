"""Readers of the first generation: of files named by a queue, a key and a value in every run.

Unlike in TensorFlow they can save their state and go on from it. The state of a reader holds the place in the
file and, if the names come from a producer such as `string_input_producer`, the place in the queue.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tfreel.errors import StateError
from tfreel.states import check_seal, sealed
from tfreel.tf.errors import InvalidArgumentError, OutOfRangeError, as_tensorflow
from tfreel.tf.first.feeding import UnfedError
from tfreel.tf.first.producers import Producer
from tfreel.tf.first.queues import Queue, told
from tfreel.tf.first.works import Found, Lines, Records, Rows, Whole, Work, strings
from tfreel.tf.graphs.deeds import Action, Drawing
from tfreel.tf.graphs.operations import promises
from tfreel.tf.values import dtypes
from tfreel.tf.values.convert import array, scalar_bytes
from tfreel.tf.values.handles import Handle, is_promised, unwrap
from tfreel.tf.values.shapes import TensorSpec

_VERSION = 1
_FORM = "tfreel-tf-reader"


Taken = TypeVar("Taken", Found, Rows)


class ReaderRead(NamedTuple):
    """What `read` gives."""

    key: Any
    value: Any


class ReaderReadUpTo(NamedTuple):
    """What `read_up_to` gives."""

    keys: Any
    values: Any


class ReaderBase:
    """Base of readers. What a file is made of is for the subclasses to say.

    Attributes:
        at_once: A file is finished with the record that it gives, not with the next one.
    """

    at_once = False

    def __init__(self, name: str | None = None) -> None:
        self._lock = threading.RLock()
        self._in_session = False
        self._queue: Any = None
        self._queue_state: dict[str, Any] | None = None
        self._forget()

    def _forget(self) -> None:
        self._name: bytes | None = None
        self._work: Work | None = None
        self.produced = 0
        self.completed = 0

    def _open(self, name: bytes, place: list[int] | None = None) -> Work:
        raise NotImplementedError

    def read(self, queue: Any, name: str | None = None) -> ReaderRead:
        """The key and the value of the next record; of the next file in the queue, when one has ended."""
        spec = TensorSpec([], dtypes.string)
        found: ReaderRead = promises(Read(self, _queue(queue)), ReaderRead(spec, spec))
        return found

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> ReaderReadUpTo:
        """The keys and the values of up to so many records of one file."""
        count = num_records if is_promised(num_records) else int(array(num_records))
        spec = TensorSpec([None], dtypes.string)
        found: ReaderReadUpTo = promises(_ReadUpTo(self, _queue(queue), count), ReaderReadUpTo(spec, spec))
        return found

    def next_records(self, queue: Queue, count: int) -> Found:
        """Up to `count` records of the file that is being read, or else of the next one that has any.

        Raises:
            OutOfRangeError: The queue has ended.
        """
        return self._taken(queue, lambda work: work.take(count))

    def next_rows(self, queue: Queue, count: int) -> Rows:
        """The same as columns, perhaps of fewer records."""
        return self._taken(queue, lambda work: work.rows(count))

    def _taken(self, queue: Queue, take: Callable[[Work], Taken]) -> Taken:
        with self._lock, as_tensorflow():
            self._bring(queue)
            while True:
                found = take(self._work or self._begun(queue))
                self.produced += len(found)
                if not found or self.at_once:
                    self._finish()
                if found:
                    return found

    def _begun(self, queue: Queue) -> Work:
        try:
            name = scalar_bytes(queue.draw()[0])
        except OutOfRangeError as end:
            raise OutOfRangeError(
                f"{end.message} (read so far: {self.produced} records of {self.completed} files)"
            ) from end
        work = self._open(name)
        self._name, self._work = name, work
        return work

    def _finish(self) -> None:
        self._name, self._work = None, None
        self.completed += 1

    def finish_if_ended(self) -> None:
        """Takes note of the end of the file, if it is read to its end."""
        with self._lock, as_tensorflow():
            if isinstance(self._work, Records) and self._work.ended():
                self._finish()

    def num_records_produced(self, name: str | None = None) -> Any:
        """The number of records that were read."""
        return told(lambda: np.array(self.produced, np.int64), dtypes.int64)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """The number of files that were read to their end."""
        return told(lambda: np.array(self.completed, np.int64), dtypes.int64)

    @property
    def supports_serialize(self) -> bool:
        """Whether the state can be saved: always, which in TensorFlow it cannot for records."""
        return True

    @property
    def reader_ref(self) -> ReaderBase:
        """The reader itself."""
        return self

    def reset(self, name: str | None = None) -> Action:
        """Puts the counters to zero and forgets the file; the next one comes from the queue.

        It happens in a run. Code that uses no session has it happen at once.
        """
        return self._done(self._reset)

    def _reset(self) -> None:
        with self._lock:
            self._forget()
            self._queue_state = None

    def _done(self, act: Callable[..., None], *args: Any) -> Action:
        if not self._in_session:
            with suppress(UnfedError):
                act(*unwrap(args))
        action: Action = Action.to(act, *args)
        return action

    def serialize_state(self, name: str | None = None) -> Any:
        """The state as a string, with which a reader goes on behind the last record."""
        return told(lambda: np.array(self._state(), object), dtypes.string)

    def _state(self) -> bytes:
        with self._lock:
            name = None if self._name is None else os.fsdecode(self._name)
            state = {
                "format": _FORM,
                "version": _VERSION,
                "reader": type(self).__name__,
                "file": name,
                "bytes": None if name is None else os.path.getsize(name),
                "place": None if self._work is None else self._work.place(),
                "records_produced": self.produced,
                "work_units_completed": self.completed,
                "queue": self._queue.state() if isinstance(self._queue, Producer) else self._queue_state,
            }
            return json.dumps(sealed(state)).encode()

    def restore_state(self, state: Any, name: str | None = None) -> Action:
        """Goes to where a state was saved; the next record is the one behind the last that was read then.

        If nothing was taken yet from the queue of the next `read`, and it gives the same names, it goes on
        where the old one stood.

        It happens in a run. Code that uses no session has it happen at once.

        Raises:
            InvalidArgumentError: It is no such state, or the file is another one now.
        """
        return self._done(self._restore, state)

    def _restore(self, state: Any) -> None:
        with as_tensorflow():
            found = self._checked(scalar_bytes(state))
            name = None if found["file"] is None else os.fsencode(found["file"])
            work = None if name is None else self._open(name, found["place"])
        with self._lock:
            self._name, self._work = name, work
            self.produced, self.completed = found["records_produced"], found["work_units_completed"]
            self._queue, self._queue_state = None, found["queue"]

    def _checked(self, state: bytes) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(state)
        except ValueError:
            raise InvalidArgumentError(f"this is not the state of a reader: {state[:40]!r}") from None
        check_seal(found, form=_FORM, version=_VERSION, owner="reader")
        if found["reader"] != type(self).__name__:
            raise StateError(f"this is the state of a {found['reader']}, not of a {type(self).__name__}")
        path = found["file"]
        if path is not None and os.path.getsize(path) != found["bytes"]:
            raise StateError(
                f"{path}: had {found['bytes']} bytes when the state was saved"
                f" and has {os.path.getsize(path)} now"
            )
        return found

    def _bring(self, queue: Queue) -> None:
        """Brings a fresh queue to where the one stood with which the state was saved."""
        if queue is self._queue:
            return
        if self._queue_state is not None and isinstance(queue, Producer):
            queue.go_to(self._queue_state)
        self._queue, self._queue_state = queue, None

    def __getattr__(self, name: str) -> Any:
        if name == "num_records_units_completed":
            said = f"a reader has no {name!r}: did you mean 'num_work_units_completed'?"
            raise AttributeError(said, name=name)  # with the name, Python does not ask the same again
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _queue(queue: Any) -> Queue:
    if not isinstance(queue, Queue):
        raise TypeError(
            f"expected a queue of file names, such as tf.train.string_input_producer gives, not {queue!r}"
        )
    return queue


class Read(Drawing):
    """The node of `read`."""

    def __init__(self, reader: ReaderBase, queue: Queue) -> None:
        super().__init__()
        self.reader = reader
        self.queue = queue

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        self.reader._in_session = True
        return self._drawn()

    def kept(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        if self._kept is None:
            self._kept = self._drawn()
        return self._kept

    def rows(self, count: int) -> Rows:
        """What comes in the next runs, as columns; perhaps of fewer."""
        self.reader._in_session = True
        return self.reader.next_rows(self.queue, count)

    def _drawn(self) -> list[Any]:
        return [np.array(each, object) for each in self.reader.next_records(self.queue, 1)[0]]


class _ReadUpTo(Drawing):
    """The node of `read_up_to`."""

    def __init__(self, reader: ReaderBase, queue: Queue, count: Any) -> None:
        super().__init__()
        self.reader = reader
        self.queue = queue
        self.args = (count,)

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        self.reader._in_session = True
        count = self.args[0]
        wanted = int(value_of(count)) if isinstance(count, Handle) else count
        found = self._records(wanted) if wanted > 0 else []
        return [strings([key for key, _ in found]), strings([value for _, value in found])]

    def _records(self, wanted: int) -> Found:
        with self.reader._lock:
            found = self.reader.next_records(self.queue, wanted)
            if len(found) < wanted:
                self.reader.finish_if_ended()
            return found


class TFRecordReader(ReaderBase):
    """Reads the records of TFRecord files; the key is ``file:offset``.

    Example:
        >>> queue = tf.compat.v1.train.string_input_producer(["train.tfrecord"])
        >>> key, value = tf.compat.v1.TFRecordReader().read(queue)
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(name)
        self._compression = compression_of(options)

    def _open(self, name: bytes, place: list[int] | None = None) -> Work:
        return Records(name, self._compression, place)


def compression_of(options: Any) -> str:
    """The compression that options mean: a name, a number of the first generation, or an object."""
    if isinstance(options, int):
        return ("none", "zlib", "gzip")[options]
    if options is None or isinstance(options, str):
        return options or ""
    return compression_of(options.compression_type)


class TextLineReader(ReaderBase):
    """Reads the lines of text files; the key is ``file:number of the line``."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self._skip = skip_header_lines or 0

    def _open(self, name: bytes, place: list[int] | None = None) -> Work:
        return Lines(name, self._skip, place)


class WholeFileReader(ReaderBase):
    """Reads whole files; the key is the name."""

    at_once = True

    def _open(self, name: bytes, place: list[int] | None = None) -> Work:
        return Whole(name, contents=True)


class IdentityReader(ReaderBase):
    """Reads nothing: the key and the value are the name."""

    at_once = True

    def _open(self, name: bytes, place: list[int] | None = None) -> Work:
        return Whole(name, contents=False)
