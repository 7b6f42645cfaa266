"""Every file is at every moment whole: the old one or the new one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from tfexplicit_codemod.outcome import FileResult, Outcome, Site
from tfexplicit_codemod.write import write_changed

SITE = Site(1, 1, "TX101", "optimizer.apply_gradients(...)")


def changed(path: Path, before: bytes = b"old", after: bytes = b"new") -> FileResult:
    return FileResult(path, Outcome.CHANGED, (SITE,), before, after)


def test_the_new_bytes_are_written_and_the_mode_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o755)
    assert write_changed([changed(file)]) == [changed(file)]
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o7777 == 0o755
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_needs_nothing_keeps_bytes_time_and_inode(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"same")
    os.utime(file, (1, 1))
    inode = file.stat().st_ino
    write_changed(
        [
            FileResult(file, Outcome.UNCHANGED, before=b"same"),
            FileResult(file, Outcome.NEEDS_HAND, before=b"same", after=b"same"),
        ]
    )
    assert (file.read_bytes(), file.stat().st_mtime, file.stat().st_ino) == (b"same", 1, inode)


def test_bug_14_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "real" / "a.py"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to("real/a.py")
    write_changed([changed(link)])
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_bug_02_a_write_that_fails_half_way_leaves_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for file in files:
        file.write_bytes(b"old")
    real_fsync, calls = os.fsync, iter(range(3))

    def full_disk_for_the_second_file(descriptor: int) -> None:
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full_disk_for_the_second_file)
    first, second, third = write_changed([changed(file) for file in files])
    assert [file.read_bytes() for file in files] == [b"new", b"old", b"new"]
    assert (first.outcome, third.outcome) == (Outcome.CHANGED, Outcome.CHANGED)
    assert second.outcome is Outcome.FAILED
    assert "No space left on device" in second.reason
    assert sorted(tmp_path.iterdir()) == files


def test_bug_01_an_interrupt_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_changed([changed(file)])
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"edited by hand")
    [result] = write_changed([changed(file)])
    assert result.outcome is Outcome.FAILED
    assert "changed by someone else" in result.reason
    assert file.read_bytes() == b"edited by hand"


def test_a_file_that_is_gone_fails(tmp_path: Path) -> None:
    [result] = write_changed([changed(tmp_path / "gone.py")])
    assert result.outcome is Outcome.FAILED
    assert "No such file" in result.reason
