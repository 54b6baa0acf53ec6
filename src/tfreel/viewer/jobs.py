"""Work that takes a while: begun once, asked after, given up when nobody wants it any more."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tfreel.threads import Abandoned, Turn

_MOST_RUNNING = 3
_MOST_KEPT = 24


class Job:
    """A piece of work in a thread of its own.

    Attributes:
        id: What to ask for it by.
        done: It has ended, well or not.
        failure: Why it ended badly.
        records: How many records it has looked at.
        nbytes: How many bytes.
    """

    def __init__(self, job_id: str) -> None:
        self.id = job_id
        self.done = False
        self.failure: BaseException | None = None
        self.cancelled = False
        self.records = 0
        self.nbytes = 0
        self.turn = Turn()
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def work(self) -> None:
        """Does it. Calls ``self.turn()`` now and then, which ends it when it was cancelled."""
        raise NotImplementedError

    def progress(self, records: int, nbytes: int) -> None:
        """Takes note of more work done. Any thread may call."""
        with self._lock:
            self.records += records
            self.nbytes += nbytes

    def start(self) -> None:
        """Begins. The thread does not keep the process alive."""
        threading.Thread(target=self._run, name=f"tfreel-view-{self.id}", daemon=True).start()

    def _run(self) -> None:
        try:
            self.work()
        except Abandoned:
            self.cancelled = True
        except BaseException as error:  # noqa: BLE001 - whoever asks after the job is told
            self.failure = error
        finally:
            self.done = True
            self._ended.set()

    def cancel(self) -> None:
        """Has it end soon."""
        self.turn.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for the end. Whether it came."""
        return self._ended.wait(seconds)


AnyJob = TypeVar("AnyJob", bound=Job)


class Jobs(Generic[AnyJob]):
    """The jobs of one kind: those that run, and the last ones that ended."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, AnyJob] = OrderedDict()
        self._lock = threading.Lock()

    def begun(self, job_id: str, make: Callable[[], AnyJob]) -> AnyJob:
        """The job of that name, begun now if there is none, or if it was cancelled."""
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or job.cancelled:
                job = self._jobs[job_id] = make()
                self._make_room()
                job.start()
            self._jobs.move_to_end(job_id)
            return job

    def get(self, job_id: str) -> AnyJob:
        """The job of that name.

        Raises:
            KeyError: There is none.
        """
        with self._lock:
            job = self._jobs[job_id]
            self._jobs.move_to_end(job_id)
            return job

    def cancel_all(self) -> None:
        """Ends all of them."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel()

    def _make_room(self) -> None:
        """Ends the ones that were asked after longest ago, and forgets old ones."""
        running = [job for job in self._jobs.values() if not job.done]
        for job in running[:-_MOST_RUNNING]:
            job.cancel()
        while len(self._jobs) > _MOST_KEPT:
            self._jobs.popitem(last=False)[1].cancel()


def state_of(job: Job, total: int) -> dict[str, Any]:
    """How far a job is."""
    return {
        "id": job.id,
        "done": job.done,
        "cancelled": job.cancelled,
        "scanned": min(job.records, total),
        "records": total,
    }
