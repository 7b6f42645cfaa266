"""Generated programs are run before and after, against stand-ins that only record the updates.

What TensorFlow computes is not the question here (`verify` runs real programs): it is whether the
same optimizers step the same variables with the same gradients in the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tfexplicit_codemod.engine import migrate_source

Record = tuple[int, int, tuple[tuple[int, float], ...]]


class Variable:
    def __init__(self, world: World) -> None:
        self.number = world.next_number()


class Model:
    """Two variables, of which the second has no gradient."""

    def __init__(self, world: World) -> None:
        self.trainable_variables = [Variable(world), Variable(world), Variable(world)]


class Optimizer:
    def __init__(self, world: World, learning_rate: float = 0.1) -> None:
        self.world = world
        self.number = world.next_optimizer()
        self.iterations = 0

    def step(self, pairs: Sequence[tuple[float | None, Variable]]) -> None:
        known = [(v.number, g) for g, v in pairs if g is not None]
        self.iterations += 1
        self.world.records.append((self.number, self.iterations, tuple(known)))

    def apply_gradients(self, grads_and_vars: Any) -> None:
        self.step(list(grads_and_vars))


class State:
    def __init__(self, rule: Optimizer, model: Any) -> None:
        self.rule = rule
        self.leaves = {id(leaf) for leaf in leaves_of(model)}


def leaves_of(model: Any) -> list[Variable]:
    if isinstance(model, Variable):
        return [model]
    if isinstance(model, list | tuple):
        return [leaf for part in model for leaf in leaves_of(part)]
    return list(model.trainable_variables)


def update(state: State, model: Any, grads: Sequence[float | None]) -> None:
    leaves = leaves_of(model)
    assert {id(leaf) for leaf in leaves} <= state.leaves, "a leaf that the state does not know"
    state.rule.step(list(zip(grads, leaves, strict=True)))


class Tape:
    def __init__(self, world: World) -> None:
        self.world = world

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *error: object) -> None:
        self.world.tapes += 1

    def gradient(self, loss: float, sources: Any) -> Any:
        if isinstance(sources, Variable):
            return self._one(sources)
        return [self._one(source) for source in sources]

    def _one(self, source: Variable) -> float | None:
        return None if source.number % 3 == 2 else source.number + self.world.tapes / 1000


class World:
    """One run: modules that stand in for TensorFlow and `tfexplicit`, and what was recorded."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.tapes = self.numbers = self.optimizers = 0

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def next_optimizer(self) -> int:
        self.optimizers += 1
        return self.optimizers

    def optimizer(self, learning_rate: float = 0.1) -> Optimizer:
        return Optimizer(self, learning_rate)

    def modules(self) -> dict[str, ModuleType]:
        tensorflow, tx = ModuleType("tensorflow"), ModuleType("tfexplicit")
        classes = SimpleNamespace(Adam=self.optimizer, SGD=self.optimizer, Nadam=self.optimizer)
        vars(tensorflow).update(
            keras=SimpleNamespace(optimizers=classes),
            function=lambda function: function,
            GradientTape=lambda: Tape(self),
            Variable=lambda value: Variable(self),
            clip_by_global_norm=lambda grads, norm: ([g and g / 2 for g in grads], norm),
        )
        vars(tx).update(
            Adam=self.optimizer,
            SGD=self.optimizer,
            setup=State,
            update=update,
            trainables=leaves_of,
        )
        return {"tensorflow": tensorflow, "tfexplicit": tx}

    def run(self, text: str) -> Exception | None:
        """Execute a program; the exception that ended it, if one did."""
        names = {"make": lambda: Model(self), "flag": True, "data": [1, 2], "loss": 1.0}
        saved = {name: sys.modules.get(name) for name in self.modules()}
        sys.modules.update(self.modules())
        try:
            exec(compile(text, "generated", "exec"), names)
        except Exception as error:
            return error
        finally:
            for name, module in saved.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module
        return None


BINDINGS = {
    "model": "make()",
    "other": "make()",
    "W": "tf.Variable(1.0)",
    "opt": "tf.keras.optimizers.Adam(0.1)",
    "opt_b": "tf.keras.optimizers.Nadam(0.1)",
}


