"""The state of `TFRecordReader`: saved anywhere, it gives exactly the tail. TensorFlow never had this."""

import json
import traceback
from pathlib import Path
from typing import Any

import pytest

import tfreel
from tfreel.tf import errors
from tfreel.tf.first.batching import batch
from tfreel.tf.first.feeding import placeholder
from tfreel.tf.first.producers import Producer, string_input_producer
from tfreel.tf.first.queues import FIFOQueue
from tfreel.tf.first.readers import TextLineReader, TFRecordReader, WholeFileReader
from tfreel.tf.first.session import Session
from tfreel.tf.values import dtypes


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    found = []
    for name, count in (("a", 5), ("empty", 0), ("b", 3), ("c", 4)):
        path = tmp_path / f"{name}.tfrecord"
        with tfreel.Writer(path) as out:
            out.write_many([f"{name}{i}".encode() for i in range(count)])
        found.append(str(path))
    return found


def records(reader: TFRecordReader, queue: Producer, session: Session) -> list[tuple[bytes, bytes]]:
    read = reader.read(queue)
    found = []
    while True:
        try:
            found.append(tuple(session.run(read)))
        except errors.OutOfRangeError:
            return found


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_state_of_any_position_gives_exactly_the_tail(files: list[str], shuffle: bool) -> None:
    session = Session()
    queue = string_input_producer(files, num_epochs=2, shuffle=shuffle)
    reader = TFRecordReader()
    read, state = reader.read(queue), reader.serialize_state()
    states, found = [], []
    for _ in range(24):
        found.append(tuple(session.run(read)))
        states.append(session.run(state))
    for position, saved in enumerate(states, 1):
        fresh = TFRecordReader()
        session.run(fresh.restore_state(saved))
        assert session.run(fresh.num_records_produced()) == position
        tail = records(fresh, string_input_producer(files, num_epochs=2, shuffle=shuffle), session)
        assert tail == found[position:]
        assert session.run([fresh.num_records_produced(), fresh.num_work_units_completed()]) == [24, 8]


def test_a_state_of_a_compressed_file_gives_the_tail(tmp_path: Path) -> None:
    path = str(tmp_path / "a.gz")
    with tfreel.Writer(path) as out:
        out.write_many([b"%d" % i for i in range(100)])
    reader = TFRecordReader(options="GZIP")
    queue = string_input_producer([path], num_epochs=1)
    for _ in range(40):
        value = reader.read(queue).value.numpy()
    assert value == b"39"
    later = TFRecordReader(options="GZIP")
    later.restore_state(reader.serialize_state())
    tail = records(later, string_input_producer([path], num_epochs=1), Session())
    assert [value for _, value in tail] == [b"%d" % i for i in range(40, 100)]


def test_a_state_behind_batches_is_exact(files: list[str]) -> None:
    session = Session()

    def batches(reader: TFRecordReader) -> Any:
        return batch([reader.read(string_input_producer(files, num_epochs=1, shuffle=False)).value], 4)

    reader = TFRecordReader()
    values = batches(reader)
    assert session.run(values).tolist() == [b"a0", b"a1", b"a2", b"a3"]
    later = TFRecordReader()
    session.run(later.restore_state(session.run(reader.serialize_state())))
    assert (
        session.run(batches(later)).tolist() == session.run(values).tolist() == [b"a4", b"b0", b"b1", b"b2"]
    )


def test_the_same_reader_goes_back(files: list[str]) -> None:
    session = Session()
    queue = string_input_producer(files[:1], shuffle=False)
    reader = TFRecordReader()
    read = reader.read(queue)
    session.run(read)
    state = session.run(reader.serialize_state())
    assert session.run(read.value) == b"a1"
    assert session.run(read.value) == b"a2"
    assert session.run(reader.restore_state(state)) is None
    assert session.run(read.value) == b"a1"


def test_a_queue_that_has_begun_is_left_where_it_is(files: list[str]) -> None:
    session = Session()
    reader = TFRecordReader()
    read = reader.read(string_input_producer(files[2:], shuffle=False))
    session.run(read)
    state = session.run(reader.serialize_state())
    other = string_input_producer([files[0]], shuffle=False)
    later = TFRecordReader()
    session.run(later.restore_state(state))
    values = [session.run(later.read(other).value) for _ in range(4)]
    assert values == [b"b1", b"b2", b"a0", b"a1"]  # other names: the queue begins at its beginning


