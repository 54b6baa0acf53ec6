"""The messages in which TensorFlow writes tensors down, in a descriptor pool of their own."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

_PACKAGE = "tensorflow"
_Field = descriptor_pb2.FieldDescriptorProto

# Number, name, type, and whether there are many, of the fields of tensor.proto and tensor_shape.proto that
# can hold values; the dtype is an enum there, which looks the same on the wire.
_DIM = [(1, "size", _Field.TYPE_INT64, False), (2, "name", _Field.TYPE_STRING, False)]
_SHAPE = [(2, "dim", "TensorShapeProto.Dim", True), (3, "unknown_rank", _Field.TYPE_BOOL, False)]
_TENSOR = [
    (1, "dtype", _Field.TYPE_INT32, False),
    (2, "tensor_shape", "TensorShapeProto", False),
    (3, "version_number", _Field.TYPE_INT32, False),
    (4, "tensor_content", _Field.TYPE_BYTES, False),
    (13, "half_val", _Field.TYPE_INT32, True),
    (5, "float_val", _Field.TYPE_FLOAT, True),
    (6, "double_val", _Field.TYPE_DOUBLE, True),
    (7, "int_val", _Field.TYPE_INT32, True),
    (8, "string_val", _Field.TYPE_BYTES, True),
    (9, "scomplex_val", _Field.TYPE_FLOAT, True),
    (10, "int64_val", _Field.TYPE_INT64, True),
    (11, "bool_val", _Field.TYPE_BOOL, True),
    (12, "dcomplex_val", _Field.TYPE_DOUBLE, True),
    (16, "uint32_val", _Field.TYPE_UINT32, True),
    (17, "uint64_val", _Field.TYPE_UINT64, True),
]


def _describe(message: Any, fields: list[Any]) -> None:
    for number, name, kind, several in fields:
        label = _Field.LABEL_REPEATED if several else _Field.LABEL_OPTIONAL
        field = message.field.add(name=name, number=number, label=label)
        if isinstance(kind, str):
            field.type = _Field.TYPE_MESSAGE
            field.type_name = f".{_PACKAGE}.{kind}"
        else:
            field.type = kind


def _make() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="tfreel/tensor.proto", package=_PACKAGE, syntax="proto3")
    shape = file.message_type.add(name="TensorShapeProto")
    _describe(shape.nested_type.add(name="Dim"), _DIM)
    _describe(shape, _SHAPE)
    _describe(file.message_type.add(name="TensorProto"), _TENSOR)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.TensorProto"))


TensorProto: Any = _make()
