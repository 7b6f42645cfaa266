"""With the mode `error` every example stops at its update site, and its migrated form runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfexplicit_codemod.engine import migrate_source

EXAMPLES = sorted((Path(__file__).parents[2] / "migration_guide" / "examples").glob("*.py"))
FAST = ("gan_two_optimizers", "keras_2_tf_keras")


def is_left_in_part(example: Path) -> bool:
    """A site that is left for a person goes on warning."""
    return any(site.left for site in migrate_source(example.read_bytes(), example).sites)


def parameters(examples: list[Path]) -> list[Any]:
    return [
        pytest.param(path, id=path.stem, marks=[] if path.stem in FAST else pytest.mark.slow)
        for path in examples
    ]


def run(script: Path, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    result = subprocess.run(
        [sys.executable, "-m", "tfexplicit.warn", "--mode=error", str(script)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )
    return result.returncode, result.stderr


@pytest.mark.parametrize("example", parameters(EXAMPLES))
def test_the_original_stops_at_its_site(
    example: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    lines = [site.line for site in migrate_source(example.read_bytes(), example).sites]
    code, error = run(example, tmp_path, environment)
    assert code == 1
    assert any(f"{example}:{line}: `" in error for line in lines), error


@pytest.mark.parametrize(
    "example", parameters([path for path in EXAMPLES if not is_left_in_part(path)])
)
def test_the_migrated_one_runs(example: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    result = migrate_source(example.read_bytes(), example)
    assert result.after is not None
    migrated = tmp_path / example.name
    migrated.write_bytes(result.after)
    code, error = run(migrated, tmp_path, environment)
    assert code == 0, error
