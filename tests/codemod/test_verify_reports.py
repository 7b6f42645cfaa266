"""What `verify` says, in its four forms."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.verify import json_report, page
from tfexplicit_codemod.verify.options import Options
from tfexplicit_codemod.verify.picture import picture_of
from tfexplicit_codemod.verify.records import Gradient, Leaf, Trajectory, Update
from tfexplicit_codemod.verify.report import print_verdict
from tfexplicit_codemod.verify.target import Target
from tfexplicit_codemod.verify.verdict import Changes, Verdict

Capture = pytest.CaptureFixture[str]

ROOT = Path(__file__).parents[2]

OPTIONS = Options(Target(Path("train.py"), None, ("--epochs", "1")))
FILE = FileResult(Path("train.py"), Outcome.CHANGED, before=b"old <line>\n", after=b"new\n")


def trajectory(*values: float) -> Trajectory:
    updates = [
        Update(
            index,
            (Gradient(1.0, 1.0),),
            (
                Leaf(
                    "dense/kernel",
                    1,
                    (1,),
                    "float32",
                    int(value),
                    value,
                    value,
                    value,
                    0,
                    *[1.0] * 5,
                ),
            ),
            loss=value**2,
            owner=(1, "Adam"),
        )
        for index, value in enumerate(values, start=1)
    ]
    return Trajectory(updates, loaded=["train.py"], peak_memory=2**29, seconds=1.25)


def verdict(after: Trajectory, again: Trajectory | None = None) -> Verdict:
    return Verdict(OPTIONS, Changes([FILE], ["other.py"]), trajectory(1, 2, 3), after, again)


EQUAL = verdict(trajectory(1, 2, 3))
DIFFERENT = verdict(trajectory(1, 2, 4), trajectory(1, 2, 3))
UNSTEADY = verdict(trajectory(1, 2, 4), trajectory(1, 5, 3))


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (EQUAL, 0, "3 updates of 1 leaves are equal bit for bit."),
        (DIFFERENT, 1, "in update 3 the norm of leaf dense/kernel is 3 before and 4 after"),
        (DIFFERENT, 1, "second time, trained as it did the first time."),
        (UNSTEADY, 3, "the program before is not deterministic"),
        (UNSTEADY, 3, "in update 2 the norm of leaf dense/kernel was 2, then 5."),
    ],
)
def test_the_text(given: Verdict, code: int, said: str, capsys: Capture) -> None:
    print_verdict(Console(width=80), given)
    out = capsys.readouterr().out
    assert said in out
    assert "Before: 3 updates, 1.2 s, 512 MiB at the peak" in out
    assert "…" not in out, "a column is cut off"
    assert given.status.exit_code == code


def test_the_json() -> None:
    report = json.loads(json_report.report(DIFFERENT))
    assert report["verdict"] == "different"
    assert report["command"] == "tfexplicit verify train.py --epochs 1"
    assert report["programs"]["after"] == {"updates": 3, "seconds": 1.25, "peak_memory": 2**29}
    assert report["differences"][0]["place"] == "update 3"
    assert report["updates"][2] == {
        "process": "",
        "index": 3,
        "optimizer": [1, "Adam"],
        "loss": [9.0, 16.0],
        "gradient_norm": [1.0, 1.0],
        "difference": 0.25,
        "leaves": [{"name": "dense/kernel", "digest": ["00000003", "00000004"]}],
    }
    assert json.loads(json_report.report(EQUAL))["differences"] == []
    assert json.loads(json_report.no_verdict(OPTIONS, "why"))["text"] == ["why"]


@pytest.mark.parametrize("given", [EQUAL, DIFFERENT, UNSTEADY], ids=lambda each: each.status.value)
def test_the_page_needs_nothing_else(given: Verdict) -> None:
    text = page.report(given)
    assert given.status.value in text
    assert "<del>old &lt;line&gt;</del>" in text
    assert "data:image/svg+xml;base64," in text
    assert "Not proven by this run, which does not load them: other.py" in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_picture() -> None:
    assert picture_of(DIFFERENT, "png").startswith(b"\x89PNG")
    nothing_to_compare = verdict(Trajectory())
    assert picture_of(nothing_to_compare, "svg").startswith(b"<?xml")


@pytest.mark.parametrize("option", [["--plot", "out.png"], ["--html", "out.html"]])
def test_without_matplotlib_it_says_what_to_install_before_it_runs(
    option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["verify", "train.py", *option]) == 2
    assert "pip install 'tfexplicit[plot]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "verify needs a SCRIPT, -m MODULE, or -- pytest ARGS"),
        (["--", "train.py"], "verify needs a SCRIPT, -m MODULE, or -- pytest ARGS"),
        (["-m", "package", "train.py"], "Write the arguments after --"),
        (["no/such.py"], "no/such.py: there is no such script"),
        (["train.py", "--steps", "0"], "is not a number of updates"),
        (["train.py", "--timeout", "soon"], "is not a number above 0"),
        (["train.py", "--plot", "out"], "does not end with .png, .svg or .pdf"),
        (["train.py", "--baseline", "HEAD"], "this is no git checkout"),
    ],
)
def test_a_wrong_command_is_a_usage_error(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["verify", *arguments])
    except SystemExit as exit:  # argparse
        code = exit.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_the_guide_has_every_option(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    options = set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help", "--epochs"}
    page = (ROOT / "migration_guide" / "verify.md").read_text(encoding="utf-8")
    assert {"--steps", "--json"} <= options
    assert options <= set(re.findall(r"^\| `(--[a-z]+)", page, re.MULTILINE))
