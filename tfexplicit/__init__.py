"""Explicit optimiser state for TensorFlow and Keras."""
