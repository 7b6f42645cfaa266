"""Making the arrays of a state: variables, outside of any trace and where their leaf lives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import tensorflow as tf

from tfexplicit.arrays import is_variable, raw, read
from tfexplicit.precision import widened
from tfexplicit.replicas import in_replicas
from tfexplicit.tree import Leaf, Tree
from tfexplicit.writing import is_known

Made = TypeVar("Made")


def is_symbolic(tree: Tree) -> bool:
    """True if a leaf is a tensor of a graph being traced: no variable can be made from it."""
    return any(
        isinstance(leaf.value, tf.Tensor) and not is_known(leaf.value) for leaf in tree.leaves
    )


@dataclass(frozen=True)
class Creation:
    """Makes cells: variables, or the values themselves for a state made of tensors."""

    leaves: Sequence[Leaf]
    live: bool

    def keep(self, value: Any, name: str) -> Any:
        return in_variables(value, name, self.leaves) if self.live else value

    def keep_beside(self, leaf: Leaf, value: Any, name: str) -> Any:
        if not self.live:
            return value
        with _beside(leaf.value):
            return tf.Variable(value, trainable=False, name=f"{leaf.path}/{name}")


@contextlib.contextmanager
def made_for(leaves: Sequence[Leaf], live: bool) -> Iterator[Creation]:
    """Variables are made outside the function being traced, so that they outlive the trace."""
    with tf.init_scope() if live else contextlib.nullcontext():
        yield Creation(leaves, live)


def outside_of_traces(make: Callable[[], Made]) -> Made:
    """For a state that gets its first variables in some later trace of a `tf.function`.

    There new variables are refused, in an `init_scope` too, and in a replica the scope of its
    strategy is. But only in the thread that traces, or that is a replica.
    """
    if not tf.inside_function() and not in_replicas():
        return make()
    with ThreadPoolExecutor(max_workers=1) as other:
        return other.submit(make).result()


@contextlib.contextmanager
def where_made(leaves: Sequence[Leaf]) -> Iterator[None]:
    """Outside of any trace, under the distribution strategy that the leaves were made under."""
    strategies = (strategy_of(leaf.value) for leaf in leaves)
    strategy = next(filter(None, strategies), None)
    with tf.init_scope(), strategy.scope() if strategy else contextlib.nullcontext():
        yield


def in_variables(value: Any, name: str, leaves: Sequence[Leaf]) -> Any:
    with where_made(leaves):
        return tf.Variable(
            value,
            trainable=False,
            name=name,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )


def value_at_start(leaf: Any) -> Any:
    """The leaf as `Rule.init` sees it. A model that is first built inside a `tf.function` gets its
    values only after the trace, so until then zeros stand for them."""
    if is_variable(leaf) and tf.executing_eagerly() and not raw(leaf).is_initialized():
        return widened(tf.zeros(leaf.shape, leaf.dtype))
    return widened(read(leaf))


def strategy_of(value: Any) -> Any:
    """The strategy whose scope a variable was made in; None outside of any."""
    return getattr(raw(value), "_distribute_strategy", None) if is_variable(value) else None


@contextlib.contextmanager
def _beside(value: Any) -> Iterator[None]:
    """Slots live on the device, and under the strategy, of their leaf."""
    strategy = strategy_of(value)
    if strategy is not None:
        with strategy.scope(), strategy.extended.colocate_vars_with(raw(value)):
            yield
    elif is_variable(value):
        with tf.device(raw(value).device):
            yield
    else:
        yield
