"""`tf.data.Options`: taken, kept, and without effect."""

from __future__ import annotations

from typing import Any


class _Settings:
    """A place where code can leave settings."""

    def __init__(self) -> None:
        self.__dict__["_set"] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found: dict[str, Any] = self.__dict__["_set"]
        return found.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_set"][name] = value


class ThreadingOptions(_Settings):
    """How many threads TensorFlow should use. tfreel uses all, or as many as TFREEL_NUM_THREADS says."""


class AutoShardOptions(_Settings):
    """How TensorFlow should deal the data among machines."""


class Options(_Settings):
    """What TensorFlow should do about order, threads and distribution. tfreel always keeps the order."""

    def __init__(self) -> None:
        super().__init__()
        self.threading = ThreadingOptions()
        self.autotune = _Settings()
        self.experimental_optimization = _Settings()
        self.experimental_distribute = AutoShardOptions()

    def merge(self, options: Options) -> Options:
        """The settings of both."""
        made = Options()
        made.__dict__["_set"].update(self.__dict__["_set"] | options.__dict__["_set"])
        return made
