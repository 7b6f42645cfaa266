"""Keras optimizers as rules: read where the class is known, else adopted with their update."""
