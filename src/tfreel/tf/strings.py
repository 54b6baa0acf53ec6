"""`tf.strings`: strings out of strings, numbers in strings."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
