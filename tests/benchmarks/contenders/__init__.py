"""One contender per file: `contender` is its class."""
