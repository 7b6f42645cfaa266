"""Warnings that guide: from the implicit style to the explicit one, and out of common mistakes.

`python -m tfexplicit.warn SCRIPT` runs a program with them.
"""
