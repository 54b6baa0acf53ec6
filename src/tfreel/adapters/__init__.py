"""Datasets in the hands of training frameworks: `torch`, `jax`, `keras` and `grain`, a module for each.

Nothing is imported here: ``from tfreel.adapters import torch`` brings PyTorch in, and nothing else does.
"""
