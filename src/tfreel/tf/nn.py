"""`tf.nn`: the few operations of networks that records are prepared with."""

from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
