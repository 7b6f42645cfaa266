"""What git knows about a folder. Without git, or outside a checkout, it knows nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from tfexplicit_codemod.errors import Refused, UsageError


def checkout_of(folder: Path) -> Path | None:
    """The root of the checkout that holds this folder; None without git or outside a checkout."""
    if which("git") is None:
        return None
    folder = folder.resolve()
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), None)


def listed_files(folder: Path) -> list[Path]:
    """Tracked files and untracked files that are not ignored, below a folder of a checkout.

    Submodules and checkouts inside the checkout are listed too: `git ls-files` names only their
    folder.
    """
    done = _git(folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if done.returncode:
        raise UsageError(f"git cannot list {folder}: {_message(done)}")
    files: list[Path] = []
    for name in sorted(set(_names(done.stdout))):
        entry = folder / name
        if entry.is_dir() and not entry.is_symlink():
            files += listed_files(entry)
        else:
            files.append(entry)
    return files


def tracked_files(root: Path) -> set[Path]:
    """The files in the index of a checkout, relative to its root."""
    return {Path(name) for name in _names(_git(root, "ls-files", "--cached", "-z").stdout)}


def write_revision(root: Path, revision: str, folder: Path) -> None:
    """Writes the files of a revision to a folder; the checkout and its index are not touched."""
    index = {"GIT_INDEX_FILE": str(folder.with_name(f"{folder.name}.index"))}
    for command in (
        ["read-tree", "--", revision],
        ["checkout-index", "--all", f"--prefix={folder}/"],
    ):
        done = _git(root, *command, environment=index)
        if done.returncode:
            raise UsageError(f"git cannot read revision {revision} of {root}: {_message(done)}")


def ignores(folder: Path) -> bool:
    """True if a `.gitignore` of its checkout ignores this whole folder."""
    return _git(folder.parent, "check-ignore", "-q", str(folder.resolve())).returncode == 0


def uncommitted(files: list[Path]) -> list[Path]:
    """Those of the files that the last commit could not bring back: changed or never committed.

    Files that git ignores are not among them.
    """
    changed: dict[Path, set[Path]] = {}
    dirty = []
    for file in files:
        target = file.resolve()
        root = checkout_of(target.parent)
        if root is None:
            continue
        if root not in changed:
            changed[root] = _changed_files(root)
        if target in changed[root]:
            dirty.append(file)
    return dirty


def _changed_files(root: Path) -> set[Path]:
    done = _git(root, "status", "--porcelain", "--untracked-files=all", "--no-renames", "-z")
    if done.returncode:
        raise Refused(
            f"git cannot say whether {root} has uncommitted changes: {_message(done)}\n"
            "Pass --allow-dirty to go on without that check."
        )
    status_width = len("XY ")
    return {root / name[status_width:] for name in _names(done.stdout)}


def _names(output: bytes) -> list[str]:
    return [_file_name(name) for name in output.split(b"\0") if name]


def _file_name(name: bytes) -> str:
    # Names are bytes to git; this is how Python spells such a name for the file system.
    return name.decode("utf-8", "surrogateescape")


def _git(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        check=False,
        env=os.environ | (environment or {}),
    )


def _message(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8", "replace").strip()
