"""The message classes of `tf.train`, without TensorFlow and without generated code.

`Example`, `SequenceExample` and their parts are true protobuf messages, made by protobuf's runtime from the
table below: bytes and Python values come in, messages and bytes go out. They live in a descriptor pool of
their own, so TensorFlow, which registers the same names in the default pool, may be imported before or after.

>>> from tfreel.examples.messages import Example
>>> example = Example(features={"feature": {"label": {"int64_list": {"value": [7]}}}})
>>> Example.FromString(example.SerializeToString()).features.feature["label"].int64_list.value[0]
7

They behave as TensorFlow's do, and forgive a little more:

- `Int64List` takes bools as 0 and 1: of Python, of numpy, and tensors that hold one. Protobuf took Python's
  until version 6, which warns; version 7 refuses, though TensorFlow's own tutorial writes
  `Int64List(value=[True])`, and the same with such a tensor.
- `BytesList` takes bytearray and memoryview, and says what to do about a str or an array.
- A field that there is not is refused with the name of the one that was meant.

Both hold in constructors, also for dicts given to them, and for `append`, `extend`, `insert` and assignment
by index. For that, `.value` of these two classes is a view of protobuf's own container, a new one each time:
compare with `==`, not `is`. Where protobuf's C code does the work without asking Python, its own strictness
remains: in dicts given to `FeatureList.feature.add`, and in the containers that `ListFields` returns.

A message of ours and one of TensorFlow's are of different classes: neither `CopyFrom` nor `==` joins them.
Bytes do: `tf.train.Example.FromString(example.SerializeToString())`.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping, MutableSequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    _Convert = Callable[[Any], Any]

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
]


class _Field(NamedTuple):
    """A field: what it holds, a scalar or a message of the table, and how often. A map's keys are strings."""

    name: str
    number: int
    holds: str
    shape: Literal["one", "list", "map"] = "one"
    oneof: str | None = None


# All of TensorFlow's feature.proto and example.proto.
_SCHEMA = {
    "BytesList": [_Field("value", 1, "bytes", "list")],
    "FloatList": [_Field("value", 1, "float", "list")],
    "Int64List": [_Field("value", 1, "int64", "list")],
    "Feature": [
        _Field("bytes_list", 1, "BytesList", oneof="kind"),
        _Field("float_list", 2, "FloatList", oneof="kind"),
        _Field("int64_list", 3, "Int64List", oneof="kind"),
    ],
    "Features": [_Field("feature", 1, "Feature", "map")],
    "FeatureList": [_Field("feature", 1, "Feature", "list")],
    "FeatureLists": [_Field("feature_list", 1, "FeatureList", "map")],
    "Example": [_Field("features", 1, "Features")],
    "SequenceExample": [_Field("context", 1, "Features"), _Field("feature_lists", 2, "FeatureLists")],
}

_PACKAGE = "tensorflow"
_FieldProto = descriptor_pb2.FieldDescriptorProto
_SCALARS = {"bytes": _FieldProto.TYPE_BYTES, "float": _FieldProto.TYPE_FLOAT, "int64": _FieldProto.TYPE_INT64}


def _describe_file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="tfreel/example.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for field in fields:
            _describe_field(message, field)
    return file


def _describe_field(message: Any, field: _Field) -> None:
    holds = _describe_map_entry(message, field) if field.shape == "map" else field.holds
    label = _FieldProto.LABEL_OPTIONAL if field.shape == "one" else _FieldProto.LABEL_REPEATED
    described = message.field.add(name=field.name, number=field.number, label=label)
    if holds in _SCALARS:  # proto3 packs repeated numbers unless told otherwise
        described.type = _SCALARS[holds]
    else:
        described.type = _FieldProto.TYPE_MESSAGE
        described.type_name = f".{_PACKAGE}.{holds}"
    if field.oneof:
        if not message.oneof_decl:
            message.oneof_decl.add(name=field.oneof)
        described.oneof_index = 0


def _describe_map_entry(message: Any, field: _Field) -> str:
    # On the wire a map is a repeated message of key and value, whose name protobuf prescribes.
    name = field.name.title().replace("_", "") + "Entry"
    entry = message.nested_type.add(name=name, options={"map_entry": True})
    optional = _FieldProto.LABEL_OPTIONAL
    entry.field.add(name="key", number=1, type=_FieldProto.TYPE_STRING, label=optional)
    _describe_field(entry, _Field("value", 2, field.holds))
    return f"{message.name}.{name}"


_INTEGERS = frozenset({int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})
_LISTS = (list, tuple)  # asked for before Iterable, which takes long to answer
_HINTS: dict[Any, str] = {
    str: "; encode it, as in text.encode()",
    int: "; value is a list of bytes, as in [data]",
    np.ndarray: "; array.tobytes() gives its bytes without its shape, tfreel.images.encode(array) gives a"
    " PNG",
    np.number: "; value is a list of bytes, as in [array.tobytes()]",
}


