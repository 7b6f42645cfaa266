"""One line of figures for one contender."""

from __future__ import annotations

from arena import Result

COLUMNS = (
    ("seconds", "{:9.2f} ms", 1000),
    ("times_keras", "{:6.2f} x Keras", 1),
    ("share_of_limit", "{:5.2f} of the limit", 1),
    ("first_call_seconds", "first call {:6.2f} s", 1),
    ("graph_nodes", "{:6} nodes", 1),
    ("step_memory_bytes", "{:7.1f} MB at a step", 1 / 2**20),
    ("step_memory_of_parameters", "({:.0%} of the parameters)", 1),
)


def shown(result: Result) -> str:
    if "failed" in result:
        return f"  {result['contender']:30} failed: {result['failed']}"
    figures = (
        text.format(result[name] * scale)
        for name, text, scale in COLUMNS
        if result.get(name) is not None
    )
    return f"  {result['contender']:30}" + ", ".join(figures)
