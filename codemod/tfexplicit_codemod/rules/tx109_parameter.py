"""TX109: a function that takes the optimizer takes the state; every caller passes it."""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.edits import InsertBeside, Replace
from tfexplicit_codemod.registry import Rule


def parameter_edits(
    source: Source, tx: str, function: ast.FunctionDef, name: ast.arg, state: str
) -> list[Replace]:
    """The new name of the parameter, what it is now if it says what it is, and the docstring."""
    line, column = source.start(name)
    edits = [Replace((line, column), (line, column + len(name.arg)), state)]
    if name.annotation is not None:
        start, end = source.start(name.annotation), source.end(name.annotation)
        edits.append(Replace(start, end, f"{tx}.OptState"))
    return [*edits, *_docstring_edits(source, function, name.arg, state)]


def _docstring_edits(
    source: Source, function: ast.FunctionDef, name: str, state: str
) -> list[Replace]:
    """The entry of the parameter: `name:`, `name (type):` or `:param name:` begins a line."""
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is None or not isinstance(first, ast.Expr):
        return []
    entry = rf"^([ \t]*(?::(?:param|type) )?){name}(?=(?: *\([^()]*\))? *:)"
    before = source.segment(first.value)
    after = re.sub(entry, rf"\g<1>{state}", before, flags=re.MULTILINE)
    start, end = source.start(first.value), source.end(first.value)
    return [Replace(start, end, after)] if after != before else []


def beside_parameter(source: Source, tx: str, name: ast.arg, state: str) -> InsertBeside:
    """A parameter more, after the optimizer; it says what it is if the optimizer does."""
    line, column = source.start(name)
    code = f"{state}: {tx}.OptState" if name.annotation else state
    return InsertBeside((line, column), (line, column + len(name.arg)), code)


def beside_argument(source: Source, argument: ast.expr, keyword: str, state: str) -> InsertBeside:
    """An argument more, after the optimizer; by keyword, if the optimizer is."""
    code = f"{keyword}={state}" if keyword else state
    return InsertBeside(source.start(argument), source.end(argument), code)


def keyword_edit(source: Source, keyword: ast.keyword, state: str) -> Replace:
    assert keyword.arg is not None
    line, column = source.start_of_keyword(keyword)
    return Replace((line, column), (line, column + len(keyword.arg)), state)


rule = Rule(
    code="TX109",
    name="state-parameter",
    summary="A function that takes the optimizer takes the state; every caller passes it.",
    why=(
        "Whoever calls the function decides which optimizer steps, and so which state. The state "
        "is made where the optimizer is made, and passed in its place; a `tf.function` takes it as "
        "it took the optimizer. The signature and all calls, those in other files of the project "
        "too, change together, or none does; so does its entry in the docstring. A function that "
        "does more with the optimizer than step it takes the state beside it: "
        "`train_step(model, optimizer, opt_state, x, y)`."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])


@tf.function
def train_step(model, x, y, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


adam = tf.keras.optimizers.Adam(0.01)
for _ in range(5):
    print(float(train_step(model, x, y, optimizer=adam)))
print("steps:", int(adam.iterations))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])


@tf.function
def train_step(model, x, y, opt_state):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return loss


adam = tx.Adam(0.01)
adam_opt_state = tx.setup(adam, model)
for _ in range(5):
    print(float(train_step(model, x, y, opt_state=adam_opt_state)))
print("steps:", int(adam_opt_state.step))
""",
)
