"""Applies a plan to a file with LibCST: one plain transformer, whatever the edits are.

Imported only for a file that has something to change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import AnyStr, TypeVar, cast

import libcst as cst
from libcst.helpers import parse_template_expression
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from tfexplicit_codemod.edits import KEPT, TODO_MARK, Edits, Span

Body = TypeVar("Body", cst.IndentedBlock, cst.Module)


class NotRoundTrippable(Exception):
    """LibCST does not give back the bytes that it read."""


class CannotParse(Exception):
    """LibCST does not read a file that Python reads; the message says where."""


def apply(source: AnyStr, edits: Edits) -> AnyStr:
    """The file, or text, with all edits made; everything else keeps its bytes."""
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        place = f"{error.raw_line}:{error.raw_column + 1}"
        raise CannotParse(f"{place}: LibCST: {error.message}") from error
    text, positions = _Positions().of(module)
    if _as_it_came(text, module, source) != source:
        raise NotRoundTrippable
    changed = module.visit(_Apply(edits, module, positions))
    return _as_it_came(changed.code, changed, source)


def _as_it_came(text: str, module: cst.Module, source: AnyStr) -> AnyStr:
    return text.encode(module.encoding) if isinstance(source, bytes) else text


class _Positions(PositionProvider):
    """LibCST's own positions, and the text that it generates to find them."""

    def of(self, module: cst.Module) -> tuple[str, dict[cst.CSTNode, CodeRange]]:
        state = PositionProvidingCodegenState(
            default_indent=module.default_indent,
            default_newline=module.default_newline,
            provider=self,
        )
        module._codegen(state)
        return "".join(state.tokens), cast("dict[cst.CSTNode, CodeRange]", self._computed)


