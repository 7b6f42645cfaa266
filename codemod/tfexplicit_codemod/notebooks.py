"""Notebooks: a notebook that updates weights is reported, never passed over in silence."""

from __future__ import annotations

from pathlib import Path

from tfexplicit_codemod.outcome import FileResult, Outcome

UPDATE_TOKENS = (b".apply_gradients(", b".minimize(")


def notebook_result(path: Path, source: bytes) -> FileResult:
    calls = sum(source.count(token) for token in UPDATE_TOKENS)
    if not calls:
        return FileResult(path, Outcome.UNCHANGED, before=source)
    reason = (
        f"notebooks are not rewritten yet: {calls} "
        f"{'call' if calls == 1 else 'calls'} of apply_gradients or minimize left as they are"
    )
    return FileResult(path, Outcome.SKIPPED, before=source, reason=reason)
