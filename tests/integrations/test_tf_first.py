"""The first generation side by side: the same program with TensorFlow's graphs and threads, and with ours."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tensorflow_2  # noqa: ICN001 - `tf` is what programs are given

from tfreel import tf as ours

theirs = tensorflow_2.compat.v1
FILES = {"a": 5, "empty": 0, "b": 4, "c": 7}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files: plain, compressed, damaged, text."""
    made = tmp_path_factory.mktemp("records")
    for name, count in FILES.items():
        for path, options in ((made / name, None), (made / f"{name}.gz", "GZIP")):
            with tensorflow_2.io.TFRecordWriter(str(path), options) as writer:
                for i in range(count):
                    writer.write(example(name, i))
    damaged = bytearray((made / "a").read_bytes())
    damaged[-5] ^= 1
    (made / "bad").write_bytes(damaged)
    (made / "t1.txt").write_bytes(b"l1\nl2\r\n\nl4")
    (made / "t2.txt").write_bytes(b"m1\n")
    return made


def example(name: str, i: int) -> bytes:
    train = theirs.train
    features = {
        "x": train.Feature(int64_list=train.Int64List(value=[i])),
        "name": train.Feature(bytes_list=train.BytesList(value=[f"{name}{i}".encode()])),
        "pair": train.Feature(float_list=train.FloatList(value=[i, i / 2])),
        "some": train.Feature(int64_list=train.Int64List(value=range(i))),
    }
    return train.Example(features=train.Features(feature=features)).SerializeToString()


