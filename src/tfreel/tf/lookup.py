"""`tf.lookup`: values by keys."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
