"""How long whole processes of the codemod take, and those of other tools on the same trees.

    python tests/benchmarks/codemod_speed.py [--full] [--spektral FOLDER] [--output FILE.json]

The trees: Keras as it is installed (its own tests hold sites), the same after `migrate` (nothing to
change), a sample of its files, ten thousand made files of which 1 % have a site, and spektral where
a clone is given. The tools take turns, each on a fresh copy; one that is not installed is left out
with a word. bump-pydantic runs on the sample only, and once, since it needs minutes; pyupgrade runs
on the other trees too with `--full`. On a busy machine the processor seconds say more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from machine import machine
from trees import copied, every_nth_file, keras_tree, made_tree, with_nothing_to_change

PYTHON = [sys.executable, "-m"]
OURS = [*PYTHON, "tfexplicit_codemod"]
SAMPLE = "every 40th file of Keras"
PEERS = ("ruff", "pyupgrade", "bump_pydantic")
SLOW = "bump-pydantic"
ROOT = Path(__file__).parents[2]
Taken = dict[str, float]
Commands = Callable[[Path], dict[str, list[str]]]


def fast_tools(tree: Path) -> dict[str, list[str]]:
    """What each tool is called with, from the folder above the tree."""
    return _installed(
        {
            "tfexplicit check": [*OURS, "check", tree.name],
            "tfexplicit migrate": [*OURS, "migrate", "--allow-dirty", tree.name],
            # Without its cache, as the others.
            "ruff": [*PYTHON, "ruff", "check", "-n", "-q", "--select", "UP,NPY", tree.name],
        }
    )


def with_pyupgrade(tree: Path) -> dict[str, list[str]]:
    files = map(str, sorted(tree.rglob("*.py")))
    return fast_tools(tree) | _installed({"pyupgrade": [*PYTHON, "pyupgrade", *files]})


def all_tools(tree: Path) -> dict[str, list[str]]:
    return with_pyupgrade(tree) | _installed({SLOW: [*PYTHON, "bump_pydantic", tree.name]})


def _installed(commands: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: command for name, command in commands.items() if command[2] not in missing()}


def missing() -> list[str]:
    return [peer for peer in PEERS if find_spec(peer) is None]


def taken_by(command: list[str], folder: Path) -> Taken:
    """What one process takes; its exit code does not matter, unless ours did not run."""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    if command[:3] == OURS and done.returncode not in (0, 1, 3):
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode()}")
    user = after.children_user - before.children_user
    return {"wall": wall, "processor": user + after.children_system - before.children_system}


def median_of(times: list[Taken]) -> Taken:
    return {kind: statistics.median(each[kind] for each in times) for kind in times[0]}


def medians(tree: Path, commands: Commands, rounds: int) -> dict[str, Taken]:
    """Each command once per round, so that a slow moment of the machine meets all of them; the
    slow one in the first alone."""
    taken: dict[str, list[Taken]] = {}
    for number in range(rounds):
        for tool in (tool for tool in commands(tree) if tool != SLOW or number == 0):
            with tempfile.TemporaryDirectory() as name:
                copy = copied(tree, Path(name) / tree.name)
                command = commands(copy)[tool]
                taken.setdefault(tool, []).append(taken_by(command, Path(name)))
    return {tool: median_of(times) for tool, times in taken.items()}


def start_times(rounds: int) -> dict[str, Taken]:
    """`tfexplicit --help`, and what `import tfexplicit` adds to importing TensorFlow and Keras."""
    code = (
        "import tensorflow, keras, time; keras.optimizers; "
        "wall, processor = time.perf_counter(), time.process_time(); import tfexplicit; "
        "print(time.perf_counter() - wall, time.process_time() - processor)"
    )
    helps, imports = [], []
    for _ in range(rounds):
        helps.append(taken_by([*OURS, "--help"], Path.cwd()))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        wall, processor = map(float, done.stdout.split())
        imports.append({"wall": wall, "processor": processor})
    return {"tfexplicit --help": median_of(helps), "import tfexplicit": median_of(imports)}


def trees(folder: Path, spektral: Path | None) -> dict[str, Path]:
    keras = keras_tree(folder / "keras")
    made = {
        "Keras, nothing to change": with_nothing_to_change(keras, folder / "migrated"),
        "Keras as installed": keras,
        SAMPLE: every_nth_file(keras, 40, folder / "sample"),
        "10,000 files": made_tree(folder / "made"),
    }
    if spektral:
        made["spektral"] = copied(spektral, folder / "spektral")
    return made


def show(tree: str, taken: dict[str, Taken]) -> None:
    print(f"\n{tree}")
    ours = taken.get("tfexplicit check")
    for tool, median in taken.items():
        line = f"  {tool:20}{median['wall']:8.3f} s, {median['processor']:8.3f} s of processors"
        ratio = f", {median['processor'] / ours['processor']:7.2f} x ours" if ours else ""
        print(line + ratio, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="nine rounds in place of three")
    parser.add_argument("--spektral", type=Path, metavar="FOLDER", help="a clone of spektral")
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks/codemod_speed.json"))
    arguments = parser.parse_args()
    # An installed package has its byte code; here the first round writes it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "codemod")])
    rounds, others = (9, with_pyupgrade) if arguments.full else (3, fast_tools)
    for peer in missing():
        print(f"{peer} is left out: it is not installed (pip install tfexplicit[benchmarks])")
    results = {"start": start_times(rounds)}
    show("start", results["start"])
    with tempfile.TemporaryDirectory() as name:
        for tree, folder in trees(Path(name), arguments.spektral).items():
            tools = all_tools if tree == SAMPLE else others
            results[tree] = medians(folder, tools, rounds)
            show(tree, results[tree])
    about = machine(["tfexplicit", "libcst", "keras", "ruff", "pyupgrade", "bump-pydantic"])
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps({"machine": about, "seconds": results}, indent=1))
    print(f"\n{arguments.output}")


if __name__ == "__main__":
    main()
