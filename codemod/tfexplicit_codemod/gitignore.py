"""`.gitignore` files, for folders where git itself is not at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Patterns:
    """The `.gitignore` files read so far, by the folder that they stand in."""

    def __init__(self) -> None:
        self._specs: dict[Path, GitIgnoreSpec] = {}

    def read(self, folder: Path) -> None:
        file = folder / ".gitignore"
        if file.is_file():
            lines = file.read_text("utf-8", "surrogateescape").splitlines()
            self._specs[folder.resolve()] = _spec(lines)

    def ignore(self, path: Path, *, is_folder: bool) -> bool:
        """The last matching pattern of the innermost file that has one decides."""
        if not self._specs:
            return False
        # Only the folder is resolved: a link is judged by its own name, not by its target's.
        path = path.parent.resolve() / path.name
        for folder in path.parents:
            if folder in self._specs:
                name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
                decision = self._specs[folder].check_file(name).include
                if decision is not None:
                    return decision
        return False


def _spec(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # slow to import, and git mostly answers instead

    def is_pattern(line: str) -> bool:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            # git passes over such a line, too.
            return False
        return True

    return GitIgnoreSpec.from_lines(filter(is_pattern, lines))


def above(folder: Path) -> Patterns:
    """The patterns of the checkout's folders above this one.

    None of them counts if they ignore this very folder: whoever names it wants what is in it.
    """
    folder = folder.resolve()
    patterns = Patterns()
    if (folder / ".git").exists():
        return patterns
    between = []
    for parent in folder.parents:
        between.append(parent)
        if (parent / ".git").exists():
            for each in between:
                patterns.read(each)
            break
    chain = [folder, *between[:-1]]
    if any(patterns.ignore(each, is_folder=True) for each in chain):
        return Patterns()
    return patterns
