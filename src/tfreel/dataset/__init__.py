"""The dataset: what comes after what, and how it gets there."""
