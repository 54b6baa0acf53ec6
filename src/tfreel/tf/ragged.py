"""`tf.ragged`: tensors of rows that differ in length."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
