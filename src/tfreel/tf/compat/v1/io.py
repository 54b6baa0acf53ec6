"""`tf.compat.v1.io`: files, records, and what is in them, with the arguments of the first generation."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
