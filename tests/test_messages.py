"""The message classes: protobuf's own behaviour, and the little more that ours forgive."""

from __future__ import annotations

import copy
import math
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, MutableSequence
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError, Message

from tfreel import tf
from tfreel.examples import messages
from tfreel.examples.messages import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)

CLASSES: dict[str, Any] = {name: getattr(messages, name) for name in messages.__all__}


def integers(*values: int) -> Feature:
    return Feature(int64_list=Int64List(value=values))


def full_example() -> Example:
    return Example(
        features=Features(
            feature={
                "image": Feature(bytes_list=BytesList(value=[b"\x00\xff", b""])),
                "box": Feature(float_list=FloatList(value=[0.1, math.nan, -math.inf])),
                "label": integers(-1, 2**63 - 1),
                "nothing": Feature(),
            }
        )
    )


def full_sequence() -> SequenceExample:
    return SequenceExample(
        context=Features(feature={"id": integers(3)}),
        feature_lists=FeatureLists(feature_list={"frames": FeatureList(feature=[integers(1), Feature()])}),
    )


# What they are.


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_a_protobuf_message_class_with_tensorflows_name(name: str) -> None:
    made = CLASSES[name]
    assert issubclass(made, Message)
    assert made.DESCRIPTOR.full_name == f"tensorflow.{name}"
    assert (made.__module__, made.__qualname__) == ("tfreel.examples.messages", name)
    assert name in made.__doc__


def test_sub_messages_and_parsed_messages_are_of_our_classes() -> None:
    example = Example.FromString(full_example().SerializeToString())
    assert type(example) is Example
    assert type(example.features) is Features
    assert type(example.features.feature["label"]) is Feature
    assert type(example.features.feature["label"].int64_list) is Int64List
    assert type(example.features.feature["image"].bytes_list) is BytesList
    assert type(example.features.feature["box"].float_list) is FloatList
    sequence = SequenceExample.FromString(full_sequence().SerializeToString())
    assert type(sequence.context) is Features
    assert type(sequence.feature_lists) is FeatureLists
    assert type(sequence.feature_lists.feature_list["frames"]) is FeatureList
    assert isinstance(sequence.feature_lists.feature_list["frames"].feature[0], Feature)


def test_the_default_pool_does_not_know_our_messages() -> None:
    program = """
from tfreel.examples.messages import Example
from google.protobuf import descriptor_pool
try:
    descriptor_pool.Default().FindMessageTypeByName("tensorflow.Example")
except KeyError:
    print("unknown")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "unknown\n"


def test_protobuf_is_imported_with_the_messages_and_not_before() -> None:
    program = """
import sys
import tfreel, tfreel.examples
print("google.protobuf" in sys.modules)
from tfreel.examples.messages import Example
print("google.protobuf" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


# Construction.


@pytest.mark.parametrize("name", CLASSES)
def test_positional_arguments_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match="No positional arguments allowed"):
        CLASSES[name]([])


@pytest.mark.parametrize("name", CLASSES)
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no_such_field"):
        CLASSES[name](no_such_field=1)


@pytest.mark.parametrize("name", CLASSES)
def test_none_leaves_a_field_unset(name: str) -> None:
    made = CLASSES[name]
    fields = {field.name: None for field in made.DESCRIPTOR.fields}
    assert made(**fields) == made()
    assert made(**fields).ListFields() == []


def test_dicts_stand_for_messages_at_every_level() -> None:
    feature = {"int64_list": {"value": [1]}}
    assert Feature(**feature) == integers(1)
    assert Features(feature={"a": feature, "b": integers(2)}).feature["a"] == integers(1)
    assert Example(features={"feature": {"a": feature}}).features.feature["a"] == integers(1)
    assert FeatureList(feature=[feature, integers(2)]).feature[1] == integers(2)
    sequence = SequenceExample(
        context={"feature": {"a": feature}},
        feature_lists={"feature_list": {"b": {"feature": [feature]}, "c": FeatureList()}},
    )
    assert sequence.context.feature["a"] == integers(1)
    assert sequence.feature_lists.feature_list["b"].feature[0] == integers(1)
    assert "c" in sequence.feature_lists.feature_list


def test_a_dict_with_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="values"):
        Feature(int64_list={"values": [1]})


