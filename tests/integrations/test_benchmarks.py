"""The benchmarks run, job by job, on tiny data, with TensorFlow and what other peers are installed here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

# Those with clusters and servers of their own, which take a minute to start; other tests know these.
SLOW = {"remote", "ray", "spark"}


def test_every_job_runs_and_finds_equal_results(tmp_path: Path) -> None:
    listed = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/run.py"), "--only", "?"],
        capture_output=True,
        text=True,
        check=False,
    )
    jobs = re.findall(r"[\w-]+", listed.stderr.partition("there are")[2])
    assert len(jobs) >= 20
    wanted = ",".join(job for job in jobs if job not in SLOW)
    command = [sys.executable, str(ROOT / "benchmarks/run.py"), "--check", "--only", wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n## ") + done.stdout.startswith("## ") == len(jobs) - len(SLOW)
    assert "This was a check of the harness" in done.stdout
    # Equal results are asserted by the harness; that TensorFlow was there to be equal, here.
    for race in ("each record", "whole file", "all records", "an epoch of 20 single numbers", "equal pixels"):
        table = done.stdout.partition(f"| {race}")[2].partition("\n\n")[0]
        assert re.search(r"\| (tf_record_iterator|tf\.io|TensorFlow|shuffle, batch|batch\()", table), race
