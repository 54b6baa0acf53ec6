"""The elements of a dataset without those that came before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfreel.tf.data.chunks import UNKNOWN, Fault, Item, Stage


class Unique:
    """The elements that did not come before. All that came are remembered."""

    def __init__(self, source: Stage) -> None:
        self._source = source
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        seen: set[Any] = set()
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            new = []
            for i in range(item.count):
                key = tuple(_key(value) for value in item.values(i))
                if key not in seen:
                    seen.add(key)
                    new.append(i)
            if new:
                yield item.take(np.array(new))

    def cardinality(self) -> int:
        return UNKNOWN


def _key(value: Any) -> Any:
    if value.dtype == object:
        return value.shape, tuple(value.reshape(-1).tolist())
    return value.shape, value.tobytes()