def test_an_empty_dict_sets_its_message() -> None:
    assert Feature(int64_list={}).WhichOneof("kind") == "int64_list"


@pytest.mark.parametrize("value", [5, "int64_list", [1], Feature()])
def test_something_else_than_a_message_or_dict_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        Feature(int64_list=value)


ITERABLES: list[Callable[[list[Any]], Any]] = [
    list,
    tuple,
    iter,
    np.array,
    dict.fromkeys,
    lambda v: (x for x in v),
]


@pytest.mark.parametrize("made", ITERABLES)
def test_values_may_be_any_iterable(made: Callable[[list[Any]], Any]) -> None:
    assert Int64List(value=made([3, 1, 2])).value == [3, 1, 2]
    assert FloatList(value=made([0.5, 2.0])).value == [0.5, 2.0]
    assert BytesList(value=made([b"a", b"bc"])).value == [b"a", b"bc"]
    several = Int64List()
    several.value.extend(made([3, 1]))
    assert several.value == [3, 1]


def test_a_range_and_another_messages_values_are_iterables_too() -> None:
    assert Int64List(value=range(3)).value == [0, 1, 2]
    assert Int64List(value=Int64List(value=[4]).value).value == [4]
    assert BytesList(value=BytesList(value=[b"a"]).value).value == [b"a"]


def test_features_may_come_from_a_generator_and_from_another_message() -> None:
    assert len(FeatureList(feature=({"int64_list": {"value": (i,)}} for i in range(3))).feature) == 3
    other = Features(feature={"a": integers(1)})
    assert Features(feature=other.feature) == other
    assert FeatureList(feature=FeatureList(feature=[integers(1)]).feature).feature[0] == integers(1)


def test_generators_inside_dicts_are_read_once_and_whole() -> None:
    made = Feature(int64_list={"value": (flag for flag in [True, False, True])})
    assert made.int64_list.value == [1, 0, 1]


@pytest.mark.parametrize("name", ["BytesList", "FloatList", "Int64List", "FeatureList"])
def test_a_scalar_for_a_list_is_refused(name: str) -> None:
    field = "feature" if name == "FeatureList" else "value"
    with pytest.raises(TypeError, match=r"iterable"):
        CLASSES[name](**{field: 5})


# Elements.


@pytest.mark.parametrize(
    "kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_int64_list_takes_numpy_integers(kind: Any) -> None:
    found = Int64List(value=[kind(7)])
    found.value.append(kind(8))
    found.value.extend(np.array([9, 10], kind))
    assert found.value == [7, 8, 9, 10]
    assert {type(value) for value in found.value} == {int}


@pytest.mark.parametrize("value", [1.0, 1.5, "1", b"1", None, np.float32(1), [1], np.timedelta64(1, "ns")])
def test_int64_list_refuses_everything_that_is_no_integer(value: Any) -> None:
    found = Int64List()
    with pytest.raises(TypeError):
        Int64List(value=[value])
    with pytest.raises(TypeError):
        found.value.append(value)
    with pytest.raises(TypeError):
        found.value.extend([1, value])
    assert found.value == []


@pytest.mark.parametrize(
    "array", [np.ones((2, 2), np.int64), np.ones((2, 1), bool), np.ones(2), np.array(["1"])]
)
def test_int64_list_refuses_arrays_of_other_shapes_and_types(array: Any) -> None:
    with pytest.raises(TypeError):
        Int64List(value=array)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**200])
def test_int64_list_names_a_value_out_of_range(value: int) -> None:
    with pytest.raises(ValueError, match=f"Value out of range: {value}"):
        Int64List(value=[value])


def test_int64_list_refuses_unsigned_arrays_out_of_range() -> None:
    with pytest.raises(ValueError, match="Value out of range"):
        Int64List(value=np.array([2**63], np.uint64))


def test_int64_list_holds_both_ends_of_its_range() -> None:
    ends = [-(2**63), 2**63 - 1]
    assert Int64List.FromString(Int64List(value=ends).SerializeToString()).value == ends


def bool_appended(flag: Any) -> Int64List:
    made = Int64List()
    made.value.append(flag)
    return made


def bool_extended(flag: Any) -> Int64List:
    made = Int64List()
    made.value.extend(flag for _ in range(1))
    return made


def bool_inserted(flag: Any) -> Int64List:
    made = Int64List()
    made.value.insert(0, flag)
    return made


