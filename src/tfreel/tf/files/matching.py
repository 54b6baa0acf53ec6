"""Which files a pattern means, by TensorFlow's rules: no braces, no descent by ``**``, hidden files too."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import Any

from tfreel.tf.files.paths import local

_WILD = re.compile(r"[*?\[]")


def matched(pattern: Any) -> list[str]:
    """The files and folders that a pattern means, sorted.

    A pattern that begins with a wildcard gives paths that begin with ``./``, as in TensorFlow.
    """
    pattern = local(pattern)
    wild = _WILD.search(pattern)
    if wild is None:
        return [pattern] if pattern and os.path.exists(pattern) else []
    slash = pattern.rfind("/", 0, wild.start())
    folder = pattern[:slash] or "/" if slash >= 0 else "."
    found = [folder]
    for part in pattern[slash + 1 :].split("/"):
        test = re.compile(fnmatch.translate(part.replace("[^", "[!")))
        found = [os.path.join(each, name) for each in found for name in _names(each) if test.match(name)]
    return sorted(found)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a file, or a folder that may not be read: nothing in it is meant
        return []
