"""The same script, with TensorFlow and with ``tfreel.tf``, answers the same."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("script", scripts())
def test_a_script_answers_the_same_with_both_modules(script: Callable[..., Any], tmp_path: Path) -> None:
    expected = run(script, theirs, tmp_path / "theirs")
    found = run(script, ours, tmp_path / "ours")
    assert not list(differences(expected, found, near=hasattr(script, "approximately")))
