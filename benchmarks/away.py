"""Peers run away from home: each in a process of its own environment, which makes its entries and times them.

    *entries("tensorflow", _tensorflow, "tabular")

calls `_tensorflow("tabular")` over there. What comes back are entries that the harness can run in turn with
its own; the seconds are those of the clock over there, so that the way to it and back costs nothing.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import environments
from harness import Entry

missing: dict[str, str] = {}
_facts: dict[str, Any] = {}

_HERE = os.path.dirname(os.path.abspath(__file__))
_MODULES = {"tfx-bsl": "tfx_bsl", "google-crc32c": "google_crc32c"}


class PeerError(Exception):
    """Something went wrong in a worker."""


class Away:
    """The process of a worker, and the line to it."""

    def __init__(self, python: str) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [python, os.path.join(_HERE, "worker.py"), str(theirs.fileno())]
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], env=environment, stderr=subprocess.DEVNULL
            )
        self._line = Connection(ours.detach())
        self._course: Any = None

    def ask(self, verb: str, *arguments: Any) -> Any:
        """The answer of the worker to one of its verbs."""
        try:
            self._line.send((verb, arguments))
            good, answer = self._line.recv()
        except (EOFError, OSError):
            raise PeerError(f"the worker died, exit code {self._process.wait(10)}") from None
        if not good:
            kind, words = answer
            not_there = kind in ("ImportError", "ModuleNotFoundError")
            raise ImportError(words) if not_there else PeerError(f"{kind}: {words}")
        return answer

    def entries(self, make: Callable[..., list[Entry]], *arguments: Any) -> list[Entry]:
        """The entries that the worker makes, to be run here."""
        return [
            Entry(name, _not_here, team, proof=partial(self._prove, number), away=partial(self._run, number))
            for number, name, team in self.ask("make", make, arguments)
        ]

    def _prove(self, number: int, course: Any) -> Any:
        self._go_to(course)
        return self.ask("prove", number)

    def _run(self, number: int, course: Any) -> tuple[float, Any]:
        self._go_to(course)
        return self.ask("run", number)

    def _go_to(self, course: Any) -> None:
        if course is not self._course:
            self.ask("course", course)
            self._course = course

    def close(self) -> None:
        """Ends the process."""
        self._line.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _not_here(course: Any) -> Any:
    raise NotImplementedError("it runs in a worker")


def interpreter(peer: str) -> str | None:
    """Where a peer is installed: in an environment of its own, or beside tfreel. Else it is missing."""
    python = environments.python(peer)
    if python is None and environments.failure(peer) is None and find_spec(_MODULES.get(peer, peer)):
        python = sys.executable
    if python is None:
        _miss(peer, environments.failure(peer) or "not installed; `make bench` does it")
    return python


@cache
def worker(peer: str) -> Away | None:
    """The process of a peer, which stays for the whole run; None if the peer is missing."""
    python = interpreter(peer)
    if python is None:
        return None
    found = Away(python)
    atexit.register(found.close)
    try:
        _facts[peer] = found.ask("facts")
    except PeerError as error:
        _miss(peer, f"its environment is broken: {error}")
        return None
    return found


def entries(peer: str, make: Callable[..., list[Entry]], *arguments: Any) -> list[Entry]:
    """What `make(*arguments)` gives in the environment of a peer; nothing, and a note, if it is missing."""
    found = worker(peer)
    try:
        return [] if found is None else found.entries(make, *arguments)
    except ImportError as error:
        _miss(peer, f"does not import: {error}")
        return []


def call(peer: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives in the environment of a peer that is there."""
    found = worker(peer)
    if found is None:
        raise PeerError(f"{peer} is not there")
    return found.ask("call", function, arguments)


def _miss(peer: str, reason: str) -> None:
    if peer not in missing:
        missing[peer] = reason
        print(f"{peer} is left out: {reason}", file=sys.stderr)


def facts() -> dict[str, Any]:
    """What is installed where the peers were run, those that share tfreel's environment left out."""
    return {peer: found for peer, found in _facts.items() if environments.python(peer) is not None}
