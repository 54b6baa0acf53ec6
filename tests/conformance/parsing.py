"""Cases for the comparison with TensorFlow's parsers: features asked for, records given.

A case is plain data that can be built for TensorFlow or for tfreel alike: both name their feature classes and
arguments the same. `golden/make.py` keeps what TensorFlow made of each.

Records come as TensorFlow or any other library writes them, and in ways that protobuf allows but TensorFlow's
fast parser reads otherwise. Those carry a second record, the same in plain form, or none if they are
malformed: what TensorFlow reads from the plain form is what tfreel has to read from the odd one.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfreel import features as tfreel_features
from tfreel.columns import BytesColumn, Ragged, Sparse, parse, parse_sequence
from tfreel.errors import TfreelError

from conformance.messages import BYTES, FIXED32, FLOATS, INTS, VARINT, tag, varint
from conformance.messages import field as wire_field

KIND_OF = {"bytes": BYTES, "float32": FLOATS, "int64": INTS}
DTYPES = tuple(KIND_OF)


@dataclass(frozen=True)
class Case:
    """Features, records, and the same records in plain form (None stands for: must be refused)."""

    name: str
    features: dict[str, Any]
    records: list[bytes]
    plain: list[bytes] | None = None
    malformed: bool = False
    difference: str | None = None  # the heading in docs/differences.md under which it is explained
    sequence_features: dict[str, Any] | None = None
    deadly: bool = False  # TensorFlow reads or writes where it must not: it is not asked

    @property
    def plain_records(self) -> list[bytes]:
        return self.records if self.plain is None else self.plain

    @property
    def digest(self) -> str:
        """Changes with everything that the answer may depend on."""
        asked = (self.features, self.sequence_features, self.records, self.plain)
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:8]


# Features.


def fixed(shape: list[int] | None, dtype: str, default: Any = None) -> dict[str, Any]:
    return {"class": "FixedLenFeature", "shape": shape, "dtype": dtype, "default_value": default}


def var_len(dtype: str) -> dict[str, Any]:
    return {"class": "VarLenFeature", "dtype": dtype}


def sequence(shape: list[int], dtype: str, *, missing: bool = True, default: Any = None) -> dict[str, Any]:
    return {
        "class": "FixedLenSequenceFeature",
        "shape": shape,
        "dtype": dtype,
        "allow_missing": missing,
        "default_value": default,
    }


def ragged(dtype: str, *partitions: tuple[str, Any], splits: str = "int32", **more: Any) -> dict[str, Any]:
    return {
        "class": "RaggedFeature",
        "dtype": dtype,
        "partitions": [list(partition) for partition in partitions],
        "row_splits_dtype": splits,
        **more,
    }


def sparse(index: Any, value: str, dtype: str, size: Any, *, is_sorted: bool = False) -> dict[str, Any]:
    return {
        "class": "SparseFeature",
        "index_key": index,
        "value_key": value,
        "dtype": dtype,
        "size": size,
        "already_sorted": is_sorted,
    }


def build_feature(description: dict[str, Any], module: Any, dtype_of: Any) -> Any:
    """A feature of TensorFlow's or of tfreel's."""
    arguments = dict(description)
    made = getattr(module, arguments.pop("class"))
    arguments["dtype"] = dtype_of(arguments["dtype"])
    if "partitions" in arguments:
        arguments["partitions"] = [getattr(made, kind)(key) for kind, key in arguments["partitions"]]
        arguments["row_splits_dtype"] = dtype_of(arguments["row_splits_dtype"])
    default = arguments.get("default_value")
    if default is not None and description["dtype"] == "bytes":
        arguments["default_value"] = _encoded(default)
    return made(**arguments)


def _encoded(default: Any) -> Any:
    return [_encoded(d) for d in default] if isinstance(default, list) else default.encode()


# Records.


def feature(dtype: str, values: list[Any], *, packed: bool = True) -> bytes:
    """A Feature in plain form; or with its numbers one by one."""
    if dtype == "bytes":
        return wire_field(BYTES, b"".join(wire_field(1, value) for value in values))
    encoded = [encode_number(dtype, value) for value in values]
    if packed:
        return wire_field(KIND_OF[dtype], wire_field(1, b"".join(encoded)) if encoded else b"")
    return wire_field(KIND_OF[dtype], b"".join(number_tag(dtype) + value for value in encoded))


def number_tag(dtype: str) -> bytes:
    return tag(1, VARINT if dtype == "int64" else FIXED32)


def encode_number(dtype: str, value: Any) -> bytes:
    return varint(value) if dtype == "int64" else struct.pack("<f", value)


def entry(key: str, value: bytes) -> bytes:
    return wire_field(1, wire_field(1, key.encode()) + wire_field(2, value))


def example(features: dict[str, bytes] | list[tuple[str, bytes]]) -> bytes:
    pairs = features.items() if isinstance(features, dict) else features
    return wire_field(1, b"".join(entry(key, value) for key, value in pairs))


def feature_list(steps: list[bytes]) -> bytes:
    return b"".join(wire_field(1, step) for step in steps)


def sequence_example(context: dict[str, bytes], lists: dict[str, list[bytes]]) -> bytes:
    return wire_field(1, b"".join(entry(key, value) for key, value in context.items())) + wire_field(
        2, b"".join(entry(key, feature_list(steps)) for key, steps in lists.items())
    )


VALUES: dict[str, list[Any]] = {
    "bytes": [b"one", b"", b"\x00\xff", b"four"],
    "float32": [1.5, -0.0, float("inf"), 4.0],
    "int64": [1, -(1 << 63), (1 << 63) - 1, 300],
}
DEADLY = "Records that TensorFlow does not survive"
OTHER = {"bytes": "int64", "float32": "bytes", "int64": "float32"}
DEFAULT = {"bytes": ["d", "e"], "float32": [9.5, 8.5], "int64": [9, 8]}


def example_features(dtype: str) -> dict[str, dict[str, Any]]:
    default = DEFAULT[dtype]
    return {
        "fixed scalar": fixed([], dtype),
        "fixed scalar with default": fixed([], dtype, default[0]),
        "fixed 2": fixed([2], dtype),
        "fixed 2 with default": fixed([2], dtype, default),
        "fixed 2x1": fixed([2, 1], dtype),
        "fixed 0": fixed([0], dtype),
        "var len": var_len(dtype),
        "sequence": sequence([], dtype),
        "sequence with default": sequence([], dtype, default=default[0]),
        "sequence of 2": sequence([2], dtype),
        "ragged": ragged(dtype),
        "ragged int64": ragged(dtype, splits="int64"),
        "ragged uniform": ragged(dtype, ("UniformRowLength", 2)),
    }


def plain_records(dtype: str) -> dict[str, dict[str, bytes]]:
    """Records that both read alike."""
    values = VALUES[dtype]
    other = OTHER[dtype]
    records = {
        "1 value": {"a": feature(dtype, values[:1])},
        "2 values": {"a": feature(dtype, values[:2])},
        "3 values": {"a": feature(dtype, values[:3])},
        "4 values": {"a": feature(dtype, values)},
        "missing": {},
        "missing among others": {"b": feature(dtype, values)},
        "no kind": {"a": b""},
        "empty list": {"a": feature(dtype, [])},
        "wrong kind": {"a": feature(other, VALUES[other][:2])},
        "wrong kind, empty": {"a": feature(other, [])},
    }
    if dtype != "bytes":
        records["empty run"] = {"a": wire_field(KIND_OF[dtype], wire_field(1, b""))}
        records["unpacked"] = {"a": feature(dtype, values[:2], packed=False)}
    return records


def odd_features(dtype: str) -> dict[str, tuple[bytes, bytes | None, str]]:
    """Features that TensorFlow reads in its own way: with their plain form and the name of the difference."""
    values = VALUES[dtype]
    kind = KIND_OF[dtype]
    one, two = feature(dtype, values[:1]), feature(dtype, values[:2])
    unknown = tag(9, VARINT) + b"\x05"
    other = feature(OTHER[dtype], VALUES[OTHER[dtype]][:1])
    odd: dict[str, tuple[bytes, bytes | None, str]] = {
        "two kinds": (other + two, two, "A feature with two kinds"),
        "one kind twice": (one + feature(dtype, values[1:2]), two, "A feature with one kind twice"),
        "unknown before": (unknown + two, two, "Unknown fields"),
        "unknown behind": (two + unknown, two, "Unknown fields"),
        "unknown in list": (wire_field(kind, unknown + two[2:]), two, "Unknown fields"),
        "unknown at the end of list": (wire_field(kind, two[2:] + unknown), two, "Unknown fields"),
        "overlong tag": (tag(kind, 2, 1) + two[1:], two, "Tags and lengths longer than they need be"),
        "length past the end": (two[:1] + varint(len(two)) + two[2:], None, "Malformed records"),
        "garbage behind": (two + b"\x80", None, "Malformed records"),
    }
    if dtype == "bytes":
        return odd
    numbers = [encode_number(dtype, value) for value in values]
    run = b"".join(numbers[:2])
    first, second = wire_field(1, numbers[0]), wire_field(1, numbers[1])
    single = number_tag(dtype) + numbers[1]
    odd |= {
        "two runs": (wire_field(kind, first + second), two, "A list in several pieces"),
        "run then value": (wire_field(kind, first + single), two, "A list in several pieces"),
        "value then run": (
            wire_field(kind, number_tag(dtype) + numbers[0] + second),
            two,
            "A list in several pieces",
        ),
        "run past the end": (
            wire_field(kind, tag(1, 2) + varint(len(run) + 1) + run),
            None,
            "Malformed records",
        ),
    }
    if dtype == "float32":
        odd["run of 9 bytes"] = (wire_field(kind, wire_field(1, run + b"x")), None, "Malformed records")
    return odd


def odd_examples(dtype: str) -> dict[str, tuple[bytes, bytes | None, str]]:
    """Whole records of that sort."""
    values = VALUES[dtype]
    two, three = feature(dtype, values[:2]), feature(dtype, values[:3])
    plain = example({"a": two})
    unknown = tag(9, VARINT) + b"\x05"
    group = tag(9, 3) + unknown + tag(9, 4)
    key, value = wire_field(1, b"a"), wire_field(2, two)
    return {
        "duplicate": (example([("a", three), ("a", two)]), plain, ""),
        "duplicate, the last without kind": (
            example([("a", two), ("a", b"")]),
            example({"a": b""}),
            "A name twice, the last time without values",
        ),
        "duplicate, the first malformed": (
            example([("a", b"\x80"), ("a", two)]),
            None,
            "Malformed records",
        ),
        "duplicate in two maps": (example({"a": three}) + example({"a": two}), plain, ""),
        "value before key": (wire_field(1, wire_field(1, value + key)), plain, ""),
        "key only": (
            wire_field(1, wire_field(1, key)),
            example({"a": b""}),
            "Entries that are not a name and a value",
        ),
        "value only": (
            wire_field(1, wire_field(1, value)),
            example({"": two}),
            "Entries that are not a name and a value",
        ),
        "two keys": (
            wire_field(1, wire_field(1, wire_field(1, b"b") + key + value)),
            plain,
            "Entries that are not a name and a value",
        ),
        "unknown in entry": (
            wire_field(1, wire_field(1, key + unknown + value)),
            plain,
            "Unknown fields",
        ),
        "unknown in features": (wire_field(1, unknown + wire_field(1, key + value)), plain, "Unknown fields"),
        "unknown in example": (unknown + plain + unknown, plain, ""),
        "group in example": (group + plain, plain, "Unknown fields"),
        "group in features": (wire_field(1, group + wire_field(1, key + value)), plain, "Unknown fields"),
        "overlong tag of features": (
            tag(1, 2, 1) + plain[1:],
            plain,
            "Tags and lengths longer than they need be",
        ),
        "field 0": (b"\x00\x00" + plain, None, "Malformed records"),
        "length past the end": (
            plain + tag(9, 2) + b"\x7f",
            None,
            "Malformed records",
        ),
        "features length past the end": (
            tag(1, 2) + varint(len(plain)) + plain[2:],
            None,
            "Malformed records",
        ),
        "a name that is no text": (
            wire_field(1, wire_field(1, wire_field(1, b"\xff") + value)),
            None,
            "Names that are not UTF-8",
        ),
        "cut": (plain[:-1], None, "Malformed records"),
        "cut in the tag": (plain + b"\x8a", None, "Malformed records"),
    }


def example_cases() -> list[Case]:
    cases = []
    for dtype in DTYPES:
        good = example({"a": feature(dtype, VALUES[dtype][:2])})
        for spec_name, spec in example_features(dtype).items():
            name = f"{dtype}, {spec_name}"
            for record_name, record in plain_records(dtype).items():
                deadly = spec_name == "fixed 0" and record_name == "unpacked"
                plain = [example({"a": feature(dtype, VALUES[dtype][:2])})] if deadly else None
                full = f"{name}: {record_name}"
                why = DEADLY if deadly else None
                cases.append(Case(full, {"a": spec}, [example(record)], plain, difference=why, deadly=deadly))
                if spec_name in ("var len", "sequence", "ragged", "fixed 2 with default", "sequence of 2"):
                    batch = [good, example(record), good]
                    cases.append(Case(f"{full}, in a batch", {"a": spec}, batch))
            cases.append(Case(f"{name}: no records", {"a": spec}, []))
        for spec_name in ("fixed 2", "fixed 2 with default", "var len", "ragged", "sequence"):
            spec = example_features(dtype)[spec_name]
            odd = {
                odd_name: (example({"a": raw}), None if plain is None else example({"a": plain}), why)
                for odd_name, (raw, plain, why) in odd_features(dtype).items()
            } | {f"record, {name}": case for name, case in odd_examples(dtype).items()}
            for odd_name, (raw, plain, why) in odd.items():
                cases.append(
                    Case(
                        f"{dtype}, {spec_name}: {odd_name}",
                        {"a": spec},
                        [raw],
                        None if plain is None else [plain],
                        malformed=plain is None,
                        difference=why or None,
                    )
                )
        if dtype != "bytes":
            raw = example({"a": feature(dtype, VALUES[dtype], packed=False)})
            plain = example({"a": feature(dtype, VALUES[dtype])})
            spec = fixed([2], dtype)
            name = f"{dtype}, fixed 2: too many, unpacked"
            cases.append(Case(name, {"a": spec}, [raw], [plain], difference=DEADLY, deadly=True))
    return cases


def sequence_context_features(dtype: str) -> dict[str, dict[str, Any]]:
    default = DEFAULT[dtype]
    return {
        "fixed scalar": fixed([], dtype),
        "fixed 2": fixed([2], dtype),
        "fixed 2 with default": fixed([2], dtype, default),
        "var len": var_len(dtype),
        "ragged": ragged(dtype),
    }


def sequence_list_features(dtype: str) -> dict[str, dict[str, Any]]:
    return {
        "sequence": sequence([], dtype, missing=False),
        "sequence of 2": sequence([2], dtype, missing=False),
        "sequence of 2 that may be missing": sequence([2], dtype),
        "var len": var_len(dtype),
        "ragged": ragged(dtype),
        "ragged int64": ragged(dtype, splits="int64"),
    }


def sequence_cases() -> list[Case]:
    cases = []
    for dtype in DTYPES:
        values, other = VALUES[dtype], OTHER[dtype]
        good = sequence_example(
            {"a": feature(dtype, values[:2])}, {"a": [feature(dtype, values[:2]), feature(dtype, values[2:])]}
        )
        contexts = plain_records(dtype)
        for spec_name, spec in sequence_context_features(dtype).items():
            for name, record in contexts.items():
                raw = sequence_example(record, {})
                full = f"{dtype}, context, {spec_name}: {name}"
                cases.append(Case(full, {"a": spec}, [raw], sequence_features={}))
                batch = [good, raw, good]
                cases.append(Case(f"{full}, in a batch", {"a": spec}, batch, sequence_features={}))
        lists = {
            "two steps": {"a": [feature(dtype, values[:2]), feature(dtype, values[2:])]},
            "steps of one": {"a": [feature(dtype, values[:1])] * 3},
            "uneven steps": {"a": [feature(dtype, values[:3]), feature(dtype, values[:1])]},
            "no steps": {"a": []},
            "missing": {},
            "missing among others": {"b": [feature(dtype, values[:2])]},
            "a step without kind": {"a": [feature(dtype, values[:2]), b""]},
            "only a step without kind": {"a": [b""]},
            "an empty step": {"a": [feature(dtype, []), feature(dtype, values[:2])]},
            "wrong kind": {"a": [feature(dtype, values[:2]), feature(other, VALUES[other][:2])]},
            "wrong kind, empty": {"a": [feature(other, [])]},
        }
        if dtype != "bytes":
            lists["unpacked"] = {"a": [feature(dtype, values[:2], packed=False)] * 2}
        for spec_name, spec in sequence_list_features(dtype).items():
            for name, steps in lists.items():
                raw = sequence_example({}, steps)
                full = f"{dtype}, list, {spec_name}: {name}"
                cases.append(Case(full, {}, [raw], sequence_features={"a": spec}))
                batch = [good, raw, good]
                cases.append(Case(f"{full}, in a batch", {}, batch, sequence_features={"a": spec}))
        cases.extend(odd_sequence_cases(dtype))
    return cases


def odd_sequence_cases(dtype: str) -> list[Case]:
    values = VALUES[dtype]
    one, two = feature(dtype, values[:1]), feature(dtype, values[:2])
    plain = sequence_example({}, {"a": [two, one]})
    key, value = wire_field(1, b"a"), wire_field(2, feature_list([two, one]))
    unknown = tag(9, VARINT) + b"\x05"
    merged = one + feature(dtype, values[1:2])
    odd: dict[str, tuple[bytes, bytes | None, str]] = {
        "value before key": (
            wire_field(1, b"") + wire_field(2, wire_field(1, value + key)),
            plain,
            "SequenceExamples with their fields in another order",
        ),
        "duplicate": (
            sequence_example({}, {}) + wire_field(2, entry("a", feature_list([one])) + entry("a", value[2:])),
            plain,
            "",
        ),
        "unknown at the top": (unknown + plain, plain, ""),
        "unknown in the lists": (
            wire_field(2, unknown + wire_field(1, key + value)),
            plain,
            "Unknown fields",
        ),
        "unknown in the list": (
            sequence_example({}, {}) + wire_field(2, entry("a", unknown + feature_list([two, one]))),
            plain,
            "Unknown fields",
        ),
        "one kind twice": (
            sequence_example({}, {"a": [merged, one]}),
            plain,
            "A feature with one kind twice",
        ),
        "cut": (plain[:-1], None, "Malformed records"),
    }
    return [
        Case(
            f"{dtype}, list, {spec_name}: {name}",
            {},
            [raw],
            None if in_plain_form is None else [in_plain_form],
            malformed=in_plain_form is None,
            difference=why or None,
            sequence_features={"a": sequence_list_features(dtype)[spec_name]},
        )
        for spec_name in ("var len", "ragged")
        for name, (raw, in_plain_form, why) in odd.items()
    ]


def ints(*values: int) -> bytes:
    return feature("int64", list(values))


UNCHECKED = "Ragged partitions that do not fit"
ERRORS = "Errors"


def partition_cases() -> list[Case]:
    """Seven values in rows of 2, 0, 4 and 1; two values in rows of 1 and 1; and none."""
    full = {
        "values": ints(1, 2, 3, 4, 5, 6, 7),
        "lengths": ints(2, 0, 4, 1),
        "splits": ints(0, 2, 2, 6, 7),
        "starts": ints(0, 2, 2, 6),
        "limits": ints(2, 2, 6, 7),
        "ids": ints(0, 0, 2, 2, 2, 2, 3),
        "outer": ints(1, 3),
    }
    short = {
        "values": ints(8, 9),
        "lengths": ints(1, 1),
        "splits": ints(0, 1, 2),
        "starts": ints(0, 1),
        "limits": ints(1, 2),
        "ids": ints(0, 1),
        "outer": ints(2),
    }
    empty = dict.fromkeys(full, ints()) | {"splits": ints(0)}
    keyed = [
        ("RowLengths", "lengths"),
        ("RowSplits", "splits"),
        ("RowStarts", "starts"),
        ("RowLimits", "limits"),
        ("ValueRowIds", "ids"),
    ]
    batches = {
        "full": [example(full)],
        "full, short": [example(full), example(short)],
        "short, empty, full": [example(short), example(empty), example(full)],
    }
    cases = []
    for batch_name, records in batches.items():
        for kind, key in keyed:
            for splits in ("int32", "int64"):
                spec = ragged("int64", (kind, key), splits=splits, value_key="values")
                cases.append(Case(f"partition {kind}, {splits}: {batch_name}", {"r": spec}, records))
            for outer in [("RowLengths", "outer"), ("UniformRowLength", 2)]:
                spec = ragged("int64", outer, (kind, key), value_key="values")
                cases.append(Case(f"partitions {outer[0]}, {kind}: {batch_name}", {"r": spec}, records))
    even = {"values": ints(*range(12)), "lengths": ints(2, 0, 4), "pairs": ints(1, 2)}
    records = [example(even), example({})]
    for name, partitions in {
        "uniform": [("UniformRowLength", 3)],
        "uniform twice": [("UniformRowLength", 3), ("UniformRowLength", 2)],
        "lengths of uniform": [("RowLengths", "lengths"), ("UniformRowLength", 2)],
        "uniform of lengths of uniform": [
            ("UniformRowLength", 3),
            ("RowLengths", "lengths"),
            ("UniformRowLength", 2),
        ],
        "lengths of lengths of uniform": [
            ("RowLengths", "pairs"),
            ("RowLengths", "lengths"),
            ("UniformRowLength", 2),
        ],
    }.items():
        spec = ragged("int64", *partitions, value_key="values")
        for some, batch in {"all": records, "one": records[:1], "turned": records[::-1], "none": []}.items():
            cases.append(Case(f"partitions {name}: {some}", {"r": spec}, batch))
    lying = {
        "RowLengths": [ints(3, 3), ints(9, -2), ints(), ints(1 << 62, 1 << 62, 1 << 62, 1 << 62, 7)],
        "RowSplits": [ints(0, 6), ints(1, 7), ints(0, 5, 3, 7), ints(0, -(1 << 62), 7), ints(), ints(7)],
        "RowStarts": [ints(1, 3), ints(0, 9), ints(0, 5, 3), ints()],
        "RowLimits": [ints(3, 6), ints(5, 3, 7), ints(9), ints()],
        "ValueRowIds": [ints(0, 0, 1), ints(0, 0, 0, 2, 1, 1, 1), ints(-1, 0, 0, 0, 0, 0, 0), ints()],
    }
    for kind, claims in lying.items():
        for i, claim in enumerate(claims):
            for validate in (False, True):
                spec = ragged("int64", (kind, "key"), value_key="values", validate=validate)
                record = example({"values": full["values"], "key": claim})
                name = f"partition {kind} that lies, {i}, {'checked' if validate else 'unchecked'}"
                why = UNCHECKED
                cases.append(Case(name, {"r": spec}, [record], malformed=True, difference=why))
    return cases


def sequence_partition_cases() -> list[Case]:
    """Partitions in the context, and in every step of a feature list."""
    context = {"values": ints(1, 2, 3), "lengths": ints(2, 0, 1), "splits": ints(0, 2, 2, 3)}
    lists = {
        "values": [ints(1, 2, 3, 4), ints(), ints(5, 6)],
        "lengths": [ints(1, 3), ints(), ints(0, 2)],
        "splits": [ints(0, 1, 4), ints(0), ints(0, 0, 2)],
        "ids": [ints(0, 1, 1, 1), ints(), ints(1, 1)],
    }
    batches = {
        "one": [sequence_example(context, lists)],
        "some": [
            sequence_example({}, {}),
            sequence_example(context, lists),
            sequence_example({}, {key: steps[:1] for key, steps in lists.items()}),
        ],
    }
    partitions: dict[str, list[tuple[str, Any]]] = {
        "lengths": [("RowLengths", "lengths")],
        "splits": [("RowSplits", "splits")],
        "ids": [("ValueRowIds", "ids")],
        "uniform": [("UniformRowLength", 2)],
        "lengths of ones": [("RowLengths", "lengths"), ("UniformRowLength", 1)],
    }
    cases = []
    for splits in ("int32", "int64"):
        for name, chosen in partitions.items():
            spec = {"r": ragged("int64", *chosen, splits=splits, value_key="values")}
            for batch, records in batches.items():
                full = f"sequence partitions, {splits}, {name}: {batch}"
                cases.append(Case(f"{full}, in the lists", {}, records, sequence_features=spec))
                if name in ("lengths", "splits", "lengths of ones"):
                    cases.append(Case(f"{full}, in the context", spec, records, sequence_features={}))
    return cases


def sparse_cases() -> list[Case]:
    records = [
        example({"i": ints(5, 0, 3), "j": ints(1, 1, 0), "v": feature("float32", [0.5, 1.5, 2.5])}),
        example({}),
        example({"i": ints(2, 2, 1), "j": ints(0, 1, 0), "v": feature("float32", [3.5, 4.5, 5.5])}),
    ]
    words = [
        example({"i": ints(5, 0), "v": feature("bytes", [b"five", b"zero"])}),
        example({"i": ints(), "v": feature("bytes", [])}),
        example({"i": ints(2), "v": feature("bytes", [b"two"])}),
    ]
    cases = []
    for is_sorted in (False, True):
        one = sparse("i", "v", "float32", 8, is_sorted=is_sorted)
        two = sparse(["i", "j"], "v", "float32", [8, 2], is_sorted=is_sorted)
        text = sparse("i", "v", "bytes", 8, is_sorted=is_sorted)
        for n in (0, 1, 3):
            name = f"{'sorted' if is_sorted else 'unsorted'}, {n} records"
            cases.append(Case(f"sparse of one, {name}", {"s": one}, records[:n]))
            cases.append(Case(f"sparse of two, {name}", {"s": two}, records[:n]))
            cases.append(Case(f"sparse of bytes, {name}", {"s": text}, words[:n]))
    uneven = example({"i": ints(1), "v": feature("float32", [1.0, 2.0])})
    one = sparse("i", "v", "float32", 8)
    cases.append(Case("sparse, fewer positions than values", {"s": one}, [uneven], difference=ERRORS))
    shared = {"s": one, "i": var_len("int64"), "v": var_len("float32")}
    cases.append(Case("sparse beside var len of the same keys", shared, records))
    outside = example({"i": ints(99, -1), "v": feature("float32", [1.0, 2.0])})
    cases.append(Case("sparse, positions outside", {"s": one}, [outside]))
    return cases


def spec_cases() -> list[Case]:
    """Features that cannot be: refused before any record is read."""
    record = [example({"a": ints(1)})]
    later = {  # only found by TensorFlow when it runs
        "default of another size": {"a": fixed([2], "int64", [1, 2, 3])},
        "one default for two": {"a": fixed([2], "int64", 1)},
        "sequence with two defaults": {"a": sequence([], "int64", default=[1, 2])},
        "uniform rows of none": {"a": ragged("int64", ("UniformRowLength", -1))},
    }
    wrong = {
        "shape None": {"a": fixed(None, "int64")},
        "negative shape": {"a": fixed([-1], "int64")},
        "a broken number as default": {"a": fixed([], "int64", 1.5)},
        "text as default": {"a": fixed([], "float32", "x")},
        "sequence that may not be missing": {"a": sequence([], "int64", missing=False)},
        "sparse with a list of sizes": {"a": sparse("i", "v", "int64", [3])},
        "fixed and sparse of one key": {"v": fixed([], "int64"), "s": sparse("i", "v", "int64", 3)},
        "fixed and ragged of one key": {"v": fixed([], "int64"), "s": ragged("int64", value_key="v")},
        "ragged splits of floats": {"a": ragged("int64", splits="float32")},
        "no features": {},
    }
    return [Case(f"spec, {name}", features, record) for name, features in wrong.items()] + [
        Case(f"spec, {name}", features, record, difference=ERRORS) for name, features in later.items()
    ]


def all_cases() -> list[Case]:
    in_examples = example_cases() + partition_cases() + sparse_cases() + spec_cases()
    return in_examples + sequence_cases() + sequence_partition_cases()


# Results, in one form for both.


def dense_form(array: Any, data: list[Any] | None = None) -> dict[str, Any]:
    """An array as plain data: floats as their bits, bytes in hex."""
    if data is not None:
        return {"shape": list(array), "dtype": "bytes", "values": [value.hex() for value in data]}
    array = np.asarray(array)
    if array.dtype == object or array.dtype.kind == "S":
        return dense_form(array.shape, [bytes(value) for value in array.ravel().tolist()])
    bits = array.view(np.uint32) if array.dtype == np.float32 else array
    return {"shape": list(array.shape), "dtype": array.dtype.name, "values": bits.ravel().tolist()}


def column_form(column: Any) -> dict[str, Any]:
    if isinstance(column, Sparse):
        return {
            "indices": column.indices.tolist(),
            "values": column_form(column.values),
            "shape": list(column.dense_shape),
        }
    if isinstance(column, Ragged):
        splits = []
        level: Any = column
        while isinstance(level, Ragged):
            splits.append(dense_form(level.row_splits))
            level = level.values
        return {"splits": splits, "values": column_form(level)}
    if isinstance(column, BytesColumn):
        return dense_form(column.to_numpy())
    return dense_form(column)


def read_with_tfreel(case: Case, records: list[bytes]) -> dict[str, Any]:
    """What tfreel makes of it: columns in their form, or the sort of error."""

    def build(features: dict[str, Any]) -> dict[str, Any]:
        return {
            name: build_feature(spec, tfreel_features, lambda dtype: dtype) for name, spec in features.items()
        }

    try:
        if case.sequence_features is None:
            return {
                "columns": {name: column_form(c) for name, c in parse(records, build(case.features)).items()}
            }
        batch = parse_sequence(records, build(case.features), build(case.sequence_features))
    except TfreelError as error:
        return {"error": "data", "class": type(error).__name__}
    except (ValueError, TypeError) as error:
        return {"error": "features", "class": type(error).__name__}
    return {
        "columns": {name: column_form(c) for name, c in batch.context.items()}
        | {name: column_form(c) for name, c in batch.sequences.items()},
        "lengths": {
            name: lengths.tolist()
            for name, lengths in batch.lengths.items()
            if case.sequence_features[name]["class"] == "FixedLenSequenceFeature"
        },
    }


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two results say the same: the columns, or the sort of error."""
    if "error" in ours or "error" in theirs:
        return ours.get("error") == theirs.get("error")
    return ours == theirs


@dataclass(frozen=True)
class Verdict:
    """How a case came out: what tfreel reads, and TensorFlow from the records in plain form."""

    case: Case
    ours: dict[str, Any]
    wanted: dict[str, Any]

    @property
    def good(self) -> bool:
        if self.case.malformed:
            return self.ours.get("error") == "data"
        if self.case.difference == ERRORS:
            return "error" in self.ours and "error" in self.wanted
        return same(self.ours, self.wanted)
