"""Building a Keras optimizer on the leaves, and finding its variables again."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tfexplicit.arrays import is_variable
from tfexplicit.creation import where_made
from tfexplicit.keras_optimizers.recognise import is_keras_3, is_legacy
from tfexplicit.module_names import own_name
from tfexplicit.rule import Slots
from tfexplicit.tree import Leaf


def is_built(optimizer: Any) -> bool:
    return bool(getattr(optimizer, "built", False) or getattr(optimizer, "_built", False))


def build(optimizer: Any, leaves: Sequence[Leaf]) -> list[Slots]:
    """Have it make its variables for these leaves; each leaf's, by name."""
    refuse_arrays(leaves)
    variables = [leaf.value for leaf in leaves]
    with where_made(leaves):
        if is_legacy(optimizer):
            optimizer._create_all_weights(variables)
            return [_legacy_slots(optimizer, variable) for variable in variables]
        if is_built(optimizer):
            check_built_on(optimizer, leaves)
            return [_slots_by_name(optimizer, variable) for variable in variables]
        with _recording(optimizer, variables) as slots:
            optimizer.build(variables)
        return slots


def index_of(optimizer: Any, variable: Any) -> int | None:
    """The place of a variable in the lists of an optimizer that is built."""
    indices = getattr(optimizer, "_trainable_variables_indices", None)
    if indices is None:
        indices = getattr(optimizer, "_index_dict", {})
    index: int | None = indices.get(optimizer._var_key(variable))
    return index


def count_of(optimizer: Any) -> Any:
    """Every call counted: `iterations` of Keras 3 is a quotient under gradient accumulation."""
    counter = getattr(optimizer, "_iterations", None)
    return optimizer.iterations if counter is None else counter


def check_built_on(optimizer: Any, leaves: Sequence[Leaf]) -> None:
    for leaf in leaves:
        if index_of(optimizer, leaf.value) is None:
            raise ValueError(
                f"the {type(optimizer).__name__} was built on other variables: it does not know "
                f"{leaf.path!r}. Give each model its own optimizer, or make one state for all of "
                "them: opt_state = tx.setup(optimizer, (model_a, model_b))."
            )


def refuse_arrays(leaves: Sequence[Leaf]) -> None:
    for leaf in leaves:
        if not is_variable(leaf.value):
            raise TypeError(
                f"a Keras optimizer steps variables, and {leaf.path!r} is a "
                f"{type(leaf.value).__name__}. Use a rule such as tx.Adam(), or a tf.Variable."
            )


@contextlib.contextmanager
def _recording(optimizer: Any, variables: Sequence[Any]) -> Iterator[list[Slots]]:
    """Note which variable the optimizer makes for which leaf; Keras itself keeps no such map."""
    slots: list[Slots] = [{} for _ in variables]
    places = {id(variable): place for place, variable in enumerate(variables)}
    # On the class, since a wrapping optimizer has an inner one that does the work.
    owner = next(c for c in type(optimizer).__mro__ if "add_variable_from_reference" in vars(c))
    original = owner.add_variable_from_reference  # type: ignore[attr-defined]

    signature = inspect.signature(original)

    def noting(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        _, reference, name, *_ = signature.bind(*args, **kwargs).arguments.values()
        if id(reference) in places:
            slots[places[id(reference)]][name] = made
        return made

    owner.add_variable_from_reference = noting  # type: ignore[attr-defined]
    try:
        yield slots
    finally:
        owner.add_variable_from_reference = original  # type: ignore[attr-defined]


def _legacy_slots(optimizer: Any, variable: Any) -> Slots:
    return {name: optimizer.get_slot(variable, name) for name in optimizer.get_slot_names()}


def _slots_by_name(optimizer: Any, variable: Any) -> Slots:
    """For an optimizer built before: by the names that Keras gives its variables."""
    found: Slots = {}
    reference = own_name(variable, whole=True)
    for made in optimizer.variables:
        if is_keras_3(optimizer):
            start = reference.replace("/", "_") + "_"
            slot = made.name[len(start) :] if made.name.startswith(start) else ""
        else:
            slot, _, rest = made.name.partition("/")
            slot = slot if rest.split(":")[0] == reference else ""
        if slot and tuple(made.shape) == tuple(variable.shape):
            found[slot] = made
    return found
