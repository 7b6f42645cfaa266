"""Packages as people published them: what becomes of their sites, file by file and twice.

Wheels, since pip would have to run the build of an sdist to look at it.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.settings import Settings
from tfexplicit_codemod.write import write_changed

# To update the counts after a change: read each new hunk, then write what the test says.
SITES = {
    "ddsp==3.7.0": {"TX102": 1},
    "cleverhans==4.0.0": {"TX202": 1, "TX207": 1},
    "adversarial-robustness-toolbox==1.20.1": {"TX106": 1, "TX202": 1, "TX203": 1, "TX205": 11},
    "tensorflow-gan==2.1.0": {},
}
PINS = Path(__file__).parent / "data" / "packages_from_pypi.txt"
SHA256 = dict(re.findall(r"(.*) --hash=sha256:(.*)", PINS.read_text()))


@pytest.fixture(scope="module")
def wheels(request: pytest.FixtureRequest) -> dict[str, Path]:
    """The wheels by their hashes; pip is asked for them where no earlier run has left them."""
    assert request.config.cache is not None
    folder = request.config.cache.mkdir("wheels")
    if not set(SHA256.values()) <= _by_hash(folder).keys():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "-r", str(PINS), "-d", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.fail(f"pip cannot fetch these packages, which it must once: {done.stderr}")
    return _by_hash(folder)


def _by_hash(folder: Path) -> dict[str, Path]:
    return {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in folder.glob("*.whl")}


def migrated(folder: Path) -> list[FileResult]:
    return write_changed(migrate_paths([folder], Settings()))


def codes(results: list[FileResult]) -> Counter[str]:
    return Counter(site.code for result in results for site in result.sites)


@pytest.mark.parametrize("pin", SITES)
def test_sites_of_a_package(pin: str, wheels: dict[str, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(wheels[SHA256[pin]]) as wheel:
        wheel.extractall(tmp_path)
    first = migrated(tmp_path)
    assert codes(first) == SITES[pin]
    assert {result.outcome for result in first} <= {
        Outcome.CHANGED,
        Outcome.UNCHANGED,
        Outcome.NEEDS_HAND,
    }
    written = [result for result in first if result.is_to_be_written]
    assert bool(written) == bool(SITES[pin])
    for result in written:
        compile(result.path.read_bytes(), result.path, "exec")
    second = migrated(tmp_path)
    assert not [result.path for result in second if result.is_to_be_written]
    assert codes(second) == {c: n for c, n in SITES[pin].items() if c.startswith("TX2")}
