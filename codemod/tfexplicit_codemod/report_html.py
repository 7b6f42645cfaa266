"""The report as one HTML page that needs nothing else: no script, no network, no build step."""

from __future__ import annotations

import shlex
from html import escape

from tfexplicit_codemod.html_diff import side_by_side
from tfexplicit_codemod.html_page import page, table
from tfexplicit_codemod.outcome import FileResult, Outcome, Site
from tfexplicit_codemod.registry import Rule, rule_for
from tfexplicit_codemod.report_text import lines_of_counts, place_and_reason, rows_of_codes
from tfexplicit_codemod.run import Run
from tfexplicit_codemod.tally import sites_of


def report(run: Run) -> str:
    """Totals, every file with its sites and its diff, and what the codes mean."""
    command = shlex.join(["tfexplicit", run.command, *map(str, run.paths)])
    return page(
        command,
        [
            _totals(run),
            _files(run),
            *(_file(run, number, result) for number, result in _shown(run)),
            _codes(run),
        ],
    )


def _totals(run: Run) -> str:
    counts = "".join(f"<p>{escape(line)}</p>" for line in lines_of_counts(run))
    rows = [
        [_link(f"#{code}", code), escape(name), sites, escape(outcome)]
        for code, name, sites, outcome in rows_of_codes(run)
    ]
    codes = table(["code", "what it is", "sites", "outcome"], rows) if rows else ""
    return f'<section id="totals"><h2>Totals</h2>{counts}{codes}</section>'


def _shown(run: Run) -> list[tuple[int, FileResult]]:
    """The files that there is something to say of, with their numbers in the page."""
    return [
        (number, result)
        for number, result in enumerate(run.results, start=1)
        if result.outcome is not Outcome.UNCHANGED
    ]


def _files(run: Run) -> str:
    rows = []
    for number, result in _shown(run):
        left = sum(site.left for site in sites_of(result))
        rows.append(
            [
                _link(f"#file-{number}", str(result.path)),
                _badge(run, result),
                str(len(sites_of(result)) - left),
                str(left),
            ]
        )
    shown = table(["file", "outcome", run.rewritten, "left"], rows) if rows else ""
    unchanged = [result.path for result in run.results if result.outcome is Outcome.UNCHANGED]
    listed = "".join(f"<li>{escape(str(path))}</li>" for path in unchanged)
    rest = (
        f"<details><summary>{len(unchanged)} unchanged</summary><ul>{listed}</ul></details>"
        if unchanged
        else ""
    )
    return f'<section id="files"><h2>Files</h2>{shown}{rest}</section>'


def _file(run: Run, number: int, result: FileResult) -> str:
    place, reason = place_and_reason(result)
    why = f"<p>{escape(f'{place} {reason}'.strip())}</p>" if reason else ""
    rows = [_site_row(run, site) for site in sites_of(result)]
    sites = table(["place", "code", "site", "outcome"], rows) if rows else ""
    diff = (
        f"<details open><summary>Before and after</summary>{side_by_side(result)}</details>"
        if result.is_to_be_written
        else ""
    )
    return (
        f'<section id="file-{number}"><h2>{escape(str(result.path))} {_badge(run, result)}</h2>'
        f"{why}{sites}{diff}</section>"
    )


def _site_row(run: Run, site: Site) -> list[str]:
    return [
        escape(site.place),
        _link(f"#{site.code}", site.code),
        f"<code>{escape(site.text)}</code>",
        escape(f"left: {site.reason}" if site.left else run.rewritten),
    ]


def _codes(run: Run) -> str:
    used = sorted({*run.counts.rewritten, *run.counts.left})
    articles = "".join(_code(rule_for(code)) for code in used)
    return f'<section id="codes"><h2>Codes</h2>{articles}</section>' if used else ""


def _code(rule: Rule) -> str:
    return (
        f'<article id="{rule.code}"><h3>{rule.code}: {escape(rule.name)}</h3>'
        f"<p>{escape(rule.summary)}</p><p>{escape(rule.why.strip())}</p>"
        f"<details><summary>Example before</summary><pre>{escape(rule.before)}</pre></details>"
        f"<details><summary>Example after</summary><pre>{escape(rule.after)}</pre></details>"
        f"<p>Guide: <code>{escape(rule.guide)}</code></p></article>"
    )


def _badge(run: Run, result: FileResult) -> str:
    outcome = result.outcome
    return f'<span class="badge {outcome.value}">{run.became(outcome)}</span>'


def _link(target: str, text: str) -> str:
    return f'<a href="{target}">{escape(text)}</a>'
