"""Comments, arguments and syntax at the site and around it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import libcst
import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import FileResult, Outcome

HEAD = "import tensorflow as tf\nm = make()\no = tf.keras.optimizers.Adam(rate())\n"


def migrate(text: str) -> FileResult:
    return migrate_source(text.encode(), Path("a.py"))


def last_line(call: str) -> str:
    after = migrate(f"{HEAD}{call}\n").after
    assert after is not None
    return after.decode().splitlines()[-1]


@pytest.mark.parametrize(
    "comment", ["# noqa: E501 reason", "# type: ignore[arg-type]  # why", "#!x", "# é"]
)
def test_bug_33_the_comment_behind_a_rewritten_line_stays(comment: str) -> None:
    line = last_line(f"o.apply_gradients(zip(g, m.trainable_variables))   {comment}")
    assert line == f"tx.update(o_opt_state, m, g)   {comment}"


@pytest.mark.parametrize(
    "call",
    [
        "apply_gradients()",
        "apply_gradients(*z)",
        "apply_gradients(**kw)",
        "apply_gradients(zip())",
        "apply_gradients(zip(g))",
        "apply_gradients(zip(*z))",
        "apply_gradients(zip(g, m.trainable_variables, h))",
        "apply_gradients(zip(g, m.trainable_variables), 'name', 3)",
        "apply_gradients(zip(g, m.trainable_variables), name='x')",
        "apply_gradients(zip(g, m.trainable_variables), skip_gradients_aggregation=True)",
        "apply_gradients(zip(g, m.trainable_variables), experimental_aggregate_gradients=False)",
        "apply_gradients(grads_and_vars=zip(g, m.trainable_variables), **kw)",
        "apply_gradients([])",
        "apply_gradients([()])",
        "apply_gradients([(g,)])",
        "apply_gradients([*p])",
        "apply(g)",
        "apply(*a)",
        "minimize()",
        "minimize(f)",
        "minimize(f, *v)",
    ],
)
def test_bug_35_any_number_of_arguments_is_read_or_left(call: str) -> None:
    (site,) = migrate(f"{HEAD}o.{call}\n").sites
    assert site.left
    assert site.reason


def test_bug_35_the_keyword_form_is_rewritten() -> None:
    assert last_line("o.apply_gradients(grads_and_vars=zip(g, m.trainable_variables))") == (
        "tx.update(o_opt_state, m, g)"
    )


@pytest.mark.parametrize(
    "gradients",
    [
        "f(f'{x!r}' 'y' \"z\")",
        "(lambda: g)()",
        "[*a, *b]",
        "[2 * x for x in g if x]",
        "a if b else c",
        "{'a': 1}[k]",
        "not_a_call.attribute[0](x, *y, **z)",
        "[x, y][0]",
        "a @ b ** -c",
    ],
)
def test_bug_37_arguments_of_any_form_are_kept(gradients: str) -> None:
    line = last_line(f"o.apply_gradients(zip({gradients}, m.trainable_variables))")
    before, after = ast.parse(gradients, mode="eval").body, ast.parse(line).body[0]
    assert isinstance(after, ast.Expr)
    assert isinstance(after.value, ast.Call)
    assert ast.dump(after.value.args[2]) == ast.dump(before)


@pytest.mark.parametrize("gradients", ["await x", "yield x", "y := f(x)", "g[::2]"])
def test_bug_37_arguments_that_are_not_followed_leave_the_site(gradients: str) -> None:
    head = HEAD.replace("\n", "\n    ").rstrip()
    update = f"o.apply_gradients(zip(({gradients}), m.trainable_variables))"
    result = migrate(f"async def f():\n    {head}\n    {update}\n")
    assert [site.code for site in result.sites] == ["TX212"]
    assert result.after is not None
    assert update in result.after.decode()


@pytest.mark.parametrize(
    "call",
    [
        "o.apply_gradients(\n    zip(g, m.trainable_variables),\n)",
        "o.apply_gradients(\n    zip(\n        g,\n        m.trainable_variables,\n    )\n)",
        "o.apply_gradients((zip(g, m.trainable_variables)))",
        "o.apply_gradients(zip((g), (m.trainable_variables)))",
        "(o.apply_gradients(zip(g, m.trainable_variables)))",
        "(\n    o\n    .apply_gradients(zip(g, m.trainable_variables))\n)",
        "o.apply_gradients \\\n    (zip(g, m.trainable_variables))",
        "o.apply(g, m.trainable_variables,)",
        "o.apply_gradients([(g[0], v), (g[1], w),])",
        "o.apply_gradients([(g[0], v)])",
        "o.apply_gradients(((g, v),))",
    ],
)
def test_bug_39_commas_and_parentheses(call: str) -> None:
    result = migrate(f"{HEAD}v, w = tf.Variable(1.0), tf.Variable(2.0)\n{call}\n")
    assert [site.left for site in result.sites] == [False]
    assert result.after is not None
    update = ast.parse(result.after).body[-1]
    assert ast.unparse(update).startswith("tx.update(o_opt_state, ")


def test_bug_40_what_was_done_by_hand_is_not_done_again() -> None:
    """A second optimizer of a file that has explicit ones: one import, no name twice."""
    program = (
        f"import tfexplicit as tx\n{HEAD}p = tf.keras.optimizers.SGD()\n"
        "o_opt_state = tx.setup(o, m)\ntx.update(o_opt_state, m, g)\n"
        "p.apply_gradients(zip(g, m.trainable_variables))\n"
    )
    after = migrate(program).after
    assert after is not None
    text = after.decode()
    assert text.count("import tfexplicit") == 1
    assert text.count("o_opt_state = ") == 1
    assert text.count("tx.setup(") == text.count("tx.update(") == 2
    assert migrate(text).after is None


SYNTAX = {
    "match": "match x:\n    case {'a': [1, *_], **rest} if y: pass\n    case A(b=1) | None: pass\n",
    "walrus": "while (n := f(n)) > 0: pass\n",
    "positional only": "def f(a, /, b, *, c): pass\ndef g(a,  /  , *b): pass\nlambda a, /: a\n",
    "with in parentheses": "with (open(a) as b, open(c) as d,):\n    pass\n",
    "decorators": "@x[0].y(lambda: 1)\n@(yield_ := 3)\ndef f(): pass\n",
    "async": "async def f():\n    async for x in y: await z\n    return [i async for i in j]\n",
    "numbers": "x = 1_000 + 0x_FF + 1e-3j + 0b1\n",
    "unpacking": "a, *b = *c, *d\nfor x in *a, *b: pass\nf(*a, **b, c=1)\n",
    "annotations": "x: 'T' = 1\ny: int\ndef f(x: int = 3, *a: int, **k: int) -> int: ...\n",
    "semicolons": "a = 1; b = 2;\nif x: y = 1; z = 2\n",
    "exception groups": "try: pass\nexcept* (A, B) as e: pass\n",
    "star in an index": "def f(*args: *Ts): pass\nx: A[*B] = y[*c, 1]\n",
    "type parameters": "type A[T: int, *Ts, **P] = list[T]\nclass C[T](B): pass\n",
    "defaults of them": "class C[T = int]: pass\n",
}  # fmt: skip
SINCE = {"exception groups": (3, 11), "star in an index": (3, 11), "type parameters": (3, 12),
         "defaults of them": (3, 13)}  # fmt: skip


@pytest.mark.parametrize("name", SYNTAX)
def test_bug_46_and_47_new_syntax_comes_back(name: str) -> None:
    text = SYNTAX[name]
    assert libcst.parse_module(text).code == text
    site = "o.apply_gradients(zip(g, m.trainable_variables))\n"
    result = migrate(HEAD + text + site)
    if sys.version_info >= SINCE.get(name, (3, 10)):
        assert result.after is not None
        assert text in result.after.decode()
        assert "tx.update(o_opt_state, m, g)" in result.after.decode()
    else:
        # A Python that cannot run the program does not read it either.
        assert result.outcome is Outcome.FAILED
