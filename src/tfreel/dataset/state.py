"""States of runs: how they are saved, and what they mean to other ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfreel.dataset.order import Rank, short
from tfreel.dataset.plan import difference, signature
from tfreel.errors import StateError
from tfreel.states import check_seal, require_counts, sealed

if TYPE_CHECKING:
    from tfreel.dataset.node import Node

_FORMAT = "tfreel-dataset"
_VERSION = 2


@dataclass(frozen=True, slots=True)
class Move:
    """From the rank that saved a state to the one that loads it.

    Attributes:
        saver: The rank that saved it, and how many there were.
        loader: The rank that loads it, and how many there are.
    """

    saver: Rank
    loader: Rank

    @property
    def same_world(self) -> bool:
        """Whether there are as many ranks as there were."""
        return self.saver[1] == self.loader[1]


def parts_of(state: Any, default: list[Any]) -> list[Any]:
    """A state of so many parts, or the one to begin with.

    Raises:
        StateError: It has others.
    """
    if state is None:
        return default
    if not isinstance(state, list) or len(state) != len(default):
        raise StateError(f"the state says {short(state)} where {len(default)} parts belong")
    for part, first in zip(state, default, strict=True):
        if first is not None and not _goes_on_from(part, first):
            raise StateError(f"the state says {short(part)} where something like {first!r} belongs")
    return state


def _goes_on_from(part: Any, first: Any) -> bool:
    """Whether a part of a state can be what became of the one to begin with: a count, or a list."""
    if type(part) is not type(first):
        return False
    return not isinstance(part, int) or min(first, 0) <= part < 1 << 63


def resolve_state(state: Any) -> Any:
    """The state without functions."""
    if callable(state):
        return resolve_state(state())
    if isinstance(state, list):
        return [resolve_state(item) for item in state]
    if isinstance(state, dict):
        return {key: resolve_state(value) for key, value in state.items()}
    return state


def saved(node: Node, epoch: int, state: Any) -> dict[str, Any]:
    """The state of a run through a plan, as it is kept."""
    ranks = [list(rank) for rank in _distinct(node.shards)]
    plan = signature(node.stages())
    return sealed(
        {"format": _FORMAT, "version": _VERSION, "plan": plan, "ranks": ranks, "epoch": epoch, "state": state}
    )


def restored(node: Node, state: dict[str, Any]) -> tuple[int, Any]:
    """The epoch that was saved, and the state, as the rank has it whose part the plan is.

    Raises:
        StateError: They are damaged, or of another plan or other data; or the ranks are others, and a stage
            forbids that.
    """
    check_seal(state, form=_FORMAT, version=_VERSION, owner="dataset")
    require_counts(state, "epoch")
    other = difference(state.get("plan"), signature(node.stages()))
    if other is not None:
        raise StateError(other)
    inner = state.get("state")
    savers, loaders = _ranks_in(state.get("ranks")), _distinct(node.shards)
    if savers != loaders and inner is not None:
        inner = node.moved(inner, _move(savers, loaders))
    return state["epoch"], inner


def _distinct(ranks: tuple[Rank, ...]) -> list[Rank]:
    return list(dict.fromkeys(ranks))


def _ranks_in(ranks: Any) -> list[Rank]:
    """The ranks that a state names.

    Raises:
        StateError: They are none.
    """
    if not isinstance(ranks, list):
        raise StateError(f"the state says {short(ranks)} where ranks belong")
    found: list[Rank] = []
    for rank in ranks:
        index, count = parts_of(rank, [0, 0])
        if not index < count < 1 << 31:
            raise StateError(f"the state says {short(rank)} where a rank and their number belong")
        found.append((index, count))
    return found


def _move(savers: list[Rank], loaders: list[Rank]) -> Move:
    """From one rank to another.

    Raises:
        StateError: Several shards lie in each other.
    """
    if len(savers) != 1 or len(loaders) != 1:
        was, now = (
            " and ".join(f"{i} of {n}" for i, n in ranks) or "no shard" for ranks in (savers, loaders)
        )
        raise StateError(
            f"the state was saved by shard {was}, and this is {now}: with several shard() in a plan a state"
            " is good only for the ranks that saved it"
        )
    return Move(savers[0], loaders[0])
