"""Who does the work: threads of this process, or the workers of a cluster.

Work is a pure function of an item: a value with its configuration in it, and no open file. So it can be done
anywhere, and done again where a worker died. Results come back in the order of the items, whoever made them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from tfreel.threads import Turn, in_order, in_threads

Engine: TypeAlias = Literal["local", "ray"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def is_local(engine: Engine) -> bool:
    """Whether the work is done by threads of this process.

    Raises:
        ValueError: There is no such engine.
    """
    if engine not in ("local", "ray"):
        raise ValueError(f'engine must be "local" or "ray", not {engine!r}')
    return engine == "local"


def refuse_streams(files: Iterable[object], engine: Engine) -> None:
    """Makes sure that a cluster can find what it is to read.

    Raises:
        ValueError: Something is a stream, which only this process has.
    """
    if not is_local(engine) and not all(isinstance(file, str) and file != "-" for file in files):
        raise ValueError(f"engine={engine!r} cannot send a stream to workers: save it to a file first")


def gathered(
    work: Callable[[Item, Turn], Result],
    items: Sequence[Item],
    *,
    engine: Engine,
    threads: int | None = None,
    done: Callable[[Result], object] | None = None,
) -> list[Result]:
    """The results of `work` for each item, in order.

    Args:
        work: What to do. Threads of this process may share the work on an item; a worker of a cluster does it
            alone.
        items: What to do it with.
        engine: Who does it.
        threads: How many do it at the same time.
        done: Told of each result that comes from a cluster: what work tells along the way, nobody hears here.
    """
    if is_local(engine):
        return in_threads(work, items, threads)
    results = []
    for result in streamed(work, items, engine=engine, threads=threads):
        results.append(result)
        if done is not None:
            done(result)
    return results


def streamed(
    work: Callable[[Item, Turn], Result],
    items: Iterable[Item],
    *,
    engine: Engine,
    threads: int | None = None,
    turn: Turn | None = None,
) -> Generator[Result, None, None]:
    """The same, one result after the other: only a few of them wait at any time."""
    if is_local(engine):
        own = turn or Turn()
        return in_order((partial(work, item, own) for item in items), threads, turn=own)
    from tfreel.engines.ray import on_cluster

    return on_cluster(work, items, most=threads)
