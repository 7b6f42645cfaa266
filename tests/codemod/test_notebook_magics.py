"""What is no Python in a cell is hidden and comes back; what is Python keeps its place."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager
from IPython.utils.text import DollarFormatter
from notebook_program import IMPORTS, MODEL, OPTIMIZER, STEP, migrated
from tfexplicit_codemod.notebook.magics import without_magics
from tfexplicit_codemod.notebook.masks import Masks
from tfexplicit_codemod.notebook.script import as_script

# One element per line: `True` where IPython runs the line as something other than Python.
CELLS = {
    "matplotlib": ("%matplotlib inline\nx = 1", [True, False]),
    "shell": ("!pip install -q 'a b\nx = 1", [True, False]),
    "shell with brackets": ("!ls ($(\n!!ls\nx = 1", [True, True, False]),
    "in a block": ("if x:\n    !ls -l\n    %cd ..\nelse:\n  x", [False, True, True, False, False]),
    "joined lines": ("!pip install a \\\n   b\nx = 1", [True, True, False]),
    "help": ("model?\nmodel.fit??\n?model\nx", [True, True, True, False]),
    "assigned": ("files = !ls *.py\nout = %sql select\nx = a != b", [True, True, False]),
    "modulo on a new line": ("x = (a\n  % b\n  )\ny = '''\n%time\n!ls\n'''", [False] * 7),
    "modulo after a backslash": ("x = a \\\n  % b", [False, False]),
    "in a string": ('s = \'a\\\n%b\'\nt = """\n? """', [False] * 4),
    "question in a comment": ("x = 1  # what is x?\n# why?", [False, False]),
    "percent format": ("'%d' % 3\n\"%s\" % x", [False, False]),
    "raw string": ("r'\\''\n%env A=1", [False, True]),
    "semicolon": ("plt.plot();\nx;", [False, False]),
    "unbalanced": (")\n%time", [False, True]),
}


def masked(text: str) -> tuple[str, Masks]:
    masks = Masks(text, frozenset())
    return without_magics(text, masks), masks


@pytest.mark.parametrize("name", CELLS)
def test_bug_21_lines_that_are_no_python(name: str) -> None:
    text, expected = CELLS[name]
    code, masks = masked(text)
    hidden: list[bool] = []
    pairs = zip(code.split("\n"), text.split("\n"), strict=True)
    hidden = [line != original for line, original in pairs]
    assert hidden == expected
    assert masks.undone(code) == text


@pytest.mark.parametrize("name", [name for name in CELLS if name != "unbalanced"])
def test_ipython_reads_the_same_lines_as_magic(name: str) -> None:
    text, expected = CELLS[name]
    assert "get_ipython()" in TransformerManager().transform_cell(text) or not any(expected)
    if not any(expected):
        assert TransformerManager().transform_cell(text).rstrip("\n") == text
    else:
        ast.parse(masked(text)[0])


def test_code_after_a_magic_keeps_its_place() -> None:
    text = "%time optimizer = Adam(0.1)\nfor x in d:\n    %timeit  -n1 -r 1 -q step(x)"
    code, masks = masked(text)
    words = zip(code.split("\n"), ("optimizer", "x", "step"), strict=True)
    assert [line.index(word) for line, word in words] == [6, 4, 25]
    names = [node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    assert {"optimizer", "Adam", "step"} <= set(names)
    assert masks.undone(code) == text


@pytest.mark.parametrize(
    "line",
    [
        "%time for x in d: optimizer = f(x)",
        "%timeit -n 10 optimizer = f()",
        "%timeit optimizer = f()",
        "%prun -s time optimizer = f(",
    ],
)
def test_code_that_cannot_be_followed_may_bind_its_names(line: str) -> None:
    code, masks = masked(f"x = 1\n{line}\ny = 2")
    stored = {
        node.id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    assert "optimizer" in stored
    assert masks.undone(code) == f"x = 1\n{line}\ny = 2"


def test_what_code_that_is_not_read_may_change() -> None:
    text = "tf.x(\nmodel.trainable = False\nimport np as k\nif a == b: print(tf"
    stub = ast.parse(Masks(text, frozenset({"tf", "k", "np"})).unread(text))
    stored = {
        n.id for n in ast.walk(stub) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    attributes = {n.attr for n in ast.walk(stub) if isinstance(n, ast.Attribute)}
    assert stored == {"model", "a", "b", "print", "np", "k", "_"}
    assert attributes == {"x", "trainable"}


# Whether IPython puts the optimizer into the line.
LINES = {
    "!echo {optimizer}": True,
    "!echo {optimizer.iterations.numpy()} > steps": True,
    "if x:\n    v = !echo a \\\n {optimizer!r}": True,
    "!echo {[optimizer for _ in [{1: 2}]]}": True,
    "!echo {str({}) + optimizer}": False,
    "!!echo $optimizer.name": True,
    "%env STEP={optimizer.iterations}": True,
    "steps = %env STEP=$optimizer": True,
    '%%bash -s "$optimizer"\necho $1': True,
    "%%writefile {optimizer.name}.txt\n": True,
    "%%sx\necho $optimizer": True,
    "!python train.py --optimizer adam": False,
    "!echo {{optimizer}} optimizer": False,
    "!ls } {optimizer}": False,
    "%%bash\necho $optimizer {optimizer}": False,
    "!awk '{print $1}' optimizer.txt": False,
}


@pytest.mark.parametrize("line", LINES)
def test_an_optimizer_that_ipython_puts_into_a_line_stays(
    line: str, as_notebook: Callable[..., bytes]
) -> None:
    after = migrated(as_notebook(IMPORTS, MODEL, OPTIMIZER, STEP, line))
    assert after[4] == line
    assert after[2].startswith(OPTIMIZER if LINES[line] else "optimizer = tx.SGD(0.1)")


@pytest.mark.parametrize("line", [line for line in LINES if "%%" not in line])
def test_ipython_puts_the_same_into_a_line(line: str) -> None:
    class Optimizer(str):
        iterations = name = property(lambda self: self)
        numpy = str.__str__

    try:
        expanded = DollarFormatter().vformat(line, (), {"optimizer": Optimizer("<it>")})
    except (ValueError, SyntaxError):
        expanded = line
    assert ("<it>" in expanded) == LINES[line]


def test_an_optimizer_that_a_magic_is_given_stays(as_notebook: Callable[..., bytes]) -> None:
    after = migrated(as_notebook(IMPORTS, MODEL, OPTIMIZER, STEP, "%store optimizer"))
    assert after[2].startswith(OPTIMIZER)


def test_an_attribute_in_a_shell_line_is_one_of_any_object(
    as_notebook: Callable[..., bytes],
) -> None:
    trainer = """\
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = tf.keras.optimizers.SGD(0.1)

    def step(self, tape, loss):
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))"""
    shown = "!echo {trainer.optimizer.iterations.numpy()}"
    assert "= tx.SGD(0.1)" in migrated(as_notebook(IMPORTS, trainer))[1]
    for line in (shown, "print trainer.optimizer.iterations"):
        assert "= tf.keras.optimizers.SGD(0.1)" in migrated(as_notebook(IMPORTS, trainer, line))[1]


SIGNS = [*"%!?x{}$. \n'\"()\\#=;:\x0c\ré\u1401"]
WORDS = ["\r\n", '"""', "%time ", "%%bash", "ls", "\u14010\u1401", "for ", " in "]
PIECES = st.sampled_from([*SIGNS, *WORDS])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_cell_comes_back(text: str) -> None:
    code, masks = masked(text)
    assert masks.undone(code) == text
    ends = ("\r\n", "\r", "\n")
    assert sum(map(code.count, ends)) == sum(map(text.count, ends))


def test_a_notebook_as_a_script(as_notebook: Callable[..., bytes]) -> None:
    source = as_notebook(
        "%matplotlib inline\nif x:\n    !ls \\\n  -l\n    %run -i ../src/utils.py 1",
        "#md text",
        "%%time\nfiles = !ls\n%time f(x);\nmodel?",
        "%%bash\nimport os",
        "import os\nfrom a import (b,\nprint 'x'\nfrom c import d as e",
    )
    assert as_script(source) == (
        "None\nif x:\n    None\n    from src.utils import *\n"
        "files = None\nNone;f(x);\nNone\nNone\nimport os; from c import d as e\n"
    )
