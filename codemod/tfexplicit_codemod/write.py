"""Writes migrated files so that at every moment each file is whole: the old one or the new one."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from tfexplicit_codemod.outcome import FileResult, Outcome


def write_changed(results: list[FileResult]) -> list[FileResult]:
    """Writes every file that changed; one that cannot be written ends as failed, as it was."""
    return [_written(result) if result.is_to_be_written else result for result in results]


def _written(result: FileResult) -> FileResult:
    assert result.after is not None
    try:
        write_atomically(result.path, result.before, result.after)
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}; the file is as it was"
        return replace(result, outcome=Outcome.FAILED, after=None, reason=reason)
    return result


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
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
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
