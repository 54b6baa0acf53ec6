"""The functions of `folders` under the names, and with the names of arguments, of the first generation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfreel.tf.files import folders


def Exists(filename: Any) -> bool:  # noqa: N802
    """Whether there is such a file or folder."""
    return folders.exists(filename)


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    """Whether there is such a folder."""
    return folders.isdir(dirname)


def ListDirectory(dirname: Any) -> list[str]:  # noqa: N802
    """The names in a folder."""
    return folders.listdir(dirname)


def Glob(filename: Any) -> list[str]:  # noqa: N802
    """The files and folders that a pattern, or some, mean."""
    return folders.glob(filename)


def MkDir(dirname: Any) -> None:  # noqa: N802
    """Makes a folder, unless it is there."""
    folders.mkdir(dirname)


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    """Makes a folder, and those around it, unless they are there."""
    folders.makedirs(dirname)


def Remove(filename: Any) -> None:  # noqa: N802
    """Removes a file."""
    folders.remove(filename)


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    """Removes a folder and all that is in it."""
    folders.rmtree(dirname)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Copies a file."""
    folders.copy(oldpath, newpath, overwrite)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Gives a file or folder another name."""
    folders.rename(oldname, newname, overwrite)


def Stat(filename: Any) -> folders.FileStatistics:  # noqa: N802
    """What is known of a file."""
    return folders.stat(filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:  # noqa: N802
    """A folder and all within it."""
    return folders.walk(top, in_order)
