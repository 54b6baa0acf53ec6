"""Programs that run at the same time, as the ranks of a job do."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from typing import Any


def told_by_ranks(program: str, *arguments: object, world: int, seconds: float = 100) -> list[Any]:
    """Runs a program for each rank, with its rank and the world as last arguments.

    Returns:
        What each printed in its last line, as JSON.
    """
    with ExitStack() as stack:
        processes = []
        for rank in range(world):
            command = [sys.executable, program, *map(str, arguments), str(rank), str(world)]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            processes.append(process)
        return [json.loads(each.communicate(timeout=seconds)[0].splitlines()[-1]) for each in processes]
