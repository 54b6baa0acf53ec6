"""Finds the picture that an annotation speaks of, by a name that somebody wrote on another machine."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.source import RejectError
from tfreel.packing.tree import Tree, confined
from tfreel.storage.paths import display


class Lookup:
    """The pictures of a tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._by_name: dict[str, list[str]] = {}
        for name in tree.names(suffix=SUFFIXES):
            self._by_name.setdefault(posixpath.basename(name), []).append(name)

    def find(self, wanted: str, folders: Iterable[str]) -> str:
        """The picture of this name in the first of these folders that has it, else the only one anywhere.

        Raises:
            UnsafeInputError: The name leads out of the tree.
            RejectError: There is no such picture, or more than one.
        """
        own = confined(wanted)
        for folder in folders:
            name = posixpath.normpath(posixpath.join(folder, own))
            if name in self._tree:
                return name
        return self._only(own)

    def _only(self, wanted: str) -> str:
        candidates: Sequence[str] = self._by_name.get(posixpath.basename(wanted), ())
        found = [name for name in candidates if name.endswith("/" + wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise RejectError(f"{display(wanted)!r} may be {display(found[0])} or {display(found[1])}")
        raise RejectError(f"{display(wanted)!r} is not there")
