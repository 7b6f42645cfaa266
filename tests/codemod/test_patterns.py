"""Real shapes of training code: `data/patterns/<name>/before.py` becomes `after.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

PATTERNS = sorted((Path(__file__).parent / "data" / "patterns").iterdir())


@pytest.mark.parametrize("folder", PATTERNS, ids=lambda folder: folder.name)
def test_pattern(folder: Path) -> None:
    after = (folder / "after.py").read_bytes()
    result = migrate_source((folder / "before.py").read_bytes(), folder / "before.py")
    assert result.outcome is Outcome.CHANGED
    assert result.after is not None
    assert result.after.decode() == after.decode()
    assert not [site for site in result.sites if site.left]
    again = migrate_source(after, folder / "after.py")
    assert (again.outcome, again.after) == (Outcome.UNCHANGED, None)
