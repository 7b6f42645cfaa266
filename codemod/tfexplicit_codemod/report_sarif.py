"""SARIF 2.1.0, the format that code scanning services read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tfexplicit_codemod.guide import render_page
from tfexplicit_codemod.outcome import FileResult, Site
from tfexplicit_codemod.paths import relative_to_here
from tfexplicit_codemod.registry import Rule, all_rules
from tfexplicit_codemod.report_json import summary
from tfexplicit_codemod.report_text import place_and_reason
from tfexplicit_codemod.run import Run
from tfexplicit_codemod.tally import sites_of
from tfexplicit_codemod.version import VERSION

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"


def report(run: Run) -> str:
    """One result per site; a file that is not done is a notification of the invocation."""
    codes = [rule.code for rule in all_rules()]
    driver = {"name": "tfexplicit", "version": VERSION, "rules": list(map(_rule, all_rules()))}
    whole = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {ROOT: {"uri": f"{Path.cwd().as_uri()}/"}},
                "invocations": [_invocation(run)],
                "results": [
                    _result(run, result, site, codes.index(site.code))
                    for result in run.results
                    for site in sites_of(result)
                ],
                "properties": {"summary": summary(run.counts)},
            }
        ],
    }
    return json.dumps(whole, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(map(str.capitalize, rule.name.split("-"))),
        "shortDescription": {"text": rule.name},
        "fullDescription": {"text": rule.summary},
        "help": {"text": f"{rule.summary}\n\n{rule.why}", "markdown": render_page(rule)},
        "defaultConfiguration": {"level": "warning"},
    }


def _result(run: Run, result: FileResult, site: Site, index: int) -> dict[str, Any]:
    done = run.command == "migrate" and not site.left
    outcome = f"left: {site.reason}" if site.left else run.rewritten
    return {
        "ruleId": site.code,
        "ruleIndex": index,
        "level": "note" if done else "warning",
        "message": {"text": f"{site.message_place}{site.text}: {outcome}"},
        "locations": [_location(result, *site.line_and_column)],
    }


def _invocation(run: Run) -> dict[str, Any]:
    return {
        "executionSuccessful": run.counts.all_done,
        "toolExecutionNotifications": [
            _notification(result) for result in run.results if not result.outcome.is_done
        ],
    }


def _notification(result: FileResult) -> dict[str, Any]:
    place, reason = place_and_reason(result)
    line, column = map(int, place.split(":")) if place else (1, 1)
    return {
        "level": "error",
        "message": {"text": f"{result.outcome.value}: {reason}"},
        "locations": [_location(result, line, column)],
    }


def _location(result: FileResult, line: int, column: int) -> dict[str, Any]:
    # Python counts some places from 0, SARIF none.
    region = {"startLine": max(line, 1), "startColumn": max(column, 1)}
    return {"physicalLocation": {"artifactLocation": _artifact(result.path), "region": region}}


def _artifact(path: Path) -> dict[str, str]:
    shown = relative_to_here(path)
    if shown.is_absolute() or ".." in shown.parts:
        return {"uri": shown.resolve().as_uri()}
    return {"uri": quote(os.fsencode(shown.as_posix())), "uriBaseId": ROOT}
