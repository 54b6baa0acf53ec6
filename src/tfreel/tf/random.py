"""`tf.random`: numbers drawn, and the seeds that they are drawn with."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
