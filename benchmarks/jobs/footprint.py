"""What a library costs besides time: space on the disk, and memory at its peak."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import away
import peers
from bench import Bench
from data import Shape
from harness import Entry, Line, Outcome
from rows import WANTED

import tfreel

NAME = "footprint"
TITLE = "24. Installed size, and peak memory in a fresh process"

_BATCH = 1024
_BUFFER = 10_000
# Of each peer: what a user would install to read TFRecords, or what stands for them, with it.
_INSTALLS = {
    "tensorflow": ["tensorflow-cpu"],
    "tfrecord": ["tfrecord"],
    "grain": ["grain", "array-record"],
    "tfx-bsl": ["tfx-bsl"],
    "ray": ["ray", "pyarrow", "pandas"],
    "webdataset": ["webdataset"],
}

Maker = Callable[[], list[Entry]]


def run(bench: Bench) -> Outcome:
    """Installed bytes of everything that pip brings along; peaks of an import, a reading and an epoch."""
    outcome = Outcome(NAME, TITLE)
    outcome.lines += _sizes()
    small, images, table = (bench.data.shape(kind) for kind in ("small", "images", "tabular"))
    courses: list[tuple[str, Shape, dict[str, Maker]]] = [
        ("started, with nothing read", small, {"tfreel": _idle, "tensorflow": _tensorflow_idle}),
        (
            f"iterate {small.file_bytes / 2**20:,.0f} MiB of small records",
            small,
            {"tfreel": _iterate, "tensorflow": _tensorflow_iterate},
        ),
        (
            f"iterate {images.file_bytes / 2**20:,.0f} MiB of images",
            images,
            {"tfreel": _iterate, "tensorflow": _tensorflow_iterate, "webdataset": _webdataset_iterate},
        ),
        (
            f"a shuffled epoch of {table.count:,} records with 20 numbers",
            table,
            {"tfreel": _epoch, "tensorflow": _tensorflow_epoch},
        ),
    ]
    for text, shape, makers in courses[-1:] if bench.check else courses:
        for peer, make in makers.items():
            outcome.lines.append(Line(f"peak memory, {text}: {peer}", _peak(peer, make, shape), "MB"))
    outcome.notes = [
        "Sizes are of a library and all that it depends on, without compiled Python files, as pip"
        " installs them into an empty environment. Peaks are of whole processes, the interpreter and the"
        " harness included, which is what the first line of tfreel shows. tfrecord brings no reader that"
        " holds more than a record."
    ]
    return outcome


# Size -------------------------------------------------------------------------------------------------------


def _sizes() -> list[Line]:
    lines = [Line("installed: tfreel", installed_bytes(["tfreel"]) / 1e6, "MB")]
    for peer, wanted in _INSTALLS.items():
        if away.interpreter(peer) is not None:
            size = away.call(peer, installed_bytes, wanted)
            lines.append(Line(f"installed: {' and '.join(wanted)}", size / 1e6, "MB"))
    return lines


def installed_bytes(wanted: list[str]) -> int:
    """The size of these distributions and of all that they need, in the environment that this runs in."""
    found: dict[str, int] = {}
    waiting = [(name, frozenset[str]()) for name in wanted]
    while waiting:
        name, extras = waiting.pop()
        key = _plain(name)
        if key in found and not extras:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # what another platform needs, or an extra that nobody asked for
        found[key] = _bytes_of(distribution)
        waiting += _needs(distribution, extras)
    return sum(found.values())


def _needs(distribution: Any, extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    from pip._vendor.packaging.requirements import Requirement

    needs = []
    for text in distribution.requires or []:
        needed = Requirement(text)
        markers = [{"extra": extra} for extra in extras or {""}]
        if needed.marker is None or any(needed.marker.evaluate(marker) for marker in markers):
            needs.append((needed.name, frozenset(needed.extras)))
    return needs


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _bytes_of(distribution: Any) -> int:
    paths = (str(distribution.locate_file(file)) for file in distribution.files or [])
    return sum(os.path.getsize(path) for path in paths if not path.endswith(".pyc") and os.path.exists(path))


# Memory -----------------------------------------------------------------------------------------------------


def _peak(peer: str, make: Maker, shape: Shape) -> float | None:
    """The peak in megabytes of a process that does one thing and ends."""
    python = sys.executable if peer == "tfreel" else away.interpreter(peer)
    if python is None:
        return None
    process = away.Away(python)
    try:
        (entry,) = process.entries(make)
        assert entry.away is not None
        entry.away(shape)
        return float(process.ask("call", peak_bytes, ())) / 1e6
    finally:
        process.close()


def peak_bytes() -> int | None:
    """The most memory that this process has had at once; as Linux tells it, of this program alone."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def _idle() -> list[Entry]:
    return [Entry("nothing", lambda shape: shape.count)]


def _tensorflow_idle() -> list[Entry]:
    peers.tensorflow()
    return _idle()


def _iterate() -> list[Entry]:
    return [Entry("read", lambda shape: peers.count(tfreel.read(shape.path)))]


def _tensorflow_iterate() -> list[Entry]:
    iterator = peers.tensorflow().compat.v1.io.tf_record_iterator
    return [Entry("tf_record_iterator", lambda shape: peers.count(iterator(shape.path)))]


def _webdataset_iterate() -> list[Entry]:
    return peers.webdataset_routes()[:1]


def _epoch() -> list[Entry]:
    def rows(shape: Shape) -> int:
        plan = tfreel.Dataset(shape.path, WANTED[shape.kind].context).shuffle(seed=1).batch(_BATCH)
        return sum(batch.num_rows for batch in plan)

    return [Entry("epoch", rows)]


def _tensorflow_epoch() -> list[Entry]:
    tf = peers.tensorflow()

    def rows(shape: Shape) -> int:
        context, _ = WANTED[shape.kind].to_tensorflow(tf)
        batches = peers.dataset(shape).shuffle(_BUFFER, seed=1).batch(_BATCH)
        parsed = batches.map(lambda records: tf.io.parse_example(records, context))
        return sum(int(batch["int_0"].shape[0]) for batch in parsed.prefetch(tf.data.AUTOTUNE))

    return [Entry("epoch", rows)]
