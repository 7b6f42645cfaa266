"""TX103: `tf.keras.optimizers.Adam(...)` becomes the rule `tx.Adam(...)`.

Only where every use of the optimizer is in sight and is rewritten: an update site, or a read or
write that TX115 knows. Any other use (`compile`, a checkpoint) keeps the Keras object, whose state
`setup` takes over. So does Adam where a gradient may be sparse: see `sparse.py`. Clipping, decay
and accumulation become modifiers: `tx.Chain(tx.ClipByNorm(1.0), tx.Adam(...))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfexplicit_codemod.analysis.frameworks import normalised
from tfexplicit_codemod.analysis.names import dotted, imported_paths, imported_roots, qualified
from tfexplicit_codemod.analysis.placement import Placement
from tfexplicit_codemod.analysis.rule_arguments import (
    ARGUMENTS,
    accumulates,
    has_modifiers,
    rule_edits,
)
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.edits import Replace
from tfexplicit_codemod.registry import Rule
from tfexplicit_codemod.surroundings import Surroundings

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.groups import Group

# Repeated ids of a sparse gradient come to the same here, whether they are added up or not.
LINEAR = ("SGD",)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def constructor(placement: Placement) -> ast.Call | None:
    """The call whose value an assignment binds to the optimizer's name, and to no other."""
    made = placement.definition.statement
    if not isinstance(made, ast.Assign) or placement.definition.binders != (made,):
        return None
    is_alone = len(made.targets) == 1 and isinstance(made.targets[0], ast.Name | ast.Attribute)
    return made.value if is_alone and isinstance(made.value, ast.Call) else None


def edits(
    source: Source,
    tx: str,
    group: Group,
    placement: Placement,
    call: ast.Call,
    around: Surroundings,
) -> list[Replace]:
    """The call as a rule; nothing where the Keras object has to stay."""
    made = placement.definition.statement
    name = _rule_name(source, call)
    if name is None or _is_called_otherwise(source, call):
        return []
    if accumulates(call) and len(group.members) > 1:
        # Keras counts all calls together, whichever leaves they step.
        return []
    if isinstance(group.home.owner, ast.ClassDef) and group.home.owner.bases:
        # A base class may look at the attribute: Keras saves it, a checkpoint walks it.
        return []
    same_block = source.block(made) is source.block(placement.statement)
    if not same_block or {"distribute", "scope"} & source.identifiers:
        # Several replicas clip and sum in an order that is the Keras object's.
        return []
    explicit = any(not part.is_model for part in group.parts)
    if explicit and "numpy" in imported_roots(source):
        # A variable of NumPy's arrays is float64: see `rounding.py`.
        return []
    # Last, since these may look at many files.
    if _may_be_read_elsewhere(source, group, around):
        return []
    if (name not in LINEAR or has_modifiers(call)) and around.sparse():
        return []
    if around.rounds():
        return []
    return rule_edits(source, tx, name, call)


def _rule_name(source: Source, call: ast.Call) -> str | None:
    """The tx rule for a Keras class that is imported under one path only."""
    parts, path = dotted(call.func), qualified(source, call.func)
    if parts is None or path is None:
        return None
    scope = source.scope(call).lookup(parts[0])
    if scope is None or len(imported_paths(scope, parts[0])) != 1:
        return None
    folder, _, name = normalised(path).rpartition(".")
    if folder == "keras.optimizers.legacy":
        # The legacy Adam rounds its betas otherwise, which moves a first step by 7e-6.
        return name if name == "SGD" and not has_modifiers(call) else None
    return name if folder == "keras.optimizers" and name in ARGUMENTS else None


def _is_called_otherwise(source: Source, call: ast.Call) -> bool:
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(_is_function(source, value) for value in values)


