"""Data in the hands of others, a module for each: `torch`, `jax`, `keras`, `grain`; `polars`, `duckdb`.

Nothing is imported here: ``from tfreel.adapters import torch`` brings PyTorch in, and nothing else does.
"""
