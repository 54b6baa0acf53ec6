"""The first generation: what sessions, readers, queues and iterators promise beyond TensorFlow."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel import tf

FEATURES = {
    "x": tf.FixedLenFeature([], tf.int64),
    "name": tf.FixedLenFeature([], tf.string),
    "pair": tf.FixedLenFeature([2], tf.float32),
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return write(tmp_path / "numbers.tfrecord", 50)


def write(path: Path, count: int) -> str:
    with tfreel.Writer(path) as out:
        for i in range(count):
            out.write({"x": i, "name": f"no. {i}", "pair": [i / 2, i / 4]})
    return str(path)


def read(path: str, epochs: int | None = 1) -> tuple[Any, Any]:
    queue = tf.train.string_input_producer([path], num_epochs=epochs, shuffle=False)
    key, record = tf.TFRecordReader().read(queue)
    return key, tf.parse_single_example(record, FEATURES)


def drained(fetches: Any) -> tuple[list[Any], Exception]:
    """What comes until it ends, and how it ends."""
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(fetches))
            except tf.errors.OpError as error:
                return found, error


# Whole programs -----------------------------------------------------------------------------------


def test_an_old_program_runs_as_it_stands(path: str) -> None:
    queue = tf.train.string_input_producer([path], num_epochs=2)
    reader = tf.TFRecordReader()
    _, serialized = reader.read(queue)
    row = tf.parse_single_example(serialized, features=FEATURES)
    pairs, labels = tf.train.shuffle_batch(
        [tf.cast(row["pair"], tf.float32) * 2.0, row["x"]],
        batch_size=10,
        capacity=40,
        min_after_dequeue=20,
        num_threads=2,
    )
    seen: list[int] = []
    with tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))) as sess:
        sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                pair, label = sess.run([pairs, labels])
                assert pair.shape == (10, 2)
                assert (pair[:, 0] == label).all()
                seen += label.tolist()
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coord.request_stop()
        coord.join(threads)
    assert sorted(seen) == sorted([*range(50), *range(50)])
    assert seen[:50] != list(range(50))


def test_nothing_hangs_without_queue_runners(path: str) -> None:
    key, row = read(path)
    with tf.Session() as session:
        assert session.run(tf.train.batch([row["x"]], 3)).tolist() == [0, 1, 2]
        assert session.run([key, row["x"]]) == [f"{path}:213".encode(), 3]


def test_the_end_says_what_was_read_and_what_to_do(path: str) -> None:
    _, row = read(path, epochs=2)
    found, end = drained(tf.train.batch(row, 30))
    assert len(found) == 3
    assert isinstance(end, tf.errors.OutOfRangeError)
    for part in ("requested 30, current size 10", "2 times", "num_epochs=2", "100 records of 2 files"):
        assert part in end.message


# Values that belong together ----------------------------------------------------------------------


def test_without_a_session_tensors_of_one_read_belong_together(path: str) -> None:
    key, row = read(path)
    assert row["x"].numpy() == 0
    assert row["name"].numpy() == b"no. 0"
    assert (row["x"] + 1).numpy() == 1
    assert key.numpy() == f"{path}:0".encode()


def test_without_a_session_every_call_of_read_gives_the_next_record(path: str) -> None:
    queue = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    reader = tf.TFRecordReader()
    values = [tf.parse_single_example(reader.read(queue).value, FEATURES)["x"].numpy() for _ in range(50)]
    assert values == list(range(50))
    with pytest.raises(tf.errors.OutOfRangeError):
        reader.read(queue).value.numpy()
    assert reader.num_records_produced().numpy() == 50
    assert reader.num_work_units_completed().numpy() == 1


def test_tensors_of_one_run_belong_together_and_the_next_run_goes_on(path: str) -> None:
    _, row = read(path)
    with tf.Session() as session:
        for i in range(3):
            assert session.run({"x": row["x"], "y": row["x"] * 2, "name": row["name"]}) == {
                "x": i,
                "y": 2 * i,
                "name": f"no. {i}".encode(),
            }


def test_a_constant_that_was_fetched_can_be_written_to() -> None:
    constant = tf.constant([1, 2])
    with tf.Session() as session:
        session.run(constant)[0] = 9
        assert session.run(constant).tolist() == [1, 2]


# Batches ------------------------------------------------------------------------------------------


def test_batches_do_not_depend_on_how_rows_are_made(path: str) -> None:
    key, row = read(path)
    in_columns, _ = drained(tf.train.batch([key, row["x"] * 3, row["pair"][0], row["name"]], 7))
    key, row = read(path)
    number = tf.train.range_input_producer(1000, shuffle=False).dequeue()  # this keeps it from being columns
    one_by_one, _ = drained(tf.train.batch([key, row["x"] * 3, row["pair"][0], row["name"], number], 7))
    assert len(in_columns) == 7
    for batch, other in zip(in_columns, one_by_one, strict=True):
        for part, wanted in zip(batch, other[:-1], strict=True):
            assert part.dtype == wanted.dtype
            assert part.tolist() == wanted.tolist()


@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_before_a_bad_record_come_first_and_then_its_error_again_and_again(
    tmp_path: Path, shuffled: bool
) -> None:
    path = str(tmp_path / "bad.tfrecord")
    with tfreel.Writer(path) as out:
        for i in range(20):
            out.write({"x": i, "name": "", "pair": [0.0, 0.0]} if i != 13 else b"\xff no example")
    _, row = read(path)
    if shuffled:
        batch = tf.train.shuffle_batch([row["x"]], 4, 100, 8, seed=1)
    else:
        batch = tf.train.batch([row["x"]], 4)
    with tf.Session() as session:
        found = np.concatenate([session.run(batch) for _ in range(3)])
        assert set(found.tolist()) <= set(range(13))
        assert len(set(found.tolist())) == 12
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(batch)


def test_rows_of_different_shapes_are_refused_with_advice() -> None:
    number = tf.train.range_input_producer(5, shuffle=False).dequeue()
    batch = tf.train.batch([tf.range(number)], 2)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="dynamic_pad=True"):
        session.run(batch)


def test_a_seed_gives_the_same_shuffled_batches_again(path: str) -> None:
    def batches(seed: int | None) -> list[list[int]]:
        _, row = read(path)
        batch = tf.train.shuffle_batch([row["x"]], 8, 30, 10, seed=seed, allow_smaller_final_batch=True)
        return [each.tolist() for each in drained(batch)[0]]

    first = batches(3)
    assert batches(3) == first
    assert batches(4) != first
    assert batches(None) != first
    assert sorted(x for batch in first for x in batch) == list(range(50))


def test_a_shuffled_batch_draws_from_all_rows_that_wait(path: str) -> None:
    _, row = read(path)
    reader_rows = tf.train.shuffle_batch([row["x"]], 1, 1000, 49, seed=0)
    with tf.Session() as session:
        assert len({int(session.run(reader_rows)[0]) for _ in range(30)}) == 30


def test_words_and_pictures_of_any_size_can_wait_in_a_shuffled_batch() -> None:
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.shuffle_batch([tf.range(number % 2), number], 1, 50, 5, seed=2)
    found, _ = drained(batch)
    assert sorted((len(row[0]), int(number[0])) for row, number in found) == [
        (0, 0), (0, 2), (0, 4), (1, 1), (1, 3), (1, 5),
    ]  # fmt: skip


def test_several_threads_share_the_rows(path: str) -> None:
    _, row = read(path, epochs=4)
    batch = tf.train.batch([row["x"]], 5)
    found: list[int] = []

    def work() -> None:
        with tf.Session() as session:
            while True:
                try:
                    found.extend(session.run(batch).tolist())
                except tf.errors.OutOfRangeError:
                    return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(list(range(50)) * 4)


# Queues -------------------------------------------------------------------------------------------


def test_an_empty_queue_that_nobody_fills_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    queue = tf.FIFOQueue(3, [tf.int32], [[]])
    with tf.Session() as session:
        session.run(queue.enqueue(1))
        with pytest.raises(tf.errors.FailedPreconditionError, match="nobody is there to fill it"):
            session.run(queue.dequeue_many(2))
        assert session.run([queue.size(), queue.dequeue()]) == [1, 1]


def test_a_thread_of_the_user_fills_a_queue_within_its_capacity() -> None:
    queue = tf.FIFOQueue(2, [tf.int32], [[]])
    given = tf.placeholder(tf.int32, [])
    enqueue = queue.enqueue(given)
    session = tf.Session()
    most = 0

    def fill() -> None:
        for i in range(10):
            session.run(enqueue, {given: i})
        session.run(queue.close())

    thread = threading.Thread(target=fill)
    thread.start()
    found = []
    for _ in range(10):
        time.sleep(0.002)
        most = max(most, int(session.run(queue.size())))
        found.append(int(session.run(queue.dequeue())))
    thread.join()
    assert found == list(range(10))
    assert most <= 2
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(queue.dequeue())


def test_queues_of_names_give_dicts() -> None:
    queue = tf.FIFOQueue(3, [tf.string, tf.int32], [[], [2]], names=["word", "count"])
    with tf.Session() as session:
        session.run(queue.enqueue({"word": "a", "count": [1, 2]}))
        found = session.run(queue.dequeue())
    assert found["word"] == b"a"
    assert found["count"].tolist() == [1, 2]


def test_a_reader_wants_a_queue(path: str) -> None:
    with pytest.raises(TypeError, match="string_input_producer"):
        tf.TFRecordReader().read([path])


# Iterators ----------------------------------------------------------------------------------------


def test_without_a_session_every_get_next_draws_and_the_end_is_told_at_the_call() -> None:
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    assert [iterator.get_next().numpy() for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match=r"all 2 elements were given; repeat\(\)"):
        iterator.get_next()


def test_with_a_session_the_first_run_gives_the_first_element() -> None:
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    assert (element + 1).numpy() == 1
    found, end = drained(element)
    assert found == [0, 1, 2]
    assert "all 3 elements were given" in str(end)


def test_an_empty_dataset_is_told_when_its_element_is_asked_for() -> None:
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(0)).get_next()
    with pytest.raises(tf.errors.OutOfRangeError):
        element.numpy()


def test_an_error_in_the_data_is_told_in_the_run(tmp_path: Path) -> None:
    element = tf.data.make_one_shot_iterator(tf.data.TFRecordDataset(str(tmp_path / "none"))).get_next()
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError):
        session.run(element)


def test_an_iterator_works_in_a_loop_too() -> None:
    assert [int(x) for x in tf.data.make_one_shot_iterator(tf.data.Dataset.range(3))] == [0, 1, 2]


# Sessions -----------------------------------------------------------------------------------------


def test_names_of_tensors_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match="pass the tensor itself"):
        tf.Session().run("x:0")


def test_nothing_runs_if_one_fetch_is_wrong(path: str) -> None:
    key, _ = read(path)
    with tf.Session() as session:
        with pytest.raises(TypeError, match="Fetch argument 5"):
            session.run([key, 5])
        assert session.run(key) == f"{path}:0".encode()


def test_an_interactive_session_is_the_default_one_until_it_is_closed() -> None:
    x = tf.placeholder(tf.float32, [])
    session = tf.InteractiveSession()
    try:
        assert tf.get_default_session() is session
        assert (x * 2.0).eval({x: 4}) == 8.0
        tf.global_variables_initializer().run()
    finally:
        session.close()
    assert tf.get_default_session() is None


def test_graphs_and_switches_are_taken() -> None:
    assert tf.executing_eagerly()
    graph = tf.Graph()
    with graph.as_default():
        assert tf.get_default_graph() is graph
        assert not tf.executing_eagerly()
    tf.disable_eager_execution()
    assert not tf.executing_eagerly()
    tf.enable_eager_execution()
    tf.reset_default_graph()
    assert tf.get_default_graph() is not graph


def test_settings_take_anything() -> None:
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    assert config.allow_soft_placement
    assert config.gpu_options.per_process_gpu_memory_fraction == 0.5


def test_writing_a_file_waits_for_what_is_not_known_yet(tmp_path: Path, path: str) -> None:
    key, row = read(path)
    action = tf.write_file(str(tmp_path / "out.txt"), row["name"])
    assert not (tmp_path / "out.txt").exists()
    with tf.Session() as session:
        assert session.run([action, key])[0] is None
    assert (tmp_path / "out.txt").read_bytes() == b"no. 0"


# Coordinators -------------------------------------------------------------------------------------


def test_a_coordinator_waits_for_threads_and_raises_their_error() -> None:
    coord = tf.train.Coordinator()

    def work() -> None:
        with coord.stop_on_exception():
            raise KeyError("mine")

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(KeyError, match="mine"):
        coord.join([thread])
    assert coord.should_stop()


def test_a_coordinator_tells_of_threads_that_do_not_stop() -> None:
    coord = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="stubborn")
    thread.start()
    coord.request_stop()
    try:
        with pytest.raises(RuntimeError, match="stubborn"):
            coord.join([thread], stop_grace_period_secs=0.05)
        coord.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    finally:
        release.set()
        thread.join()


# Messages -------------------------------------------------------------------------------------------


def test_messages_go_through_the_logging_of_python(caplog: pytest.LogCaptureFixture) -> None:
    level = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.ERROR)
        tf.logging.info("too little to be told")
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.info("wrote %d records", 3)
        tf.compat.v1.logging.warning("a warning")
    finally:
        tf.logging.set_verbosity(level)
    assert [record.getMessage() for record in caplog.records] == ["wrote 3 records", "a warning"]
