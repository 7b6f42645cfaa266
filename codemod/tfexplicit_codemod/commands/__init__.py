"""The commands of `tfexplicit`, one per file: `add_parser` declares it, `run` carries it out."""
