"""Every code block of the README and the guide does what the page says.

Python blocks of one page run in order as one program. Console blocks of one page run in order in
one copy of the repository: each `$ ` line is a command, which must exit with 0 or as its comment
`# exits 1` says, and the lines below it must appear in its output in that order. A block that
cannot run here has `<!-- not run: reason -->` on the line above it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "migration_guide").rglob("*.md"))]
# Before and after of one code: the tests of the registry run these programs.
CODE_PAGES = ROOT / "migration_guide" / "codes"
LANGUAGES = ("python", "console", "text")
FENCE = re.compile(r"^```(\w*)$")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
EXIT_CODE = re.compile(r"# exits (\d+)")


@dataclass(frozen=True)
class Block:
    """One fenced block; `first` is the index of its first line in the page."""

    language: str
    first: int
    lines: tuple[str, ...]
    not_run: bool


def blocks_of(page: Path) -> list[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    assert len(fences) % 2 == 0, f"{page}: a code block is not closed"
    blocks = []
    for opening, closing in zip(fences[::2], fences[1::2], strict=True):
        tag = FENCE.match(lines[opening])
        assert tag, f"{page}:{opening + 1}: not a plain code fence: {lines[opening]}"
        not_run = opening > 0 and lines[opening - 1].startswith("<!-- not run: ")
        body = tuple(lines[opening + 1 : closing])
        blocks.append(Block(tag[1], opening + 1, body, not_run))
    return blocks


def runnable(page: Path, language: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == language and not block.not_run]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if CODE_PAGES not in page.parents and runnable(page, language)]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def program_of(page: Path) -> str:
    """The page's Python, each line on its own line number, so that a traceback names the place."""
    lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
    for block in runnable(page, "python"):
        lines[block.first : block.first + len(block.lines)] = block.lines
    return "\n".join(lines) + "\n"


def environment() -> dict[str, str]:
    """This Python's own commands first, the packages of this checkout, and a name for git."""
    name, email = "Reader", "reader@example.org"
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'codemod'}",
        "COLUMNS": "100",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }


def run(command: list[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def missing_line(expected: list[str], output: str) -> str | None:
    """The first expected line that the output does not have, in order; spaces do not count."""
    rest = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in expected:
        wanted = " ".join(line.split())
        if wanted not in ("", "...") and not any(wanted in got for got in rest):
            return line
    return None


@pytest.fixture
def repository_copy(tmp_path: Path) -> Path:
    """What a reader has after `git clone`, files that are not committed yet included."""
    copy = tmp_path / "tfexplicit"
    leave = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "dist", "build")
    shutil.copytree(ROOT, copy, ignore=leave)
    for command in (["git", "init", "-q"], ["git", "add", "-A"], ["git", "commit", "-qm", "all"]):
        code, output = run(command, copy)
        assert code == 0, output
    return copy


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_has_a_language_or_a_reason(page: Path) -> None:
    for block in blocks_of(page):
        assert block.language in LANGUAGES or block.not_run, (
            f"{named(page)}:{block.first}: {block.language!r} is none of {LANGUAGES}; "
            "say why it is not run: <!-- not run: reason -->"
        )
        if block.language == "python":
            compile("\n".join(block.lines), named(page), "exec")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(CODE.sub("", text)):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{named(page)} links to {target}"


@pytest.mark.parametrize("page", pages_with("python"), ids=named)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    # Not the bare name: warnings.py would take the place of a module of Python.
    program = tmp_path / f"page_{page.stem}.py"
    program.write_text(program_of(page), encoding="utf-8")
    code, output = run([sys.executable, str(program)], tmp_path)
    assert code == 0, f"{named(page)} (same line numbers):\n{output}"


@pytest.mark.parametrize("page", pages_with("console"), ids=named)
def test_console_blocks_run(page: Path, repository_copy: Path) -> None:
    for block in runnable(page, "console"):
        starts = [number for number, line in enumerate(block.lines) if line.startswith("$ ")]
        assert starts[:1] == [0], f"{named(page)}:{block.first + 1}: no `$ ` command first"
        for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
            command, expected = block.lines[start][2:], list(block.lines[start + 1 : end])
            told = EXIT_CODE.search(command)
            code, output = run(["bash", "-c", command], repository_copy)
            place = f"{named(page)}:{block.first + start + 1}: {command}\n{output}"
            assert code == int(told[1] if told else 0), f"exit code {code} of {place}"
            absent = missing_line(expected, output)
            assert absent is None, f"not in the output: {absent!r}\n{place}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 100


def test_ci_finds_the_test_command_of_the_readme() -> None:
    code, output = run([str(ROOT / ".ci" / "run"), "--print-test-command"], ROOT)
    assert code == 0
    assert f"$ {output.strip()}" in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert "pytest" in output


def test_the_table_of_rules_has_every_rule_of_the_package() -> None:
    from tfexplicit.rules import all_rules

    page = (ROOT / "migration_guide" / "rules.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `tx\.(\w+)` \|", page, re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == {*all_rules, "Chain"}


def test_the_guide_tells_of_every_public_name() -> None:
    import tfexplicit

    told = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in dir(tfexplicit) if not re.search(rf"\btx\.{name}\b", told)] == []
