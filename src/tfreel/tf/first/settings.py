"""Settings and initializers of the first generation: here they are names, and change nothing."""

from __future__ import annotations

from typing import Any

from tfreel.tf.graphs.deeds import Action


class Settings:
    """Options for devices, of which there are none here: anything can be set, and nothing comes of it."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Settings()
        self.__dict__[name] = made
        return made


class ConfigProto(Settings):
    """Settings of a session; taken and not looked at."""


class GPUOptions(Settings):
    """Settings of a device; taken and not looked at."""


class RunOptions(Settings):
    """Settings of a run; taken and not looked at."""


class RunMetadata(Settings):
    """What a run would tell about itself; nothing."""


def _nothing(*_: Any) -> None:
    pass


def no_op(name: str | None = None) -> Action:
    """An operation that does nothing."""
    action: Action = Action.to(_nothing)
    return action


def group(*inputs: Any, name: str | None = None) -> Action:
    """An operation that runs others."""
    action: Action = Action.to(_nothing, list(inputs))
    return action


def global_variables_initializer() -> Action:
    """An operation that does nothing: there are no variables."""
    return no_op()


def local_variables_initializer() -> Action:
    """An operation that does nothing: what counts epochs begins by itself."""
    return no_op()


def tables_initializer(name: str | None = None) -> Action:
    """An operation that does nothing: there are no tables."""
    return no_op()
