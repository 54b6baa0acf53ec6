"""`tf.data.Options`: taken, kept, and without effect. A name that TensorFlow has not is a mistake."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, Self


class AutoShardPolicy(IntEnum):
    """How TensorFlow should deal the data among machines."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class _Settings:
    """A place where code can leave settings, each with a value before that."""

    _defaults: ClassVar[dict[str, Any]] = {}
    _older_names: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        made = {name: each() if isinstance(each, type) else each for name, each in self._defaults.items()}
        self.__dict__["_set"] = made

    def __getattr__(self, name: str) -> Any:
        known = self._older_names.get(name, name)
        if known not in self._defaults:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__["_set"][known]

    def __setattr__(self, name: str, value: Any) -> None:
        known = self._older_names.get(name, name)
        if known not in self._defaults:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        self.__dict__["_set"][known] = value

    def merge(self, options: Self) -> Self:
        """The settings of both."""
        made = type(self)()
        for name in self._defaults:
            ours, theirs = getattr(self, name), getattr(options, name)
            if isinstance(ours, _Settings):
                setattr(made, name, ours.merge(theirs))
            else:
                setattr(made, name, ours if theirs == getattr(made, name) else theirs)
        return made


class AutotuneOptions(_Settings):
    """What TensorFlow should tune by itself."""

    _defaults = dict.fromkeys(
        (
            *("enabled", "cpu_budget", "ram_budget", "autotune_algorithm"),
            *("initial_parallelism", "min_parallelism"),
        )
    )


class DistributeOptions(_Settings):
    """How TensorFlow should deal the data among machines."""

    _defaults: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy.AUTO, "num_devices": None}


class OptimizationOptions(_Settings):
    """What TensorFlow should put together or leave out."""

    _defaults = dict.fromkeys(
        (
            *("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch"),
            *("map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization"),
            *("noop_elimination", "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion"),
        )
    )


class ServiceOptions(_Settings):
    """What TensorFlow's service should do."""

    _defaults: ClassVar[dict[str, Any]] = {"pinned": None}


class ThreadingOptions(_Settings):
    """How many threads TensorFlow should use. tfreel uses all, or as many as TFREEL_NUM_THREADS says."""

    _defaults = dict.fromkeys(("max_intra_op_parallelism", "private_threadpool_size"))


class Options(_Settings):
    """What TensorFlow should do about order, threads and distribution. tfreel always keeps the order."""

    _defaults: ClassVar[dict[str, Any]] = {
        "autotune": AutotuneOptions,
        "dataset_name": None,
        "deterministic": None,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": None,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_slack": None,
        "experimental_symbolic_checkpoint": None,
        "experimental_warm_start": None,
        "framework_type": None,
        "threading": ThreadingOptions,
    }
    _older_names: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }
