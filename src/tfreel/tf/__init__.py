"""TensorFlow's names for record code, without TensorFlow."""
