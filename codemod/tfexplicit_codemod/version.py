"""The version, in one place: the package metadata is built from it."""

from __future__ import annotations

VERSION = "0.1.0"
