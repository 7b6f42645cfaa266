"""`register_node`: container types of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfexplicit.containers import Children, Kind, by_name, register_kind


def register_node(
    cls: type,
    children: Callable[[Any], Mapping[str, Any] | Iterable[tuple[str, Any]]],
    rebuild: Callable[[Any, dict[str, Any]], Any],
) -> None:
    """Have the instances of `cls`, and of its subclasses, walked as containers.

    A dataclass, attrs class, namedtuple, dict, list or tuple needs no registration. Registration
    goes before what the type is otherwise. Gradients of such a node are a dict by name.

    Args:
        cls: the type.
        children: `children(value)` gives `{name: child}`, or `(name, child)` pairs. Names become
            segments of paths. What is not trained may be among them and comes back as it is.
        rebuild: `rebuild(value, {name: new_child})` gives a new `value`; it must change nothing.

    Raises:
        TypeError: not a class, or not functions. Later, when a model is walked: a child without
            a name, or a cycle through nothing but such nodes and tuples, which cannot be rebuilt.
        ValueError: when a model is walked: two children of one name.

    Example:
        ```python
        tx.register_node(
            Pair,
            lambda pair: {"left": pair.left, "right": pair.right},
            lambda pair, new: Pair(new["left"], new["right"]),
        )
        ```
    """
    if not isinstance(cls, type) or not callable(children) or not callable(rebuild):
        raise TypeError(
            "register_node: expected a class and two functions, got "
            f"{cls!r}, {children!r}, {rebuild!r}. Write tx.register_node(Pair, children, rebuild)."
        )

    def checked(value: Any) -> Children:
        return _pairs(cls, children(value))

    def made_with(value: Any, values: list[Any]) -> Any:
        names = (name for name, _ in checked(value))
        return rebuild(value, dict(zip(names, values, strict=True)))

    # `rebuild` need not take gradients, so those go by name.
    register_kind(cls, Kind(checked, made_with=made_with, mirror=by_name(checked)))


def _pairs(cls: type, given: Any) -> Children:
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    names: set[str] = set()
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError(
                f"the children of {cls.__name__} must be {{name: child}} or (name, child) pairs, "
                f"got {pair!r}. Correct the function given to tx.register_node."
            )
        if pair[0] in names:
            raise ValueError(f"two children of a {cls.__name__} have the name {pair[0]!r}.")
        names.add(pair[0])
    return pairs
