"""`tf.python_io`: how programs of the first generation write and read records."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
