"""The comment above a site that stays: `# TODO(tfexplicit TX205): reason`."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.edits import TODO_MARK, CommentAbove, Edits
from tfexplicit_codemod.leave import Leave


def add(source: Source, edits: Edits, call: ast.Call, leave: Leave) -> None:
    """Ask for the comment above the statement of `call`, unless an earlier run wrote one."""
    line = comment_line(source, source.statement(call))
    if not has_todo(source, line):
        edits.add(CommentAbove(line, f"{TODO_MARK}{leave.code}): {leave.reason}"))


def settle(source: Source, edits: Edits, call: ast.Call) -> None:
    """Ask for the comment of an earlier run to go, now that `call` is rewritten."""
    line = comment_line(source, source.statement(call))
    if has_todo(source, line):
        edits.settled.add(line)


def comment_line(source: Source, statement: ast.stmt) -> int:
    """The line to write above: of the statement, or of the one whose first line it shares."""
    while source.follows_colon(statement) or source.is_elif(statement):
        outer = source.parent_of[statement]
        if isinstance(outer, ast.ExceptHandler | ast.match_case):
            outer = source.parent_of[outer]
        assert isinstance(outer, ast.stmt)
        statement = outer
    return source.first_line(statement)


def has_todo(source: Source, line: int) -> bool:
    """True where the comment lines right above hold one of ours."""
    above = line - 1
    while above and source.lines[above - 1].lstrip().startswith("#"):
        if TODO_MARK in source.lines[above - 1]:
            return True
        above -= 1
    return False
