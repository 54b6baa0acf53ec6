"""Arithmetic that must not depend on the version of NumPy: 1 reckons with scalars in other dtypes than 2."""

from typing import Any

import numpy as np
import pytest

from tfreel import tf

FUNCTIONS = {
    "c": "sign math.rsqrt sigmoid sqrt exp log tanh square math.reciprocal",
    "f": "sign math.rsqrt sigmoid sqrt exp log tanh square math.reciprocal math.log1p nn.relu",
}


def find(name: str) -> Any:
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_a_scalar_gives_what_it_gives_in_a_vector(dtype: str) -> None:
    values = np.linspace(0.1, 9.7, 97).astype(dtype)
    if values.dtype.kind == "c":
        values = (values + 1j * values[::-1]).astype(dtype)
    for name in FUNCTIONS[values.dtype.kind].split():
        function = find(name)
        for i, value in enumerate(values):
            alone, together = function(tf.constant(value)), function(tf.constant(values[i : i + 1]))
            assert alone.dtype == together.dtype == dtype
            assert alone.numpy().tobytes() == together.numpy().tobytes(), (name, value)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_sign_of_a_complex_number_points_its_way(dtype: str) -> None:
    signs = tf.sign(tf.constant([3 + 4j, -3 - 4j, 0, -2j], dtype))
    np.testing.assert_allclose(signs.numpy(), [0.6 + 0.8j, -0.6 - 0.8j, 0, -1j], rtol=1e-6)
    assert signs.dtype == dtype
    tiny = np.finfo(dtype).smallest_subnormal
    assert tf.sign(tf.constant(tiny * (1 - 0j), dtype)).numpy() == 1
