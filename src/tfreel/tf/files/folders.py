"""What can be done with files and folders as a whole: asked for, listed, made, moved and removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfreel.tf.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
)
from tfreel.tf.files.matching import matched
from tfreel.tf.files.paths import local, telling


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """What is known of a file.

    Attributes:
        length: Its bytes.
        mtime_nsec: When it was last written to, in nanoseconds; whole seconds, as in TensorFlow.
        is_directory: Whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(local(path))


def isdir(path: Any) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(local(path))


def listdir(path: Any) -> list[str]:
    """The names in a folder.

    Raises:
        NotFoundError: There is no such folder.
    """
    name = local(path)
    if not os.path.isdir(name):
        raise NotFoundError(f"Could not find directory {name}", path=name)
    with telling(name):
        return os.listdir(name)


def glob(pattern: Any) -> list[str]:
    """The files and folders that a pattern, or some, mean."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else list(pattern)
    return [path for each in patterns for path in matched(each)]


def mkdir(path: Any) -> None:
    """Makes a folder, unless it is there.

    Raises:
        NotFoundError: There is no folder to make it in.
    """
    name = local(path)
    if os.path.isdir(name):
        return
    with telling(name):
        os.mkdir(name)


def makedirs(path: Any) -> None:
    """Makes a folder, and those around it, unless they are there.

    Raises:
        FailedPreconditionError: One of them is a file.
    """
    name = local(path)
    try:
        with telling(name):
            os.makedirs(name, exist_ok=True)
    except AlreadyExistsError as error:
        raise FailedPreconditionError(f"{name} is not a directory", path=name) from error


def remove(path: Any) -> None:
    """Removes a file."""
    name = local(path)
    with telling(name):
        os.remove(name)


def rmtree(path: Any) -> None:
    """Removes a folder and all that is in it; also a file."""
    name = local(path)
    if not os.path.lexists(name):
        raise NotFoundError(f"{name} not found", path=name)
    with telling(name):
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name)
        else:
            os.remove(name)


def _check_free(name: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(name):
        raise AlreadyExistsError(f"{name}: file already exists; overwrite=True replaces it", path=name)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file.

    Raises:
        AlreadyExistsError: The target is there and is not to be overwritten.
    """
    source, target = local(src), local(dst)
    _check_free(target, overwrite)
    if os.path.isdir(source):
        raise InvalidArgumentError(f"{source} is a directory, of which no copy can be made", path=source)
    if os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target):
        return  # nothing to do; TensorFlow would empty the file
    with telling(target if os.path.exists(source) else source):
        shutil.copyfile(source, target)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Gives a file or folder another name.

    Raises:
        AlreadyExistsError: The target is there and is not to be overwritten.
    """
    source, target = local(src), local(dst)
    _check_free(target, overwrite)
    with telling(source):
        os.replace(source, target)


def stat(path: Any) -> FileStatistics:
    """What is known of a file."""
    name = local(path)
    with telling(name):
        found = os.stat(name)
    seconds = found.st_mtime_ns // 1_000_000_000
    return FileStatistics(found.st_size, seconds * 1_000_000_000, os.path.isdir(name))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder and all within it: for each, its path, the names of its folders and those of its files."""
    folder = local(top)
    try:
        names = listdir(folder)
    except OpError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name in names if os.path.isdir(os.path.join(folder, name))]
    here = folder, folders, [name for name in names if name not in set(folders)]
    if topdown:
        yield here
    for name in here[1]:
        yield from walk(os.path.join(folder, name), topdown, onerror)
    if not topdown:
        yield here


def join(path: Any, *paths: Any) -> Any:
    """The parts of a path joined."""
    return os.path.join(os.fspath(path), *map(os.fspath, paths))
