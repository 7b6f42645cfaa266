"""Definite assignment: after which statement a name is surely bound, and where that still holds."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from tfexplicit_codemod.analysis.reaching import LOOPS
from tfexplicit_codemod.analysis.source import Block, Source

WITHS = (ast.With, ast.AsyncWith)
LEAVES_BLOCK = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Definition:
    """`name` is bound for good after `statement`; `earlier` bindings came in statements before."""

    name: str
    statement: ast.stmt
    binders: tuple[ast.stmt, ...]
    earlier: tuple[ast.stmt, ...]

    @property
    def line(self) -> int:
        return self.statement.lineno


def definition(source: Source, name: str, binders: Collection[ast.stmt]) -> Definition | None:
    """Where a name bound by these statements of one function gets its last value.

    None where it may stay unbound, or is bound anew in a loop.
    """
    chains = [list(reversed(source.statements_around(binder))) for binder in binders]
    depth = 0
    while _same_next_statement(chains, depth):
        depth += 1
    if depth < min(map(len, chains)) and _different_blocks(source, chains, depth):
        depth -= 1
    at_depth = [chain[min(depth, len(chain) - 1)] for chain in chains]
    block = source.block(at_depth[0])
    in_order = sorted(set(at_depth), key=block.index)
    for chain in chains:
        if any(isinstance(outer, LOOPS) for outer in chain[depth : len(chain) - 1]):
            return None
        if isinstance(chain[-1], LOOPS):
            return None
    last = in_order[-1]
    if not surely_binds(block[: block.index(last) + 1], set(binders)):
        return None
    return Definition(name, last, tuple(binders), tuple(in_order[:-1]))


def _same_next_statement(chains: list[list[ast.stmt]], depth: int) -> bool:
    if any(len(chain) <= depth + 1 for chain in chains):
        return False
    return len({chain[depth] for chain in chains}) == 1


def _different_blocks(source: Source, chains: list[list[ast.stmt]], depth: int) -> bool:
    return len({id(source.block(chain[depth])) for chain in chains}) > 1


def surely_binds(block: Block, binders: Collection[ast.stmt]) -> bool:
    """True where the end of the block is reached only with one of the binders executed."""
    for statement in block:
        if statement in binders or isinstance(statement, LEAVES_BLOCK):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if surely_binds(statement.body, binders) and surely_binds(statement.orelse, binders):
                return True
        elif isinstance(statement, WITHS):
            if surely_binds(statement.body, binders):
                return True
        elif isinstance(statement, ast.Try) and _try_surely_binds(statement, binders):
            return True
    return False


def is_surely_rebound(source: Source, name: ast.Name) -> bool:
    """True where the function itself binds the name on every way to where it is read."""
    scope = source.scope(name)
    binders = {
        source.statement(binding.node)
        for binding in scope.bindings.get(name.id, [])
        if isinstance(binding.node, ast.Assign) and not binding.remote
    }
    around = source.statements_around(source.statement(name))
    blocks = [(source.block(statement), statement) for statement in around]
    return any(surely_binds(block[: block.index(each)], binders) for block, each in blocks)


def _try_surely_binds(statement: ast.Try, binders: Collection[ast.stmt]) -> bool:
    if surely_binds(statement.finalbody, binders):
        return True
    normal = surely_binds([*statement.body, *statement.orelse], binders)
    return normal and all(surely_binds(h.body, binders) for h in statement.handlers)


def holds_at(source: Source, done: ast.stmt, at: ast.stmt) -> bool:
    """True where `at` is reached only after `done`, both in one function."""
    chain = source.statements_around(at)
    while True:
        block = source.block(done)
        for statement in chain:
            if statement in block:
                return block.index(done) < block.index(statement)
        outer = source.parent_of[done]
        if isinstance(outer, ast.ExceptHandler):
            outer = source.parent_of[outer]
        if not isinstance(outer, ast.stmt) or not surely_binds([outer], {done}):
            return False
        done = outer


def loops_around(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    return [outer for outer in source.statements_around(statement)[1:] if isinstance(outer, LOOPS)]
