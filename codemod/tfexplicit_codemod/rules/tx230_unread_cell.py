"""TX230: the update is in a cell of a notebook that is not read as code of the notebook."""

from __future__ import annotations

from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.registry import Rule


def site(cell: int, line: int, column: int, text: str, reason: str) -> Site:
    """No analysis comes this far, so there is no `Leave` to raise."""
    return Site(line, column, rule.code, text.strip()[:80], f"it is {reason}", cell)


SAMPLE = """\
%%writefile train.py
for x, y in batches:
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""

rule = Rule(
    code="TX230",
    name="unread-cell",
    summary="The update is in a notebook cell that is not read.",
    why=(
        "A cell under a magic such as `%%bash` or `%%writefile` is not code of the notebook, and a "
        "cell that does not parse, without its magics, cannot be followed. It is left as it is, "
        "without a comment. Mend the cell. Of `%%writefile`, run the cell, then `tfexplicit "
        "migrate` on the file, and paste the file back: else the next run of the notebook writes "
        "the old one again. Code after a magic of one line is followed after `%time`, and after "
        "`%timeit` with plain options (`%timeit -n1 -r1 step(x, y)`)."
    ),
    before=SAMPLE,
    after=SAMPLE,
    is_cell=True,
)
