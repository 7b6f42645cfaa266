"""The wheel holds the two packages and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    [file] = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def test_top_level_names(wheel: zipfile.ZipFile) -> None:
    top = {name.partition("/")[0] for name in wheel.namelist()}
    [metadata] = {name for name in top if name.endswith(".dist-info")}
    assert top - {metadata} == {"tfexplicit", "tfexplicit_codemod"}


@pytest.mark.parametrize("package", ["tfexplicit", "tfexplicit_codemod"])
def test_every_file_of_the_package_is_in_the_wheel(package: str, wheel: zipfile.ZipFile) -> None:
    source = ROOT / package if package == "tfexplicit" else ROOT / "codemod" / package
    expected = {
        path.relative_to(source.parent).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert f"{package}/py.typed" in expected
    assert {name for name in wheel.namelist() if name.startswith(f"{package}/")} == expected


def test_the_command_is_declared(wheel: zipfile.ZipFile) -> None:
    [declared] = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    assert b"tfexplicit = tfexplicit_codemod.cli:main" in wheel.read(declared)