def _integers(values: Any) -> Any:
    """The values with bools made integers; everything else is left to protobuf to take or refuse."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biu":
        values = values.tolist()  # the same integers, and protobuf takes Python's faster than numpy's
    elif not isinstance(values, _LISTS):
        if not isinstance(values, Iterable):
            return values
        values = list(values)
    if _INTEGERS.issuperset(map(type, values)):
        return values
    return [int(value) if _is_bool(value) else value for value in values]


def _is_bool(value: Any) -> bool:
    """Whether it is true or false: of Python, or of anybody's arrays, without dimensions."""
    if isinstance(value, bool):
        return True
    return getattr(value, "dtype", None) == "bool" and getattr(value, "ndim", None) == 0


def _byte_strings(values: Any) -> Any:
    """The values with other bytes-like objects made bytes, and an error that helps for those that are not."""
    if not isinstance(values, _LISTS) and not isinstance(values, Iterable):
        return values
    return [value if isinstance(value, bytes) else _as_bytes(value) for value in values]


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    hint = next((hint for kind, hint in _HINTS.items() if isinstance(value, kind)), "")
    raise TypeError(f"expected bytes, {type(value).__name__} found{hint}")


# float needs no converter: protobuf takes every number, and bool.
_CONVERTERS: dict[str, _Convert] = {"bytes": _byte_strings, "int64": _integers}


class _Values:
    """A view of protobuf's container of scalars that converts what goes in.

    Not a subclass, since protobuf's container allows none, and no patch of it, which would change the
    messages of everybody else in the process.
    """

    __slots__ = ("_convert", "_native")

    def __init__(self, native: Any, convert: _Convert) -> None:
        self._native = native
        self._convert = convert

    def append(self, value: Any) -> None:
        self._native.append(self._convert((value,))[0])

    def extend(self, values: Any) -> None:
        self._native.extend(self._convert(values))

    def insert(self, index: int, value: Any) -> None:
        self._native.insert(index, self._convert((value,))[0])

    def __setitem__(self, index: Any, value: Any) -> None:
        several = isinstance(index, slice)
        self._native[index] = self._convert(value) if several else self._convert((value,))[0]

    def __getitem__(self, index: Any) -> Any:
        return self._native[index]

    def __delitem__(self, index: Any) -> None:
        del self._native[index]

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._native)

    def __eq__(self, other: object) -> Any:  # with an array the answer is an array
        return self._native == (other._native if isinstance(other, _Values) else other)

    def __ne__(self, other: object) -> Any:
        return self._native != (other._native if isinstance(other, _Values) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._native)

    def __array__(
        self,
        dtype: npt.DTypeLike | None = None,
        copy: bool | None = None,  # noqa: FBT001 - numpy's protocol; it is always a copy
    ) -> npt.NDArray[Any]:
        return np.array(self._native, dtype=dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Values:
        return _Values(copy.deepcopy(self._native, memo), self._convert)

    def __reduce__(self) -> Any:
        return self._native.__reduce__()  # refuses, and says to pickle a list

    def __getattr__(self, name: str) -> Any:  # pop, remove, reverse, sort, MergeFrom, ...
        return getattr(self._native, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._native)})


MutableSequence.register(_Values)


