"""The commands of `tfexplicit`, one per file: `add_parser` declares it, `run` carries it out.

What a command needs is imported when it runs, so that `--help` waits for nothing.
"""