def test_a_state_can_be_fed(files: list[str]) -> None:
    session = Session()
    queue = string_input_producer(files[:1], shuffle=False)
    reader = TFRecordReader()
    session.run(reader.read(queue))
    state = session.run(reader.serialize_state())
    given = placeholder(dtypes.string, [])
    later = TFRecordReader()
    restore = later.restore_state(given)
    session.run(restore, feed_dict={given: state})
    assert session.run(later.num_records_produced()) == 1


def test_a_state_before_the_first_record_is_fine(files: list[str]) -> None:
    state = TFRecordReader().serialize_state().numpy()
    reader = TFRecordReader()
    reader.restore_state(state)
    assert reader.read(string_input_producer(files, shuffle=False)).value.numpy() == b"a0"


@pytest.mark.parametrize(
    "damaged",
    [b"", b"nothing", b"[1]", b"{}", b'{"format": "tfreel-tf-reader", "version": 2}'],
)
def test_what_is_no_state_is_refused(damaged: bytes) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="state"):
        TFRecordReader().restore_state(damaged)


def test_a_state_that_was_changed_is_refused(files: list[str]) -> None:
    reader = TFRecordReader()
    reader.read(string_input_producer(files, shuffle=False)).value.numpy()
    state = json.loads(reader.serialize_state().numpy())
    state["records_produced"] = 7
    with pytest.raises(errors.InvalidArgumentError, match="checksum"):
        TFRecordReader().restore_state(json.dumps(state))


def test_a_state_of_another_reader_is_refused(files: list[str]) -> None:
    state = WholeFileReader().serialize_state().numpy()
    with pytest.raises(errors.InvalidArgumentError, match="WholeFileReader"):
        TFRecordReader().restore_state(state)


def test_a_state_of_a_file_that_was_written_anew_is_refused(files: list[str]) -> None:
    reader = TFRecordReader()
    reader.read(string_input_producer(files, shuffle=False)).value.numpy()
    state = reader.serialize_state().numpy()
    Path(files[0]).write_bytes(b"something else")
    with pytest.raises(errors.InvalidArgumentError, match="had 90 bytes"):
        TFRecordReader().restore_state(state)
    Path(files[0]).unlink()
    with pytest.raises(errors.NotFoundError):
        TFRecordReader().restore_state(state)


def test_a_failed_restoration_changes_nothing(files: list[str]) -> None:
    session = Session()
    reader = TFRecordReader()
    read = reader.read(string_input_producer(files, shuffle=False))
    session.run(read)
    with pytest.raises(errors.InvalidArgumentError):
        session.run(reader.restore_state("nothing"))
    assert session.run(read.value) == b"a1"


def test_reset_forgets_the_file_and_the_counters(files: list[str]) -> None:
    session = Session()
    reader = TFRecordReader()
    read = reader.read(string_input_producer(files, shuffle=False))
    session.run(read)
    reset = reader.reset()
    assert session.run(read.value) == b"a1"  # it is the run that resets
    session.run(reset)
    assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [0, 0]
    assert session.run(read.value) == b"b0"


def test_lines_go_on_where_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("head\none\ntwo\nthree\n")
    reader = TextLineReader(skip_header_lines=1)
    assert reader.read(string_input_producer([str(path)])).value.numpy() == b"one"
    later = TextLineReader(skip_header_lines=1)
    later.restore_state(reader.serialize_state())
    key, value = later.read(string_input_producer([str(path)]))
    assert (key.numpy(), value.numpy()) == (f"{path}:3".encode(), b"two")


def test_a_queue_of_names_that_the_user_fills_works_too(files: list[str]) -> None:
    session = Session()
    queue = FIFOQueue(10, [dtypes.string], [[]])
    session.run(queue.enqueue_many([files]))
    session.run(queue.close())
    reader = TFRecordReader()
    read = reader.read(queue)
    session.run(read)
    later = TFRecordReader()
    session.run(later.restore_state(session.run(reader.serialize_state())))
    assert session.run(later.read(queue).value) == b"a1"
    assert len(records(later, queue, session)) == 3 + 3 + 4


def test_supports_serialize_says_so() -> None:
    assert TFRecordReader().supports_serialize is True


def test_a_name_that_is_nearly_right_is_explained() -> None:
    with pytest.raises(AttributeError, match="did you mean 'num_work_units_completed'") as raised:
        TFRecordReader().num_records_units_completed()
    shown = "".join(traceback.format_exception_only(raised.value))  # since Python 3.12 as the prompt shows it
    assert shown.count("num_work_units_completed") == 1
