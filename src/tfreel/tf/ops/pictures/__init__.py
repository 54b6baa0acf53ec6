"""Images: what `tf.image` and the decoders of `tf.io` do, with the pixels that TensorFlow gives."""
