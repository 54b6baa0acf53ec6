"""Data in the hands of others: `torch`, `jax`, `keras`, `grain`, `polars`, `duckdb`, `huggingface`.

A module for each. Nothing is imported here: ``from tfreel.adapters import torch`` brings PyTorch in, and
nothing else does.
"""
