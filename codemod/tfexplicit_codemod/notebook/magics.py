"""The lines of a cell that IPython reads before Python does: magics, shell lines, help.

The rules are IPython's: such a line begins a logical line, never stands inside a bracket or string.
"""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.notebook.masks import Masks

# To the end of the line, and on where a backslash joins the next one.
_REST = r"(?:\\(?:\r\n|.|\Z)|[^\\\r\n])*"
_ESCAPED = re.compile(rf"[%!?]{_REST}", re.DOTALL)
_HELP = re.compile(r"[^\W\d][\w.*]*(?:\[[^\]\r\n]*\])?\?\??[ \t]*(?=[\r\n]|\Z)")
_ASSIGNED = re.compile(rf"([^\W\d][^=#'\"(){{}}\r\n]*=[ \t]*)([%!]{_REST})", re.DOTALL)
_INDENT = re.compile(r"[ \t\f]*")
_TOKEN = re.compile(
    r"""
      \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
    | "(?:\\(?:\r\n|.)|[^"\\\r\n])*"? | '(?:\\(?:\r\n|.)|[^'\\\r\n])*'?
    | \#[^\r\n]* | \\(?:\r\n|\r|\n)
    | (?P<newline>\r\n|\r|\n) | (?P<opening>[(\[{]) | (?P<closing>[)\]}])
    | [^"'\#\\\r\n()\[\]{}]+ | .
    """,
    re.VERBOSE | re.DOTALL,
)

# A statement after them is run as if it stood alone; in those of the second row what it binds is
# lost, since they run it in a function of their own.
_RUN_IN_PLACE = frozenset({"time", "prun"})
_RUN_ASIDE = frozenset({"timeit", "memit", "lprun", "mprun"})
_BEFORE_CODE = re.compile(r"%(?:timeit(?:[ \t]+-(?:[nr][ \t]*\d+|[qo]+))*|\w+)[ \t]+(?!-)")
_MAGIC_NAME = re.compile(r"%+(\w+)")
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom)


def without_magics(text: str, masks: Masks) -> str:
    """The text with a mask for each magic, shell line and question; undone by `masks.undone`."""
    pieces, at, depth, begins_line = [], 0, 0, True
    while at < len(text):
        if begins_line:
            indent = _INDENT.match(text, at)
            assert indent
            pieces.append(indent[0])
            at = indent.end()
            masked, at = _masked_line(text, at, masks)
            pieces.append(masked)
        token = _TOKEN.match(text, at)
        if token is None:
            break
        pieces.append(token[0])
        at = token.end()
        depth = max(0, depth + (token["opening"] is not None) - (token["closing"] is not None))
        begins_line = token["newline"] is not None and not depth
    return "".join(pieces)


def _masked_line(text: str, at: int, masks: Masks) -> tuple[str, int]:
    """The mask for what begins here, and where it ends; nothing for Python."""
    if escaped := _ESCAPED.match(text, at):
        mask, used = _mask(escaped[0], masks)
        return mask, at + used
    if asked := _HELP.match(text, at):
        return masks.inert(asked[0]), asked.end()
    if assigned := _ASSIGNED.match(text, at):
        return assigned[1] + masks.inert(assigned[2]), assigned.end()
    return "", at


def _mask(line: str, masks: Masks) -> tuple[str, int]:
    """The mask for a magic, and how much of the line it hides."""
    magic = _MAGIC_NAME.match(line)
    name = magic[1] if magic else ""
    if name not in _RUN_IN_PLACE | _RUN_ASIDE:
        return masks.inert(line), len(line)
    prefix = _BEFORE_CODE.match(line)
    if prefix and _is_simple(line[prefix.end() :], binds=name in _RUN_IN_PLACE):
        mask = masks.before_code(prefix[0])
        if mask is not None:
            return mask, prefix.end()
    return masks.unread(line), len(line)


def _is_simple(code: str, *, binds: bool) -> bool:
    """True for what may stand after a semicolon."""
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    kinds = _SIMPLE if binds else (ast.Expr,)
    return bool(statements) and all(isinstance(each, kinds) for each in statements)
