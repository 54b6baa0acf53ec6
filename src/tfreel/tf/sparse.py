"""`tf.sparse`: tensors of which only some values are there."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
