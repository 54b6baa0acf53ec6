"""TensorFlow's answer to a case, in the form of `parsing`. The only file here that needs TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from conformance.parsing import Case
from conformance.shaped import read_with


def read_with_tensorflow(case: Case, records: list[bytes]) -> dict[str, Any]:
    return read_with(tf, case, records)
