"""Both curves and their difference, drawn by matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.verify.records import Update
from tfexplicit_codemod.verify.verdict import Verdict

OPTIMIZERS_SHOWN = 4
SMALLEST = 1e-9  # of the differences drawn: what is below stands on the axis


def expect_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise UsageError(
            "--plot and --html draw with matplotlib, which is not installed here. "
            "Write: pip install 'tfexplicit[plot]'"
        )


def picture_of(verdict: Verdict, format: str) -> bytes:
    """A column for each optimizer: its loss, or the norm of its gradients, and the difference."""
    from matplotlib.figure import Figure

    pairs = [
        (position, one, verdict.after.updates[position])
        for position, one in enumerate(verdict.before.updates[: verdict.comparison.updates])
    ]
    optimizers = list(dict.fromkeys((one.process, one.owner) for _, one, _ in pairs))
    shown = optimizers[:OPTIMIZERS_SHOWN] or [("", (1, "no update of both"))]
    figure = Figure(figsize=(1 + 5 * len(shown), 6), layout="constrained")
    axes = figure.subplots(2, len(shown), squeeze=False, sharex="col")
    for column, (process, owner) in enumerate(shown):
        mine = [pair for pair in pairs if (pair[1].process, pair[1].owner) == (process, owner)]
        title = f"{owner[1]} ({owner[0]})" + (f" of {process}" if process else "")
        axes[0, column].set_title(title)
        _draw_curves(axes[0, column], [one for _, one, _ in mine], [two for _, _, two in mine])
        relative = [verdict.comparison.relative[position] for position, _, _ in mine]
        _draw_difference(axes[1, column], [one.index for _, one, _ in mine], relative)
    image = io.BytesIO()
    figure.savefig(image, format=format)
    return image.getvalue()


def _draw_curves(axes: Any, before: Sequence[Update], after: Sequence[Update]) -> None:
    known = all(update.loss is not None for update in (*before, *after))
    axes.set_ylabel("loss" if known else "norm of the gradients")
    for updates, label, style in ((before, "before", "-"), (after, "after", "--")):
        values = [update.loss if known else update.gradient_norm for update in updates]
        axes.plot([update.index for update in before], values, style, label=label)
    axes.legend()


def _draw_difference(axes: Any, indexes: Sequence[int], relative: Sequence[float]) -> None:
    heights = [max(each, SMALLEST) if math.isfinite(each) else math.nan for each in relative]
    axes.plot(indexes, heights, ".-", color="tab:red")
    axes.set_yscale("log")
    axes.set_ylim(bottom=SMALLEST)
    axes.set_xlabel("update")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel("largest relative difference")
