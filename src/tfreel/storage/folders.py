"""Folders to write: they appear under their name when they are whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from tfreel.errors import TfreelWarning
from tfreel.storage.paths import display
from tfreel.storage.publish import sync_directory


class NewFolder:
    """A folder that is filled under a temporary name beside its own, and renamed at the end.

    What exists is replaced only if all files in it are known to be ours: anything else would be somebody's
    work. An empty folder is nobody's.

    Args:
        path: The name it will have.
        force: Replace a folder that is there.
        made_by_us: Gives the files of a folder that may be removed; None if it is not ours.

    Raises:
        FileExistsError: There is something of that name, and it may not be replaced.
    """

    def __init__(self, path: str, *, force: bool, made_by_us: Callable[[str], set[str] | None]) -> None:
        self.path = path.rstrip("/") or path
        self._force = force
        self._made_by_us = made_by_us
        self._refuse_existing()
        parent, name = os.path.split(os.path.abspath(self.path))
        os.makedirs(parent, exist_ok=True)
        self._parent = parent
        self._stamp = f"{os.getpid()}-{os.urandom(4).hex()}.tmp"
        self.temporary = os.path.join(parent, f".{name[:80]}.{self._stamp}")
        os.mkdir(self.temporary)
        self._groups: set[str] = set()

    def create(self, name: str) -> BinaryIO:
        """Opens a new file in it.

        Raises:
            FileExistsError: There is one of that name.
        """
        group = os.path.dirname(name)
        if group not in self._groups:
            os.makedirs(os.path.join(self.temporary, group), exist_ok=True)
            self._groups.add(group)
        return open(os.path.join(self.temporary, name), "xb")

    def publish(self) -> None:
        """Gives the folder its name, and removes what had it before."""
        try:
            os.sync()  # many small files: to wait for each of them would take far longer
            self._refuse_existing()  # it may have changed since
            old = None
            if os.path.lexists(self.path):
                old = os.path.join(self._parent, f".old-{self._stamp}")
                os.rename(self.path, old)
            try:
                os.rename(self.temporary, self.path)
            except BaseException:
                if old is not None:
                    os.rename(old, self.path)
                raise
            sync_directory(self._parent)
        except BaseException:
            self.abort()
            raise
        if old is not None:
            try:
                shutil.rmtree(old)
            except OSError as error:  # the new one is there: this is the smaller trouble
                text = f"{display(old)}: what was replaced could not be removed ({error})"
                warnings.warn(text, TfreelWarning, stacklevel=2)

    def abort(self) -> None:
        """Removes what was written."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.temporary)

    def _refuse_existing(self) -> None:
        if not os.path.lexists(self.path):
            return
        if os.path.islink(self.path) or not os.path.isdir(self.path):
            raise FileExistsError(errno.EEXIST, "exists already, and is no folder", display(self.path))
        if not os.listdir(self.path):
            return
        if not self._force:
            raise FileExistsError(errno.EEXIST, "exists already; force=True replaces it", display(self.path))
        stranger = self._stranger()
        if stranger is not None:
            raise FileExistsError(
                errno.EEXIST,
                f"holds files that were not unpacked there, such as {stranger}: it is not replaced",
                display(self.path),
            )

    def _stranger(self) -> str | None:
        """A file in the folder that is not ours."""
        ours = self._made_by_us(self.path) or set()
        for folder, _, files in os.walk(self.path):
            for name in files:
                inside = os.path.relpath(os.path.join(folder, name), self.path)
                if inside not in ours:
                    return display(inside)
        return None