@st.composite
def bindings(draw: st.DrawFn) -> list[str]:
    lines = []
    for name in draw(st.permutations(list(BINDINGS))):
        line = f"{name} = {BINDINGS[name]}"
        form = draw(st.sampled_from(["plain"] * 6 + ["if", "if else", "try", "alias", "loop"]))
        if form == "if":
            line = f"if flag:\n    {line}"
        elif form == "if else":
            line = f"if flag:\n    {line}\nelse:\n    {line}"
        elif form == "try":
            line = f"try:\n    {line}\nexcept ValueError:\n    raise"
        elif form == "alias":
            line = f"{name}_made = {BINDINGS[name]}\n{name} = {name}_made"
        elif form == "loop":
            line = f"for _ in data:\n    {line}"
        lines.append(line)
    return lines


@st.composite
def steps(draw: st.DrawFn) -> str:
    variables = draw(
        st.sampled_from(
            [
                "model.trainable_variables",
                "other.trainable_variables",
                "model.trainable_variables + other.trainable_variables",
                "[*other.trainable_variables, W]",
                "[W]",
            ]
        )
    )
    named = draw(st.booleans())
    lines = ["with tf.GradientTape() as tape:", "    loss = 1.0"]
    if named:
        lines.append(f"names = {variables}")
        variables = "names"
    lines.append(f"g = tape.gradient(loss, {variables})")
    between = draw(st.sampled_from(["", "g, _ = tf.clip_by_global_norm(g, 1.0)", "g = list(g)"]))
    lines += [between] if between else []
    pairs = draw(
        st.sampled_from(
            [
                f"zip(g, {variables})",
                f"[(a, b) for a, b in zip(g, {variables}) if a is not None]",
                f"((2 * a, b) for a, b in zip(g, {variables}) if a is not None)",
            ]
        )
    )
    if draw(st.integers(0, 4)) == 0:
        lines.append(f"pairs = {pairs}")
        pairs = "pairs"
    lines.append(f"{draw(st.sampled_from(['opt', 'opt', 'opt_b']))}.apply_gradients({pairs})")
    return "\n".join(lines)


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Functions first, then bindings with calls, steps and new bindings in between."""
    functions, calls = [], []
    for number in range(draw(st.integers(0, 2))):
        parameter = draw(st.sampled_from(["", "", "model"]))
        functions.append(f"def step_{number}({parameter}):\n{indented(draw(steps()))}")
        passed = draw(st.sampled_from(["model", "model", "other"])) if parameter else ""
        calls.append(f"step_{number}({passed})")
    body = draw(bindings())
    events = [*calls, *draw(st.lists(steps(), max_size=2))]
    if draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(list(BINDINGS)))
        events.insert(draw(st.integers(0, len(events))), f"{name} = {BINDINGS[name]}")
    events += draw(st.lists(st.sampled_from(calls), max_size=2)) if calls else []
    if draw(st.booleans()):
        return _in_main(functions, body, events)
    return "\n".join(["import tensorflow as tf", *functions, *body, *events, ""])


def _in_main(functions: list[str], body: list[str], events: list[str]) -> str:
    inner = [indented(text) for text in (*body, *functions, *events, "pass")]
    return "\n".join(["import tensorflow as tf", "def main():", *inner, "main()", ""])


def both_runs(text: str) -> Iterator[tuple[World, Exception | None]]:
    result = migrate_source(text.encode(), Path("generated.py"))
    for program in (text, result.after.decode() if result.after else text):
        world = World()
        yield world, world.run(program)


BOUND_ANEW_AFTER_A_CALL = """\
import tensorflow as tf
def step_0():
    with tf.GradientTape() as tape:
        loss = 1.0
    g = tape.gradient(loss, other.trainable_variables)
    opt.apply_gradients(zip(g, other.trainable_variables))
model = make()
other = make()
opt = tf.keras.optimizers.Adam(0.1)
step_0()
model = make()
with tf.GradientTape() as tape:
    loss = 1.0
g = tape.gradient(loss, model.trainable_variables)
opt.apply_gradients(zip(g, model.trainable_variables))
"""


@settings(max_examples=300, deadline=None)
@example(BOUND_ANEW_AFTER_A_CALL)
@given(programs())
def test_same_optimizers_step_the_same_variables(text: str) -> None:
    (before, error), (after, later_error) = both_runs(text)
    assume(error is None)
    assert later_error is None
    assert after.records == before.records
