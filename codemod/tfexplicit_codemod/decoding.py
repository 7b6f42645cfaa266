"""Bytes of a Python file to text."""

from __future__ import annotations

import tokenize
from io import BytesIO


def decoded(source: bytes) -> str:
    """The text in the encoding that the file declares, without its byte order mark."""
    encoding, _ = tokenize.detect_encoding(BytesIO(source).readline)
    return source.decode(encoding)
