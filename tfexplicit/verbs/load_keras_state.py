"""`load_keras_state`: a run that a Keras optimizer began goes on under a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexplicit.arguments import expect_state
from tfexplicit.arrays import read
from tfexplicit.keras_optimizers.building import count_of, is_built
from tfexplicit.keras_optimizers.kept import has_known_slots, kept_for
from tfexplicit.keras_optimizers.recognise import is_keras_optimizer, is_legacy
from tfexplicit.state import OptState
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.state_dict import load_state_dict, state_dict

_LINE = "tx.load_keras_state(opt_state, optimizer)"


@unconverted
def load_keras_state(opt_state: OptState, optimizer: Any) -> None:
    """Copy the slots and the step count of a Keras optimizer (Keras 3, `tf_keras`) into a state.

    The state is one of a rule, such as `tx.setup(tx.from_keras(optimizer), model)`, on variables
    that the optimizer was built on. Hyperparameters are the rule's own. Slots keep their shape and
    dtype; those of the averages and of accumulated gradients are copied too.

    Raises:
        TypeError: not such a state or optimizer.
        ValueError: the optimizer is not built, or does not know a leaf; a slot of the state that it
            does not keep, or one that it keeps and the state does not. Nothing is changed then.
    """
    expect_state("load_keras_state", opt_state, _LINE)
    _check(opt_state, optimizer)
    count = int(read(count_of(optimizer)))
    numbers = state_dict(opt_state)
    numbers["step"] = np.int64(count)
    problems: list[str] = []
    for group in opt_state.groups:
        for path, target in zip(group.paths, group.targets, strict=True):
            entry = numbers["leaves"][path]
            # Keras counts for all leaves together.
            entry |= {"taken": np.int64(count), "rested": np.int64(0)}
            problems += _copied(entry["slots"], kept_for(optimizer, target), path)
    if problems:
        raise ValueError(
            f"load_keras_state: the Keras {type(optimizer).__name__} does not fit this state; "
            "nothing was changed. Write opt_state = tx.setup(tx.from_keras(optimizer), model).\n  "
            + "\n  ".join(problems[:20])
        )
    load_state_dict(opt_state, numbers)


def _copied(slots: dict[str, Any], kept: dict[str, Any] | None, path: str) -> list[str]:
    """Fill the slots of a leaf, and say what does not fit."""
    if kept is None:
        return [f"{path}: the optimizer was built on other variables"]
    problems = []
    for name, slot in slots.items():
        found = kept.pop(name.rsplit("/", 1)[-1], None)
        if found is None:
            problems.append(f"{path}: it keeps no {name}")
        elif tuple(found.shape) != slot.shape:
            problems.append(f"{path}: its {name} is {tuple(found.shape)}, expected {slot.shape}")
        else:
            slots[name] = np.asarray(read(found)).astype(slot.dtype)
    # tf_keras makes arrays that it does not use, too.
    left = [name for name, variable in kept.items() if np.any(np.asarray(read(variable)))]
    return problems + [f"{path}: the state has no place for its {name}" for name in left]


def _check(opt_state: Any, optimizer: Any) -> None:
    if not isinstance(opt_state, OptState):
        raise TypeError("load_keras_state: give the whole state, not a part of it.")
    if opt_state.plan.taken_over is not None:
        raise TypeError(
            "load_keras_state: this is the state of a Keras optimizer itself. Write opt_state = "
            "tx.setup(tx.from_keras(optimizer), model) first."
        )
    if not is_keras_optimizer(optimizer):
        raise TypeError(f"load_keras_state: expected a Keras optimizer, got {optimizer!r}.")
    if is_legacy(optimizer) or not has_known_slots(optimizer):
        raise TypeError(
            f"load_keras_state: which arrays the {type(optimizer).__name__} keeps is not known. "
            "Write opt_state = tx.setup(optimizer, model), which goes on with the optimizer itself."
        )
    if not is_built(optimizer):
        raise ValueError(
            f"load_keras_state: this {type(optimizer).__name__} has no variables yet. Build it on "
            "the leaves, optimizer.build(tx.trainables(model)), and load its values first."
        )
