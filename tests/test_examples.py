"""Every implicit example is migrated, and trains as before: `tfexplicit verify` says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "migration_guide" / "examples").glob("*.py"))
# Written in the explicit style: nothing to migrate. Each asserts what it shows.
EXPLICIT = sorted((ROOT / "migration_guide" / "examples" / "explicit").glob("*.py"))

# What each of these leaves for a person; the others leave nothing.
LEFT = {"transfer_learning_frozen_base": ["TX203"]}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_sites_of_the_example_are_migrated(example: Path) -> None:
    result = migrate_source(example.read_bytes(), example)
    assert result.outcome is Outcome.CHANGED, result.reason
    assert [site.code for site in result.sites if site.left] == LEFT.get(example.stem, [])
    assert [site for site in result.sites if not site.left]


# Run in CI; the others, whose patterns the samples of the codes run too, by hand with `-m slow`.
IN_CI = {
    *("actor_critic_one_optimizer", "adamw_weight_decay", "checkpoint_saves_optimizer"),
    *("custom_optimizer_subclass", "gan_two_optimizers", "keras_2_tf_keras"),
    *("rnn_global_norm_clipping", "sgd_nesterov_momentum", "style_transfer_one_variable"),
    *("text_classifier_embedding", "tf_module_mlp", "transfer_learning_frozen_base"),
}


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in IN_CI else pytest.mark.slow)
        for path in EXAMPLES
    ],
)
def test_the_migrated_example_trains_as_before(
    example: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["verify", str(example)])
    assert code == 0, capfd.readouterr().out


@pytest.mark.parametrize("example", EXPLICIT, ids=lambda path: path.stem)
def test_an_explicit_example_runs_and_has_nothing_to_migrate(example: Path) -> None:
    assert migrate_source(example.read_bytes(), example).outcome is Outcome.UNCHANGED
    paths = f"{ROOT}{os.pathsep}{ROOT / 'codemod'}"
    ran = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 14
    assert len(EXPLICIT) >= 3
    assert {path.stem for path in EXAMPLES} >= IN_CI
