"""The counts of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import FileResult, Outcome, Site
from tfexplicit_codemod.tally import tally

SITES = (Site(1, 1, "TX101", "a"), Site(2, 1, "TX101", "b"), Site(3, 1, "TX205", "c", "why"))


def test_sites_are_counted_by_code() -> None:
    results = [
        FileResult(Path("a.py"), Outcome.CHANGED, SITES, ignored=2),
        FileResult(Path("b.py"), Outcome.UNCHANGED, ignored=1),
    ]
    counts = tally(results)
    assert (counts.rewritten, counts.left) == ({"TX101": 2}, {"TX205": 1})
    assert (counts.files, counts.sites, counts.ignored, counts.all_done) == (2, 3, 3, True)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.SKIPPED])
def test_a_file_that_is_not_done_has_no_sites(outcome: Outcome) -> None:
    """Such as one that could not be written."""
    counts = tally([FileResult(Path("a.py"), outcome, SITES, ignored=2)])
    assert (counts.files, counts.sites, counts.ignored, counts.all_done) == (1, 0, 0, False)


MADE = b"import tensorflow as tf\noptimizer = tf.keras.optimizers.SGD()\n"


def test_a_call_over_several_lines_is_shown_as_one() -> None:
    call = b"optimizer.apply_gradients(\n    zip(\n        g,\n        v,\n    )\n)\n"
    (site,) = migrate_source(MADE + call, Path("a.py")).sites
    assert site.text == "optimizer.apply_gradients(zip(g, v))"
