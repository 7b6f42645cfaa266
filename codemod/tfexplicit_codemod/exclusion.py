"""Files that a run never touches: `--exclude` and the key `exclude`, as `.gitignore` patterns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tfexplicit_codemod.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(frozen=True)
class Exclusion:
    """Patterns, and the folder that they are written from."""

    base: Path
    patterns: tuple[str, ...]

    def covers(self, file: Path) -> bool:
        if not self.patterns:
            return False
        # Only the folder is resolved: a link is judged by its own name, not by its target's.
        path = file.parent.resolve() / file.name
        base = self.base.resolve()
        return path.is_relative_to(base) and self._spec.match_file(
            path.relative_to(base).as_posix()
        )

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec  # slow to import, and few runs exclude anything

        try:
            return GitIgnoreSpec.from_lines(self.patterns)
        except ValueError as error:
            raise UsageError(f"exclude: {error}. Patterns are as in .gitignore.") from error


NOTHING = Exclusion(Path(), ())
