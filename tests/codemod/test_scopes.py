"""Python's scoping rules, checked against Python's own symbol table and by example."""

from __future__ import annotations

import ast
import symtable

import pytest
from tfexplicit_codemod.analysis.scopes import ScopeBuilder

PROGRAM = """
import a.b, c as d
from e import f as g
x, (y, *z) = 1, (2, 3)
n: int = 1
def h(p, /, q=x, *r, s, **t):
    global x
    x = [i for i in p if (w := i)]
    def inner():
        nonlocal q
        q = 1
        for k in p: pass
        with p as (u, v): pass
        try: pass
        except E as error: pass
    return lambda m: m + q
class C(B, key=x):
    attribute = x
    def method(self): return attribute
match x:
    case {"k": one, **rest}: pass
    case [two, *more] as whole: pass
del n
"""


def own_tables(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    return [table, *(inner for child in table.get_children() for inner in own_tables(child))]


def test_every_scope_binds_what_python_says() -> None:
    builder = ScopeBuilder(ast.parse(PROGRAM))
    ours = {}
    for scope in builder.scope_of.values():
        if isinstance(scope.node, ast.FunctionDef | ast.ClassDef | ast.Module):
            name = getattr(scope.node, "name", "top")
            ours[name] = set(scope.bindings)
    theirs = {
        table.get_name(): {s.get_name() for s in table.get_symbols() if s.is_local()}
        for table in own_tables(symtable.symtable(PROGRAM, "p", "exec"))
        if table.get_name() in ours
    }
    # Python keeps `__module__` and the like to itself; a `global` binding is the module's. From
    # Python 3.12 the table of `h` also holds `i`, since comprehensions are compiled inline.
    for name, bound in theirs.items():
        assert ours[name] == {each for each in bound if not each.startswith("__")} - {"i"}, name


@pytest.mark.parametrize(
    ("name", "scope"),
    [("x", "top"), ("q", "h"), ("attribute", "builtins"), ("p", "h"), ("k", "inner")],
)
def test_lookup_from_the_innermost_function(name: str, scope: str) -> None:
    builder = ScopeBuilder(ast.parse(PROGRAM))
    inner = {
        s.node.name: s for s in builder.scope_of.values() if isinstance(s.node, ast.FunctionDef)
    }
    start = inner["method"] if name == "attribute" else inner["inner"]
    found = start.lookup(name)
    assert (getattr(found.node, "name", "top") if found else "builtins") == scope


def test_rebinding_through_global_and_nonlocal_is_marked() -> None:
    builder = ScopeBuilder(ast.parse(PROGRAM))
    assert [b.remote for b in builder.root.bindings["x"]] == [False, True]
    (function,) = {
        s
        for s in builder.scope_of.values()
        if isinstance(s.node, ast.FunctionDef) and s.node.name == "h"
    }
    assert [b.remote for b in function.bindings["q"]] == [False, True]


def test_comprehension_and_lambda_keep_their_names() -> None:
    builder = ScopeBuilder(ast.parse("y = [x for x in z]\nf = lambda w: w\n"))
    assert set(builder.root.bindings) == {"y", "f"}
