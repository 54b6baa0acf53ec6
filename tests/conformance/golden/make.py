"""Writes tensorflow.json: what TensorFlow makes of every case.

Run it in tests/ as ``python -m conformance.golden.make``.

For each case a digest of what was asked, the answer for its records in plain form (``"wanted"``), and where
it differs, the answer for the records as they are (``"read"``).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tensorflow as tf

from conformance.parsing import Case, all_cases, same
from conformance.tensorflow import read_with_tensorflow

FILE = Path(__file__).with_name("tensorflow.json")


def answer(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = {"digest": case.digest}
    read = {"error": "not asked"} if case.deadly else read_with_tensorflow(case, case.records)
    wanted = read if case.plain is None else read_with_tensorflow(case, case.plain)
    if not case.malformed:
        found["wanted"] = wanted
    if case.malformed or not same(read, wanted):
        found["read"] = read
    return found


def main() -> None:
    lines = [f' "{case.name}": {json.dumps(answer(case), separators=(",", ":"))}' for case in all_cases()]
    made_by = f' "": {{"tensorflow": "{tf.__version__}"}}'
    FILE.write_text("{\n" + ",\n".join([made_by, *lines]) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
