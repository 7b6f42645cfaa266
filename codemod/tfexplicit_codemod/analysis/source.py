"""One parsed file: its text, tree, scopes and the statements around each node."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar, cast

from tfexplicit_codemod.analysis.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Function,
    Scope,
    ScopeBuilder,
)

Node = TypeVar("Node", bound=ast.AST)
Block = list[ast.stmt]

# A line that ends after a bracket or goes on before one.
_BROKEN_IN_BRACKETS = re.compile(r"([(\[{])[ \t]*[\r\n]\s*|,?[ \t]*[\r\n]\s*([)\]}])")


class Source:
    """A module's text and everything the analysis asks about the place of a node in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = re.split("\r\n|\r|\n", text)
        self.tree = ast.parse(text)
        builder = ScopeBuilder(self.tree)
        self.root = builder.root
        self.scope_of = builder.scope_of
        self.parent_of = builder.parent_of

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """All nodes of this very class, in the order of the text."""
        return iter(cast("list[Node]", self._by_kind.get(kind, [])))

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.scope_of:
            found.setdefault(type(node), []).append(node)
        return found

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node, then each node around it."""
        while True:
            yield node
            if node not in self.parent_of:
                return
            node = self.parent_of[node]

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds the node."""
        return next(outer for outer in self.around(node) if isinstance(outer, ast.stmt))

    def statements_around(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statement and the compound statements around it, within its own function."""
        found = [statement]
        for outer in list(self.around(statement))[1:]:
            if isinstance(outer, ast.stmt) and not isinstance(outer, (*FUNCTIONS, ast.ClassDef)):
                found.append(outer)
            elif not isinstance(outer, ast.ExceptHandler | ast.match_case):
                break
        return found

    def block(self, statement: ast.stmt) -> Block:
        """The list of statements that this one stands in."""
        owner = self.parent_of[statement]
        for _, value in ast.iter_fields(owner):
            if isinstance(value, list) and statement in value:
                return value
        raise AssertionError(f"statement at line {statement.lineno} is in no block of its parent")

    def enclosing(self, node: ast.AST, kind: type[Node]) -> Node | None:
        """The innermost node of this kind around `node`, itself not counted."""
        outers = list(self.around(node))[1:]
        return next((outer for outer in outers if isinstance(outer, kind)), None)

    def function_of(self, parameter: ast.arg) -> Function:
        """The function that a parameter belongs to."""
        function = self.parent_of[self.parent_of[parameter]]
        assert isinstance(function, FUNCTIONS)
        return function

    def function_name(self, parameter: ast.arg) -> str:
        """The name, for a sentence, of the function that a parameter belongs to."""
        function = self.function_of(parameter)
        return "a lambda" if isinstance(function, ast.Lambda) else function.name

    def function_within(self, node: ast.AST, scope: Scope) -> ast.AST | None:
        """The function or class, directly in the scope, around a node; None in the scope itself."""
        found = None
        for inner in self.scope(node).ancestors():
            if inner is scope:
                return found
            if not isinstance(inner.node, COMPREHENSIONS):
                found = inner.node
        return found

    def self_name(self, node: ast.AST) -> str:
        """The name of `self` in the method around a node."""
        for outer in self.around(node):
            is_method = isinstance(self.parent_of.get(outer), ast.ClassDef)
            if is_method and isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
                return [*outer.args.posonlyargs, *outer.args.args][0].arg
        raise AssertionError("no method around the node")

    def scope(self, node: ast.AST) -> Scope:
        return self.scope_of[node]

    def column(self, line: int, utf8_column: int) -> int:
        """`ast` counts columns in UTF-8 bytes; we count characters, from 0."""
        text = self.lines[line - 1]
        if text.isascii():
            return utf8_column
        return len(text.encode()[:utf8_column].decode())

    def start(self, node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        return node.lineno, self.column(node.lineno, node.col_offset)

    def start_of_keyword(self, keyword: ast.keyword) -> tuple[int, int]:
        return keyword.lineno, self.column(keyword.lineno, keyword.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return node.end_lineno, self.column(node.end_lineno, node.end_col_offset)

    @cached_property
    def _line_offsets(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\r\n|\r|\n", self.text))]

    def _offset(self, place: tuple[int, int]) -> int:
        line, column = place
        return self._line_offsets[line - 1] + column

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node as it stands in the file."""
        return self.text[self._offset(self.start(node)) : self._offset(self.end(node))]

    def segment_with(self, node: ast.expr, inner: ast.expr, code: str) -> str:
        """The text of a node, with new code for a node within it."""
        begin, text = self._offset(self.start(node)), self.segment(node)
        start, end = self._offset(self.start(inner)), self._offset(self.end(inner))
        return text[: start - begin] + code + text[end - begin :]

    def one_line(self, node: ast.expr | ast.stmt, limit: int = 36) -> str:
        """The text of a node for a sentence: on one line, cut where it is long."""
        text = _BROKEN_IN_BRACKETS.sub(r"\1\2", self.segment(node))
        text = " ".join(text.split())
        return text if len(text) <= limit else f"{text[: limit - 3]}..."

    def scopes_binding(self, name: str) -> list[Scope]:
        """Every scope that binds the name."""
        return [scope for scope in dict.fromkeys(self.scope_of.values()) if name in scope.bindings]

    @cached_property
    def comment_lines(self) -> frozenset[int]:
        """The lines that hold a comment."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return frozenset(t.start[0] for t in tokens if t.type == tokenize.COMMENT)

    def has_comment(self, node: ast.expr | ast.stmt) -> bool:
        """True where a comment stands between the lines of an expression or statement."""
        (first, _), (last, _) = self.start(node), self.end(node)
        # The tokens of the file are asked only where there is a sign of one.
        signs = (line for line in range(first, last) if "#" in self.lines[line - 1])
        return any(line in self.comment_lines for line in signs)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every identifier of the file, so that a new name can avoid them all."""
        names = {name.id for name in self.nodes(ast.Name)}
        names.update(attribute.attr for attribute in self.nodes(ast.Attribute))
        names.update(keyword.arg for keyword in self.nodes(ast.keyword) if keyword.arg)
        for scope in {self.root, *self.scope_of.values()}:
            names.update(scope.bindings, scope.global_names)
        return frozenset(names)

    def leader_line(self, statement: ast.stmt) -> int:
        """The line on which the statement's logical line begins: `a = 1; b = 2` is one."""
        block = self.block(statement)
        index = block.index(statement)
        while index and block[index - 1].end_lineno == block[index].lineno:
            index -= 1
        return block[index].lineno

    def first_line(self, statement: ast.stmt) -> int:
        """The line on which the statement, or its first decorator, begins."""
        line = self.leader_line(statement)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            line = min([line, *(decorator.lineno for decorator in statement.decorator_list)])
        return line

    def ends_its_line(self, statement: ast.stmt) -> bool:
        """True where no other statement follows on the same line."""
        block = self.block(statement)
        following = block[block.index(statement) + 1 :]
        return not following or following[0].lineno != statement.end_lineno

    def follows_colon(self, statement: ast.stmt) -> bool:
        """True for `x` in `if y: x`: its block has no lines of its own."""
        outer = self.parent_of[statement]
        first = self.block(statement)[0]
        if isinstance(outer, ast.Module):
            return False
        line = self.lines[first.lineno - 1]
        return bool(line[: self.start(first)[1]].strip()) and not line.lstrip().startswith("@")

    def is_elif(self, statement: ast.stmt) -> bool:
        outer = self.parent_of[statement]
        if not isinstance(outer, ast.If) or statement not in outer.orelse:
            return False
        line, column = self.start(statement)
        return self.lines[line - 1].startswith("elif", column)
