"""Names of files as the browser may see them: never more of a path than tells the files apart."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tfreel.errors import TfreelError
from tfreel.storage.paths import display


def short_names(files: Sequence[str]) -> list[str]:
    """The names of files below the folder that they have in common."""
    whole = [os.path.abspath(file) for file in files]
    root = os.path.commonpath([os.path.dirname(path) for path in whole]) if whole else ""
    return [display(os.path.relpath(path, root)) for path in whole]


def words_of(error: BaseException, files: Sequence[str], names: Sequence[str]) -> str:
    """What an error says, with short names in place of paths."""
    if isinstance(error, TfreelError):
        text = str(error)
        path = error.path
        if path:
            name = dict(zip(files, names, strict=True)).get(path, display(os.path.basename(path)))
            text = text.replace(display(path), name).replace(path, name)
        return text
    if isinstance(error, OSError):
        name = display(os.path.basename(os.fsdecode(error.filename))) if error.filename else "a file"
        return f"{name}: {error.strerror or 'cannot be read'}"
    return "something went wrong here that should not; the terminal of tfreel view says what"
