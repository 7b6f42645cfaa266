"""Workflow commands that GitHub Actions shows as annotations at the lines of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from tfexplicit_codemod.outcome import FileResult, Site
from tfexplicit_codemod.paths import relative_to_here
from tfexplicit_codemod.registry import rule_for
from tfexplicit_codemod.report_text import lines_of_counts, place_and_reason
from tfexplicit_codemod.run import Run
from tfexplicit_codemod.tally import sites_of


def report(run: Run) -> str:
    """One annotation per site and per file that is not done; then the counts, as plain lines."""
    lines = []
    for result in run.results:
        lines += [_of_site(run, result, site) for site in sites_of(result)]
        if not result.outcome.is_done:
            lines.append(_of_file(result))
    return "\n".join([*lines, *lines_of_counts(run)])


def _of_site(run: Run, result: FileResult, site: Site) -> str:
    done = run.command == "migrate" and not site.left
    outcome = f"left: {site.reason}" if site.left else run.rewritten
    return _command(
        "notice" if done else "warning",
        result,
        "{}:{}".format(*site.line_and_column),
        f"{site.code} {rule_for(site.code).name}",
        f"{site.message_place}{site.text}: {outcome}",
    )


def _of_file(result: FileResult) -> str:
    place, reason = place_and_reason(result)
    return _command("error", result, place, f"tfexplicit: {result.outcome.value}", reason)


def _command(level: str, result: FileResult, place: str, title: str, message: str) -> str:
    properties = {"file": relative_to_here(result.path).as_posix()}
    if place:
        properties["line"], properties["col"] = place.split(":")
    properties["title"] = title
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
