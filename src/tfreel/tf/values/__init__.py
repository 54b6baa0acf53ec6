"""What tensors are made of: dtypes, shapes, structures, and the handles that stand for values."""
