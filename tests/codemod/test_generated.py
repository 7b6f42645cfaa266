"""Programs put together at random: whatever the shape, nothing is lost and nothing is skipped."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import FileResult, Outcome

MODELS = ("model", "encoder", "decoder")
OPTIMIZERS = ("optimizer", "opt_d")


def mostly(usual: list[str], odd: list[str]) -> st.SearchStrategy[str]:
    """The usual in most draws, so that whole programs of it come up as well."""
    return st.integers(0, 9).flatmap(lambda n: st.sampled_from(odd if n == 9 else usual))


constructors = mostly(
    [
        "tf.keras.optimizers.Adam(1e-3)",
        "tf.keras.optimizers.SGD(lr=0.1, momentum=0.9)",
        "tf.keras.optimizers.RMSprop()",
        "Adam(learning_rate=rate)",
    ],
    ["elsewhere()"],
)


@st.composite
def definitions(draw: st.DrawFn) -> str:
    """Statements that bind the names, in any order, some of them in branches or twice."""
    lines = [f"{name} = make()" for name in MODELS]
    lines += [f"{name} = {draw(constructors)}" for name in OPTIMIZERS]
    lines = list(draw(st.permutations(lines)))
    extra = draw(mostly(["none", "with", "if else"], ["if", "again", "trainable"]))
    at = draw(st.integers(0, len(lines) - 1))
    if extra == "with":
        lines[at] = f"with scope():\n    {lines[at]}  # kept"
    elif extra == "if":
        lines[at] = f"if a:\n    {lines[at]}"
    elif extra == "if else":
        lines[at] = f"if a:\n    {lines[at]}\nelse:\n    {lines[at]}"
    elif extra == "again":
        lines.append(lines[at])
    elif extra == "trainable":
        lines.append("model.trainable = False")
    return "\n".join(lines) + "\n"


@st.composite
def variables(draw: st.DrawFn) -> str:
    models = draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2, unique=True))
    attribute = draw(
        mostly(["trainable_variables", "trainable_weights"], ["variables", "layers[0].kernel"])
    )
    texts = [f"{model}.{attribute}" for model in models]
    if attribute == "layers[0].kernel":
        return f"[{', '.join(texts)}]"
    return draw(st.sampled_from([" + ".join(texts), f"list({texts[0]})", f"[*{texts[0]}]"]))


@st.composite
def updates(draw: st.DrawFn) -> str:
    """One step: a tape, what happens to the gradients, and the update in one of its forms."""
    optimizer = draw(st.sampled_from(OPTIMIZERS))
    applied = draw(variables())
    taped = applied if draw(st.integers(0, 9)) else draw(variables())
    between = draw(
        st.sampled_from(
            [
                "",
                "g, _ = tf.clip_by_global_norm(g, 1.0)  # clip\n",
                "g = [2 * x for x in g]\n",
                "g = helper(g)\n",
            ]
        )
    )
    pairs = draw(
        mostly(
            [
                f"zip(g, {applied})",
                f"[(2 * a, b) for a, b in zip(g, {applied})]",
                f"((a, b) for a, b in zip(g, {applied}) if a is not None)",
                f"grads_and_vars=zip(g, {applied})",
            ],
            ["pairs", "*pairs"],
        )
    )
    call = draw(
        mostly(
            [
                f"{optimizer}.apply_gradients({pairs})",
                f"{optimizer}.apply_gradients(\n    {pairs}\n)",
                f"if c: {optimizer}.apply_gradients({pairs})",
                f"{optimizer}.apply_gradients({pairs}); done = 1",
            ],
            [
                f"{optimizer}.apply_gradients({pairs}, name='x')",
                f"step = {optimizer}.apply_gradients({pairs})",
            ],
        )
    )
    tape = "with tf.GradientTape() as tape:\n    loss = f(x)\n"
    return f"{tape}g = tape.gradient(loss, {taped})\n{between}{call}  # step\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@st.composite
def programs(draw: st.DrawFn) -> str:
    head = "import tensorflow as tf\nfrom keras.optimizers import Adam\n"
    parts = [draw(definitions())]
    for number, body in enumerate(draw(st.lists(updates(), min_size=1, max_size=3))):
        form = draw(mostly(["plain", "function", "loop", "traced"], ["parameter"]))
        if form == "plain":
            parts.append(body)
        elif form == "loop":
            parts.append("for x in data:\n" + indented(body))
        else:
            decorator = "@tf.function\n" if form == "traced" else ""
            parameter = "model" if form == "parameter" else ""
            parts.append(f"{decorator}def step_{number}({parameter}):\n{indented(body)}")
    if draw(st.booleans()):
        # Functions may come before what they capture.
        parts.reverse()
    return head + "".join(parts)


def migrate(text: str) -> FileResult:
    return migrate_source(text.encode(), Path("generated.py"))


def implicit_calls(text: str) -> int:
    return sum(
        isinstance(node, ast.Attribute) and node.attr == "apply_gradients"
        for node in ast.walk(ast.parse(text))
    )


def explicit_calls(text: str) -> int:
    return sum(
        isinstance(node, ast.Attribute) and ast.unparse(node) == "tx.update"
        for node in ast.walk(ast.parse(text))
    )


@settings(max_examples=100, deadline=None)
@given(programs())
def test_whatever_the_shape(text: str) -> None:
    result = migrate(text)
    assert result.outcome in (Outcome.CHANGED, Outcome.NEEDS_HAND), result.reason
    # Every site is rewritten or has a TODO, so there is always something to write.
    assert result.after is not None
    after = result.after.decode()
    every_site_is_rewritten_or_left_with_a_reason(text, result, after)
    state_is_bound_once_and_read_where_it_is_bound(after)
    second_run_changes_nothing(after)


def every_site_is_rewritten_or_left_with_a_reason(
    text: str, result: FileResult, after: str
) -> None:
    left = [site for site in result.sites if site.left]
    assert len(result.sites) == implicit_calls(text)
    assert implicit_calls(after) == len(left)
    assert explicit_calls(after) == len(result.sites) - len(left)
    assert all(site.reason for site in left)
    assert after.count("# TODO(tfexplicit TX2") <= len(left)
    assert after.count("# step") == text.count("# step")
    assert after.count("# clip") == text.count("# clip")
    assert after.count("# kept") == text.count("# kept")


def state_is_bound_once_and_read_where_it_is_bound(after: str) -> None:
    tree = ast.parse(after)
    bound = [
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and ast.unparse(node.value).startswith("tx.setup(")
    ]
    read = {
        node.args[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "tx.update"
        and isinstance(node.args[0], ast.Name)
    }
    assert read == set(bound)
    assert len(bound) == len(read)


def second_run_changes_nothing(after: str) -> None:
    again = migrate(after)
    assert again.after is None
    assert all(site.left for site in again.sites)
