"""Code of the first generation: queues, runners, sessions, one-shot iterators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.builders import example, floats, int64s, numbered, pixels, strings
from integrations.scripts.results import raised


def _write(v1: Any, path: Path, records: list[bytes], options: Any = None) -> str:
    with v1.python_io.TFRecordWriter(str(path), options=options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def _features(v1: Any) -> dict[str, Any]:
    return {
        "id": v1.FixedLenFeature([], v1.int64),
        "half": v1.FixedLenFeature([], v1.float32),
        "name": v1.FixedLenFeature([], v1.string),
    }


def _run_queues(v1: Any, session: Any, body: Any) -> Any:
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
    coordinator = v1.train.Coordinator()
    threads = v1.train.start_queue_runners(sess=session, coord=coordinator)
    try:
        return body()
    finally:
        coordinator.request_stop()
        coordinator.join(threads)


def a_reader_gives_keys_and_values(v1: Any, folder: Path) -> Any:
    names = [_write(v1, folder / f"{i}.tfrecords", [b"%d" % j for j in range(3)]) for i in range(2)]
    queue = v1.train.string_input_producer(names, shuffle=False, num_epochs=1)
    key, value = v1.TFRecordReader().read(queue)
    with v1.Session() as session:
        found = _run_queues(v1, session, lambda: [session.run([key, value]) for _ in range(6)])
    return [(Path(key.decode()).name, value) for key, value in found]


def a_reader_ends_with_out_of_range(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", [b"1", b"2"])
    queue = v1.train.string_input_producer([name], num_epochs=2)
    _, value = v1.TFRecordReader().read(queue)
    found = []
    with v1.Session() as session:

        def body() -> None:
            while True:
                found.append(session.run(value))

        error = raised(v1, lambda: _run_queues(v1, session, body))
    return found, error


def a_reader_parses_examples(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 4))
    queue = v1.train.string_input_producer([name], shuffle=False)
    _, value = v1.TFRecordReader().read(queue)
    parsed = v1.parse_single_example(value, features=_features(v1))
    with v1.Session() as session:
        return _run_queues(v1, session, lambda: [session.run(parsed) for _ in range(6)])


def a_reader_of_compressed_files(v1: Any, folder: Path) -> Any:
    options = v1.python_io.TFRecordOptions(v1.python_io.TFRecordCompressionType.ZLIB)
    name = _write(v1, folder / "a", [b"x" * 10, b"y"], options)
    queue = v1.train.string_input_producer([name], shuffle=False)
    key, value = v1.TFRecordReader(options=options).read(queue)
    with v1.Session() as session:
        found = _run_queues(v1, session, lambda: [session.run((key, value)) for _ in range(3)])
    return [(Path(key.decode()).name, value) for key, value in found]


def a_reader_counts(v1: Any, folder: Path) -> Any:
    names = [_write(v1, folder / str(i), [b"a", b"b"]) for i in range(2)]
    queue = v1.train.string_input_producer(names, shuffle=False, num_epochs=1)
    reader = v1.TFRecordReader()
    _, value = reader.read(queue)
    counts = reader.num_records_produced(), reader.num_work_units_completed()
    found = []
    with v1.Session() as session:

        def body() -> None:
            for _ in range(4):
                session.run(value)
                found.append([int(n) for n in session.run(counts)])
            found.append(raised(v1, lambda: session.run(value)))
            found.append([int(n) for n in session.run(counts)])
            session.run(reader.reset())
            found.append([int(n) for n in session.run(counts)])

        _run_queues(v1, session, body)
    return found


def images_batched_in_order(v1: Any, folder: Path) -> Any:
    records = [
        example(v1, {"image": strings(v1, pixels(2, 3)[::-1].tobytes()), "label": int64s(v1, i)})
        for i in range(5)
    ]
    queue = v1.train.string_input_producer([_write(v1, folder / "a", records)], shuffle=False)
    _, value = v1.TFRecordReader().read(queue)
    features = v1.parse_single_example(
        value,
        features={"image": v1.FixedLenFeature([], v1.string), "label": v1.FixedLenFeature([], v1.int64)},
    )
    image = v1.reshape(v1.decode_raw(features["image"], v1.uint8), [2, 3, 3])
    label = v1.cast(features["label"], v1.int32)
    images, labels = v1.train.batch([image, label], batch_size=2, num_threads=1, capacity=10)
    with v1.Session() as session:
        return _run_queues(v1, session, lambda: [session.run([images, labels]) for _ in range(3)])


def the_last_small_batch(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 5))
    queue = v1.train.string_input_producer([name], shuffle=False, num_epochs=1)
    _, value = v1.TFRecordReader().read(queue)
    number = v1.parse_single_example(value, _features(v1))["id"]
    batch = v1.train.batch([number], batch_size=2, allow_smaller_final_batch=True)
    with v1.Session() as session:
        return _run_queues(v1, session, lambda: [session.run(batch) for _ in range(3)])


def shuffled_batches_hold_every_record(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 12))
    queue = v1.train.string_input_producer([name], num_epochs=1)
    _, value = v1.TFRecordReader().read(queue)
    parsed = v1.parse_single_example(value, _features(v1))
    batch = v1.train.shuffle_batch(
        [parsed["id"], parsed["name"]], batch_size=4, capacity=20, min_after_dequeue=5, num_threads=2
    )
    with v1.Session() as session:
        found = _run_queues(v1, session, lambda: [session.run(batch) for _ in range(3)])
    return sorted((int(i), name) for ids, names in found for i, name in zip(ids, names, strict=True))


def a_one_shot_iterator(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 3))
    ds = v1.data.TFRecordDataset(name).map(lambda x: v1.parse_single_example(x, _features(v1)))
    element = v1.data.make_one_shot_iterator(ds).get_next()
    found = []
    with v1.Session() as session:
        try:
            while True:
                found.append(session.run(element))
        except v1.errors.OutOfRangeError:
            found.append("end")
    return found


def the_method_of_a_dataset(v1: Any, folder: Path) -> Any:
    ds = v1.data.Dataset.range(3).map(lambda i: (i, i * 2)).batch(2)
    a, b = ds.make_one_shot_iterator().get_next()
    with v1.Session() as session:
        first = session.run([a, b])
        second = session.run({"sum": a + b})
        return first, second, raised(v1, lambda: session.run(a))


def an_initializable_iterator(v1: Any, folder: Path) -> Any:
    ds = v1.data.Dataset.range(2)
    iterator = v1.data.make_initializable_iterator(ds)
    element = iterator.get_next()
    with v1.Session() as session:
        before = raised(v1, lambda: session.run(element))
        session.run(iterator.initializer)
        first = [session.run(element), session.run(element)]
        session.run(iterator.initializer)
        return before, first, session.run(element)


def placeholders_are_fed(v1: Any, folder: Path) -> Any:
    x = v1.placeholder(v1.float32, shape=[None, 2])
    names = v1.placeholder(v1.string, shape=[None])
    files = [_write(v1, folder / str(i), [b"%d" % i] * 2) for i in range(2)]
    iterator = v1.data.make_initializable_iterator(v1.data.TFRecordDataset(names))
    element = iterator.get_next()
    with v1.Session() as session:
        doubled = session.run(x * 2, feed_dict={x: [[1, 2], [3, 4]]})
        session.run(iterator.initializer, feed_dict={names: files})
        return doubled, [session.run(element) for _ in range(4)]


def several_fetches_come_from_one_read(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 4))
    ds = v1.data.TFRecordDataset([name]).map(lambda x: v1.parse_single_example(x, _features(v1)))
    row = ds.make_one_shot_iterator().get_next()
    with v1.Session() as session:
        return [session.run([row["id"], row["name"], row["half"] * 2]) for _ in range(2)], session.run(row)[
            "id"
        ]


def records_iterated_without_a_session(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", [example(v1, {"x": floats(v1, i, i + 1)}) for i in range(3)])
    found = []
    for record in v1.python_io.tf_record_iterator(name):
        message = v1.train.Example()
        message.ParseFromString(record)
        found.append(list(message.features.feature["x"].float_list.value))
    return found


def image_files_read_in_a_session(v1: Any, folder: Path) -> Any:
    with v1.Session() as session:
        encoded = session.run(v1.image.encode_png(pixels(3, 4)))
        with v1.gfile.FastGFile(str(folder / "a.png"), "wb") as file:
            file.write(encoded)
        image = v1.image.decode_png(v1.read_file(str(folder / "a.png")))
        resized = v1.image.resize_images(image, [6, 6])
        value, small, shape = session.run([image, resized, v1.shape(image)])
    return value, small, shape


def resized_the_old_way(v1: Any, folder: Path) -> Any:
    image = v1.constant(pixels(5, 7))
    with v1.Session() as session:
        return session.run(
            [
                v1.image.resize_images(image, [9, 4]),
                v1.image.resize_images(image, [5, 7]),
                v1.image.resize_images(image, [9, 4], align_corners=True),
                v1.image.resize_images(image, [3, 3], v1.image.ResizeMethod.NEAREST_NEIGHBOR),
                v1.image.resize_bilinear(v1.expand_dims(image, 0), [4, 4]),
                v1.image.resize_image_with_crop_or_pad(image, 3, 9),
            ]
        )


def batches_parsed_by_parse_example(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 4))
    ds = v1.data.TFRecordDataset(name).batch(2).map(lambda x: v1.parse_example(x, _features(v1)))
    row = v1.data.make_one_shot_iterator(ds).get_next()
    with v1.Session() as session:
        return [session.run(row) for _ in range(2)]


def sparse_values_of_a_session(v1: Any, folder: Path) -> Any:
    record = example(v1, {"v": int64s(v1, 4, 5)})
    parsed = v1.parse_single_example(record, {"v": v1.VarLenFeature(v1.int64)})
    with v1.Session() as session:
        value = session.run(parsed["v"])
        dense = session.run(v1.sparse_tensor_to_dense(parsed["v"]))
    return value.indices, value.values, value.dense_shape, dense


def tensors_evaluated(v1: Any, folder: Path) -> Any:
    x = v1.constant([1.0, 2.0])
    with v1.Session() as session:
        return x.eval(), (x + 1).eval(session=session), session.run((x, [x * 2], {"a": v1.reduce_sum(x)}))


def an_interactive_session(v1: Any, folder: Path) -> Any:
    session = v1.InteractiveSession()
    try:
        return v1.constant(3).eval(), v1.train.Example(), session.run(v1.add(1, 2))
    finally:
        session.close()


def decoded_raw_with_the_old_argument(v1: Any, folder: Path) -> Any:
    with v1.Session() as session:
        return session.run(
            [v1.decode_raw(bytes=b"abcd", out_type=v1.uint8), v1.decode_raw(b"abcd", v1.int16)]
        )


def steps_until_the_coordinator_stops(v1: Any, folder: Path) -> Any:
    name = _write(v1, folder / "a", numbered(v1, 3))
    queue = v1.train.string_input_producer([name], num_epochs=2, shuffle=False)
    _, value = v1.TFRecordReader().read(queue)
    number = v1.parse_single_example(value, _features(v1))["id"]
    found = []
    with v1.Session() as session:
        session.run(v1.local_variables_initializer())
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                found.append(int(session.run(number)))
        except v1.errors.OutOfRangeError:
            found.append(-1)
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    return found


def a_corrupt_file_read_by_a_queue(v1: Any, folder: Path) -> Any:
    path = Path(_write(v1, folder / "a", [b"abc" * 9, b"def" * 9]))
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    queue = v1.train.string_input_producer([str(path)], shuffle=False)
    _, value = v1.TFRecordReader().read(queue)
    with v1.Session() as session:
        return _run_queues(v1, session, lambda: [session.run(value), raised(v1, lambda: session.run(value))])


def matching_files_feed_the_queue(v1: Any, folder: Path) -> Any:
    for i in range(3):
        _write(v1, folder / f"train-{i}.tfrecords", [b"%d" % i])
    names = sorted(v1.gfile.Glob(str(folder / "train-*")))
    queue = v1.train.string_input_producer(names, shuffle=False, num_epochs=1)
    _, value = v1.TFRecordReader().read(queue)
    with v1.Session() as session:
        return _run_queues(v1, session, lambda: [session.run(value) for _ in range(3)])


def sequence_examples_in_a_session(v1: Any, folder: Path) -> Any:
    message = v1.train.SequenceExample()
    message.context.feature["n"].int64_list.value.append(2)
    for i in range(2):
        message.feature_lists.feature_list["t"].feature.add().int64_list.value.append(i)
    context, lists = v1.parse_single_sequence_example(
        message.SerializeToString(),
        context_features={"n": v1.FixedLenFeature([], v1.int64)},
        sequence_features={"t": v1.FixedLenSequenceFeature([], v1.int64)},
    )
    with v1.Session() as session:
        return session.run([context, lists])


def labels_made_one_hot(v1: Any, folder: Path) -> Any:
    with v1.Session() as session:
        return session.run(
            [v1.one_hot([0, 2], 3), v1.to_float(v1.constant([1, 2])), v1.to_int32(v1.constant(2.5))]
        )
