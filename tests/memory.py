"""How much memory a program took, for programs that tests run in processes of their own."""

from __future__ import annotations

# To be put in front of a program. On Linux not ru_maxrss, which is at least what the process had before it
# became this program: as much as the tests that started it.
PEAK_BYTES = """
import resource, sys

def peak_bytes():
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) << 10
"""
