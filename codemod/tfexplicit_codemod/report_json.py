"""The report that a program reads.

The schema, which only grows while `schema` stays 1:

    {
      "schema": 1,
      "tool": "tfexplicit",
      "version": "0.1.0",
      "summary": {
        "files": 10,
        "outcomes": {"changed": 2, "unchanged": 6, "needs-hand": 1, "skipped": 1, "failed": 0},
        "sites": 5,
        "rewritten": {"TX101": 3},      sites by code, that `migrate` rewrites
        "left": {"TX201": 2},           sites by code, that are left for a person
        "ignored": 0                    sites that the run was told not to look at
      },
      "files": [                        every file that was looked at, by path
        {
          "path": "src/train.py",
          "outcome": "needs-hand",      what `migrate` makes of the file
          "reason": "",                 why, where the outcome is skipped or failed
          "sites": [                    lines and columns count from 1
            {"line": 3, "column": 5, "code": "TX201", "text": "...", "reason": "..."}
          ]                             in a notebook they count in its cell, and `"cell": 4` is
                                        added, which counts all cells from 0
        }
      ]
    }
"""

from __future__ import annotations

import json
from typing import Any

from tfexplicit_codemod.outcome import FileResult, Site
from tfexplicit_codemod.run import Run
from tfexplicit_codemod.tally import Tally, sites_of, tally
from tfexplicit_codemod.version import VERSION

SCHEMA = 1


def report(run: Run) -> str:
    return json.dumps(document(run.results), indent=2)


def document(results: list[FileResult]) -> dict[str, Any]:
    """The report of these files, before it is written as text."""
    return {
        "schema": SCHEMA,
        "tool": "tfexplicit",
        "version": VERSION,
        "summary": summary(tally(results)),
        "files": [_file(result) for result in results],
    }


def summary(counts: Tally) -> dict[str, Any]:
    """The counts, as every report for programs has them."""
    return {
        "files": counts.files,
        "outcomes": {outcome.value: number for outcome, number in counts.outcomes.items()},
        "sites": counts.sites,
        "rewritten": counts.rewritten,
        "left": counts.left,
        "ignored": counts.ignored,
    }


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path.as_posix(),
        "outcome": result.outcome.value,
        "reason": result.reason,
        "sites": [_site(site) for site in sites_of(result)],
    }


def _site(site: Site) -> dict[str, Any]:
    cell = {} if site.cell is None else {"cell": site.cell}
    return {
        **cell,
        "line": site.line,
        "column": site.column,
        "code": site.code,
        "text": site.text,
        "reason": site.reason,
    }
