"""The formats of a report: each for itself, and all of them of one run."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.guide import render_page
from tfexplicit_codemod.html_page import STYLE
from tfexplicit_codemod.registry import all_rules

IMPLICIT = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
LEFT = """\
import tensorflow as tf
if tf.GradientTape: optimizer.apply_gradients(zip(g['<b>&'], v), experimental_aggregate=True)
"""
IGNORED = IMPLICIT.rstrip() + "  # tfexplicit: ignore\n"
NUMBERS = ("files", "sites", "rewritten", "left", "ignored")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "train.py": IMPLICIT,
        "a folder/100%, naïve: one.py": LEFT,
        "ignored.py": IGNORED,
        "other.py": "print('nothing to do')\n",
        "bad.py": "x = 1\noptimizer.apply_gradients(zip(g, v)\n",
        "encoding.py": "# coding: nonsense\no.apply_gradients(x)\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: Capture, *arguments: str) -> str:
    assert main(list(arguments)) == 3
    return capsys.readouterr().out


def counts_of_lines(text: str) -> dict[str, int]:
    """From the two lines with the totals."""
    found = re.search(
        r"(\d+) files: (.*)\n(\d+) sites?: (\d+) (?:can be )?rewritten, (\d+) left, (\d+) ignored",
        text,
    )
    assert found, text
    numbers = zip(NUMBERS, (found[1], *found.groups()[2:]), strict=True)
    outcomes = [pair.split() for pair in found[2].replace("would change", "changed").split(", ")]
    return {name: int(n) for name, n in numbers} | {name: int(n) for n, name in outcomes}


def counts_of_summary(summary: dict[str, Any]) -> dict[str, int]:
    numbers = {name: summary[name] for name in ("files", "sites", "ignored")}
    sums = {name: sum(summary[name].values()) for name in ("rewritten", "left")}
    return numbers | sums | {name: n for name, n in summary["outcomes"].items() if n}


def places_of(report: dict[str, Any]) -> list[tuple[str, int, int, str]]:
    """Every site of a JSON report."""
    return [
        (file["path"], site["line"], site["column"], site["code"])
        for file in report["files"]
        for site in file["sites"]
    ]


@pytest.mark.parametrize("command", ["check", "migrate"])
def test_every_format_tells_the_same(
    command: str, project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that every format is that of the same run, nothing is written.
    monkeypatch.setattr("tfexplicit_codemod.write.write_atomically", lambda *_: None)
    said = {
        name: printed(capsys, command, ".", "--format", name)
        for name in ("text", "json", "sarif", "github", "html")
    }
    report = json.loads(said["json"])
    sites = places_of(report)
    summary = counts_of_summary(report["summary"])
    assert summary == {
        "files": 6,
        "sites": 2,
        "rewritten": 1,
        "left": 1,
        "ignored": 1,
        "changed": 1,
        "needs-hand": 1,
        "unchanged": 2,
        "skipped": 1,
        "failed": 1,
    }
    assert len(sites) == summary["sites"]
    assert counts_of_lines(said["text"]) == summary
    assert counts_of_lines(said["github"]) == summary
    assert counts_of_lines(re.sub("</?p>", "\n", said["html"]).replace("\n\n", "\n")) == summary

    [run] = json.loads(said["sarif"])["runs"]
    assert run["properties"]["summary"] == report["summary"]
    assert [sarif_place(each) for each in run["results"]] == sites
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == 2

    annotations = re.findall(r"^::(?:warning|notice) .*", said["github"], re.M)
    assert [github_place(each) for each in annotations] == sites
    assert len(re.findall("^::error ", said["github"], re.M)) == 2

    page = Page(said["html"])
    assert [tuple(row[:2]) for row in page.rows_under("place")] == [
        (f"{line}:{column}", code) for _, line, column, code in sites
    ]
    assert [row[0] for row in page.rows_under("file")] == [
        file["path"] for file in report["files"] if file["outcome"] != "unchanged"
    ]


def sarif_place(result: dict[str, Any]) -> tuple[str, int, int, str]:
    [location] = result["locations"]
    place = location["physicalLocation"]
    region = place["region"]
    uri = unquote(place["artifactLocation"]["uri"])
    return uri, region["startLine"], region["startColumn"], result["ruleId"]


def github_place(annotation: str) -> tuple[str, int, int, str]:
    found = re.match(r"::\w+ file=([^,]*),line=(\d+),col=(\d+),title=(\w+) ", annotation)
    assert found, annotation
    path = found[1].replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    return path, int(found[2]), int(found[3]), found[4]


def test_sarif_has_the_required_structure(project: Path, capsys: Capture) -> None:
    log = json.loads(printed(capsys, "check", ".", "--format", "sarif"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "tfexplicit"
    assert [rule["id"] for rule in driver["rules"]] == [rule.code for rule in all_rules()]
    for described, rule in zip(driver["rules"], all_rules(), strict=True):
        assert re.fullmatch("[A-Z][A-Za-z0-9]+", described["name"])
        assert described["help"]["markdown"] == render_page(rule)
        assert rule.why in described["help"]["text"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == "warning"
        assert result["message"]["text"]
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert not re.search(r"[ %](?![0-9A-F]{2})|^/|^\w+:", artifact["uri"])
        assert artifact["uriBaseId"] in run["originalUriBaseIds"]
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"].startswith("file:///")
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"].endswith("/")
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    bad = invocation["toolExecutionNotifications"][0]
    region = bad["locations"][0]["physicalLocation"]["region"]
    assert (bad["level"], region["startLine"]) == ("error", 2)


def test_sarif_of_a_file_outside_of_the_folder_is_absolute(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "a folder")
    assert main(["check", "../train.py", "--format", "sarif"]) == 1
    [result] = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (project / "train.py").as_uri()}


def test_github_annotations_are_escaped(project: Path, capsys: Capture) -> None:
    lines = printed(capsys, "check", ".", "--format", "github").splitlines()
    assert lines[0].startswith(
        "::warning file=a folder/100%25%2C naïve%3A one.py,line=2,col=21,title=TX2"
    )
    assert "zip(g['<b>&'], v)" in lines[0]
    assert lines[1].startswith("::error file=bad.py,line=2,col=26,title=tfexplicit%3A failed::")
    assert lines[2].startswith("::error file=encoding.py,title=tfexplicit%3A skipped::encoding: ")


def test_a_rewritten_site_is_no_warning(project: Path, capsys: Capture) -> None:
    assert main(["migrate", "train.py", "--format", "github"]) == 0
    assert capsys.readouterr().out.startswith("::notice file=train.py,line=10,col=5,title=TX101 ")


def test_quiet_leaves_only_sites_and_files(project: Path, capsys: Capture) -> None:
    lines = printed(capsys, "check", ".", "--quiet").splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["a folder/100%, naïve", "train.py"]
    assert [line.split(":")[0] for line in lines[2:]] == ["bad.py", "encoding.py"]
    assert main(["migrate", "train.py", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


class Page(html.parser.HTMLParser):
    """What the tests ask of a page: its tables, links, ids and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == [], "elements that are not closed"

    def rows_under(self, first_head: str) -> list[list[str]]:
        return [row for t in self.tables if t[0][0] == first_head for row in t[1:]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "col"):
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def test_html_page_stands_alone(project: Path, capsys: Capture) -> None:
    text = printed(capsys, "check", ".", "--format", "html")
    page = Page(text)
    assert not {tag for tag, _, _ in page.attributes} & {"script", "link", "img", "iframe"}
    assert not re.search(r"url\(|@import|https?://", text)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.removeprefix("#") in page.ids for link in page.links), page.links
    assert ("html", "lang", "en") in page.attributes
    codes = {rule.code for rule in all_rules()}
    assert codes & {link.removeprefix("#") for link in page.links} == codes & set(page.ids)


