"""The part of a state below a path: what `opt_state["encoder"]` gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfexplicit import paths
from tfexplicit.hyper_values import HyperValues
from tfexplicit.rule import Slots
from tfexplicit.show import describe
from tfexplicit.unbuilt import catch_up, note_on_missing_leaves

if TYPE_CHECKING:
    from tfexplicit.state import OptState


@dataclass(frozen=True)
class Subtree:
    """The part of a state below `path`; usable wherever a state is."""

    state: OptState
    path: str

    def __getitem__(self, key: str | int) -> Subtree:
        if not isinstance(key, str | int):
            raise TypeError(
                f"a part of a state goes by its path, such as opt_state[{self.paths[0]!r}]"
                if self.paths
                else "a part of a state goes by its path"
            )
        path = paths.join(self.path, str(key))
        catch_up(self.state)
        if not any(paths.is_under(known, path) for known in self.state.paths):
            places = {prefix for known in self.paths for prefix in paths.prefixes(known)}
            raise KeyError(
                f"the state has nothing at {path!r}. "
                f"{note_on_missing_leaves(self.state) or paths.suggestion(path, sorted(places))}"
            )
        return Subtree(self.state, path)

    @property
    def step(self) -> Any:
        return self.state.step

    @property
    def paths(self) -> list[str]:
        return [path for path in self.state.paths if paths.is_under(path, self.path)]

    @property
    def slots(self) -> Slots:
        """The arrays kept for this one leaf, by name.

        Raises:
            ValueError: this is the part of more than one leaf.
        """
        place = self.state._by_path.get(self.path)
        if place is None:
            raise ValueError(
                f"{self.path!r} has {len(self.paths)} leaves; take one, such as "
                f"opt_state[{self.paths[0]!r}].slots"
            )
        return self.state.slots_at(place)

    @property
    def hyper(self) -> HyperValues:
        """The hyperparameters of this part, by name: float64 scalars."""
        return HyperValues(self.state, self.path)

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __tf_flatten__(self) -> tuple[str, tuple[OptState, ...]]:
        return self.path, (self.state,)

    @classmethod
    def __tf_unflatten__(cls, path: str, states: tuple[OptState, ...]) -> Subtree:
        (state,) = states
        return cls(state, path)

    def __repr__(self) -> str:
        return describe(self.state, self.path)
