"""Writes migrated files so that at every moment each file is whole: the old one or the new one."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from tfexplicit_codemod.outcome import FileResult, Outcome


def write_changed(results: list[FileResult]) -> list[FileResult]:
    """Writes every file that changed; one that cannot be written ends as failed, as it was.

    So do the files that must be written together with it.
    """
    written: dict[Path, FileResult] = {}
    for result in results:
        if result.is_to_be_written and result.path not in written:
            group = [each for each in results if each.path in {result.path, *result.together}]
            written |= {each.path: each for each in _written_together(group)}
    return [written.get(result.path, result) for result in results]


def _written_together(group: list[FileResult]) -> list[FileResult]:
    """All files of the group, or none: what was written is put back where one cannot be."""
    done: list[FileResult] = []
    for result in group:
        if result.after is None or not result.is_to_be_written:
            continue
        try:
            write_atomically(result.path, result.before, result.after)
        except OSError as error:
            for each in done:
                assert each.after is not None
                write_atomically(each.path, each.after, each.before)
            reason = f"cannot be written: {error.strerror or error}; the file is as it was"
            return [
                _failed(each, reason if each is result else f"{result.path} {reason}")
                for each in group
            ]
        done.append(result)
    return group


def _failed(result: FileResult, reason: str) -> FileResult:
    return replace(result, outcome=Outcome.FAILED, after=None, reason=reason)


def write_atomically(path: Path, before: bytes, after: bytes) -> None:
    """Replaces the bytes of a file, through links, keeping its owner and mode.

    `OSError` if the file no longer holds `before`, is read-only, or cannot be written; it then
    still holds what it held, and no temporary file is left.
    """
    target = path.resolve()
    if target.read_bytes() != before:
        raise OSError("it was changed by someone else since it was read")
    if not os.access(target, os.W_OK):
        raise PermissionError("it is read-only")
    # In the same folder, since a file can only be replaced within its file system.
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".tfexplicit.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        _keep_owner_and_mode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _keep_owner_and_mode(target: Path, temporary: Path) -> None:
    was, now = target.stat(), temporary.stat()
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        os.chown(temporary, was.st_uid, was.st_gid)
    temporary.chmod(was.st_mode & 0o7777)
