"""Examples, one message at a time: bytes, protobuf messages and plain Python values."""

from tfreel.examples.decode import decode, decode_sequence
from tfreel.examples.encode import encode, encode_sequence
from tfreel.examples.tensor import tensor

__all__ = ["decode", "decode_sequence", "encode", "encode_sequence", "tensor"]
