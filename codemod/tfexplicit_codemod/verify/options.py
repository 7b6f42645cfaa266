"""What `tfexplicit verify` was asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.verify.target import Target


@dataclass(frozen=True)
class Options:
    """`json` is a file, or `-` for stdout. `steps` is per process, `timeout` in seconds."""

    target: Target
    baseline: str | None = None
    steps: int | None = None
    timeout: float | None = None
    tolerance: float = 0.0
    json: str | None = None
    plot: Path | None = None
    html: Path | None = None

    @property
    def title(self) -> str:
        target = self.target
        program = [str(target.script)] if target.script else ["-m", str(target.module)]
        return shlex.join(["tfexplicit", "verify", *program, *target.arguments])
