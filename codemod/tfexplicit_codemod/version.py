"""The version of the installed distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    try:
        return version("tfexplicit")
    except PackageNotFoundError:
        return "not installed"  # run from a checkout
