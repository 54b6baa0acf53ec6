"""`tf.compat.v1.image`: images, resized as the first generation did it."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
