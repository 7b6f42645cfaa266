"""The file of allowed lines: made once, then it only shrinks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.ratchet import Ratchet


@dataclass
class Place:
    file: str
    line: int


def test_the_first_run_allows_and_writes_every_line(tmp_path: Path) -> None:
    source = tmp_path / "src" / "train.py"
    source.parent.mkdir()
    source.write_text("a.apply()\nb.apply()\n")
    file = tmp_path / "allowed.txt"
    ratchet = Ratchet(file)
    assert ratchet.allows(Place(str(source), 2))
    ratchet.write()
    assert file.read_text() == "src/train.py: b.apply()\n"


def test_later_runs_allow_no_other_line(tmp_path: Path) -> None:
    source = tmp_path / "train.py"
    source.write_text("new()\n    a.apply()\nb.apply()\n")
    file = tmp_path / "allowed.txt"
    file.write_text("train.py: a.apply()\n")
    ratchet = Ratchet(file)
    # The line has moved since.
    assert ratchet.allows(Place(str(source), 2))
    assert not ratchet.allows(Place(str(source), 3))
    ratchet.write()
    assert file.read_text() == "train.py: a.apply()\n"


def test_what_is_gone_from_the_source_is_taken_out(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a.apply()\n")
    file = tmp_path / "allowed.txt"
    file.write_text("gone.py: c.apply()\ntrain.py: a.apply()\ntrain.py: b.apply()\n")
    # A line that this run did not come by stays.
    Ratchet(file).write()
    assert file.read_text() == "train.py: a.apply()\n"
