"""What the text report says of a run that writes nothing, and what it tells to run next."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main

LEFT = """\
import tensorflow as tf


def step(optimizer, grads, model):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
NEXT = {
    "check": ("tfexplicit diff train.py\n", "tfexplicit explain TX201 "),
    "diff": ("tfexplicit migrate train.py\n", "tfexplicit explain TX201 "),
    "migrate": ("run your formatter", "tfexplicit explain TX201 "),
}


@pytest.mark.parametrize("command", NEXT)
def test_what_to_do_next(
    command: str, implicit: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where all sites are left there is nothing to migrate, though comments would be written."""
    for source, expected in zip((implicit, LEFT), NEXT[command], strict=True):
        (project / "train.py").write_text(source)
        main([command, "train.py"])
        said = "".join(capsys.readouterr())
        _, _, step = said.partition("Next: ")
        assert step.startswith(expected)
        would_change = command != "migrate" and source == implicit
        assert ("1 file: 1 would change" in said) == would_change
