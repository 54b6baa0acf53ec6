"""Our message classes and TensorFlow's: the same outcomes, bytes and text, side by side in one process."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

from tfreel.examples import messages

if TYPE_CHECKING:
    from collections.abc import Callable

SEVERAL = [0, 1, -1, 2**63 - 1, -(2**63)]
NUMBERS = [
    0.1,
    1e10,
    123456789,
    3.4028235e38,
    1e300,
    math.nan,
    -math.inf,
    -0.0,
    1e-45,
    7,
    True,
    np.float16(0.1),
]
STRINGS = [b"", b"\0\xff\"'\\\n", "é".encode(), np.bytes_(b"x"), bytes(range(256))]


def features(m: Any) -> Any:
    return m.Features(
        feature={
            "ints": m.Feature(int64_list=m.Int64List(value=SEVERAL)),
            "floats": m.Feature(float_list=m.FloatList(value=NUMBERS)),
            "bytes": m.Feature(bytes_list=m.BytesList(value=STRINGS)),
            "empty": m.Feature(bytes_list=m.BytesList()),
            "unset": m.Feature(),
            "": m.Feature(),
            "a": {"int64_list": {"value": range(3)}},
            "aa": {"float_list": {"value": (i / 2 for i in range(3))}},
        }
    )


def sequence(m: Any) -> Any:
    lists = {"frames": m.FeatureList(feature=[m.Feature(), {"int64_list": {"value": [1]}}]), "none": {}}
    return m.SequenceExample(context=features(m), feature_lists=m.FeatureLists(feature_list=lists))


def changed(message: Any, *changes: Callable[[Any], Any]) -> Any:
    """What some changes of the message gave, and what it is after them."""
    return [*(change(message) for change in changes), message]


# Each attempt is made with both sets of classes; messages in the outcome are compared by bytes and by text.
ATTEMPTS: dict[str, Callable[[Any], Any]] = {
    "whole example": lambda m: m.Example(features=features(m)),
    "whole sequence": sequence,
    "empty": lambda m: [
        m.Example(), m.Features(), m.Feature(), m.SequenceExample(), m.FeatureLists(), m.FeatureList(),
        m.BytesList(), m.FloatList(), m.Int64List(),
    ],
    "empty features": lambda m: m.Example(features=m.Features()),
    "empty dict": lambda m: m.Feature(float_list={}),
    "None": lambda m: [m.Feature(int64_list=None), m.Int64List(value=None), m.Features(feature=None)],
    "positional": lambda m: m.Example(m.Features()),
    "unknown name": lambda m: m.Feature(ints=[1]),
    "unknown name in a dict": lambda m: m.Feature(int64_list={"values": [1]}),
    "wrong message": lambda m: m.Feature(int64_list=m.FloatList()),
    "list for a message": lambda m: m.Feature(int64_list=[1]),
    "list for a map": lambda m: m.Features(feature=[m.Feature()]),
    "wrong message in a map": lambda m: m.Features(feature={"a": m.Int64List()}),
    "number as map key": lambda m: m.Features(feature={1: m.Feature()}),
    "message for a list": lambda m: m.FeatureList(feature=m.Feature()),
    "wrong message in a list": lambda m: m.FeatureList(feature=[m.Int64List()]),
    "map of another message": lambda m: m.Features(feature=features(m).feature),
    "values of another message": lambda m: m.Int64List(value=m.Int64List(value=[1]).value),
    "two kinds": lambda m: m.Feature(int64_list={"value": [1]}, bytes_list={"value": [b"a"]}),
    "two kinds, declared order": lambda m: m.Feature(bytes_list={"value": [b"a"]}, int64_list={"value": [1]}),
    "ints: numpy": lambda m: m.Int64List(value=np.arange(-3, 3)),
    "ints: numpy unsigned": lambda m: m.Int64List(value=np.arange(3, dtype=np.uint8)),
    "ints: numpy too large": lambda m: m.Int64List(value=np.array([2**63], np.uint64)),
    "ints: numpy floats": lambda m: m.Int64List(value=np.ones(2)),
    "ints: numpy matrix": lambda m: m.Int64List(value=np.ones((2, 2), np.int64)),
    "ints: numpy scalar": lambda m: m.Int64List(value=np.array(5)),
    "ints: numpy objects": lambda m: m.Int64List(value=np.array([1, 2**40], object)),
    "ints: numpy durations": lambda m: m.Int64List(value=np.array([1], "m8[ns]")),
    "ints: generator": lambda m: m.Int64List(value=(i for i in range(3))),
    "ints: set": lambda m: m.Int64List(value={1}),
    "ints: float": lambda m: m.Int64List(value=[1.0]),
    "ints: text": lambda m: m.Int64List(value="12"),
    "ints: bytes are integers": lambda m: m.Int64List(value=b"12"),
    "ints: None": lambda m: m.Int64List(value=[None]),
    "ints: too large": lambda m: m.Int64List(value=[2**63]),
    "ints: too small": lambda m: m.Int64List(value=[-(2**63) - 1]),
    "ints: scalar": lambda m: m.Int64List(value=5),
    "floats: text": lambda m: m.FloatList(value=["1"]),
    "floats: None": lambda m: m.FloatList(value=[None]),
    "floats: scalar": lambda m: m.FloatList(value=5),
    "floats: numpy": lambda m: m.FloatList(value=np.array([0.1, 1e300])),
    "floats: numpy bools": lambda m: m.FloatList(value=[np.True_]),
    "floats: signalling NaN": lambda m: m.FloatList(value=np.array([0x7F800001], np.uint32).view("f4")),
    "bytes: text": lambda m: m.BytesList(value=["a"]),
    "bytes: only text": lambda m: m.BytesList(value="ab"),
    "bytes: only bytes": lambda m: m.BytesList(value=b"ab"),
    "bytes: no bytes": lambda m: m.BytesList(value=b""),
    "bytes: None": lambda m: m.BytesList(value=[None]),
    "bytes: scalar": lambda m: m.BytesList(value=5),
    "bytes: numpy": lambda m: m.BytesList(value=np.array([b"a", b"bc"])),
    "bytes: numpy objects": lambda m: m.BytesList(value=np.array([b"a", b"bc"], object)),
    "bytes: array as element": lambda m: m.BytesList(value=[np.zeros(2, np.uint8)]),
    "kind": lambda m: [m.Feature().WhichOneof("kind"), features(m).feature["empty"].WhichOneof("kind")],
    "kind: reading": lambda m: changed(m.Feature(), lambda f: list(f.int64_list.value)),
    "kind: extending by nothing": lambda m: changed(m.Feature(), lambda f: f.int64_list.value.extend([])),
    "kind: switching": lambda m: changed(
        m.Feature(int64_list={"value": [1]}),
        lambda f: f.bytes_list.value.append(b"a"), lambda f: f.HasField("int64_list"),
    ),
    "kind: clearing": lambda m: changed(features(m).feature["ints"], lambda f: f.ClearField("kind")),
    "kind: unknown": lambda m: m.Feature().WhichOneof("x"),
    "field: unknown": lambda m: m.Feature().HasField("x"),
    "field: repeated": lambda m: m.Int64List().HasField("value"),
    "field: assigned list": lambda m: setattr(m.Int64List(), "value", [1]),
    "field: assigned message": lambda m: setattr(m.Example(), "features", m.Features()),
    "field: assigned unknown": lambda m: setattr(m.Int64List(), "other", 1),
    "field: read unknown": lambda m: m.BytesList().other,
    "map: read creates": lambda m: changed(m.Features(), lambda f: f.feature["a"]),
    "map: get": lambda m: changed(m.Features(), lambda f: f.feature.get("a"), lambda f: "a" in f.feature),
    "map: get_or_create": lambda m: changed(m.Features(), lambda f: f.feature.get_or_create("a")),
    "map: delete": lambda m: changed(features(m), lambda f: f.feature.__delitem__("a")),
    "map: delete absent": lambda m: m.Features().feature.__delitem__("a"),
    "map: assign": lambda m: m.Features().feature.__setitem__("a", m.Feature()),
    "map: bytes key": lambda m: changed(m.Features(), lambda f: f.feature["é".encode()]),
    "map: bad key": lambda m: m.Features().feature[b"\xff"],
    "map: number key": lambda m: m.Features().feature[1],
    "map: clear": lambda m: changed(features(m), lambda f: f.feature.clear()),
    "list: edits": lambda m: changed(
        m.Int64List(value=[5, 3, 9, 1]),
        lambda x: x.value.append(7), lambda x: x.value.insert(1, 4), lambda x: x.value.extend(range(2)),
        lambda x: x.value.remove(9), lambda x: x.value.pop(), lambda x: x.value.pop(0),
        lambda x: x.value.reverse(),
        lambda x: x.value[1:3], lambda x: x.value[-1], lambda x: x.value.__setitem__(slice(0, 1), [8, 8]),
        lambda x: x.value.__delitem__(0), lambda x: x.value.sort(reverse=True), lambda x: list(x.value),
        lambda x: repr(x.value), lambda x: bool(x.value), lambda x: len(x.value), lambda x: 3 in x.value,
    ),
    "list: remove absent": lambda m: m.Int64List().value.remove(1),
    "list: pop from empty": lambda m: m.Int64List().value.pop(),
    "list: bad index": lambda m: m.BytesList().value[0],
    "list: text index": lambda m: m.BytesList().value["0"],
    "list: hash": lambda m: hash(m.Int64List().value),
    "list: order": lambda m: m.Int64List().value < [1],
    "list: plus": lambda m: m.Int64List().value + m.Int64List().value,
    "list: extend by scalar": lambda m: m.Int64List().value.extend(5),
    "list: slice from scalar": lambda m: m.Int64List().value.__setitem__(slice(0, 0), 5),
    "list: copy": lambda m: copy.copy(m.Int64List().value),
    "list: pickle": lambda m: pickle.dumps(m.Int64List().value),
    "list: failed extend": lambda m: _failed_extend(m.Int64List(value=[1])),
    "list: array of ints": lambda m: _array(m.Int64List(value=[1, 2])),
    "list: array of no ints": lambda m: _array(m.Int64List()),
    "list: array of floats": lambda m: _array(m.FloatList(value=[0.1])),
    "list: array of bytes": lambda m: _array(m.BytesList(value=[b"a", b"bc"])),
    "list: compared with an array": lambda m: [
        (m.Int64List(value=[1, 2]).value == np.array([1, 3])).tolist(),
        (m.Int64List(value=[1, 2]).value != np.array([1, 3])).tolist(),
        (np.array([1, 3]) == m.Int64List(value=[1, 2]).value).tolist(),
    ],
    "list: compared with others": lambda m: [
        m.Int64List(value=[1]).value == other
        for other in ([1], (1,), [1.0], None, m.FloatList(value=[1]).value)
    ],
    "list: tensor": lambda m: tf.constant(m.Int64List(value=[1, 2]).value).numpy().tolist(),
    "list: tensor of bytes": lambda m: tf.constant(m.BytesList(value=[b"a", b"b"]).value).numpy().tolist(),
    "features: add": lambda m: changed(
        m.FeatureList(), lambda x: x.feature.add(int64_list={"value": [1]}), lambda x: x.feature.add()
    ),
    "features: append": lambda m: changed(m.FeatureList(), lambda x: x.feature.append(m.Feature())),
    "features: append wrong": lambda m: m.FeatureList().feature.append(m.Int64List()),
    "features: extend": lambda m: changed(m.FeatureList(), lambda x: x.feature.extend([m.Feature()] * 2)),
    "unknown fields": lambda m: changed(
        m.Int64List.FromString(b"\x78\x07\x0a\x01\x05"), lambda x: x.DiscardUnknownFields()
    ),
    "parse": lambda m: changed(m.Int64List(value=[1]), lambda x: x.ParseFromString(b"\x0a\x01\x05")),
    "parse: merge": lambda m: changed(m.Int64List(value=[1]), lambda x: x.MergeFromString(b"\x0a\x01\x05")),
    "parse: bytearray": lambda m: m.Int64List.FromString(bytearray(b"\x0a\x01\x05")),
    "parse: memoryview": lambda m: m.Int64List.FromString(memoryview(b"\x0a\x01\x05")),
    "parse: text": lambda m: m.Int64List.FromString(""),
    "merge": lambda m: changed(
        features(m), lambda f: f.MergeFrom(m.Features(feature={"a": m.Feature(), "new": m.Feature()}))
    ),
    "merge: same kind": lambda m: changed(
        m.Feature(int64_list={"value": [1]}), lambda f: f.MergeFrom(m.Feature(int64_list={"value": [2]}))
    ),
    "merge: other kind": lambda m: changed(
        m.Feature(int64_list={"value": [1]}), lambda f: f.MergeFrom(m.Feature(float_list={"value": [2]}))
    ),
    "merge: wrong class": lambda m: m.Feature().MergeFrom(m.Features()),
    "copy: wrong class": lambda m: m.Feature().CopyFrom(m.Features()),
    "copy": lambda m: changed(m.Int64List(value=[1]), lambda x: x.CopyFrom(m.Int64List(value=[2]))),
    "equality": lambda m: [
        m.FloatList(value=[math.nan]) == m.FloatList(value=[math.nan]),
        m.Example() == m.Example(features={}),
        m.FloatList(value=[0.0]) == m.FloatList(value=[-0.0]),
        features(m) == features(m),
        m.Feature() == 1,
    ],
    "hash": lambda m: hash(m.Example()),
    "order": lambda m: m.Example() < m.Example(),
    "pickle": lambda m: pickle.loads(pickle.dumps(sequence(m))),
    "deepcopy": lambda m: copy.deepcopy(sequence(m)),
    "shallow copy": lambda m: copy.copy(sequence(m)),
    "size": lambda m: [features(m).ByteSize(), features(m).IsInitialized()],
    "listed fields": lambda m: [(field.full_name, value) for field, value in sequence(m).ListFields()],
    "clear": lambda m: changed(features(m), lambda f: f.Clear()),
}  # fmt: skip

WIRE = {
    "packed and unpacked": ("Int64List", "08 01 0a 02 02 03 08 04"),
    "packed chunks": ("FloatList", "0a 04 00 00 80 3f 0d 00 00 00 40 0a 00"),
    "last kind": ("Feature", "0a 00 1a 03 0a 01 05"),
    "same kind": ("Feature", "1a 03 0a 01 05 1a 03 0a 01 06"),
    "duplicate key": ("Features", "0a 0a 0a 01 61 12 05 1a 03 0a 01 05 0a 05 0a 01 61 12 00"),
    "missing key": ("Features", "0a 02 12 00"),
    "missing value": ("Features", "0a 03 0a 01 61"),
    "value before key": ("Features", "0a 05 12 00 0a 01 61"),
    "unknown field in an entry": ("Features", "0a 07 0a 01 61 12 00 78 01"),
    "unknown group": ("Example", "7b 08 01 7c"),
    "unclosed group": ("Example", "7b 08 01"),
    "wrong wire type": ("Int64List", "0d 00 00 00 00"),
    "overlong tag": ("Example", "8a 00 00"),
    "long varint": ("Int64List", "08" + "ff" * 10 + "01"),
    "field number 0": ("Int64List", "00 01"),
    "cut length": ("Int64List", "0a 05 01"),
    "cut tag": ("Example", "8a"),
    "key that is not UTF-8": ("Features", "0a 05 0a 01 ff 12 00"),
    "packed floats of 3 bytes": ("FloatList", "0a 03 00 00 00"),
    "signalling NaN": ("FloatList", "0a 04 01 00 80 7f"),
    "wire type 6": ("Example", "0e"),
}


def _array(message: Any) -> Any:
    found = np.array(message.value)
    return found.dtype.str, found.tolist()


def _failed_extend(message: Any) -> Any:
    with pytest.raises(TypeError):
        message.value.extend([2, "3"])
    return message


def plain(value: Any) -> Any:
    """The value with messages replaced by what can be compared across classes."""
    if hasattr(value, "SerializeToString"):
        # Maps print in hash order, which differs between any two messages: lines are compared as a set.
        lines = sorted(str(value).splitlines())
        return type(value).DESCRIPTOR.full_name, value.SerializeToString(deterministic=True), lines
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def outcome(attempt: Callable[[Any], Any], m: Any) -> Any:
    try:
        return plain(attempt(m))
    except Exception as error:  # noqa: BLE001 - the class of the error is the outcome
        return type(error)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_ends_as_with_tensorflow(name: str) -> None:
    assert outcome(ATTEMPTS[name], messages) == outcome(ATTEMPTS[name], tf.train)


@pytest.mark.parametrize("name", WIRE)
def test_bytes_are_parsed_as_by_tensorflows_classes(name: str) -> None:
    made, data = WIRE[name]

    def parse(m: Any) -> Any:
        return getattr(m, made).FromString(bytes.fromhex(data))

    assert outcome(parse, messages) == outcome(parse, tf.train)


@pytest.mark.parametrize("name", ["Feature", "BytesList", "FloatList", "Int64List", "FeatureList"])
def test_text_is_tensorflows(name: str) -> None:
    """To the letter where there is no map, whose order is nobody's."""

    def text(m: Any) -> list[str]:
        found = [*features(m).feature.values(), *sequence(m).feature_lists.feature_list.values()]
        inner = [getattr(f, f.WhichOneof("kind")) for f in found[:8] if f.WhichOneof("kind")]
        return sorted(str(x) + repr(x) for x in found + inner if type(x).DESCRIPTOR.name == name)

    assert text(messages)
    assert text(messages) == text(tf.train)


