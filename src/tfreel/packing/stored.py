"""Listings of records that lie in files already, to be had by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.dataset.example_source import ExampleSource
from tfreel.dataset.group_by import Groups, groups_of
from tfreel.dataset.order import Natural
from tfreel.dataset.rows import Rows
from tfreel.index.access import Records, indexed
from tfreel.inference import infer_features
from tfreel.packing.naming import require_feature
from tfreel.packing.source import Listing, Made
from tfreel.threads import thread_count


class Stored(Listing):
    """Records in files, which are copied as they are."""

    def __init__(self, records: Records) -> None:
        super().__init__()
        self._records = records
        self._own_names: list[str] | None = None

    @property
    def count(self) -> int:
        return len(self._records)

    def sizes(self) -> npt.NDArray[np.int64]:
        return self._records.lengths().astype(np.int64)

    def __getstate__(self) -> dict[str, Any]:
        # What took a reading of all records to know goes along: nobody should have to find it out again.
        if self.count:
            self.class_names(0)
        return {**self.__dict__, "_records": self._records.known()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _records=indexed(*state["_records"]))

    def row(self, index: int) -> dict[str, object]:
        raise NotImplementedError(f"record {index} has been made already")

    def make(self, indices: Sequence[int]) -> Made:
        names = [self.class_names(index) for index in indices] if self.classes else []
        views, order = self._records.views(np.asarray(indices, np.uint64))
        if order is None and len(views) == 1 and isinstance(views[0], _core.Block):
            return Made(views[0], names=names)  # framed and checked already
        return Made(self._records[list(indices)], names=names)

    def groups(self, feature: str) -> Groups:
        """Which record has which value of a feature.

        Raises:
            ValueError: There is no such feature, or not one value of it in each record.
        """
        features = infer_features(self._records.files)
        require_feature(feature, features)
        elements = ExampleSource(self._records, {feature: features[feature]}, {}, thread_count())
        return groups_of(Rows(elements, Natural(self.count)), feature)

    def class_names(self, index: int) -> Sequence[str]:
        if not self.classes or self.label is None:
            return ()
        if self._own_names is None:
            found = self.groups(self.naming.name(self.label))
            names = [self._class_name(value) for value in found.values]
            self._own_names = [names[code] for code in found.codes.tolist()]
        return (self._own_names[index],)

    def _class_name(self, value: bytes) -> str:
        text = value.decode("utf-8", "replace")
        try:
            return self.classes.get(int(text), text)
        except ValueError:  # the names themselves
            return text