def bool_assigned(flag: Any) -> Int64List:
    made = Int64List(value=[5])
    made.value[0] = flag
    return made


def bool_assigned_to_a_slice(flag: Any) -> Int64List:
    made = Int64List(value=[5, 6])
    made.value[:] = [flag]
    return made


def bool_in_a_feature_of_a_map(flag: Any) -> Int64List:
    example = Example()
    example.features.feature["a"].int64_list.value.append(flag)
    return example.features.feature["a"].int64_list


BOOL_DOORS: list[Callable[[Any], Int64List]] = [
    lambda flag: Int64List(value=[flag]),
    lambda flag: Int64List(value=(flag,)),
    lambda flag: Int64List(value=np.array([flag])),
    lambda flag: Feature(int64_list=Int64List(value=[flag])).int64_list,
    lambda flag: Feature(int64_list={"value": [flag]}).int64_list,
    lambda flag: Features(feature={"a": {"int64_list": {"value": [flag]}}}).feature["a"].int64_list,
    lambda flag: FeatureList(feature=[{"int64_list": {"value": [flag]}}]).feature[0].int64_list,
    bool_appended,
    bool_extended,
    bool_inserted,
    bool_assigned,
    bool_assigned_to_a_slice,
    bool_in_a_feature_of_a_map,
]


@pytest.mark.parametrize("door", BOOL_DOORS)
@pytest.mark.parametrize(
    "flag", [True, False, np.True_, np.False_, np.array(True), tf.constant(True), tf.constant(False)]
)
def test_int64_list_takes_bools_as_integers_through_every_door(
    door: Callable[[Any], Int64List], flag: Any
) -> None:
    made = door(flag)
    assert made.value == [int(flag)]
    assert type(made.value[0]) is int
    assert made.SerializeToString() == bytes([0x0A, 1, int(flag)])


def test_bools_and_integers_mix() -> None:
    mixed = [2, True, np.int32(3), np.False_, tf.constant(4), tf.constant(True)]
    assert Int64List(value=mixed).value == [2, 1, 3, 0, 4, 1]
    assert Int64List(value=tf.constant([True, False])).value == [1, 0]


@pytest.mark.parametrize("flags", [np.array([True]), tf.constant([True]), tf.ragged.constant([[True]])])
def test_several_bools_are_no_integer(flags: Any) -> None:
    with pytest.raises(TypeError):
        Int64List(value=[flags])


def test_a_bool_does_not_hide_a_bad_neighbour() -> None:
    with pytest.raises(TypeError):
        Int64List(value=[True, 1.0])


@pytest.mark.parametrize("value", [1, 1.5, True, np.float16(1), np.float64(1), np.int8(1), np.True_])
def test_float_list_takes_every_number(value: Any) -> None:
    found = FloatList(value=[value])
    assert found.value == [float(value)]
    assert type(found.value[0]) is float


@pytest.mark.parametrize("value", ["1", b"1", None, [1.0]])
def test_float_list_refuses_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError):
        FloatList(value=[value])


def test_float_list_rounds_to_float32_and_overflows_to_infinity() -> None:
    found = FloatList(value=[0.1, 1e300, -1e300]).value
    assert found == [float(np.float32(0.1)), math.inf, -math.inf]


def test_nan_bits_survive_parsing() -> None:
    data = b"\x0a\x04" + struct.pack("<I", 0x7F800001)
    assert FloatList.FromString(data).SerializeToString() == data


@pytest.mark.parametrize(
    "value", [b"ab", np.bytes_(b"ab"), bytearray(b"ab"), memoryview(b"ab"), memoryview(b"a.b.")[::2]]
)
def test_bytes_list_takes_everything_that_is_bytes(value: Any) -> None:
    found = BytesList(value=[value])
    found.value.append(value)
    found.value.extend([value])
    found.value.insert(0, value)
    found.value[0] = value
    assert found.value == [b"ab"] * 4
    assert Feature(bytes_list={"value": [value]}).bytes_list.value == [b"ab"]


@pytest.mark.parametrize("value", ["text", np.str_("text")])
def test_bytes_list_says_to_encode_text(value: str) -> None:
    message = r"expected bytes, str_? found; encode it"
    for door in (
        lambda: BytesList(value=[value]),
        lambda: BytesList(value=value),
        lambda: Feature(bytes_list={"value": [value]}),
        lambda: BytesList().value.append(value),
        lambda: BytesList().value.extend([value]),
    ):
        with pytest.raises(TypeError, match=message):
            door()


