"""The name of a state: after its optimizer, and never one in use."""

from __future__ import annotations

import pytest
from tfexplicit_codemod.analysis.naming import state_name


@pytest.mark.parametrize(
    ("optimizer", "state"),
    [
        ("optimizer", "opt_state"),
        ("opt", "opt_state"),
        ("optim", "opt_state"),
        ("optimiser", "opt_state"),
        ("_optimizer", "_opt_state"),
        ("d_optimizer", "d_opt_state"),
        ("G_optimizer", "G_opt_state"),
        ("optimizer_d", "d_opt_state"),
        ("opt_gen", "gen_opt_state"),
        ("actor_opt", "actor_opt_state"),
        ("optimizer1", "opt_state1"),
        ("optimizer_2", "opt_state_2"),
        ("adam", "adam_opt_state"),
        ("adopted", "adopted_opt_state"),
    ],
)
def test_state_is_named_after_its_optimizer(optimizer: str, state: str) -> None:
    assert state_name(optimizer, ()) == state


def test_a_name_in_use_gets_a_number() -> None:
    assert state_name("opt", {"opt_state"}) == "opt_state_1"
    assert state_name("opt", {"opt_state", "opt_state_1"}) == "opt_state_2"