@pytest.mark.parametrize(
    "keys", [["b", "aa", "", "a", "B"], ["é", "z", "zz", "日本", "e"], [str(i) for i in range(200)]]
)
def test_deterministic_bytes_are_tensorflows(keys: list[str]) -> None:
    def serialized(m: Any) -> bytes:
        made = m.Example(features={"feature": {key: {"int64_list": {"value": [1]}} for key in keys}})
        return bytes(made.SerializeToString(deterministic=True))

    assert serialized(messages) == serialized(tf.train)


@pytest.mark.parametrize("name", messages.__all__)
def test_the_classes_have_tensorflows_fields(name: str) -> None:
    def described(m: Any) -> Any:
        descriptor = getattr(m, name).DESCRIPTOR
        fields = [
            (
                f.full_name,
                f.number,
                f.type,
                f.json_name,
                f.has_presence,
                f.is_packed,
                f.message_type and f.message_type.full_name,
            )
            for f in descriptor.fields
        ]
        return fields, [(o.name, [f.name for f in o.fields]) for o in descriptor.oneofs]

    assert described(messages) == described(tf.train)


def test_tensorflow_parses_what_ours_serialize() -> None:
    example = messages.Example(features=features(messages))
    spec = {"ints": tf.io.FixedLenFeature([len(SEVERAL)], tf.int64), "bytes": tf.io.VarLenFeature(tf.string)}
    found = tf.io.parse_single_example(example.SerializeToString(), spec)
    assert found["ints"].numpy().tolist() == SEVERAL
    assert found["bytes"].values.numpy().tolist() == STRINGS
    assert tf.train.Example.FromString(example.SerializeToString()) == tf.train.Example(
        features=features(tf.train)
    )


