"""`tf.gfile`: files and folders, under the names of the first generation."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