def test_bytes_list_says_that_it_wants_a_list() -> None:
    with pytest.raises(TypeError, match=r"expected bytes, int found; value is a list"):
        BytesList(value=b"ab")


@pytest.mark.parametrize("value", [None, 1.5, [b"a"], np.array([1])])
def test_bytes_list_refuses_everything_else(value: Any) -> None:
    with pytest.raises(TypeError, match=f"expected bytes, {type(value).__name__} found"):
        BytesList(value=[value])


# The oneof.


def test_setting_one_kind_clears_the_others() -> None:
    feature = integers(1)
    assert feature.WhichOneof("kind") == "int64_list"
    feature.float_list.value.append(1)
    assert feature.WhichOneof("kind") == "float_list"
    assert not feature.HasField("int64_list")
    assert feature.int64_list.value == []


def test_of_several_kinds_the_last_argument_wins() -> None:
    some, other = Int64List(value=[1]), BytesList(value=[b"a"])
    assert Feature(int64_list=some, bytes_list=other).WhichOneof("kind") == "bytes_list"
    assert Feature(bytes_list=other, int64_list=some).WhichOneof("kind") == "int64_list"


def test_an_empty_list_counts_as_set() -> None:
    feature = Feature(bytes_list=BytesList())
    assert feature.WhichOneof("kind") == "bytes_list"
    assert feature.SerializeToString() == b"\x0a\x00"
    assert feature != Feature()


def test_reading_does_not_set_but_extending_by_nothing_does() -> None:
    feature = Feature()
    assert len(feature.int64_list.value) == 0
    assert feature.WhichOneof("kind") is None
    feature.int64_list.value.extend([])
    assert feature.WhichOneof("kind") == "int64_list"


def test_the_oneof_can_be_cleared_by_its_name() -> None:
    feature = integers(1)
    feature.ClearField("kind")
    assert feature == Feature()


def test_unknown_fields_and_oneofs_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        Feature().HasField("nothing")
    with pytest.raises(ValueError, match="nothing"):
        Feature().WhichOneof("nothing")


# Maps.


def test_reading_a_map_by_index_creates_the_entry() -> None:
    features = Features()
    assert "a" not in features.feature
    assert features.feature.get("a") is None
    assert features.feature["a"] == Feature()
    assert "a" in features.feature
    assert len(features.feature) == 1


def test_a_map_has_the_methods_of_a_dict() -> None:
    features = Features(feature={"a": integers(1), "b": integers(2)})
    assert sorted(features.feature) == sorted(features.feature.keys()) == ["a", "b"]
    assert dict(features.feature.items())["b"] == integers(2)
    features.feature.get_or_create("c")
    del features.feature["a"]
    assert sorted(features.feature) == ["b", "c"]
    with pytest.raises(KeyError):
        del features.feature["a"]
    features.feature.clear()
    assert len(features.feature) == 0


def test_a_map_refuses_assignment_and_takes_copies() -> None:
    features = Features()
    with pytest.raises(ValueError, match="may not be assigned"):
        features.feature["a"] = Feature()  # type: ignore[index]
    features.feature["a"].CopyFrom(integers(1))
    assert features.feature["a"] == integers(1)


def test_keys_are_text_or_utf8() -> None:
    features: Any = Features()
    features.feature["é".encode()].int64_list.value.append(1)
    assert list(features.feature) == ["é"]
    with pytest.raises(UnicodeDecodeError):
        features.feature[b"\xff"]
    with pytest.raises(TypeError):
        features.feature[1]


# Lists.


def edited(values: Any) -> list[Any]:
    """What many edits of `values` leave, and what each of them gave."""
    given: list[Any] = [bool(values)]
    values.extend([5, 3, 9])
    values.append(7)
    values.insert(0, 1)
    given += [
        values[0],
        values[-1],
        values[1:3],
        values[::-1],
        len(values),
        9 in values,
        list(reversed(values)),
    ]
    given += [values.pop(), values.pop(0), list(values)]
    values.remove(3)
    values.reverse()
    values[0] = 2
    values[1:1] = [8, 6]
    given += [list(values)]
    values.sort()
    given += [list(values)]
    values.sort(key=lambda value: -value, reverse=True)
    del values[0]
    del values[-1:]
    return [*given, list(values), bool(values), repr(values)]