def test_messages_of_the_two_worlds_are_joined_by_bytes_only() -> None:
    ours: Any = messages.Example()
    assert ours != tf.train.Example()
    with pytest.raises(TypeError):
        ours.CopyFrom(tf.train.Example())
    with pytest.raises(TypeError):
        messages.Example(features=tf.train.Features())


# What ours forgive and TensorFlow's classes, with protobuf 7, do not.
FORGIVEN: dict[str, Callable[[Any], Any]] = {
    "bool": lambda m: m.Int64List(value=[True]),
    "numpy bool": lambda m: m.Int64List(value=[np.True_]),
    "numpy bools": lambda m: m.Int64List(value=np.array([True])),
    "bool in a dict": lambda m: m.Feature(int64_list={"value": [True]}).int64_list,
    "bool appended": lambda m: changed(m.Int64List(), lambda x: x.value.append(True))[-1],
    "bools extended": lambda m: changed(m.Int64List(), lambda x: x.value.extend([True]))[-1],
}


@pytest.mark.parametrize("name", FORGIVEN)
def test_bools_give_the_bytes_of_integers(name: str) -> None:
    expected = tf.train.Int64List(value=[1]).SerializeToString()
    assert FORGIVEN[name](messages).SerializeToString() == expected


BOTH = """
import pickle
from google.protobuf import descriptor_pool
{imports}
ours = messages.Example(features={{"feature": {{"a": {{"int64_list": {{"value": [True, 2]}}}}}}}})
theirs = tf.train.Example.FromString(ours.SerializeToString())
assert list(theirs.features.feature["a"].int64_list.value) == [1, 2]
assert messages.Example.FromString(theirs.SerializeToString()) == ours
assert type(pickle.loads(pickle.dumps(ours))) is messages.Example
assert type(pickle.loads(pickle.dumps(theirs))) is tf.train.Example
assert descriptor_pool.Default().FindMessageTypeByName("tensorflow.Example") is tf.train.Example.DESCRIPTOR
assert messages.Example is not tf.train.Example
theirs.features.feature["b"].int64_list.value.append(3)
assert type(theirs.features.feature["b"].int64_list.value) is type(tf.train.FloatList().value)
print("both")
"""


@pytest.mark.parametrize("first", ["tensorflow", "tfreel"])
def test_tensorflow_may_be_imported_before_or_after(first: str) -> None:
    imports = ["import tensorflow as tf", "from tfreel.examples import messages"]
    program = BOTH.format(imports="\n".join(imports if first == "tensorflow" else imports[::-1]))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "both\n", done.stderr
