"""Who is at work in a folder of a store, where nobody can hold a lock: an object for each job."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass

from tfreel.storage.places import exists, listed, remove
from tfreel.storage.publish import write_atomically
from tfreel.storage.remote.stores import store_of
from tfreel.storage.url import Url

_ABANDONED_SECONDS = 7 * 24 * 3600  # nobody can tell a job that died from one that takes its time


@dataclass(frozen=True, slots=True)
class Mark:
    """The object that says that a job is at work.

    Attributes:
        place: The folder of all such objects.
        key: What tells this job from all others.
    """

    place: Url
    key: str

    @property
    def _url(self) -> Url:
        return self.place.within(self.key)

    def put(self) -> None:
        """The job begins."""
        write_atomically(self._url, b"")

    def is_there(self) -> bool:
        """Whether the job goes on."""
        return exists(self._url)

    def clear(self) -> None:
        """The job is over."""
        take_away(self._url)

    def others(self) -> set[str]:
        """The keys of other jobs that may still be at work. Marks of older ones are removed.

        Times are those of the store: clocks of drivers do not matter.
        """
        oldest = store_of(self._url).head(self._url).mtime_ns - _ABANDONED_SECONDS * 10**9
        found = set()
        for name in listed(self.place):
            other = Mark(self.place, name)
            if name == self.key or not _is_key(name):
                continue
            with suppress(FileNotFoundError):
                if store_of(other._url).head(other._url).mtime_ns >= oldest:
                    found.add(name)
                else:
                    other.clear()
        return found


def new_key() -> str:
    """What no other job has."""
    return uuid.uuid4().hex[:16]


def _is_key(name: str) -> bool:
    return len(name) == 16 and all(c in "0123456789abcdef" for c in name)


def take_away(path: Url) -> None:
    """Takes an object away, if it is there."""
    with suppress(FileNotFoundError):
        remove(path)
