"""Data sets of Hugging Face's `datasets`: objects, or folders that `save_to_disk` wrote.

They are read as Arrow tables, so that nothing is decoded on the way: pictures and sound keep their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tfreel.packing.formats.arrow_rows import Rows, Table
from tfreel.packing.layout import check_split_name
from tfreel.packing.pictures.picture import PictureOptions, Pictures
from tfreel.packing.source import Made, Stream, digest
from tfreel.packing.tree import Directory, Tree

_TYPES = frozenset({"Dataset", "DatasetDict", "IterableDataset", "IterableDatasetDict"})
_AT_ONCE = 256
_SAVED = ("dataset_dict.json", "state.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(PictureOptions):
    """What can be said about a data set of `datasets`.

    Attributes:
        label: The column that holds the class; by default the first one that is a ClassLabel.
    """

    label: str | None = None


def recognised(thing: Any) -> bool:
    """Whether this is an object of `datasets`, told without importing it; or a folder that it saved."""
    if isinstance(thing, Tree):
        return isinstance(thing, Directory) and any(name in thing for name in _SAVED)
    kinds = type(thing).__mro__
    return any(kind.__module__.partition(".")[0] == "datasets" and kind.__name__ in _TYPES for kind in kinds)


def opened(thing: Any, options: Options) -> HuggingFace:
    """All rows of all splits.

    Raises:
        TypeError: It is no such object.
        ImportError: A folder can only be read by the package, which is not installed.
    """
    if isinstance(thing, Tree):
        thing = _loaded(thing.path)
    if not recognised(thing):
        raise TypeError(f"a Dataset or DatasetDict of the package datasets is needed, not {type(thing)!r}")
    return HuggingFace(thing, options)


def _loaded(path: str) -> Any:
    try:
        from datasets import load_from_disk
    except ImportError as error:
        raise ImportError(
            f"folders that save_to_disk wrote are read by datasets: pip install datasets ({error})"
        ) from None
    return load_from_disk(path)


class HuggingFace(Stream):
    """The rows of one data set, or of one for each split."""

    kind = "huggingface"

    def __init__(self, found: Any, options: Options) -> None:
        super().__init__()
        self._parts: dict[str | None, Any] = _parts(found)
        features: Mapping[str, Any] = next(iter(self._parts.values())).features or {}
        names = {name: type(feature).__name__ for name, feature in features.items()}
        label = options.label or next((name for name, kind in names.items() if kind == "ClassLabel"), None)
        if label is not None and features and label not in features:
            raise ValueError(f"no column is called {label!r}; there are {', '.join(map(repr, features))}")
        self.classes = dict(enumerate(getattr(features.get(label or ""), "names", None) or ()))
        self._rows = Rows(
            pictures=[name for name, kind in names.items() if kind == "Image"],
            files=[name for name, kind in names.items() if kind in ("Audio", "Video")],
            label=label,
            classes=self.classes,
            reader=Pictures(options),
        )
        self.label = self._rows.label_feature

    def chunks(self) -> Iterator[Callable[[], Made]]:
        for split, part in self._parts.items():
            begin = 0
            for table in part.with_format("arrow").iter(batch_size=_AT_ONCE):
                yield partial(self._made, table, split, begin)
                begin += len(table)

    def _made(self, table: Table, split: str | None, begin: int) -> Made:
        made = self._rows.made(table, self.naming, f"{split or 'row'}[{{}}]", begin)
        made.split = split
        return made

    def identity(self) -> str | None:
        prints: Sequence[Any] = [getattr(part, "_fingerprint", None) for part in self._parts.values()]
        return None if None in prints else digest(*prints)


def _parts(found: Any) -> dict[str | None, Any]:
    if isinstance(found, Mapping):
        for name in found:
            check_split_name(str(name))
        if not found:
            raise ValueError("the DatasetDict has no splits")
        return {str(name): part for name, part in found.items()}
    split = None if found.split is None else str(found.split)
    # What was cut together, as in "train+test[:10%]", is no split of its own.
    return {split if split is not None and split.isidentifier() else None: found}
