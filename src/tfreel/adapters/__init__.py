"""Data in the hands of others: `torch`, `jax`, `keras`, `grain`, `polars`, `duckdb`, `huggingface`.

A module for each. Nothing is imported here: ``from tfreel.adapters import torch``, or to say
``tfreel.adapters.torch`` in a program, brings PyTorch in, and nothing else does.
"""

import typing as _typing

# They are not listed by ``dir()``: who looks at all that is listed there would need every framework.
_ROOMS = ("duckdb", "grain", "huggingface", "jax", "keras", "polars", "ray", "spark", "torch")


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
