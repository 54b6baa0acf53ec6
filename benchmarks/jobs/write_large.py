"""Large records written to a new file, against handing the system the same bytes ready-made."""

from __future__ import annotations

import os
from functools import partial

from bench import Bench
from harness import Outcome, compare

from jobs.write import Task, tensorflow_entries, write_each, write_many, writing
from tfreel import _core

NAME = "write-large"
TITLE = "5. Write images (about 70 KB)"

_OURS = ("tfreel write", "tfreel write_many")
_PLAIN = ("open().write of each framed record", "open().write of the whole file")


def run(bench: Bench) -> Outcome:
    """Against plain writes of bytes that were framed beforehand: record by record, as a writer gets them.

    One write of the whole file, ready in memory, is shown beside it: nobody who has records can do that.
    """
    task = Task(os.path.join(bench.data.folder, "written.tfrecord"), bench.data.records("images"))
    framed = [_core.frame(record) for record in task.records]
    entries = [
        writing(_OURS[0], write_each),
        writing(_OURS[1], write_many),
        writing(_PLAIN[0], partial(_write_plain, pieces=framed)),
        writing(_PLAIN[1], partial(_write_plain, pieces=[b"".join(framed)])),
        *tensorflow_entries(),
    ]
    work = sum(map(len, framed))
    limit = ("page cache, writing", work)
    race = bench.race("all images", entries, task, work=work, unit="B", limit=limit)
    share = "speed of {fast}, as a share of {slow}"
    lines = [compare(race, _PLAIN[0], ours, share, limit=80, unit="%") for ours in _OURS]
    lines += [compare(race, _PLAIN[1], ours, share, unit="%") for ours in _OURS]
    lines += [compare(race, "TensorFlow", ours, "{fast} against {slow}") for ours in _OURS]
    return Outcome(NAME, TITLE, [race], lines, ["The plain writes compute no checksums and frame nothing."])


def _write_plain(task: Task, *, pieces: list[bytes]) -> None:
    with open(task.path, "wb") as file:
        for piece in pieces:
            file.write(piece)