def _is_function(source: Source, value: ast.expr, seen: frozenset[ast.expr] = frozenset()) -> bool:
    """Keras calls a learning rate function without arguments, a rule calls it with the step."""
    if isinstance(value, ast.Lambda):
        return True
    seen |= {value}
    if isinstance(value, ast.IfExp):
        return any(_is_function(source, each, seen) for each in (value.body, value.orelse))
    if isinstance(value, ast.Attribute):
        return any(method.name == value.attr for method in _methods(source))
    if isinstance(value, ast.Call):
        path = qualified(source, value.func) or (dotted(value.func) or ("",))[-1]
        return path.split(".")[-1] == "partial" or _is_defined_here(source, value.func)
    if not isinstance(value, ast.Name):
        return False
    scope = source.scope(value).lookup(value.id)
    bindings = scope.bindings[value.id] if scope else []
    values = [binding.value for binding in bindings if binding.value and not binding.path]
    return any(isinstance(binding.node, _FUNCTIONS) for binding in bindings) or any(
        _is_function(source, each, seen) for each in values if each not in seen
    )


def _methods(source: Source) -> Iterator[ast.FunctionDef]:
    """Every method that is read without being called: a property is not one."""
    return (
        function
        for function in source.nodes(ast.FunctionDef)
        if isinstance(source.parent_of.get(function), ast.ClassDef)
        and not any((dotted(d) or ("",))[-1] == "property" for d in function.decorator_list)
    )


def _is_defined_here(source: Source, callee: ast.expr) -> bool:
    """True for a function of the file, which may return a function, or a class with a call."""
    if not isinstance(callee, ast.Name):
        return False
    scope = source.scope(callee).lookup(callee.id)
    nodes = [binding.node for binding in scope.bindings[callee.id]] if scope else []
    return any(
        isinstance(node, _FUNCTIONS) or (isinstance(node, ast.ClassDef) and not node.bases)
        for node in nodes
    )


def _may_be_read_elsewhere(source: Source, group: Group, around: Surroundings) -> bool:
    """By its name: in a text, such as `__all__`, or in a file that imports this one."""
    name, owner = group.home.path[-1], group.home.owner
    if any(constant.value == name for constant in source.nodes(ast.Constant)):
        return True
    is_of_function = owner is not source.root and not group.home.of_self
    return not is_of_function and around.is_read_elsewhere(name)


rule = Rule(
    code="TX103",
    name="constructor",
    summary="`tf.keras.optimizers.Adam(...)` becomes the rule `tx.Adam(...)`.",
    why=(
        "Where a program does nothing with an optimizer but update, it needs no Keras object: "
        "a rule is the same formula without hidden state. Reads of `iterations` and reads and "
        "writes of the learning rate become those of the state ([TX115](TX115.md)). An optimizer "
        "that is also compiled, saved, passed on, used in another file, or named in a magic or a "
        "shell line of a notebook stays a Keras object, which `setup` takes as it is. So does "
        "Adam where the project has an embedding or gathers rows: Keras 3 computes another step "
        "for repeated ids than the rule, and training must not change. So does one with "
        "`use_ema=True`: `tx.EMA` averages as Keras 3 does, which begins with the leaf after the "
        "first step, while `tf_keras` begins with the leaf before it, and which of the two "
        "`tf.keras` is, only the run decides. Also, who averages calls "
        "`finalize_variable_values` in the end, a method of the Keras object.\n\n"
        "A class that was imported by its name, and that nothing uses any more, goes from its "
        "import, unless a comment stands there or another file may import it from here."
    ),
    before="""\
import tensorflow as tf
from tensorflow.keras import optimizers

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = optimizers.SGD(0.05, momentum=0.9, clipnorm=1.0)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(5):
    print(float(train_step(x, y)))
""",
    after="""\
import tensorflow as tf
from tensorflow.keras import optimizers
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tx.Chain(tx.ClipByNorm(1.0), tx.SGD(0.05, momentum=0.9))
opt_state = tx.setup(optimizer, model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return loss


for _ in range(5):
    print(float(train_step(x, y)))
""",
)
