"""`tf.version`: which TensorFlow the behaviour of this package is that of."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