def _make_classes() -> dict[str, Any]:
    """The classes by name, from a pool that nobody else registers in."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_describe_file().SerializeToString())
    classes = {}
    for name in _SCHEMA:
        made = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        made.__module__ = __name__  # pickle finds a class by its module and name
        made.__doc__ = f"The protobuf message `{_PACKAGE}.{name}`, as described in `{__name__}`."
        classes[name] = made
    for name, fields in _SCHEMA.items():
        _forgive(classes[name], fields, classes)
    return classes


def _forgive(made: Any, fields: list[_Field], classes: dict[str, Any]) -> None:
    """Put converters between the users of a message class and protobuf."""
    messages = {f.name: _message_converter(f, classes[f.holds]) for f in fields if f.holds in classes}
    scalars = {f.name: _CONVERTERS[f.holds] for f in fields if f.holds in _CONVERTERS}
    _convert_arguments(made, messages | scalars)
    if scalars:
        _convert_attributes(made, scalars)


def _message_converter(field: _Field, made: Any) -> _Convert:
    """Makes messages of dicts by calling their class.

    Protobuf takes dicts as well, but fills messages from them in C, past the constructors.
    """

    def one(value: Any) -> Any:
        return made(**value) if isinstance(value, dict) else value

    def several(values: Any) -> Any:
        return [one(value) for value in values] if isinstance(values, Iterable) else values

    def mapped(values: Any) -> Any:
        return {key: one(value) for key, value in values.items()} if isinstance(values, dict) else values

    return {"one": one, "list": several, "map": mapped}[field.shape]


# Message classes cannot be subclassed, and subclasses would not be what FromString and sub-messages give out.
# Otherwise they are ordinary classes, whose methods can be replaced.


def _convert_arguments(made: Any, converters: dict[str, _Convert]) -> None:
    native = made.__init__

    def __init__(self: Any, *args: Any, **fields: Any) -> None:  # noqa: N807 - it becomes that method
        for name, value in fields.items():
            if name in converters and value is not None:  # None is protobuf's word for unset
                fields[name] = converters[name](value)
        try:
            native(self, *args, **fields)
        except ValueError:
            _refuse_unknown(made, fields)
            raise

    made.__init__ = __init__


def _refuse_unknown(made: Any, fields: Iterable[str]) -> None:
    known = list(made.DESCRIPTOR.fields_by_name)
    for name in fields:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(map(repr, known))}"
            raise ValueError(f"{made.__name__} has no field {name!r}; {hint}") from None


def _convert_attributes(made: Any, converters: dict[str, _Convert]) -> None:
    native = made.__getattribute__

    def __getattribute__(self: Any, name: str) -> Any:  # noqa: N807 - it becomes that method
        found = native(self, name)
        return _Values(found, converters[name]) if name in converters else found

    made.__getattribute__ = __getattribute__


if TYPE_CHECKING:
    # What editors and type checkers see.
    _T = TypeVar("_T")
    _Bytes = bytes | bytearray | memoryview
    _Dict = dict[str, Any]

    class _Messages(MutableSequence[_T]):
        def add(self, **fields: Any) -> _T: ...

    class _MessageMap(Mapping[str, _T]):
        def get_or_create(self, key: str) -> _T: ...
        def clear(self) -> None: ...
        def __delitem__(self, key: str) -> None: ...

    class _Message:
        DESCRIPTOR: ClassVar[Any]

        @classmethod
        def FromString(cls, serialized: _Bytes) -> Self: ...  # noqa: N802 - protobuf's names
        def ParseFromString(self, serialized: _Bytes) -> int: ...  # noqa: N802
        def MergeFromString(self, serialized: _Bytes) -> int: ...  # noqa: N802
        def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...  # noqa: N802
        def SerializePartialToString(self, *, deterministic: bool = ...) -> bytes: ...  # noqa: N802
        def ByteSize(self) -> int: ...  # noqa: N802
        def CopyFrom(self, other: Self) -> None: ...  # noqa: N802
        def MergeFrom(self, other: Self) -> None: ...  # noqa: N802
        def Clear(self) -> None: ...  # noqa: N802
        def ClearField(self, field_name: str) -> None: ...  # noqa: N802
        def HasField(self, field_name: str) -> bool: ...  # noqa: N802
        def WhichOneof(self, oneof_group: str) -> str | None: ...  # noqa: N802
        def ListFields(self) -> list[tuple[Any, Any]]: ...  # noqa: N802
        def DiscardUnknownFields(self) -> None: ...  # noqa: N802
        def IsInitialized(self) -> bool: ...  # noqa: N802

    class BytesList(_Message):
        """A list of bytes."""

        value: MutableSequence[bytes]

        def __init__(self, *, value: Iterable[_Bytes] | None = ...) -> None: ...

    class FloatList(_Message):
        """A list of numbers, stored as float32."""

        value: MutableSequence[float]

        def __init__(self, *, value: Iterable[float | np.number[Any]] | None = ...) -> None: ...

    class Int64List(_Message):
        """A list of integers, or of bools, stored as int64."""

        value: MutableSequence[int]

        def __init__(self, *, value: Iterable[int | np.integer[Any] | np.bool_] | None = ...) -> None: ...

    class Feature(_Message):
        """One of the three lists, or none."""

        bytes_list: BytesList
        float_list: FloatList
        int64_list: Int64List

        def __init__(
            self,
            *,
            bytes_list: BytesList | _Dict | None = ...,
            float_list: FloatList | _Dict | None = ...,
            int64_list: Int64List | _Dict | None = ...,
        ) -> None: ...

    class Features(_Message):
        """Features by name."""

        feature: _MessageMap[Feature]

        def __init__(self, *, feature: Mapping[str, Feature | _Dict] | None = ...) -> None: ...

    class FeatureList(_Message):
        """The features of one name, step by step."""

        feature: _Messages[Feature]

        def __init__(self, *, feature: Iterable[Feature | _Dict] | None = ...) -> None: ...

    class FeatureLists(_Message):
        """Lists of features by name."""

        feature_list: _MessageMap[FeatureList]

        def __init__(self, *, feature_list: Mapping[str, FeatureList | _Dict] | None = ...) -> None: ...

    class Example(_Message):
        """One example: features by name."""

        features: Features

        def __init__(self, *, features: Features | _Dict | None = ...) -> None: ...

    class SequenceExample(_Message):
        """One sequence: features of the whole, and lists of features of its steps."""

        context: Features
        feature_lists: FeatureLists

        def __init__(
            self,
            *,
            context: Features | _Dict | None = ...,
            feature_lists: FeatureLists | _Dict | None = ...,
        ) -> None: ...

else:
    globals().update(_make_classes())
