"""The Example messages as protobuf itself builds them: the oracle of the wire format, without TensorFlow."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "tfreel_oracle"  # a name of its own: TensorFlow may be in the same process
_FIELD = descriptor_pb2.FieldDescriptorProto


def _field(message: Any, name: str, number: int, kind: int, *, repeated: bool = False) -> Any:
    label = _FIELD.LABEL_REPEATED if repeated else _FIELD.LABEL_OPTIONAL
    return message.field.add(name=name, number=number, type=kind, label=label)


def _submessage(message: Any, name: str, number: int, of: str, *, repeated: bool = False) -> Any:
    field = _field(message, name, number, _FIELD.TYPE_MESSAGE, repeated=repeated)
    field.type_name = f".{_PACKAGE}.{of}"
    return field


def _map(message: Any, name: str, entry_name: str, of: str) -> None:
    entry = message.nested_type.add(name=entry_name)
    entry.options.map_entry = True
    _field(entry, "key", 1, _FIELD.TYPE_STRING)
    _submessage(entry, "value", 2, of)
    _submessage(message, name, 1, f"{message.name}.{entry_name}", repeated=True)


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="tfreel_oracle.proto", package=_PACKAGE, syntax="proto3")
    kinds = {"BytesList": _FIELD.TYPE_BYTES, "FloatList": _FIELD.TYPE_FLOAT, "Int64List": _FIELD.TYPE_INT64}
    for name, kind in kinds.items():
        _field(file.message_type.add(name=name), "value", 1, kind, repeated=True)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    lists = {"bytes_list": "BytesList", "float_list": "FloatList", "int64_list": "Int64List"}
    for number, (name, of) in enumerate(lists.items(), 1):
        _submessage(feature, name, number, of).oneof_index = 0
    _map(file.message_type.add(name="Features"), "feature", "FeatureEntry", "Feature")
    _submessage(file.message_type.add(name="FeatureList"), "feature", 1, "Feature", repeated=True)
    _map(file.message_type.add(name="FeatureLists"), "feature_list", "FeatureListEntry", "FeatureList")
    _submessage(file.message_type.add(name="Example"), "features", 1, "Features")
    sequence = file.message_type.add(name="SequenceExample")
    _submessage(sequence, "context", 1, "Features")
    _submessage(sequence, "feature_lists", 2, "FeatureLists")
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


BytesList, FloatList, Int64List = map(_message, ("BytesList", "FloatList", "Int64List"))
Feature, Features = map(_message, ("Feature", "Features"))
FeatureList, FeatureLists = map(_message, ("FeatureList", "FeatureLists"))
Example, SequenceExample = map(_message, ("Example", "SequenceExample"))
