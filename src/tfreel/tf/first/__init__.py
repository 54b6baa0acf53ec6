"""The first generation: sessions, readers, queues and iterators, as TensorFlow 1 has them."""
