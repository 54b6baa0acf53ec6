"""Cases by chance: features, and records that mostly have what they ask for."""

from __future__ import annotations

import random
from typing import Any

from conformance.parsing import (
    DTYPES,
    Case,
    example,
    feature,
    fixed,
    ints,
    ragged,
    sequence,
    sequence_example,
    sparse,
    var_len,
)

MAKERS = ("example_case", "partition_case", "sparse_case", "sequence_case")


class Chance:
    """Features and records at random. Most records have what the features ask for."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.careless = self.random.random() < 0.3  # some of the records then do not fit

    def slip(self) -> bool:
        return self.careless and self.random.random() < 0.05

    def values(self, dtype: str, count: int) -> list[Any]:
        if dtype == "int64":
            return [self.random.choice((0, 1, -1, self.random.getrandbits(62))) for _ in range(count)]
        if dtype == "float32":
            return [self.random.choice((0.0, -0.0, float("nan"), self.random.random())) for _ in range(count)]
        return [self.random.randbytes(self.random.choice((0, 1, 5, 200))) for _ in range(count)]

    def feature(self, dtype: str, count: int) -> bytes:
        if self.slip():
            dtype = self.random.choice(DTYPES)
        if self.slip():
            count += 1
        return feature(dtype, self.values(dtype, count), packed=self.random.random() < 0.7)

    def shape(self) -> list[int]:
        return self.random.choice(([], [1], [2], [2, 3]))

    def spec(self, dtype: str) -> tuple[dict[str, Any], Any, bool]:
        """A feature, a function that gives the number of its values in a record, and if it may be missing."""
        shape = self.shape()
        size = 1
        for dimension in shape:
            size *= dimension
        way = self.random.randrange(5 if self.careless else 6)  # rows that do not fit are not checked there
        if way == 0:
            return fixed(shape, dtype), lambda: size, False
        if way == 1:
            default = {"int64": 7, "float32": 0.5, "bytes": "d"}[dtype]
            for dimension in reversed(shape):
                default = [default] * dimension
            return fixed(shape, dtype, default), lambda: size, True
        if way == 2:
            pad = self.random.choice((None, {"int64": -1, "float32": -2.5, "bytes": "pad"}[dtype]))
            return sequence(shape, dtype, default=pad), lambda: size * self.random.randrange(4), True
        if way == 3:
            return var_len(dtype), lambda: self.random.randrange(5), True
        splits = self.random.choice(("int32", "int64"))
        if way == 4:
            return ragged(dtype, splits=splits), lambda: self.random.randrange(5), True
        uniform = self.random.randrange(1, 4)
        spec = ragged(dtype, ("UniformRowLength", uniform), splits=splits)
        return spec, lambda: uniform * self.random.randrange(4), True

    def example_case(self) -> Case:
        specs, counts, optional, dtypes = {}, {}, {}, {}
        for name in self.random.sample(
            ["a", "bb", "name/with/slash", "é", "x" * 40], self.random.randrange(1, 6)
        ):
            dtypes[name] = self.random.choice(DTYPES)
            specs[name], counts[name], optional[name] = self.spec(dtypes[name])
        records = []
        for _ in range(self.random.choice((0, 1, 2, 5, 40))):
            present = [
                n for n in specs if not (optional[n] and self.random.random() < 0.2) and not self.slip()
            ]
            entries = [(n, self.feature(dtypes[n], counts[n]())) for n in present]
            if self.random.random() < 0.3:
                entries.append(("unasked", ints(1, 2)))
                self.random.shuffle(entries)
            if entries and self.random.random() < 0.1:  # the last one counts
                name = self.random.choice(present or ["a"])
                entries.insert(0, (name, self.feature(self.random.choice(DTYPES), 1)))
            records.append(example(entries))
        return Case("by chance", specs, records)

    def partition_case(self) -> Case:
        depth = self.random.randrange(1, 4)
        kinds = self.random.choices(
            ("RowLengths", "RowSplits", "RowStarts", "RowLimits", "ValueRowIds", "UniformRowLength"), k=depth
        )
        uniform = [self.random.randrange(1, 4) for _ in kinds]
        records = []
        for _ in range(self.random.randrange(1, 5)):
            features = {}
            rows = self.random.randrange(4)  # of the outermost partition
            for i, kind in enumerate(kinds):
                lengths = [self.random.randrange(4) for _ in range(rows)]
                if kind == "ValueRowIds" and lengths:
                    lengths[-1] = max(1, lengths[-1])  # rows behind the last value cannot be said
                if kind == "UniformRowLength":
                    lengths = [uniform[i]] * rows
                else:
                    features[f"key{i}"] = ints(*partition_values(kind, lengths))
                rows = sum(lengths)
            features["values"] = feature("float32", self.values("float32", rows))
            records.append(example(features))
        partitions = [
            (kind, uniform[i] if kind == "UniformRowLength" else f"key{i}") for i, kind in enumerate(kinds)
        ]
        splits = self.random.choice(("int32", "int64"))
        spec = ragged("float32", *partitions, splits=splits, value_key="values")
        return Case(f"partitions {kinds}", {"r": spec}, records)

    def sparse_case(self) -> Case:
        dimensions = self.random.randrange(1, 4)
        dtype = self.random.choice(DTYPES)
        keys = [f"i{d}" for d in range(dimensions)]
        records = []
        for _ in range(self.random.randrange(5)):
            count = self.random.randrange(6)
            features = {key: ints(*(self.random.randrange(4) for _ in range(count))) for key in keys}
            records.append(example(features | {"v": feature(dtype, self.values(dtype, count))}))
        if dimensions == 1 and self.random.random() < 0.5:
            spec = sparse("i0", "v", dtype, 4, is_sorted=self.random.random() < 0.3)
        else:
            spec = sparse(keys, "v", dtype, [4] * dimensions, is_sorted=self.random.random() < 0.3)
        return Case("sparse", {"s": spec}, records)

    def sequence_case(self) -> Case:
        context_types = {n: self.random.choice(DTYPES) for n in ("c", "d") if self.random.random() < 0.7}
        list_types = {n: self.random.choice(DTYPES) for n in ("s", "t") if self.random.random() < 0.8}
        if not context_types and not list_types:
            list_types = {"s": "int64"}
        context = {
            n: self.random.choice((fixed([2], t), var_len(t), ragged(t))) for n, t in context_types.items()
        }
        lists = {
            n: self.random.choice((sequence([2], t), sequence([2], t, missing=False), var_len(t), ragged(t)))
            for n, t in list_types.items()
        }
        records = []
        for _ in range(self.random.choice((1, 2, 7))):
            features = {n: self.feature(t, 2) for n, t in context_types.items() if not self.slip()}
            steps = {}
            for n, t in list_types.items():
                is_fixed = lists[n]["class"] == "FixedLenSequenceFeature"
                if not self.slip():
                    steps[n] = [
                        self.feature(t, 2 if is_fixed else self.random.randrange(4))
                        for _ in range(self.random.randrange(5))
                    ]
            records.append(sequence_example(features, steps))
        return Case("sequences", context, records, sequence_features=lists)


def partition_values(kind: str, lengths: list[int]) -> list[int]:
    splits = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    return {
        "RowLengths": lengths,
        "RowSplits": splits,
        "RowStarts": splits[:-1],
        "RowLimits": splits[1:],
        "ValueRowIds": [row for row, length in enumerate(lengths) for _ in range(length)],
    }[kind]
