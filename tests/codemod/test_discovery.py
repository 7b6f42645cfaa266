"""Which files a command works on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tfexplicit_codemod import git
from tfexplicit_codemod.discovery import find_files
from tfexplicit_codemod.errors import UsageError


def make(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")


def found(root: Path, *paths: Path) -> list[str]:
    return [file.relative_to(root).as_posix() for file in find_files(list(paths) or [root])]


@pytest.fixture(params=["git", "no git"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout: git says what it ignores, or, where git is not installed, our own reading."""
    root = tmp_path / "a checkout"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    if request.param == "no git":
        monkeypatch.setattr(git, "which", lambda name: None)
    return root


def test_python_files_and_notebooks_below_a_folder(root: Path) -> None:
    make(root, "b.py", "a/c.py", "a/nb.ipynb", "a/data.csv", "été/naïve modèle.py")
    assert found(root) == ["a/c.py", "a/nb.ipynb", "b.py", "été/naïve modèle.py"]


def test_gitignore_is_respected_and_the_inner_one_wins(root: Path) -> None:
    make(root, "kept.py", "drop_me.py", "gen/x.py", "pkg/drop_me.py", "pkg/deep/drop_too.py")
    (root / ".gitignore").write_text("drop_*.py\n/gen/\n")
    (root / "pkg" / ".gitignore").write_text("!drop_me.py\n")
    assert found(root) == ["kept.py", "pkg/drop_me.py"]


def test_a_line_of_gitignore_that_is_no_pattern_is_passed_over(root: Path) -> None:
    make(root, "kept.py", "drop.py")
    (root / ".gitignore").write_text("!\n\\\n[\ndrop.py\n")
    assert found(root) == ["kept.py"]


def test_gitignore_above_the_folder_counts(root: Path) -> None:
    make(root, "pkg/sub/a.py", "pkg/sub/gen.py")
    (root / ".gitignore").write_text("gen.py\n")
    assert found(root, root / "pkg" / "sub") == ["pkg/sub/a.py"]


def test_what_is_named_is_taken_even_if_ignored(root: Path) -> None:
    make(root, "gen/x.py", "gen/sub/y.py", "z.py", "build/b.py", "script_without_suffix")
    (root / ".gitignore").write_text("gen/\nz.py\n")
    assert found(root, root / "z.py") == ["z.py"]
    assert found(root, root / "gen") == ["gen/sub/y.py", "gen/x.py"]
    assert found(root, root / "build") == ["build/b.py"]
    assert found(root, root / "script_without_suffix") == ["script_without_suffix"]


def test_never_entered(root: Path) -> None:
    make(
        root,
        "ok/a.py",
        ".git/hooks/h.py",
        "myenv/pyvenv.cfg",
        "myenv/lib/x.py",
        "lib/site-packages/x.py",
        "node_modules/x.py",
        "build/lib/x.py",
        "dist/x.py",
        "nb/.ipynb_checkpoints/x.ipynb",
        "ok/__pycache__/x.py",
        "ok/.tox/x.py",
    )
    assert found(root) == ["ok/a.py"]


def test_a_checkout_inside_the_checkout_is_entered(root: Path) -> None:
    make(root, "a.py", "vendored/b.py", "vendored/c.py")
    subprocess.run(["git", "init", "-q", root / "vendored"], check=True)
    (root / "vendored" / ".gitignore").write_text("c.py\n")
    assert found(root) == ["a.py", "vendored/b.py"]


def test_links(root: Path, tmp_path: Path) -> None:
    make(root, "real/a.py")
    make(tmp_path, "elsewhere/b.py")
    (root / "same.py").symlink_to("real/a.py")
    (root / "outside.py").symlink_to(tmp_path / "elsewhere" / "b.py")
    (root / "broken.py").symlink_to("gone.py")
    (root / "loop").symlink_to(root)
    (root / "out").symlink_to(tmp_path / "elsewhere")
    assert found(root) == ["real/a.py"]
    assert found(root, root / "outside.py") == ["outside.py"]


def test_paths_are_spelled_as_they_were_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "a/b.py", "c/d.py")
    monkeypatch.chdir(root / "a")
    assert find_files([Path()]) == [Path("b.py")]
    assert find_files([Path("../c")]) == [Path("../c/d.py")]
    assert find_files([Path("b.py"), root / "a"]) == [Path("b.py")]


def test_a_folder_outside_any_checkout(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "sub/b.py", "sub/c.py", "sub/.ipynb_checkpoints/d.ipynb")
    (tmp_path / "sub" / ".gitignore").write_text("c.py\n")
    assert found(tmp_path) == ["a.py", "sub/b.py"]


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"trian\.py: there is no such file or folder"):
        find_files([tmp_path, tmp_path / "trian.py"])