def test_values_are_edited_like_a_list() -> None:
    assert edited(Int64List().value) == edited([])


@pytest.mark.parametrize(
    "made", [Int64List(value=[1, 2]), FloatList(value=[1, 2]), BytesList(value=[b"a", b"b"])]
)
def test_values_compare_like_lists_and_are_unhashable(made: Any) -> None:
    same, values = copy.deepcopy(made), list(made.value)
    assert made.value == values
    assert values == made.value
    assert made.value == same.value
    assert made.value != values[:1]
    assert isinstance(made.value, MutableSequence)
    with pytest.raises(TypeError, match="unhashable"):
        hash(made.value)


def test_bad_positions_are_index_errors() -> None:
    found = Int64List(value=[1])
    with pytest.raises(IndexError):
        found.value[1]
    with pytest.raises(IndexError):
        found.value[-2] = 1


@pytest.mark.parametrize(
    "made", [Int64List(), FloatList(), BytesList(), FeatureList(), Features(), Example()]
)
def test_fields_of_many_values_and_messages_cannot_be_assigned(made: Any) -> None:
    with pytest.raises(AttributeError):
        setattr(made, made.DESCRIPTOR.fields[0].name, [])


@pytest.mark.parametrize("made", [Int64List(), FloatList(), BytesList()])
def test_unknown_attributes_are_attribute_errors(made: Any) -> None:
    for thing in (made, made.value):
        with pytest.raises(AttributeError):
            thing.nothing  # noqa: B018
    assert {"append", "sort", "MergeFrom"} <= set(dir(made.value))


def test_arrays_of_values_have_the_type_of_the_list() -> None:
    whole = np.array(Int64List(value=[1, 2]).value)
    assert whole.dtype == np.int64
    assert whole.tolist() == [1, 2]
    assert np.asarray(Int64List(value=[1]).value, dtype=np.float32).dtype == np.float32
    assert np.array(BytesList(value=[b"a", b"bcd"]).value).tolist() == [b"a", b"bcd"]


def test_arrays_of_floats_hold_the_floats() -> None:
    # The type is float32 since protobuf 7, float64 before: that container is protobuf's own.
    assert np.array(FloatList(value=[0.5, 2]).value).tolist() == [0.5, 2.0]


def test_values_are_copied_but_not_pickled() -> None:
    made = Int64List(value=[1, 2])
    other = copy.deepcopy(made.value)
    other.append(True)
    assert other == [1, 2, 1]
    assert made.value == [1, 2]
    with pytest.raises(pickle.PickleError):
        pickle.dumps(made.value)


def test_values_outlive_their_message_and_see_its_changes() -> None:
    made = Int64List(value=[1])
    values = made.value
    made.value.append(2)
    assert values == [1, 2]
    del made
    values.append(3)
    assert values == [1, 2, 3]


def test_values_merge() -> None:
    made: Any = Int64List(value=[1])
    made.value.MergeFrom(Int64List(value=[2]).value)
    assert made.value == [1, 2]


def test_a_feature_list_grows_by_adding_and_by_copies() -> None:
    found = FeatureList()
    found.feature.add(int64_list=Int64List(value=[True])).int64_list.value.append(2)
    found.feature.add()
    source = integers(3)
    found.feature.append(source)
    found.feature.extend([integers(4)])
    source.Clear()
    assert [list(feature.int64_list.value) for feature in found.feature] == [[1, 2], [], [3], [4]]


# Serialising.


def test_serialized_bytes_are_protobufs() -> None:
    assert Example().SerializeToString() == b""
    assert Example(features=Features()).SerializeToString() == b"\x0a\x00"
    assert Features(feature={"a": Feature()}).SerializeToString() == bytes.fromhex("0a050a01611200")
    assert Int64List(value=[1, -1]).SerializeToString() == b"\x0a\x0b\x01" + b"\xff" * 9 + b"\x01"
    assert FloatList(value=[1]).SerializeToString() == b"\x0a\x04\x00\x00\x80\x3f"
    assert BytesList(value=[b"", b"a"]).SerializeToString() == b"\x0a\x00\x0a\x01a"
    assert integers().SerializeToString() == b"\x1a\x00"