def test_html_page_shows_source_as_text(project: Path, capsys: Capture) -> None:
    text = printed(capsys, "check", ".", "--format", "html")
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;" in text


@pytest.mark.parametrize("command", ["check", "diff"])
def test_html_page_shows_before_beside_after(command: str, project: Path, capsys: Capture) -> None:
    assert main([command, "train.py", "--format", "html"]) == 1
    rows = Page(capsys.readouterr().out).rows_under("before")
    beside = {before: after for _, before, _, after in (row for row in rows if len(row) == 4)}
    old = "    optimizer.apply_gradients(zip(grads, model.trainable_variables))"
    assert beside[old] == "    tx.update(opt_state, model, grads)"
    assert beside["model = tf.keras.Sequential([tf.keras.layers.Dense(1)])"] == (
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])"
    )


def luminance(colour: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_html_page_has_contrast(scheme: str) -> None:
    light, dark = STYLE.read_text("utf-8").split("prefers-color-scheme: dark")
    colours = dict(re.findall(r"--(\w+): (#\w{6});", light if scheme == "light" else dark))
    for text in ("text", "quiet", "link", "good", "bad", "warn"):
        for behind in ("page", "panel", *(("removed", "added") if text == "text" else ())):
            low, high = sorted(luminance(colours[name]) for name in (text, behind))
            assert (high + 0.05) / (low + 0.05) >= 4.5, f"{text} on {behind}"