def plain(value: Any) -> Any:
    """A form in which values can be compared, with dtypes."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value.shape, value.tolist()
    return value


def run(tf: Any, fetches: list[Any], times: int) -> list[Any]:
    """What the fetches give, each in a run of its own, time after time."""
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
        for _ in range(times):
            for fetch in fetches:
                try:
                    found.append(plain(session.run(fetch)))
                except tf.errors.OpError as error:
                    found.append(type(error).__name__)
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def same(program: Callable[[Any], list[Any]], times: int) -> list[Any]:
    """What a program gives, which is the same with both."""
    with theirs.Graph().as_default():
        wanted = run(theirs, program(theirs), times)
    assert run(ours, program(ours), times) == wanted
    return wanted


def files(tf: Any, folder: Path, *names: str, epochs: int | None = 1) -> Any:
    return tf.train.string_input_producer([str(folder / name) for name in names], epochs, shuffle=False)


def counted(tf: Any, reader: Any, read: Any) -> list[Any]:
    return [list(read), reader.num_records_produced(), reader.num_work_units_completed()]


# Readers ------------------------------------------------------------------------------------------


def test_keys_values_and_counters_of_records_are_the_same(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.TFRecordReader()
        return counted(tf, reader, reader.read(files(tf, folder, "a", "empty", "b")))

    assert same(program, 12)[-3:] == ["OutOfRangeError", ("int64", (), 9), ("int64", (), 3)]


def test_keys_of_compressed_files_count_plain_bytes(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        options = tensorflow_2.io.TFRecordOptions("GZIP")
        reader = tf.TFRecordReader(options=options)
        return counted(tf, reader, reader.read(files(tf, folder, "b.gz", "a.gz")))

    same(program, 10)


def test_damage_is_told_again_and_not_counted(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.TFRecordReader()
        return counted(tf, reader, reader.read(files(tf, folder, "bad", "a")))

    assert same(program, 7)[-3] == "DataLossError"


def test_a_missing_file_is_told_and_then_left_behind(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.TFRecordReader()
        return [list(reader.read(files(tf, folder, "none", "a")))]

    assert same(program, 7)[0] == "NotFoundError"


@pytest.mark.parametrize("count", [0, 1, 3, 5, 7])
def test_read_up_to_gives_the_rest_of_a_file_at_most(folder: Path, count: int) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.TFRecordReader()
        return counted(tf, reader, reader.read_up_to(files(tf, folder, "a", "empty", "b", "c"), count))

    same(program, 8)


def test_reset_goes_on_with_the_next_file(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.TFRecordReader()
        queue = files(tf, folder, "a", "b", "c", epochs=None)
        read = reader.read(queue)
        return [*counted(tf, reader, read), reader.reset(), *counted(tf, reader, read)]

    same(program, 3)


@pytest.mark.parametrize("skip", [None, 1, 2])
def test_lines_are_the_same(folder: Path, skip: int | None) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.TextLineReader(skip_header_lines=skip)
        return counted(tf, reader, reader.read(files(tf, folder, "t1.txt", "t2.txt")))

    same(program, 7)


def test_whole_files_are_the_same(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.WholeFileReader()
        return counted(tf, reader, reader.read(files(tf, folder, "t1.txt", "t2.txt", "none")))

    same(program, 5)


def test_names_are_read_as_they_are(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        reader = tf.IdentityReader()
        return counted(tf, reader, reader.read(files(tf, folder, "t1.txt", "none")))

    same(program, 3)


# Producers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 7, 12345])
@pytest.mark.parametrize("count", [1, 2, 5, 6, 40])
def test_seeded_producers_have_the_order_of_tensorflow(seed: int, count: int) -> None:
    def program(tf: Any) -> list[Any]:
        names = [f"file {i}" for i in range(count)]
        return [tf.train.string_input_producer(names, num_epochs=3, seed=seed).dequeue()]

    same(program, 3 * count + 2)


def test_producers_of_numbers_and_rows_are_the_same() -> None:
    def program(tf: Any) -> list[Any]:
        return [
            tf.train.range_input_producer(5, num_epochs=1, seed=3).dequeue(),
            tf.train.input_producer(np.arange(6).reshape(3, 2), num_epochs=1, shuffle=False).dequeue(),
            tf.train.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=2, seed=5),
            tf.train.limit_epochs(tf.constant([1, 2]), 2),
        ]

    same(program, 7)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tf: tf.train.string_input_producer([]),
        lambda tf: tf.train.string_input_producer("one"),
        lambda tf: tf.train.string_input_producer([["a", "b"]]),
        lambda tf: tf.train.string_input_producer([1, 2]),
        lambda tf: tf.train.string_input_producer(["a"], num_epochs=0),
        lambda tf: tf.train.slice_input_producer([]),
        lambda tf: tf.train.batch([], 3),
        lambda tf: tf.train.batch([tf.constant(1)], -1),
        lambda tf: tf.train.shuffle_batch([tf.constant(1)], 3, 4, 4),
        lambda tf: tf.train.limit_epochs(tf.constant(1), 0),
    ],
)
def test_what_cannot_be_is_refused_by_the_same_error(wrong: Callable[[Any], Any]) -> None:
    with theirs.Graph().as_default(), pytest.raises((TypeError, ValueError)) as caught:
        wrong(theirs)
    with pytest.raises(caught.type):
        wrong(ours)


# Batches ------------------------------------------------------------------------------------------


def numbers(tf: Any, count: int = 5) -> Any:
    return tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()


BATCHES: dict[str, Callable[[Any], Any]] = {
    "a list of one": lambda tf: tf.train.batch([numbers(tf)], 2),
    "a tuple": lambda tf: (lambda x: tf.train.batch((x, x * 2), 2))(numbers(tf)),
    "a dict": lambda tf: (lambda x: tf.train.batch({"b": x, "a": x * 2}, 2))(numbers(tf)),
    "a dict of one": lambda tf: tf.train.batch({"a": numbers(tf)}, 2),
    "a constant": lambda tf: tf.train.batch([numbers(tf), tf.constant([7, 8])], 2),
    "the rest": lambda tf: tf.train.batch([numbers(tf)], 2, allow_smaller_final_batch=True),
    "all at once": lambda tf: tf.train.batch([numbers(tf)], 9, allow_smaller_final_batch=True),
    "too few": lambda tf: tf.train.batch([numbers(tf)], 9),
    "many": lambda tf: (lambda x: tf.train.batch([tf.stack([x, x * 10, x * 100])], 4, enqueue_many=True))(
        numbers(tf)
    ),
    "many and the rest": lambda tf: (
        lambda x: tf.train.batch(
            [tf.stack([x, x * 10]), tf.stack([[x], [x]])],
            4,
            enqueue_many=True,
            allow_smaller_final_batch=True,
        )
    )(numbers(tf)),
    "padded": lambda tf: (
        lambda x: tf.train.batch([tf.range(x), x], 2, dynamic_pad=True, allow_smaller_final_batch=True)
    )(numbers(tf)),
    "padded in two directions": lambda tf: (
        lambda x: tf.train.batch([tf.zeros([x, 3 - x % 2]) + 1.0], 3, dynamic_pad=True)
    )(numbers(tf)),
    "a join of one": lambda tf: tf.train.batch_join([[numbers(tf)]], 2, allow_smaller_final_batch=True),
    "several batches of batches": lambda tf: tf.train.batch([tf.train.batch([numbers(tf, 9)], 2)], 2),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_are_the_same(name: str) -> None:
    same(lambda tf: [BATCHES[name](tf)], 6)


@pytest.mark.parametrize("name", BATCHES)
def test_batches_have_the_same_shapes_and_dtypes(name: str) -> None:
    def described(tf: Any) -> Any:
        found = BATCHES[name](tf)
        tensors = found.values() if isinstance(found, dict) else found if isinstance(found, list) else [found]
        return [(tensor.dtype.name, tensor.shape.as_list()) for tensor in tensors]

    with theirs.Graph().as_default():
        wanted = described(theirs)
    assert described(ours) == wanted


def parsed(tf: Any, folder: Path, *names: str, epochs: int | None = 1) -> Any:
    _, record = tf.TFRecordReader().read(files(tf, folder, *names, epochs=epochs))
    return tf.parse_single_example(
        record,
        {
            "x": tf.FixedLenFeature([], tf.int64),
            "name": tf.FixedLenFeature([], tf.string),
            "pair": tf.FixedLenFeature([2], tf.float32),
            "some": tf.VarLenFeature(tf.int64),
        },
    )


def test_batches_of_parsed_records_are_the_same(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        row = parsed(tf, folder, "a", "empty", "b", "c", epochs=2)
        half = tf.cast(row["x"], tf.float32) / 2.0
        return [tf.train.batch([row["name"], half, row["pair"] * 3.0, row["some"]], 5)]

    assert same(program, 8)[-1] == "OutOfRangeError"


def test_batches_of_many_records_at_a_time_are_the_same(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        _, records = tf.TFRecordReader().read_up_to(files(tf, folder, "a", "empty", "b", "c"), 3)
        rows = tf.parse_example(records, {"x": tf.FixedLenFeature([], tf.int64)})
        return [tf.train.batch(rows, 4, enqueue_many=True, allow_smaller_final_batch=True)]

    same(program, 6)


def test_shuffled_batches_hold_every_row_once(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        row = parsed(tf, folder, "a", "b", "c")
        return [tf.train.shuffle_batch([row["name"]], 3, 12, 5, seed=1, allow_smaller_final_batch=True)]

    for tf in (theirs, ours):
        with tf.Graph().as_default():
            found = run(tf, program(tf), 7)
        assert found[-1] == "OutOfRangeError"
        assert [len(batch[2]) for batch in found[:-1]] == [3, 3, 3, 3, 3, 1]
        names = [name for batch in found[:-1] for name in batch[2]]
        assert sorted(names) == sorted(f"{f}{i}".encode() for f in "abc" for i in range(FILES[f]))


def test_a_join_holds_every_row_once(folder: Path) -> None:
    def program(tf: Any) -> list[Any]:
        sets = [[parsed(tf, folder, name)["name"]] for name in ("a", "c")]
        return [tf.train.shuffle_batch_join(sets, 4, 9, 2, allow_smaller_final_batch=True)]

    for tf in (theirs, ours):
        with tf.Graph().as_default():
            found = run(tf, program(tf), 4)
        assert sum(len(batch[2]) for batch in found[:-1]) == 12
        assert found[-1] == "OutOfRangeError"


# Queues -------------------------------------------------------------------------------------------


def test_queues_that_the_program_fills_are_the_same() -> None:
    def program(tf: Any) -> list[Any]:
        queue = tf.FIFOQueue(10, [tf.int32, tf.string], [[], []])
        return [
            queue.enqueue([1, "one"]),
            queue.enqueue_many([[2, 3, 4, 5], ["two", "three", "four", "five"]]),
            queue.size(),
            queue.dequeue(),
            queue.dequeue_many(2),
            queue.close(),
            queue.enqueue([9, "nine"]),
            queue.dequeue_many(3),
            queue.dequeue_up_to(3),
            queue.dequeue(),
            queue.is_closed(),
        ]

    same(program, 1)


@pytest.mark.parametrize("seed", [1, 5])
def test_a_seeded_queue_has_the_order_of_tensorflow(seed: int) -> None:
    def program(tf: Any) -> list[Any]:
        queue = tf.RandomShuffleQueue(50, 0, [tf.int32], [[]], seed=seed)
        return [
            queue.enqueue_many([list(range(40))]),
            queue.close(),
            queue.dequeue_many(9),
            queue.dequeue_up_to(50),
        ]

    same(program, 1)


def test_queue_runners_fill_a_queue() -> None:
    def program(tf: Any) -> list[Any]:
        queue = tf.FIFOQueue(10, [tf.int32], [[]])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([numbers(tf)])]))
        return [queue.dequeue()]

    same(program, 7)


# Sessions and iterators ---------------------------------------------------------------------------


def iterated(tf: Any, run: Callable[[Any, Any], None]) -> list[Any]:
    """What a program does with a session, which it is given."""
    found: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:

        def step(fetches: Any, **options: Any) -> Any:
            try:
                value = session.run(fetches, **options)
            except Exception as error:  # noqa: BLE001 - its class is compared
                found.append(type(error).__name__)
            else:
                found.append(plain(value))
                return value

        run(tf, step)
    return found


def both(run: Callable[[Any, Any], None]) -> list[Any]:
    wanted = iterated(theirs, run)
    assert iterated(ours, run) == wanted
    return wanted


def test_structures_of_fetches_come_back_as_they_are() -> None:
    def program(tf: Any, step: Any) -> None:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = x * 2.0
        step({"a": [y, (x, y)], "b": {"c": y}}, feed_dict={x: [1, 2]})
        step([], feed_dict={x: [1]})
        step([tf.no_op(), y[0]], feed_dict={x: [3]})
        step(tf.group(y, tf.no_op()), feed_dict={x: [3]})
        step(tf.constant("text"))
        step(tf.constant([[1, 2]]))

    both(program)


def test_what_cannot_be_fetched_or_fed_is_refused() -> None:
    def program(tf: Any, step: Any) -> None:
        x = tf.placeholder(tf.int32, [2])
        for fetch in (None, 5, 2.5, [None], [x, None]):
            step(fetch, feed_dict={x: [1, 2]})
        for value in ([1, 2, 3], [[1, 2]], 5, tf.constant([1, 2]), ["a", "b"]):
            step(x, feed_dict={x: value})
        for key in (5, None):
            step(x, feed_dict={key: [1, 2]})
        step(x, feed_dict=[1])

    assert "ValueError" in both(program)


def test_other_tensors_than_placeholders_can_be_fed() -> None:
    def program(tf: Any, step: Any) -> None:
        x = tf.placeholder(tf.int32, [])
        y = x + 1
        z = y * 10
        step([y, z], feed_dict={y: 5})
        d = tf.placeholder_with_default(tf.constant([1, 2]), [None])
        step(d + 1)
        step(d + 1, feed_dict={d: [5]})

    both(program)


def test_a_placeholder_that_is_not_fed_is_an_error() -> None:
    with pytest.raises(theirs.errors.InvalidArgumentError), theirs.Graph().as_default():
        theirs.Session().run(theirs.placeholder(theirs.int32) + 1)
    with pytest.raises(ours.errors.InvalidArgumentError, match="You must feed"):
        ours.Session().run(ours.placeholder(ours.int32) + 1)


def test_one_shot_iterators_give_an_element_in_every_run() -> None:
    def program(tf: Any, step: Any) -> None:
        dataset = tf.data.Dataset.range(3).map(lambda x: {"x": x, "y": x * x})
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        step(element)
        step([element["x"], element["y"] + 1])
        for _ in range(3):
            step(element["x"])

    assert both(program)[-2:] == ["OutOfRangeError"] * 2


def test_an_empty_dataset_ends_in_the_first_run() -> None:
    def program(tf: Any, step: Any) -> None:
        element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(0)).get_next()
        step(element)
        step(element)

    assert both(program) == ["OutOfRangeError"] * 2


def test_initializable_iterators_begin_when_they_are_told(folder: Path) -> None:
    def program(tf: Any, step: Any) -> None:
        names = tf.placeholder(tf.string, [None])
        dataset = tf.data.TFRecordDataset(names).batch(3)
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        step(element)
        for feed in (["a"], ["b", "empty", "a"]):
            step(iterator.initializer, feed_dict={names: [str(folder / name) for name in feed]})
            for _ in range(4):
                step(element)

    both(program)


def test_two_iterators_of_one_placeholder_keep_what_each_was_fed() -> None:
    def program(tf: Any, step: Any) -> None:
        given = tf.placeholder(tf.int32, [None])
        dataset = tf.data.Dataset.from_tensor_slices({"x": given, "y": given * 2}).repeat(2)
        iterators = [tf.data.make_initializable_iterator(dataset) for _ in range(2)]
        elements = [each.get_next() for each in iterators]
        for iterator, feed in zip(iterators, ([1, 2], [7]), strict=True):
            step(iterator.initializer, feed_dict={given: feed})
        for _ in range(5):
            step(elements[0])
            step(elements[1])

    both(program)


def test_iterators_of_a_structure_change_their_dataset() -> None:
    def program(tf: Any, step: Any) -> None:
        first, second = tf.data.Dataset.range(2), tf.data.Dataset.range(10, 13)
        types, shapes = tf.data.get_output_types(first), tf.data.get_output_shapes(first)
        iterator = tf.data.Iterator.from_structure(types, shapes)
        element = iterator.get_next()
        step(element)
        for dataset in (first, second, first):
            step(iterator.make_initializer(dataset))
            for _ in range(3):
                step(element)

    both(program)


def test_iterators_can_be_fed_by_their_handles() -> None:
    def program(tf: Any, step: Any) -> None:
        datasets = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
        handle = tf.placeholder(tf.string, [])
        types, shapes = (
            tf.data.get_output_types(datasets[0]),
            tf.data.get_output_shapes(datasets[0]),
        )
        element = tf.data.Iterator.from_string_handle(handle, types, shapes).get_next()
        iterators = [tf.data.make_one_shot_iterator(each) for each in datasets]
        with tf.Session() as session:
            handles = [session.run(each.string_handle()) for each in iterators]
            found = [session.run(element, {handle: handles[i]}) for i in (0, 1, 1, 0)]
        assert found == [0, 10, 11, 1]

    both(program)


def test_a_closed_session_runs_nothing() -> None:
    for tf in (theirs, ours):
        with tf.Graph().as_default():
            session = tf.Session()
            session.close()
            with pytest.raises(RuntimeError, match="closed Session"):
                session.run(tf.constant(1))


def test_eval_uses_the_default_session() -> None:
    for tf in (theirs, ours):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.int32, [])
            with tf.Session() as session:
                assert tf.get_default_session() is session
                assert (x + 1).eval({x: 2}) == 3
            assert tf.get_default_session() is None


# Coordinators -------------------------------------------------------------------------------------


def test_coordinators_stop_and_raise_alike() -> None:
    def program(tf: Any) -> list[Any]:
        coordinator = tf.train.Coordinator()
        found = [coordinator.should_stop(), coordinator.wait_for_stop(0.01)]
        with coordinator.stop_on_exception():
            raise tf.errors.OutOfRangeError(None, None, "the end")
        found.append(coordinator.should_stop())
        coordinator.join([])
        coordinator.clear_stop()
        found.append(coordinator.should_stop())
        with coordinator.stop_on_exception():
            raise KeyError("mine")
        for act in (coordinator.join, coordinator.raise_requested_exception):
            try:
                act()
            except KeyError as error:
                found.append(str(error))
        return found

    assert program(ours) == program(theirs)
