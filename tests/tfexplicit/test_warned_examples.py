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


def run(
    script: Path, folder: Path, environment: dict[str, str], mode: str = "error"
) -> tuple[int, str]:
    result = subprocess.run(
        [sys.executable, "-m", "tfexplicit.warn", f"--mode={mode}", str(script)],
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


LEFT_IN_PART = [path for path in EXAMPLES if is_left_in_part(path)]


@pytest.mark.parametrize(
    "example", parameters([path for path in EXAMPLES if path not in LEFT_IN_PART])
)
def test_the_migrated_one_runs(example: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    code, error = run(migrated(example, tmp_path), tmp_path, environment)
    assert code == 0, error


@pytest.mark.slow
@pytest.mark.parametrize("example", LEFT_IN_PART, ids=lambda path: path.stem)
def test_only_what_is_left_for_a_person_warns(
    example: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    script = migrated(example, tmp_path)
    left = [site.line for site in migrate_source(script.read_bytes(), script).sites]
    code, error = run(script, tmp_path, environment, "once")
    assert code == 0, error
    assert error.count("ImplicitUpdateWarning: ") == len(left)
    for line in left:
        assert f"{script}:{line}: ImplicitUpdateWarning: " in error


def migrated(example: Path, folder: Path) -> Path:
    result = migrate_source(example.read_bytes(), example)
    assert result.after is not None
    script = folder / example.name
    script.write_bytes(result.after)
    return script
