"""Which TensorFlow is followed here, for code that prints or compares versions."""

VERSION = "2.21.0"  # the one that the tests compare with
