"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine(packages: list[str]) -> dict[str, object]:
    return {
        "processor": _processor(),
        "cores": CORES,
        "memory_gigabytes": round(memory() / 2**30, 1),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in packages},
    }


def memory() -> int:
    """All memory of the machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory() -> int:
    """What may be taken without swapping, in bytes."""
    file = Path("/proc/meminfo")
    if not file.exists():
        return memory() // 2
    lines = dict(line.split(":") for line in file.read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
