"""Examples, one message at a time: bytes, protobuf messages and plain Python values."""
