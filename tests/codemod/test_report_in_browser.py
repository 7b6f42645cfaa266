"""The HTML report as a browser lays it out, on a desktop and on a phone.

A page of the test holds the report in two frames, measures them and writes down what it saw.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tfexplicit_codemod.cli import main

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)

MEASURE = """
const seen = {};
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const row = page.querySelector("tr:has(del):has(ins)");
  const [before, after] = row.querySelectorAll("td.code");
  const [left, right] = [before.getBoundingClientRect(), after.getBoundingClientRect()];
  const small = [...page.querySelectorAll("main *")].filter(
    (each) => each.checkVisibility() && parseFloat(view.getComputedStyle(each).fontSize) < 12);
  page.querySelector("summary").focus();
  seen[frame.id] = {
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    side_by_side: left.top === right.top && left.right < right.left + 1,
    one_below_the_other: left.left === right.left && left.bottom <= right.top + 1,
    diff_code_width: left.width,
    small_text: small.length,
    focused: page.activeElement.localName,
    fetched: view.performance.getEntriesByType("resource").length,
    page: view.getComputedStyle(page.body).backgroundColor,
  };
}
document.body.innerHTML = "";
document.body.textContent = JSON.stringify(seen);
"""


def in_browser(report: str, folder: Path, *options: str) -> dict[str, Any]:
    frames = "".join(
        f'<iframe id="{name}" style="width:{width}px;height:900px;border:0" '
        f'srcdoc="{html.escape(report)}"></iframe>'
        for name, width in (("desktop", 1280), ("phone", 375))
    )
    page = folder / "frames.html"
    script = f"<script>onload = () => {{{MEASURE}}};</script>"
    page.write_text(f"<!doctype html><meta charset=utf-8>{script}{frames}", encoding="utf-8")
    assert CHROMIUM
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *(f"--user-data-dir={folder / 'profile'}", "--window-size=1700,1000"),
            *(*options, page.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    seen = re.search(r"<body>(\{.*\})</body>", done.stdout)
    assert seen, done.stdout[-2000:]
    measured: dict[str, Any] = json.loads(html.unescape(seen[1]))
    return measured


@pytest.fixture
def report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    project = tmp_path / "project" / ("a_folder_with_a_long_name_" * 5)
    project.mkdir(parents=True)
    for example in sorted((ROOT / "migration_guide" / "examples").glob("[a-h]*.py")):
        shutil.copy(example, project)
    (project / "bad.py").write_text("optimizer.apply_gradients(\n")
    monkeypatch.chdir(tmp_path / "project")
    assert main(["check", ".", "--format", "html"]) == 3
    return capsys.readouterr().out


def test_readable_on_a_desktop_and_on_a_phone(report: str, tmp_path: Path) -> None:
    seen = in_browser(report, tmp_path)
    for name, layout in (("desktop", "side_by_side"), ("phone", "one_below_the_other")):
        measured = seen[name]
        assert measured["overflow"] == 0, name
        assert measured[layout], name
        assert measured["diff_code_width"] > 260, name
        assert measured["small_text"] == 0, name
        assert measured["focused"] == "summary", name
        assert measured["fetched"] == 0, name


def test_light_and_dark(report: str, tmp_path: Path) -> None:
    light = in_browser(report, tmp_path, "--blink-settings=preferredColorScheme=1")
    dark = in_browser(report, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert light["phone"]["page"] == "rgb(255, 255, 255)"
    assert dark["phone"]["page"] == "rgb(13, 17, 23)"