def test_deterministic_bytes_do_not_depend_on_the_order_of_insertion() -> None:
    keys = ["b", "aa", "", "a", "B"]
    forth = Features(feature={key: integers(1) for key in keys})
    back = Features(feature={key: integers(1) for key in reversed(keys)})
    data = forth.SerializeToString(deterministic=True)
    assert data == back.SerializeToString(deterministic=True)
    assert Features.FromString(data) == forth == Features.FromString(forth.SerializeToString())


def test_unknown_fields_are_kept_until_discarded() -> None:
    data = b"\x0a\x01\x05" + b"\x78\x07"
    found = Int64List.FromString(b"\x78\x07" + b"\x0a\x01\x05")
    assert found.SerializeToString() == data
    found.DiscardUnknownFields()
    assert found.SerializeToString() == data[:3]


def test_sizes_and_fields_are_told() -> None:
    feature = integers(1)
    assert feature.ByteSize() == len(feature.SerializeToString())
    assert [(field.name, value) for field, value in feature.ListFields()] == [
        ("int64_list", feature.int64_list)
    ]
    assert feature.IsInitialized()
    feature.Clear()
    assert feature.ListFields() == []


# Parsing.


@pytest.mark.parametrize("made", [bytes, bytearray, memoryview])
def test_messages_are_parsed_from_everything_that_is_bytes(made: Any) -> None:
    data = made(full_example().SerializeToString())
    assert Example.FromString(data) == full_example()


def test_parsing_counts_bytes_and_clears_first_and_merging_does_not() -> None:
    found = Int64List(value=[9])
    assert found.ParseFromString(b"\x0a\x01\x05") == 3
    assert found.value == [5]
    assert found.MergeFromString(b"\x0a\x01\x06") == 3
    assert found.value == [5, 6]


def test_text_is_not_parsed() -> None:
    with pytest.raises(TypeError):
        Example.FromString("")  # type: ignore[arg-type]


GOOD_WIRE: dict[str, tuple[Any, str, Any]] = {
    "packed and unpacked mix": (Int64List, "08 01 0a 02 02 03 08 04", Int64List(value=[1, 2, 3, 4])),
    "the last kind wins": (Feature, "0a 00 1a 03 0a 01 05", integers(5)),
    "the same kind twice merges": (Feature, "1a 03 0a 01 05 1a 03 0a 01 06", integers(5, 6)),
    "a duplicate key replaces": (
        Features,
        "0a 0a 0a 01 61 12 05 1a 03 0a 01 05 0a 0a 0a 01 61 12 05 1a 03 0a 01 06",
        Features(feature={"a": integers(6)}),
    ),
    "a missing key is empty": (Features, "0a 02 12 00", Features(feature={"": Feature()})),
    "a missing value is empty": (Features, "0a 03 0a 01 61", Features(feature={"a": Feature()})),
}


@pytest.mark.parametrize("name", GOOD_WIRE)
def test_legal_bytes_are_read_by_protobufs_rules(name: str) -> None:
    made, data, expected = GOOD_WIRE[name]
    assert made.FromString(bytes.fromhex(data)) == expected


@pytest.mark.parametrize("data", ["7b 08 01 7c", "0d 00 00 00 00", "79 00 00 00 00 00 00 00 00"])
def test_unknown_fields_and_groups_and_wire_types_are_skipped(data: str) -> None:
    assert Int64List.FromString(bytes.fromhex(data)).value == []
    assert Example.FromString(bytes.fromhex(data)).features == Features()


BAD_WIRE: dict[str, tuple[Any, str]] = {
    "a varint over ten bytes": (Int64List, "08" + "ff" * 10 + "01"),
    "field number 0": (Int64List, "00 01"),
    "a cut": (Int64List, "0a 05 01"),
    "a key that is not UTF-8": (Features, "0a 05 0a 01 ff 12 00"),
    "packed floats of 3 bytes": (FloatList, "0a 03 00 00 00"),
}


@pytest.mark.parametrize("name", BAD_WIRE)
def test_malformed_bytes_are_decode_errors(name: str) -> None:
    made, data = BAD_WIRE[name]
    with pytest.raises(DecodeError):
        made.FromString(bytes.fromhex(data))


