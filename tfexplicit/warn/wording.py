"""What a line of the user's program calls things, for a warning that speaks of them."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator

from tfexplicit_codemod.analysis.naming import state_name

# Where the source does not tell.
UNKNOWN = {
    "optimizer": "optimizer",
    "model": "model",
    "grads": "grads",
    "loss": "loss_fn",
}
_VARIABLES = ("trainable_variables", "trainable_weights", "variables", "weights")


def words_at(file: str, line: int, call: str) -> dict[str, str]:
    """The names at the call of the method `call` on that line, as `AtRunTime` uses them."""
    node = _only_call(file, line, call)
    found = {} if node is None else _words_of(node)
    words = UNKNOWN | found
    return words | {"call": call, "state": _state_for(words["optimizer"])}


def place_of_call(file: str, line: int, call: str) -> tuple[int, int, str]:
    """The line and column, from 1, of the call of the method `call` on that line, and its text.

    The column is 0 where the line holds several.
    """
    node = _only_call(file, line, call)
    if node is None:
        return line, 0, linecache.getline(file, line).strip()
    before = linecache.getline(file, node.lineno).encode()[: node.col_offset]
    text = " ".join(ast.unparse(node).split())
    return node.lineno, len(before.decode()) + 1, text


def is_statement(file: str, line: int, call: str) -> bool:
    """True where the source says that the result of the call is dropped; False if in doubt."""
    node = _only_call(file, line, call)
    return any(
        isinstance(statement, ast.Expr) and statement.value is node
        for statement in ast.walk(_tree_of(file))
        if node is not None
    )


def _only_call(file: str, line: int, name: str) -> ast.Call | None:
    """The call of that name at that line; None where there are several, or no source."""
    calls = [call for call in _calls_at(file, line) if _name_of(call) == name]
    return calls[0] if len(calls) == 1 else None


def _calls_at(file: str, line: int) -> Iterator[ast.Call]:
    for node in ast.walk(_tree_of(file)):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            yield node


def _name_of(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


@functools.lru_cache(maxsize=64)
def _tree_of(file: str) -> ast.Module:
    # linecache also has the cells of a notebook.
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def _state_for(optimizer: str) -> str:
    """As `migrate` names it: `self.d_optimizer` has `self.d_opt_state`."""
    owner, dot, name = optimizer.rpartition(".")
    if not name.isidentifier():
        return "opt_state"
    return f"{owner}{dot}{state_name(name, ())}"


def _words_of(call: ast.Call) -> dict[str, str]:
    words = {}
    if isinstance(call.func, ast.Attribute):
        words["optimizer"] = ast.unparse(call.func.value)
    given = {word.arg: word.value for word in call.keywords}
    arguments = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    name = _name_of(call)
    if name == "minimize":
        loss, variables = [*arguments, None, None][:2]
        return words | _texts(
            loss=loss or given.get("loss"), model=variables or given.get("var_list")
        )
    if name == "apply":
        grads, variables = [*arguments, None, None][:2]
        return words | _texts(
            grads=grads or given.get("grads"),
            model=variables or given.get("trainable_variables"),
        )
    pairs = arguments[0] if arguments else given.get("grads_and_vars")
    return words | _words_of_pairs(pairs)


def _words_of_pairs(pairs: ast.expr | None) -> dict[str, str]:
    if isinstance(pairs, ast.Call) and _name_of(pairs) == "list" and len(pairs.args) == 1:
        pairs = pairs.args[0]
    if isinstance(pairs, ast.Call) and _name_of(pairs) == "zip" and len(pairs.args) == 2:
        return _texts(grads=pairs.args[0], model=pairs.args[1])
    if isinstance(pairs, ast.List) and pairs.elts and all(map(_is_pair, pairs.elts)):
        grads, variables = zip(*(pair.elts for pair in pairs.elts), strict=True)  # type: ignore[attr-defined]
        return _texts(
            grads=ast.List(elts=list(grads), ctx=ast.Load()),
            model=ast.List(elts=list(variables), ctx=ast.Load()),
        )
    return {}


def _is_pair(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and len(node.elts) == 2


def _texts(**nodes: ast.expr | None) -> dict[str, str]:
    texts = {}
    for word, node in nodes.items():
        if node is not None:
            texts[word] = ast.unparse(_model_of(node) if word == "model" else node)
    return texts


def _model_of(variables: ast.expr) -> ast.expr:
    """`a.trainable_variables + b.trainable_variables` are those of `(a, b)`."""
    if isinstance(variables, ast.Attribute) and variables.attr in _VARIABLES:
        return variables.value
    if isinstance(variables, ast.BinOp) and isinstance(variables.op, ast.Add):
        parts = [_model_of(part) for part in _summands(variables)]
        return ast.Tuple(elts=parts, ctx=ast.Load())
    return variables


def _summands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_summands(node.left), *_summands(node.right)]
    return [node]