class _Apply(cst.CSTTransformer):
    """Only what holds an edit is walked through."""

    def __init__(
        self, edits: Edits, module: cst.Module, positions: dict[cst.CSTNode, CodeRange]
    ) -> None:
        super().__init__()
        self.edits = edits
        self.module = module
        self.positions = positions
        self.lines = edits.lines

    def on_visit(self, node: cst.CSTNode) -> bool:
        if node not in self.positions:
            return True
        begins = node.body[0] if isinstance(node, cst.IndentedBlock) else node
        index = bisect_left(self.lines, self._first_line(begins))
        return index < len(self.lines) and self.lines[index] <= self.positions[node].end.line

    def on_leave(  # type: ignore[override]
        self, original: cst.CSTNode, updated: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        if isinstance(original, cst.Arg | cst.Param):
            return self._with_one_beside(original, cast("cst.Arg | cst.Param", updated))
        if isinstance(original, cst.ImportFrom):
            return self._without_dropped(original, cst.ensure_type(updated, cst.ImportFrom))
        if isinstance(original, cst.BaseExpression):
            return self._replaced(original, cast("cst.BaseExpression", updated))
        if isinstance(original, cst.Assign | cst.Return):
            return self._as_expression(original, cast("cst.Assign | cst.Return", updated))
        if isinstance(original, cst.IndentedBlock) and isinstance(updated, cst.IndentedBlock):
            return self._with_insertions(original, updated)
        if isinstance(original, cst.Module) and isinstance(updated, cst.Module):
            return self._with_first(self._with_insertions(original, updated))
        return updated

    def _replaced(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        new = self._new_code(original, updated)
        if new is None:
            return updated
        return new.with_changes(lpar=[*updated.lpar, *new.lpar], rpar=[*new.rpar, *updated.rpar])

    def _as_expression(
        self, original: cst.Assign | cst.Return, updated: cst.Assign | cst.Return
    ) -> cst.CSTNode:
        new = self._new_code(original, updated)
        return updated if new is None else cst.Expr(new, semicolon=updated.semicolon)

    def _new_code(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.BaseExpression | None:
        code = self.edits.replaced.get(self._span(original))
        if code is None:
            return None
        config = self.module.config_for_parsing
        if KEPT in code:
            return parse_template_expression(code, config, tfexplicit_kept=_kept(updated))
        return cst.parse_expression(code, config=config)

    def _with_one_beside(
        self, original: cst.Arg | cst.Param, updated: cst.Arg | cst.Param
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        is_argument = isinstance(original, cst.Arg)
        named = original.value if isinstance(original, cst.Arg) else original.name
        code = self.edits.beside.get(self._span(named))
        if code is None:
            return updated
        new = _argument(code) if is_argument else _parameter(code)
        blank = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        after = "whitespace_after_arg" if is_argument else "whitespace_after_param"
        new = new.with_changes(comma=updated.comma, **{after: getattr(updated, after)})
        first = updated.with_changes(comma=blank, **{after: cst.SimpleWhitespace("")})
        return cst.FlattenSentinel([first, new])

    def _span(self, node: cst.CSTNode) -> Span:
        place = self.positions[node]
        return (place.start.line, place.start.column), (place.end.line, place.end.column)

    def _line(self, statement: cst.CSTNode) -> int:
        return self.positions[statement].start.line

    def _with_insertions(self, original: Body, updated: Body) -> Body:
        body: list[cst.CSTNode] = []
        above: list[cst.EmptyLine] = []
        for before, after in zip(original.body, updated.body, strict=True):
            line = self._first_line(before)
            new = [self._statement(code) for code in self.edits.inserted_before.get(line, [])]
            if self._imports_nothing(line, before):
                # What stands above an import that goes is kept, above what follows it.
                above += cst.ensure_type(after, cst.SimpleStatementLine).leading_lines
            else:
                new.append(self._commented(line, after))
            new += [self._statement(code) for code in self.edits.inserted.get(line, [])]
            if above and new:
                below: Sequence[cst.EmptyLine] = getattr(new[0], "leading_lines", ())
                new[0] = new[0].with_changes(leading_lines=[*above, *below])
                above = []
            body += new
        return updated.with_changes(body=body)

    def _imports_nothing(self, line: int, statement: cst.CSTNode) -> bool:
        """True for an import without its last name."""
        dropped = self.edits.dropped.get(line)
        if dropped is None:
            return False
        (imported,) = cst.ensure_type(statement, cst.SimpleStatementLine).body
        return all(_bound(alias) in dropped for alias in _aliases(imported))

    def _without_dropped(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        dropped = self.edits.dropped.get(self._line(original), ())
        aliases = _aliases(updated)
        kept = [alias for alias in aliases if _bound(alias) not in dropped]
        if not kept:
            return updated
        last = kept[-1].with_changes(comma=aliases[-1].comma)
        return updated.with_changes(names=[*kept[:-1], last])

    def _first_line(self, statement: cst.CSTNode) -> int:
        """The line of the statement, or of its first decorator."""
        decorators = getattr(statement, "decorators", ())
        return min(map(self._line, [statement, *decorators]))

    def _commented(self, line: int, statement: cst.CSTNode) -> cst.CSTNode:
        texts = self.edits.comments.get(line, [])
        if not hasattr(statement, "leading_lines") or not (texts or line in self.edits.settled):
            return statement
        kept = [
            above
            for above in statement.leading_lines
            if line not in self.edits.settled or not _is_todo(above)
        ]
        comments = [cst.EmptyLine(comment=cst.Comment(text)) for text in texts]
        return statement.with_changes(leading_lines=[*kept, *comments])

    def _statement(self, code: str) -> cst.CSTNode:
        statement = cst.parse_statement(code.lstrip("\n"), config=self.module.config_for_parsing)
        if not code.startswith("\n"):
            return statement
        return statement.with_changes(leading_lines=[cst.EmptyLine(indent=False)])

    def _with_first(self, updated: cst.Module) -> cst.Module:
        if self.edits.first_statement is None:
            return updated
        first = self._statement(self.edits.first_statement)
        return updated.with_changes(body=[first, *updated.body])


def _aliases(imported: cst.CSTNode) -> list[cst.ImportAlias]:
    names = cst.ensure_type(imported, cst.ImportFrom).names
    return [] if isinstance(names, cst.ImportStar) else list(names)


def _bound(alias: cst.ImportAlias) -> str:
    """The name that a part of an import binds."""
    return alias.evaluated_alias or alias.evaluated_name


def _kept(node: cst.CSTNode) -> cst.BaseExpression:
    if isinstance(node, cst.Assign):
        return node.value
    return cst.ensure_type(node, cst.Call).args[-1].value


def _argument(code: str) -> cst.Arg:
    return cst.ensure_type(cst.parse_expression(f"f({code})"), cst.Call).args[0]


def _parameter(code: str) -> cst.Param:
    function = cst.ensure_type(cst.parse_statement(f"def f({code}): ..."), cst.FunctionDef)
    return function.params.params[0]


def _is_todo(line: cst.EmptyLine) -> bool:
    return line.comment is not None and line.comment.value.startswith(TODO_MARK)
