"""How fast an optimiser step is: ours against Keras and others, and against the memory's limit.

    python tests/benchmarks/step_speed.py [--full] [--output FILE.json] [--workloads W1 W4 ...]

Writes all figures as json, and a picture beside it where matplotlib is installed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from arena import Result, compared
from contender import Contender, all_contenders, missing
from machine import machine
from table import shown
from workloads import RULES, TINY, WORKLOADS, Workload, workload_named

PACKAGES = ["tfexplicit", "tensorflow", "keras", "tf_keras", "dm-sonnet", "jax", "optax", "torch"]
# Of these Keras alone needs minutes to trace, or gigabytes.
SLOW = ("W2", "W3")
MAIN = ("memory limit", "Keras 3, tf.function", "tfexplicit, tf.function")


def tasks(arguments: argparse.Namespace) -> Iterator[tuple[Workload, str]]:
    """Adam on all workloads; the other rules on W1, and with --full on all."""
    named = [workload_named(name) for name in arguments.workloads or ()]
    default = [each for each in WORKLOADS if arguments.full or each.name not in SLOW]
    for workload in named or default:
        for rule in arguments.rules or RULES:
            if arguments.full or arguments.rules or rule == "Adam" or workload.name == "W1":
                yield workload, rule


def run(arguments: argparse.Namespace) -> list[Result]:
    contenders = [each for each in _installed() if _is_wanted(each, arguments.contenders)]
    results: list[Result] = []
    for workload, rule in tasks(arguments):
        able = [each for each in contenders if each.can(rule, workload)]
        if rule != "Adam" and not arguments.full and not arguments.contenders:
            able = [each for each in able if each.name.startswith(MAIN)]
        print(f"\n{workload.name}: {workload.about}; {rule}")
        for result in compared(workload, rule, able, arguments.rounds):
            results.append(result)
            print(shown(result), flush=True)
    return results


def _installed() -> Iterator[type[Contender]]:
    for name, contender in sorted(all_contenders().items()):
        absent = ", ".join(missing(contender))
        if absent:
            print(f"{name} is left out without {absent}: pip install tfexplicit[benchmarks]")
        else:
            yield contender


def _is_wanted(contender: type[Contender], wanted: list[str] | None) -> bool:
    return not wanted or any(part in contender.name for part in wanted)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [workload.name for workload in (*WORKLOADS, *TINY)]
    parser.add_argument("--full", action="store_true", help="everything; takes hours")
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks/step_speed.json"))
    parser.add_argument("--workloads", nargs="+", choices=names, metavar="W", help=f"of {names}")
    parser.add_argument("--rules", nargs="+", choices=RULES, metavar="RULE", help=f"of {RULES}")
    parser.add_argument("--contenders", nargs="+", metavar="PART", help="those with it in the name")
    parser.add_argument("--rounds", type=int, metavar="N", help="steps of each, in turns")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (25 if arguments.full else 9)
    return arguments


def main() -> None:
    arguments = parsed()
    results = run(arguments)
    everything = {"machine": machine(PACKAGES), "results": results}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(everything, indent=1))
    print(f"\n{arguments.output}")
    if find_spec("matplotlib") is None:
        print("No picture without matplotlib: pip install tfexplicit[benchmarks]")
    elif any(result["times_keras"] for result in results):
        from picture import draw

        print(draw(results, arguments.output.with_suffix(".png")))


if __name__ == "__main__":
    main()
