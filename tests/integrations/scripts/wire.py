"""Records that no message class of today writes, but that parsers meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.results import raised


def _field(number: int, data: bytes) -> bytes:
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def _entry(key: bytes, feature: bytes) -> bytes:
    return _field(1, _field(1, key) + _field(2, feature))


def _int64s(*values: int) -> bytes:
    return _field(3, _field(1, bytes(values)))


def _example(*entries: bytes) -> bytes:
    return _field(1, b"".join(entries))


def the_last_of_equal_keys_wins(tf: Any, folder: Path) -> Any:
    record = _example(_entry(b"a", _int64s(1)), _entry(b"b", _int64s(2)), _entry(b"a", _int64s(3)))
    spec = {"a": tf.io.FixedLenFeature([], tf.int64)}
    message = tf.train.Example.FromString(record)
    return (
        tf.io.parse_single_example(record, spec),
        tf.io.parse_example([record], spec),
        tf.io.parse_single_example(record, {"a": tf.io.VarLenFeature(tf.int64)}),
        list(message.features.feature["a"].int64_list.value),
    )


def a_value_may_come_before_its_key(tf: Any, folder: Path) -> Any:
    record = _example(_field(1, _field(2, _int64s(5)) + _field(1, b"a")))
    spec = {"a": tf.io.FixedLenFeature([], tf.int64)}
    return tf.io.parse_single_example(record, spec), tf.train.Example.FromString(record)


def features_in_two_parts(tf: Any, folder: Path) -> Any:
    record = _example(_entry(b"a", _int64s(1))) + _example(_entry(b"b", _int64s(2)))
    spec = {name: tf.io.FixedLenFeature([], tf.int64) for name in "ab"}
    return tf.io.parse_single_example(record, spec), tf.train.Example.FromString(record)


def unknown_fields_around_the_features(tf: Any, folder: Path) -> Any:
    record = b"\x48\x05" + _example(_entry(b"a", _int64s(1))) + _field(7, b"more")
    message = tf.train.Example.FromString(record)
    kept = message.SerializeToString(deterministic=True)
    message.DiscardUnknownFields()
    return tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([], tf.int64)}), kept, message


def unpacked_numbers(tf: Any, folder: Path) -> Any:
    ints = _field(3, b"\x08\x01\x08\x02")
    floats = _field(2, b"\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40")
    record = _example(_entry(b"i", ints), _entry(b"f", floats))
    fixed = {"i": tf.io.FixedLenFeature([2], tf.int64), "f": tf.io.FixedLenFeature([2], tf.float32)}
    ragged = {"i": tf.io.RaggedFeature(tf.int64), "f": tf.io.VarLenFeature(tf.float32)}
    return (
        tf.io.parse_single_example(record, fixed),
        tf.io.parse_example([record, record], ragged),
        tf.train.Example.FromString(record),
    )


def numbers_written_with_too_many_bytes(tf: Any, folder: Path) -> Any:
    record = _example(_entry(b"a", _field(3, _field(1, b"\x81\x80\x00\x02"))))
    return tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([2], tf.int64)})


def negative_numbers_take_ten_bytes(tf: Any, folder: Path) -> Any:
    record = _example(_entry(b"a", _field(3, _field(1, b"\xff" * 9 + b"\x01"))))
    return tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([], tf.int64)})


def features_never_asked_for_may_be_odd(tf: Any, folder: Path) -> Any:
    record = _example(_entry(b"a", _int64s(1)), _entry(b"odd", b""), _entry(b"", _int64s(9)))
    return tf.io.parse_single_example(
        record, {"a": tf.io.FixedLenFeature([], tf.int64), "": tf.io.FixedLenFeature([], tf.int64)}
    )


def malformed_records(tf: Any, folder: Path) -> Any:
    records = (
        b"\x0a\x7f",
        b"\x0a",
        _example(_entry(b"a", b"\x1a\x05\x0a")),
        _example(_entry(b"a", _field(3, b"\x0a\x0b" + b"\xff" * 11))),
        _example(_entry(b"a", _field(2, _field(1, b"\x00\x00"))))[:-3],
    )
    spec = {"a": tf.io.FixedLenFeature([], tf.int64)}
    return [raised(tf, lambda r=record: tf.io.parse_single_example(r, spec)) for record in records]


def keys_of_other_alphabets(tf: Any, folder: Path) -> Any:
    message = tf.train.Example()
    message.features.feature["größe/名"].int64_list.value.append(3)
    record = message.SerializeToString()
    return record, tf.io.parse_single_example(record, {"größe/名": tf.io.FixedLenFeature([], tf.int64)})
