"""Migrates the text of one file: bytes in, outcome out, no file touched and nothing raised.

The cheap stages come first, so that a file without a site never reaches LibCST: a look at the
bytes, `ast` (which also refuses what would crash the native parser), the plan, then LibCST.
"""

from __future__ import annotations

import ast
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tfexplicit_codemod.analysis.plan import Plan, Planner
from tfexplicit_codemod.decoding import decoded
from tfexplicit_codemod.depth import is_too_deep
from tfexplicit_codemod.edits import Edits
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.program import Program
from tfexplicit_codemod.selection import EVERYTHING, Selection
from tfexplicit_codemod.surroundings import ALONE, Surroundings

# A file without one of these has no update site.
TOKENS = (b"apply_gradients", b".minimize(", b".apply(", b".get_updates(")
DEEP_STACK = 512 * 1024 * 1024
DEEP_RECURSION = 200_000

Result = TypeVar("Result")


def migrate_source(
    source: bytes,
    path: Path,
    *,
    todo: bool = True,
    around: Surroundings = ALONE,
    selection: Selection = EVERYTHING,
) -> FileResult:
    """The outcome for one file; `todo=False` writes no comment above a site that is left.

    `around` is what is known of the other files of the project. A site whose code the selection
    does not take, or that a comment ignores, stays as it is without a word.
    """
    if not may_have_site(source) and not around.contracts:
        return FileResult(path, Outcome.UNCHANGED, before=source)
    try:
        script = Script(source, decoded(source))
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        reason = f"encoding: {error}"
        return FileResult(path, Outcome.SKIPPED, before=source, reason=reason)
    around = around.joined_by(source)
    return migrate_program(script, path, todo=todo, around=around, selection=selection)


def migrate_program(
    program: Program, path: Path, *, todo: bool, around: Surroundings, selection: Selection
) -> FileResult:
    """The outcome for a program; its sites count their lines in the program's text."""

    def migrated() -> FileResult:
        return _migrate(program, path, todo, around, selection)

    with warnings.catch_warnings():
        # The file's own doubtful escapes are not ours to report.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return migrated()
        except RecursionError:
            return _with_deep_stack(migrated, program, path)


def may_have_site(source: bytes) -> bool:
    return any(token in source for token in TOKENS)


def _with_deep_stack(
    migrated: Callable[[], FileResult], program: Program, path: Path
) -> FileResult:
    try:
        return _in_deep_thread(migrated)
    except (RecursionError, MemoryError):
        return FileResult(path, Outcome.SKIPPED, before=program.before, reason="too deeply nested")


def _migrate(
    program: Program, path: Path, todo: bool, around: Surroundings, selection: Selection
) -> FileResult:
    def ended(outcome: Outcome, reason: str) -> FileResult:
        return FileResult(path, outcome, before=program.before, reason=reason)

    try:
        planner = Planner(program.text, around, selection)
        plan = planner.plan(with_todo=todo)
    except SyntaxError as error:
        if "too many nested" in (error.msg or ""):
            return ended(Outcome.SKIPPED, "too deeply nested")
        return ended(Outcome.FAILED, f"{error.lineno}:{error.offset}: not Python 3: {error.msg}")
    except ValueError as error:
        return ended(Outcome.FAILED, f"1:1: {error}")
    except MemoryError:
        return ended(Outcome.SKIPPED, "too deeply nested")
    if plan.edits and is_too_deep(planner.source.tree):
        return ended(Outcome.SKIPPED, "too deeply nested")
    return _carry_out(plan, program, path)


def _carry_out(plan: Plan, program: Program, path: Path) -> FileResult:
    # A caller may follow a function of another file, and have no site of its own.
    rewritten = any(not site.left for site in plan.sites) or any(plan.kept.values())
    left = Outcome.NEEDS_HAND if plan.sites else Outcome.UNCHANGED
    before = program.before
    result = FileResult(
        path,
        left,
        plan.sites,
        before=before,
        ignored=plan.ignored,
        kept=plan.kept,
        broken=plan.broken,
    )
    if not plan.edits:
        return result
    # LibCST takes a fifth of a second to import: only files with something to change pay for it.
    from tfexplicit_codemod import rewrite

    try:
        after = program.rewritten(plan.edits)
    except rewrite.NotRoundTrippable:
        return FileResult(path, Outcome.SKIPPED, before=before, reason="not round-trippable")
    except rewrite.CannotParse as error:
        return FileResult(path, Outcome.FAILED, before=before, reason=str(error))
    except SyntaxError as error:
        reason = f"{error.lineno}:{error.offset}: the rewritten file would not parse: {error.msg}"
        return FileResult(path, Outcome.FAILED, before=before, reason=reason)
    return replace(
        result,
        outcome=Outcome.CHANGED if rewritten else left,
        after=after,
        asked=plan.asked,
        asks=bool(plan.asked),
    )


@dataclass(frozen=True)
class Script:
    """A Python file."""

    before: bytes
    text: str

    def rewritten(self, edits: Edits) -> bytes:
        from tfexplicit_codemod import rewrite

        after = rewrite.apply(self.before, edits)
        ast.parse(decoded(after))
        return after


@dataclass(frozen=True)
class Text:
    """A program that is a text and no file: what it says of its encoding does not matter."""

    text: str

    @property
    def before(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    def rewritten(self, edits: Edits) -> bytes:
        from tfexplicit_codemod import rewrite

        after = rewrite.apply(self.text, edits)
        ast.parse(after)
        return after.encode()


def _in_deep_thread(work: Callable[[], Result]) -> Result:
    """Run where a long chain of calls or terms does not exhaust the stack."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(DEEP_STACK)
    sys.setrecursionlimit(DEEP_RECURSION)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if errors:
        raise errors[0]
    return results[0]
