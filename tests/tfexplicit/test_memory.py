"""An in-place step needs no second copy of the model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import sys
import tensorflow as tf
import tfexplicit as tx

LEAVES, SIZE = 16, 1_000_000
leaves = [tf.Variable(tf.ones([SIZE])) for _ in range(LEAVES)]
grads = [tf.fill([SIZE], 0.1) for _ in range(LEAVES)]
rule = {
    "adam": tx.Adam(1e-3),
    "clipped": tx.Chain(tx.ClipByGlobalNorm(1.0), tx.AdamW(1e-3)),
}[sys.argv[1]]
state = tx.setup(rule, leaves)


def megabytes(field):
    for line in open("/proc/self/status"):
        if line.startswith(field):
            return int(line.split()[1]) / 1024


tx.update(state, leaves, grads)
extra = []
for _ in range(2):
    # Forget the highest memory so far.
    open("/proc/self/clear_refs", "w").write("5")
    before = megabytes("VmRSS")
    tx.update(state, leaves, grads)
    leaves[0].numpy()
    extra.append(megabytes("VmHWM") - before)
print("RESULT", LEAVES * SIZE * 4 / 2**20, min(extra))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads Linux' /proc")
@pytest.mark.parametrize("rule", ["adam", "clipped"])
def test_a_step_holds_far_less_than_the_model(rule: str, environment: dict[str, str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, rule],
        capture_output=True,
        text=True,
        check=True,
        # Freed arrays go back to the system at once, so that the process shows what it holds.
        env=environment | {"MALLOC_MMAP_THRESHOLD_": "1000000"},
    )
    model, extra = map(float, ran.stdout.split("RESULT")[1].split())
    print(f"model {model:.0f} MB, a step holds {extra:.0f} MB more")
    assert extra < model / 2
