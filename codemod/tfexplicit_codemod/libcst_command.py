"""The rewrite as a command of LibCST's own tool.

    python -m libcst.tool codemod -x tfexplicit_codemod.libcst_command.MigrateCommand PATH

`--no-format` keeps that tool from calling a formatter afterwards. The command sees one file at a
time, so it leaves what `tfexplicit migrate` proves from the whole project.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext

from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.source_text import CannotTransform
from tfexplicit_codemod.surroundings import OUT_OF_SIGHT


class MigrateCommand(CodemodCommand):
    """Rewrites implicit updates to explicit ones, and warns of each site that it leaves."""

    DESCRIPTION = "Moves TensorFlow and Keras training code to explicit optimiser state."

    def __init__(self, context: CodemodContext, todo: bool = True) -> None:
        super().__init__(context)
        self.todo = todo

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.add_argument(
            "--no-todo",
            dest="todo",
            action="store_false",
            help="write no `# TODO(tfexplicit ...)` comment above a site that is left",
        )

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The rewritten module; `CannotTransform` where the file fails as a whole."""
        path = Path(self.context.filename or "<text>")
        result = migrate_source(tree.bytes, path, todo=self.todo, around=OUT_OF_SIGHT)
        if not result.outcome.is_done:
            raise CannotTransform(result.reason)
        for site in result.sites:
            if site.left:
                self.warn(f"{site.line}:{site.column}: {site.code} left: {site.reason}")
        if result.after is None:
            return tree
        return cst.parse_module(result.after, config=tree.config_for_parsing)
