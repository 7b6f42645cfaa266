"""What users of Keras optimizers look for on a state, and where it is."""

from __future__ import annotations

_INSTEAD = {
    "apply": "tx.update(opt_state, model, grads)",
    "apply_gradients": "tx.update(opt_state, model, grads)",
    "get_config": "tx.state_dict(opt_state)",
    "iterations": "opt_state.step",
    "learning_rate": 'opt_state.hyper["learning_rate"]',
    "lr": 'opt_state.hyper["learning_rate"]',
    "minimize": "tx.minimize(loss_fn, opt_state, model)",
    "slots": "opt_state[path].slots",
    "state_dict": "tx.state_dict(opt_state)",
    "variables": "opt_state[path].slots, or tx.state_dict(opt_state)",
    "weights": "opt_state[path].slots, or tx.state_dict(opt_state)",
}


def no_attribute(name: str) -> str:
    instead = _INSTEAD.get(name)
    return f"a state has no attribute {name!r}." + (f" Write {instead}." if instead else "")


def not_to_set(name: str) -> str:
    if name in ("step", "iterations"):
        return f"{name!r} of a state cannot be set. Write opt_state.step.assign(...)."
    return f"a state has no attribute {name!r} to set. Write tx.adjust(opt_state, {name}=...)."