def test_an_entry_with_an_unknown_field_is_kept_whole_and_unread() -> None:
    data = bytes.fromhex("0a 07 0a 01 61 12 00 78 01")
    assert list(Features.FromString(data).feature) == []
    assert Features.FromString(data).SerializeToString() == data


# Merging and copying.


def test_merging_concatenates_lists_and_replaces_entries_and_kinds() -> None:
    feature = integers(1)
    feature.MergeFrom(integers(2))
    assert feature == integers(1, 2)
    feature.MergeFrom(Feature(float_list=FloatList(value=[1])))
    assert feature.WhichOneof("kind") == "float_list"
    features = Features(feature={"a": integers(1), "b": integers(1)})
    features.MergeFrom(Features(feature={"a": integers(2)}))
    assert features == Features(feature={"a": integers(2), "b": integers(1)})


def test_copying_clears_first() -> None:
    feature = integers(1)
    feature.CopyFrom(integers(2))
    assert feature == integers(2)


def test_messages_of_another_class_are_neither_merged_nor_copied() -> None:
    feature: Any = Feature()
    with pytest.raises(TypeError):
        feature.MergeFrom(Features())
    with pytest.raises(TypeError):
        feature.CopyFrom(Features())


# Equality, copies, pickles, text.


def test_equality_looks_at_values_and_at_what_is_set() -> None:
    assert full_example() == full_example()
    assert FloatList(value=[math.nan]) == FloatList(value=[math.nan])
    assert Example() != Example(features=Features())
    assert integers(1) != integers(2)
    assert integers(1) != 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(Example())


WHOLE: list[Any] = [
    full_example(),
    full_sequence(),
    *(made() for made in CLASSES.values()),
    Features.FromString(b"\x78\x07"),
    FloatList.FromString(b"\x0a\x04\x01\x00\x80\x7f"),
]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("message", WHOLE)
def test_a_message_survives_pickling(message: Any, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(message, protocol))
    assert type(back) is type(message)
    assert back == message
    assert back.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("message", WHOLE)
def test_a_message_survives_copying(message: Any, copied: Callable[[Any], Any]) -> None:
    back = copied(message)
    assert back is not message
    assert type(back) is type(message)
    assert back.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)


def test_a_deep_copy_is_independent() -> None:
    first = full_example()
    second = copy.deepcopy(first)
    second.features.feature["label"].int64_list.value[0] = 0
    assert first == full_example()


def test_a_pickle_is_read_by_a_process_that_has_imported_nothing() -> None:
    program = (
        "import pickle, sys; print(pickle.load(sys.stdin.buffer).features.feature['a'].int64_list.value)"
    )
    data = pickle.dumps(Example(features=Features(feature={"a": integers(4, 5)})))
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert done.stdout == b"[4, 5]\n"


def test_text_is_protobufs() -> None:
    assert str(Feature(bytes_list=BytesList())) == "bytes_list {\n}\n"
    assert str(integers(1, -2)) == repr(integers(1, -2)) == "int64_list {\n  value: 1\n  value: -2\n}\n"
    assert str(BytesList(value=[b"\0a\xff"])) == 'value: "\\000a\\377"\n'


def test_floats_are_written_as_the_shortest_text_that_reads_back() -> None:
    numbers = [0.1, 1e10, 123456789, 3.4028235e38, math.nan, -math.inf, -0.0]
    texts = ["0.1", "1e+10", "123456792", "3.40282347e+38", "nan", "-inf", "-0"]
    assert str(FloatList(value=numbers)) == "".join(f"value: {text}\n" for text in texts)


def test_protobufs_text_and_json_formats_work_both_ways() -> None:
    message = full_example()
    assert text_format.Parse(text_format.MessageToString(message), Example()) == message
    assert json_format.Parse(json_format.MessageToJson(message), Example()) == message


def test_what_the_docstring_says_is_true() -> None:
    made = Int64List(value=[1])
    assert made.value is not made.value
    ((_, native),) = made.ListFields()
    assert native == made.value
    assert made.value == native
    scope: dict[str, Any] = {}
    lines = [line[4:] for line in (messages.__doc__ or "").splitlines() if line.startswith(">>> ")]
    exec("\n".join([*lines[:-1], f"found = {lines[-1]}"]), scope)
    assert scope["found"] == 7
