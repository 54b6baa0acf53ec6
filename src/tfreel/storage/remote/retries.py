"""Once more, a little later: what to do about a network that is not at its best."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tfreel.storage.remote.stores import TransientError, failed
from tfreel.storage.url import Url

Result = TypeVar("Result")

_ATTEMPTS = 3
_FIRST_PAUSE_SECONDS = 0.1


def patiently(work: Callable[[], Result], url: Url, what: str) -> Result:
    """The result of `work`, tried a few times, with pauses that grow.

    Raises:
        OSError: It failed each time; or at once, where another try would be no use.
    """
    pause = _FIRST_PAUSE_SECONDS
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return work()
        except TransientError as error:
            why = str(error)
        if attempt < _ATTEMPTS:
            time.sleep(pause * random.uniform(0.75, 1.25))  # noqa: S311 - so that many do not come at once
            pause *= 2
    raise failed(url, what, f"{why} ({_ATTEMPTS} attempts)")


def until_interrupted(begin: Callable[[], Awaitable[Result]]) -> Result:
    """The result of what takes long and hears nothing meanwhile. Ctrl-C ends it, wherever it is."""
    import asyncio  # here, because it costs more than all of tfreel
    from concurrent.futures import Future, ThreadPoolExecutor

    begun: Future[Callable[[], object]] = Future()

    async def work() -> Result:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        begun.set_result(lambda: task and loop.call_soon_threadsafe(task.cancel))
        return await begin()

    # In a thread of its own: this one may have a loop already, as in a notebook.
    with ThreadPoolExecutor(1, thread_name_prefix="tfreel-upload") as pool:
        done = pool.submit(lambda: asyncio.run(work()))
        try:
            return done.result()
        except BaseException:
            if not done.done():
                begun.result()()
            raise
