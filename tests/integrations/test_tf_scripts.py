"""The same script, with TensorFlow and with ``tfreel.tf``, answers the same."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as theirs  # noqa: ICN001 - both are called tf in the scripts

from tfreel import tf as ours

import integrations.scripts
from integrations.scripts.results import differences, plain


def scripts() -> Iterator[Any]:
    """All functions of the package that take a module and a folder."""
    for module in pkgutil.iter_modules(integrations.scripts.__path__, "integrations.scripts."):
        for name, function in vars(importlib.import_module(module.name)).items():
            if not inspect.isfunction(function) or function.__module__ != module.name:
                continue
            if list(inspect.signature(function).parameters) in (["tf", "folder"], ["v1", "folder"]):
                theme = module.name.rpartition(".")[2]
                yield pytest.param(function, id=f"{theme}-{name}")


def run(script: Callable[..., Any], tf: Any, folder: Path) -> Any:
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        stack.callback(tf.random.set_seed, None)
        tf.random.set_seed(None)
        if "tf" in inspect.signature(script).parameters:
            return plain(tf, script(tf, folder))
        stack.enter_context(tf.Graph().as_default())
        return plain(tf, script(tf.compat.v1, folder))


@pytest.mark.filterwarnings("ignore::tfreel.TfreelWarning")  # it tells of what TensorFlow does silently
@pytest.mark.parametrize("script", list(scripts()))
def test_a_script_answers_the_same_with_both_modules(script: Callable[..., Any], tmp_path: Path) -> None:
    expected = run(script, theirs, tmp_path / "theirs")
    found = run(script, ours, tmp_path / "ours")
    assert not list(differences(expected, found, near=hasattr(script, "approximately")))


def test_every_kind_of_difference_is_found() -> None:
    pairs: list[tuple[Any, Any]] = [
        (1, 2),
        (1, 1.0),
        ([1], (1,)),
        ([1], [1, 1]),
        ({"a": 1}, {"b": 1}),
        (b"a", b"a\0"),
        (None, 0),
        (np.float32(0.0), np.float32(-0.0)),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([b"a"], object), np.array([b"b"], object)),
        (("tensor", "int32", (), np.int32(1)), ("tensor", "int64", (), np.int64(1))),
    ]
    for expected, found in pairs:
        assert list(differences(expected, found, near=False))
        assert not list(differences(expected, expected, near=False))
    nearly = np.float32([1, np.nan]), np.float32([1.000001, np.nan])
    assert list(differences(*nearly, near=False))
    assert not list(differences(*nearly, near=True))
