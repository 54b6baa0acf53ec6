"""Example messages: built, changed, compared, printed and parsed again."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from integrations.scripts.builders import example, floats, int64s, sequence, strings
from integrations.scripts.results import raised


def the_three_kinds_of_features(tf: Any, folder: Path) -> Any:
    return int64s(tf, 1, -2, 3), floats(tf, 0.5, 1e30), strings(tf, b"a", b"\xff\x00")


def the_tutorials_helpers(tf: Any, folder: Path) -> Any:
    def bytes_feature(value: Any) -> Any:
        if isinstance(value, type(tf.constant(0))):
            value = value.numpy()
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    return (
        bytes_feature(b"test_string"),
        bytes_feature(b"test_bytes"),
        floats(tf, np.exp(1)),
        int64s(tf, 1),
        bytes_feature(tf.io.serialize_tensor(tf.constant([1, 2]))).bytes_list.value[0],
    )


def keys_are_ordered_when_deterministic(tf: Any, folder: Path) -> Any:
    message = tf.train.Example()
    for key in ("b", "a", "aa", "B", "", "ä", "label", "image/encoded", "image"):
        message.features.feature[key].int64_list.value.append(len(key))
    return message.SerializeToString(deterministic=True)


def features_read_back_as_python_values(tf: Any, folder: Path) -> Any:
    message = tf.train.Example.FromString(
        example(tf, {"i": int64s(tf, 1, -(2**63)), "f": floats(tf, 0.1), "s": strings(tf, b"x")})
    )
    feature = message.features.feature
    kinds = {key: feature[key].WhichOneof("kind") for key in sorted(feature)}
    return (
        kinds,
        list(feature["i"].int64_list.value),
        list(feature["f"].float_list.value),
        feature["s"].bytes_list.value[0],
    )


def features_become_arrays(tf: Any, folder: Path) -> Any:
    message = tf.train.Example.FromString(example(tf, {"i": int64s(tf, 4, 5), "f": floats(tf, 0.1, 2.5)}))
    result = {}
    for key, feature in message.features.feature.items():
        kind = feature.WhichOneof("kind")
        result[key] = np.array(getattr(feature, kind).value)
    return result


def an_empty_list_counts_as_set(tf: Any, folder: Path) -> Any:
    empty = tf.train.Feature(bytes_list=tf.train.BytesList())
    unset = tf.train.Feature()
    list(unset.int64_list.value)
    before = unset.WhichOneof("kind")
    unset.int64_list.value.extend([])
    return empty, empty.WhichOneof("kind"), before, unset.WhichOneof("kind"), unset


def setting_one_kind_clears_the_other(tf: Any, folder: Path) -> Any:
    feature = int64s(tf, 1)
    feature.float_list.value.append(2.0)
    kind = feature.WhichOneof("kind")
    feature.ClearField("kind")
    return kind, list(feature.int64_list.value), feature.WhichOneof("kind"), feature.HasField("int64_list")


def values_of_wrong_types(tf: Any, folder: Path) -> Any:
    train = tf.train
    return [
        raised(tf, lambda: train.Int64List(value=[1.5])),
        raised(tf, lambda: train.Int64List(value=["1"])),
        raised(tf, lambda: train.Int64List(value=[None])),
        raised(tf, lambda: train.Int64List(value=[2**63])),
        raised(tf, lambda: train.Int64List(value=5)),
        raised(tf, lambda: train.FloatList(value=["x"])),
        raised(tf, lambda: train.BytesList(value=["text"])),
        raised(tf, lambda: train.BytesList(value=b"ab")),
        raised(tf, lambda: train.BytesList(value=[1])),
        raised(tf, lambda: train.Feature(int64=train.Int64List())),
        raised(tf, lambda: train.Feature(train.Int64List())),
        raised(tf, lambda: train.Example(feature={})),
    ]


def values_may_be_any_iterable(tf: Any, folder: Path) -> Any:
    train = tf.train
    return (
        train.Int64List(value=range(4)),
        train.Int64List(value=(i * i for i in range(4))),
        train.Int64List(value=np.arange(3, dtype=np.int32)),
        train.Int64List(value=np.arange(3, dtype=np.uint8)),
        train.FloatList(value=np.linspace(0, 1, 5)),
        train.FloatList(value=np.ones((2, 2)).flatten()),
        train.FloatList(value=[1, True, np.float16(0.5)]),
        train.BytesList(value=np.array([b"a", b"bc"])),
    )


def floats_are_single_precision(tf: Any, folder: Path) -> Any:
    found = list(tf.train.FloatList(value=[0.1, 1e300, -1e300, float("nan"), -0.0, 1e-45, 16777217]).value)
    return [np.float32(value) for value in found], found[0]


def submessages_may_be_dicts(tf: Any, folder: Path) -> Any:
    features = tf.train.Features(feature={"a": {"int64_list": {"value": [1, 2]}}})
    return features, tf.train.Example(features={"feature": {"b": {"bytes_list": {"value": [b"x"]}}}})


def maps_create_what_is_asked_for(tf: Any, folder: Path) -> Any:
    features = tf.train.Features()
    there = "a" in features.feature
    features.feature["a"]
    features.feature["b"].int64_list.value.append(1)
    now = sorted(features.feature)
    del features.feature["a"]
    absent = raised(tf, lambda: features.feature.__delitem__("zz"))
    assigned = raised(tf, lambda: features.feature.__setitem__("c", tf.train.Feature()))
    return there, now, len(features.feature), absent, assigned, features.feature.get("none") is None


def copy_and_merge(tf: Any, folder: Path) -> Any:
    first = tf.train.Features(feature={"a": int64s(tf, 1), "b": int64s(tf, 2)})
    second = tf.train.Features(feature={"b": int64s(tf, 3), "c": floats(tf, 1)})
    merged = copy.deepcopy(first)
    merged.MergeFrom(second)
    copied = tf.train.Features()
    copied.CopyFrom(second)
    lists = tf.train.Int64List(value=[1])
    lists.MergeFrom(tf.train.Int64List(value=[2]))
    return merged, copied, lists, copied == second, first == second


def repeated_fields_are_like_lists(tf: Any, folder: Path) -> Any:
    values = tf.train.Int64List(value=[3, 1, 2])
    values.value.append(9)
    values.value.extend([7, 8])
    values.value.insert(0, 5)
    values.value.remove(1)
    last = values.value.pop()
    values.value[0] = 50
    values.value[1:2] = [6, 6]
    steps = [list(values.value), last, values.value[-1], list(values.value[1:3]), len(values.value)]
    values.value.sort()
    assigned = raised(tf, lambda: setattr(values, "value", [1]))
    return steps, list(values.value), values.value == [2, 3], assigned


def the_text_of_a_message(tf: Any, folder: Path) -> Any:
    message = tf.train.Example(features=tf.train.Features(feature={"a": strings(tf, b'\x00\xff"\n\t')}))
    return (
        str(message),
        repr(floats(tf, 0.1, 1e10, float("inf"), -0.0, 3)),
        str(int64s(tf, 7)),
        str(tf.train.Feature()),
    )


def parsing_answers_and_errors(tf: Any, folder: Path) -> Any:
    data = example(tf, {"a": int64s(tf, 1)})
    message = tf.train.Example()
    count = message.ParseFromString(data)
    return (
        count == len(data),
        message == tf.train.Example.FromString(data),
        raised(tf, lambda: tf.train.Example.FromString(b"\x0a\x05ab")),
        raised(tf, lambda: tf.train.Example.FromString("text")),
        tf.train.Example.FromString(b""),
        tf.train.Example.FromString(bytearray(data)) == message,
    )


def messages_can_be_pickled(tf: Any, folder: Path) -> Any:
    message = tf.train.Example.FromString(example(tf, {"a": int64s(tf, 1)}))
    return pickle.loads(pickle.dumps(message)), message.ByteSize(), message.IsInitialized()


def fields_of_a_message(tf: Any, folder: Path) -> Any:
    message = tf.train.Example(features=tf.train.Features(feature={"a": int64s(tf, 1)}))
    names = [field.name for field, _ in message.ListFields()]
    full = [each.DESCRIPTOR.full_name for each in (message, tf.train.Int64List(), tf.train.SequenceExample())]
    message.Clear()
    return names, full, message, message.HasField("features")


def a_sequence_example(tf: Any, folder: Path) -> Any:
    message = tf.train.SequenceExample()
    message.context.feature["length"].int64_list.value.append(2)
    tokens = message.feature_lists.feature_list["tokens"]
    for token in (b"to", b"be"):
        tokens.feature.add().bytes_list.value.append(token)
    tokens.feature.add(int64_list=tf.train.Int64List(value=[1]))
    built = sequence(tf, {"length": int64s(tf, 2)}, {"tokens": [strings(tf, b"to"), strings(tf, b"be")]})
    return message, tf.train.SequenceExample.FromString(built), len(tokens.feature)


def inspecting_the_first_record_of_a_file(tf: Any, folder: Path) -> Any:
    path = str(folder / "a")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(3):
            writer.write(
                example(tf, {"label": int64s(tf, i), "score": floats(tf, i, i), "id": strings(tf, b"%d" % i)})
            )
    shapes = {}
    for raw_record in tf.data.TFRecordDataset(path).take(1):
        message = tf.train.Example()
        message.ParseFromString(raw_record.numpy())
        for key, feature in message.features.feature.items():
            kind = feature.WhichOneof("kind")
            shapes[key] = (kind, len(getattr(feature, kind).value))
    return shapes
