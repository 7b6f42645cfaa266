"""The version of the installed distribution."""

from __future__ import annotations


def installed_version() -> str:
    # Slow to import, and only the JSON report names the version.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tfexplicit")
    except PackageNotFoundError:
        return "not installed"  # run from a checkout
