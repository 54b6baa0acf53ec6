"""A network file system can lose the handle of an open file: it is opened anew, once, if it is the same."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from corpus import write_file

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = [b"%06d" % i * 20 for i in range(4000)]

# From byte 100,000 on, `pread` of the descriptors that were open when it first failed fails with ESTALE.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
static int left = -1;
ssize_t pread(int descriptor, void* out, size_t size, off_t offset) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  if (left < 0) left = atoi(getenv("FAIL_TIMES"));
  if (offset >= 100000 && left > 0) {
    --left;
    errno = ESTALE;
    return -1;
  }
  return real(descriptor, out, size, offset);
}
ssize_t pread64(int descriptor, void* out, size_t size, off_t offset) {
  return pread(descriptor, out, size, offset);
}
"""

PROGRAM = """
import errno, sys, tfreel
reader = tfreel.read(sys.argv[1])
try:
    print(sum(1 for _ in reader))
except OSError as error:
    print(errno.errorcode[error.errno], error.filename)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "the tests need a C compiler, as the build does"
    directory = tmp_path_factory.mktemp("shim")
    (directory / "stale.c").write_text(SHIM)
    command = [compiler, "-shared", "-fPIC", "-o", directory / "stale.so", directory / "stale.c", "-ldl"]
    subprocess.run(command, check=True)
    return directory / "stale.so"


def count(path: Path, shim: Path, times: int) -> str:
    environment = {**os.environ, "LD_PRELOAD": os.fspath(shim), "FAIL_TIMES": str(times)}
    command = [sys.executable, "-c", PROGRAM, os.fspath(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


def test_a_lost_handle_is_opened_anew_and_no_record_is_lost_or_repeated(tmp_path: Path, shim: Path) -> None:
    assert count(write_file(tmp_path / "a", RECORDS), shim, 1) == "4000"


def test_a_handle_that_stays_lost_is_an_oserror_with_the_path(tmp_path: Path, shim: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    assert count(path, shim, 1000) == f"{errno.errorcode[errno.ESTALE]} {path}"
