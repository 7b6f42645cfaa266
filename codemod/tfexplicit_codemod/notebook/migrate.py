"""Migrates a notebook: its code cells as one program, each rewritten where it stands."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from tfexplicit_codemod.edits import Edits
from tfexplicit_codemod.engine import may_have_site, migrate_program
from tfexplicit_codemod.notebook.cells import Cells
from tfexplicit_codemod.notebook.file import NotANotebook, NotebookFile
from tfexplicit_codemod.outcome import FileResult, Outcome, Site
from tfexplicit_codemod.selection import EVERYTHING, Selection
from tfexplicit_codemod.surroundings import ALONE, Surroundings


class Notebook:
    """A notebook as the program that the engine migrates."""

    def __init__(self, source: bytes) -> None:
        self.before = source
        self.file = NotebookFile(source)
        self.cells = Cells(self.file.cells)
        self.text = self.cells.program

    def rewritten(self, edits: Edits) -> bytes:
        from tfexplicit_codemod import rewrite

        sources = {}
        for part, share in self.cells.edits_by_part(edits):
            try:
                code = rewrite.apply(part.code, share)
            except rewrite.CannotParse as error:
                raise rewrite.CannotParse(f"cell {part.cell}: {error}") from error
            ast.parse(code)
            sources[part.cell] = part.header + self.cells.masks.undone(code)
        return self.file.with_sources(sources)

    def placed(self, site: Site) -> Site:
        """A site of the program as a site of its cell."""
        hint = self.cells.hint(site.text) if site.left else ""
        return replace(
            site,
            cell=self.cells.part_at(site.line).cell,
            line=self.cells.line_in_cell(site.line),
            text=self.cells.masks.undone(site.text),
            reason=self.cells.masks.undone(site.reason) + hint,
        )

    def in_file(self, site: Site) -> Site:
        """The same with its place in the JSON."""
        source = next(cell.source for cell in self.file.cells if cell.index == site.cell)
        return replace(site, place_in_file=source.place_of(site.line))


def migrate_notebook(
    source: bytes,
    path: Path,
    *,
    todo: bool = True,
    around: Surroundings = ALONE,
    selection: Selection = EVERYTHING,
) -> FileResult:
    """The outcome for one notebook; `engine.migrate_source` says what the arguments mean.

    A cell that is not read (`%%bash`, or no valid Python) is left as it is. An update in it is a
    site that is left, and nothing is proven from what it may bind.
    """
    if not may_have_site(source):
        return FileResult(path, Outcome.UNCHANGED, before=source)
    try:
        notebook = Notebook(source)
    except UnicodeDecodeError as error:
        reason = f"encoding: {error}"
        return FileResult(path, Outcome.SKIPPED, before=source, reason=reason)
    except NotANotebook as error:
        return FileResult(path, Outcome.FAILED, before=source, reason=str(error))
    except RecursionError:
        return FileResult(path, Outcome.SKIPPED, before=source, reason="too deeply nested")
    if not notebook.file.is_python:
        return FileResult(path, Outcome.UNCHANGED, before=source)
    around = around.joined_by(notebook.cells.all_text.encode("utf-8", "replace"))
    result = migrate_program(notebook, path, todo=todo, around=around, selection=selection)
    if not result.outcome.is_done:
        return result
    unread = [site for site in notebook.cells.unread if selection.takes(site.code)]
    sites = [notebook.in_file(s) for s in (*map(notebook.placed, result.sites), *unread)]
    is_left = sites and result.outcome is Outcome.UNCHANGED
    return replace(
        result,
        ignored=result.ignored + len(notebook.cells.unread) - len(unread),
        sites=tuple(sorted(sites, key=lambda site: (site.cell or 0, site.line, site.column))),
        outcome=Outcome.NEEDS_HAND if is_left else result.outcome,
    )
