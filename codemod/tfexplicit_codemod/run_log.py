"""The log of the lines that updated weights in a run, in the report format of `check`.

A file has the `sha256` of its text too, and a site the class of its `optimizer`. Paths are
relative to the folder of the log, where they lie below it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfexplicit_codemod.outcome import FileResult, Outcome, Site
from tfexplicit_codemod.report_json import document


@dataclass
class LoggedFile:
    """The text that ran, and the class of the optimizer at each of its sites."""

    sha256: str
    sites: dict[Site, str] = field(default_factory=dict)

    @property
    def in_order(self) -> tuple[Site, ...]:
        return tuple(sorted(self.sites, key=lambda site: (site.line, site.column)))

    def fits(self, text: bytes) -> bool:
        return hashlib.sha256(text).hexdigest() == self.sha256


@dataclass
class RunLog:
    """All files of a log, by absolute path."""

    path: Path
    files: dict[Path, LoggedFile] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> RunLog:
        """The log in that file; an empty one where there is no file.

        Raises:
            ValueError: the file is something else.
        """
        log = cls(path.absolute())
        if not path.exists():
            return log
        try:
            report = json.loads(path.read_text("utf-8"))
            for entry in report["files"]:
                log.files[log.path.parent / entry["path"]] = _logged_file(entry)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path} is no log of a run ({type(error).__name__}: {error}). Give the file that "
                "TFEXPLICIT_WARN_LOG named, or the name of a new one."
            ) from error
        return log

    def add(self, file: Path, site: Site, optimizer: str) -> None:
        """Note a site of a file, as the file is now; what was known of another text is dropped."""
        text = file.read_bytes()
        known = self.files.get(file)
        if known is None or not known.fits(text):
            known = self.files[file] = LoggedFile(hashlib.sha256(text).hexdigest())
        known.sites[site] = optimizer

    def fits(self, file: Path, text: bytes) -> bool:
        """False for a file that was edited since it ran."""
        logged = self.files.get(file.absolute())
        return logged is None or logged.fits(text)

    def places_in(self, file: Path) -> frozenset[tuple[int, int]]:
        """Where a Keras optimizer updated, as lines from 1 and columns from 0."""
        logged = self.files.get(file.absolute())
        sites = logged.sites.items() if logged is not None else ()
        return frozenset(
            (site.line, site.column - 1)
            for site, optimizer in sites
            if not optimizer.startswith("tfexplicit.")
        )

    def write(self) -> None:
        """Replace the file on disk by this log: at every moment it is whole."""
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(self._report(), stream, indent=2)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _report(self) -> dict[str, Any]:
        files = sorted(self.files.items())
        report = document([self._result(path, file) for path, file in files])
        for entry, (_, file) in zip(report["files"], files, strict=True):
            entry["sha256"] = file.sha256
            for site_entry, site in zip(entry["sites"], file.in_order, strict=True):
                site_entry["optimizer"] = file.sites[site]
        return report

    def _result(self, path: Path, file: LoggedFile) -> FileResult:
        folder = self.path.parent
        shown = path.relative_to(folder) if path.is_relative_to(folder) else path
        return FileResult(shown, Outcome.CHANGED, file.in_order)


def _logged_file(entry: dict[str, Any]) -> LoggedFile:
    sites = {
        Site(site["line"], site["column"], site["code"], site["text"]): str(site["optimizer"])
        for site in entry["sites"]
    }
    return LoggedFile(entry["sha256"], sites)
