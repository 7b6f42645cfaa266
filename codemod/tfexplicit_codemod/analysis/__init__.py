"""What a file does with its optimizers, read from the `ast` alone: no LibCST, no TensorFlow."""
