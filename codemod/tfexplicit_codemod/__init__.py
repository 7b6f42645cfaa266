"""Moves TensorFlow and Keras training code from implicit to explicit optimiser state."""
