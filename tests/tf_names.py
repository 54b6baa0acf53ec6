"""TensorFlow's names for the operations, gathered from the modules in which they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tfreel.tf import math
from tfreel.tf.ops import arrays, casting, conversion, operators, reductions, selection, shaping, slicing
from tfreel.tf.ops import math as math_ops
from tfreel.tf.values import dtypes
from tfreel.tf.values.shapes import TensorShape, TensorSpec


def names() -> Any:
    """What `tf` is in expressions."""
    found: dict[str, Any] = {"TensorShape": TensorShape, "TensorSpec": TensorSpec}
    for module in (conversion, arrays, casting, shaping, selection, math_ops, reductions, math):
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    found |= {each.name: each for each in dtypes.ALL}
    found |= {
        "slice": selection.slice_,
        "strided_slice": slicing.strided_slice,
        "math": math,
        "as_dtype": dtypes.as_dtype,
        "newaxis": None,
    }
    found |= {"nn": SimpleNamespace(softmax=math_ops.softmax, relu=math_ops.relu)}
    found |= {"truncatediv": math_ops.truncatediv, "truncatemod": math_ops.truncatemod}
    found["logical_not"] = operators.logical_not
    return SimpleNamespace(**found)
