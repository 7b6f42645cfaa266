"""The figures as bars: for each workload and rule, how many times faster than Keras."""

from __future__ import annotations

from pathlib import Path

from arena import Result


def draw(results: list[Result], file: Path) -> Path:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    panels: dict[str, dict[str, float]] = {}
    for each in results:
        if each["times_keras"]:
            panel = panels.setdefault(f"{each['workload']}: {each['rule']}", {})
            panel[each["contender"]] = each["times_keras"]
    heights = [len(panel) + 2 for panel in panels.values()]
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(9, 0.3 * sum(heights) + 1), height_ratios=heights, squeeze=False
    )
    for axis, (title, panel) in zip(axes[:, 0], panels.items(), strict=True):
        names = sorted(panel, key=panel.__getitem__)
        colors = ["tab:orange" if name.startswith("tfexplicit") else "tab:gray" for name in names]
        bars = axis.barh(names, [panel[name] for name in names], color=colors)
        axis.bar_label(bars, fmt="%.2f", padding=3)
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(title, loc="left", fontsize=10)
    axes[-1, 0].set_xlabel("times faster than Keras 3 in tf.function")
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    return file
