"""Packing: anything in, a data set of TFRecords out, label-safe and crash-safe."""
