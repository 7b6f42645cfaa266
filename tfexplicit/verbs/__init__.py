"""The verbs of the package, one per file."""
