"""`tf.compat.v1`: the names of the first generation, with those of the second where they are the same."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
