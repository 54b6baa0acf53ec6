"""Files and folders as TensorFlow code sees them: behind `tf.io.gfile`, `tf.gfile` and `tf.io.read_file`."""
