"""`KerasOptimizer`: a rule where Keras wants an optimizer, for `compile` and `fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.composite import means
from tfexplicit.group import in_saved_model
from tfexplicit.hyperparameters import as_float64, current_value, is_function
from tfexplicit.module_names import numbered_where_repeated, own_name
from tfexplicit.rule import Rule
from tfexplicit.rule_config import config_of, rule_from
from tfexplicit.state import OptState
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.adjust import adjust
from tfexplicit.verbs.scale_loss import scale_loss
from tfexplicit.verbs.setup import make_state
from tfexplicit.verbs.update import update


@keras.saving.register_keras_serializable(package="tfexplicit")
class KerasOptimizer(keras.optimizers.Optimizer):  # type: ignore[misc]
    """A Keras 3 optimizer that steps with a tfexplicit rule.

    `model.compile(tx.KerasOptimizer(tx.Adam(1e-3)), loss=...)`. Callbacks read and write its
    `learning_rate`; `.keras` files and `save_weights` keep its state. `optimizer.opt_state` is the
    state, with the leaves under the variables' Keras paths, once the model is built: what
    `tx.freeze`, `tx.adjust` and `tx.ema_params` take.

    Raises:
        TypeError: not a rule.
    """

    def __init__(self, rule: Rule, name: str = "keras_optimizer") -> None:
        if not isinstance(rule, Rule):
            raise TypeError(
                f"KerasOptimizer: expected a rule such as tx.Adam(1e-3), got {rule!r}. A Keras "
                "optimizer goes to compile as it is."
            )
        # The learning rate is the rule's; Keras insists on one of its own.
        super().__init__(learning_rate=0.0, name=name)
        self.rule = rule
        self.opt_state: OptState | None = None
        self._learning_rate_until_built: Any = None

    @unconverted
    def build(self, variables: Sequence[Any]) -> None:
        if self.built:
            return
        super().build(list(variables))
        names = numbered_where_repeated(own_name(variable, whole=True) for variable in variables)
        state = make_state(self.rule, dict(zip(names, variables, strict=True)))
        # Not as an attribute, which would be tracked: Keras numbers the layers of a process, so a
        # checkpoint must not know the arrays by the paths of variables.
        self.__dict__["opt_state"] = state
        for number, cell in enumerate(state.cells()):
            self._track_trackable(raw(cell), f"cell_{number}")
        if self._learning_rate_until_built is not None:
            adjust(state, learning_rate=self._learning_rate_until_built)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        children: dict[str, Any] = super()._trackable_children(save_type, **kwargs)
        if save_type == "savedmodel" and self.built:
            return in_saved_model(children, self._state.groups)
        return children

    @unconverted
    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> Any:
        """One step; the count of steps."""
        if trainable_variables is None:
            self._expect_built()
            trainable_variables = self._trainable_variables
        trainable_variables = list(trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(trainable_variables)
        self._check_variables_are_known(trainable_variables)
        update(self._state, trainable_variables, list(grads))
        return self.iterations

    @property
    def _state(self) -> OptState:
        self._expect_built()
        assert self.opt_state is not None
        return self.opt_state

    def _expect_built(self) -> None:
        if not self.built:
            raise ValueError(
                "KerasOptimizer has no state yet. Build the model, or call "
                "optimizer.build(model.trainable_variables)."
            )

    @property
    def iterations(self) -> Any:
        return self._state.step if self.built else self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        # Keras 3.3 sets it in `__init__`; later ones set `_iterations`.
        self._iterations = variable

    @property
    def learning_rate(self) -> Any:
        """The learning rate on which all leaves agree, a float64 scalar."""
        if self.built:
            return self._state.hyper["learning_rate"]
        if self._learning_rate_until_built is not None:
            return self._learning_rate_until_built
        return self._learning_rate_of_the_rule()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if self.built:
            adjust(self._state, learning_rate=read(value))
        else:
            self._learning_rate_until_built = value

    def _learning_rate_of_the_rule(self) -> Any:
        sources = [
            source
            for name, source in self.rule.hyperparameters().items()
            if means(name, "learning_rate")
        ]
        if len(sources) != 1:
            raise AttributeError(
                f"{self.rule!r} has {len(sources)} learning rates, and no state yet to read one "
                "from. Build the model first."
            )
        start = tf.constant(0, tf.int64)
        return (
            current_value(sources[0], start) if is_function(sources[0]) else as_float64(sources[0])
        )

    def scale_loss(self, loss: Any) -> Any:
        if not self.built and not any(means(name, "loss_scale") for name in self.rule.shared()):
            return loss
        return scale_loss(self._state, loss)

    def save_own_variables(self, store: Any) -> None:
        """Every array of the state, by its place; the rule says what it is."""
        for number, cell in enumerate(self._state.cells() if self.built else []):
            store[str(number)] = read(cell).numpy()

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """
        Raises:
            ValueError: the state was saved for another rule or model.
        """
        cells = self._state.cells()
        found = [np.asarray(store[str(number)]) for number in range(len(store.keys()))]
        if [array.shape for array in found] != [tuple(raw(cell).shape) for cell in cells]:
            raise ValueError(
                f"KerasOptimizer: the file holds {len(found)} arrays that are not those of "
                f"{self.rule!r} for this model, which has {len(cells)}."
            )
        for cell, array in zip(cells, found, strict=True):
            raw(cell).assign(array)

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "rule": config_of(self.rule)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> KerasOptimizer:
        return cls(rule_from(config["rule"]), name=config["name"])
