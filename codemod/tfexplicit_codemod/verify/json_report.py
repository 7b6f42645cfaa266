"""The verdict that a program reads.

The schema, which only grows while `schema` stays 1:

    {
      "schema": 1,
      "tool": "tfexplicit",
      "version": "0.1.0",
      "command": "tfexplicit verify train.py",
      "verdict": "equal bit for bit",   or "equal within rounding", "different",
                                        "not deterministic", "none"
      "text": ["..."],                  the verdict in words; where it is "none", why
                                        with "none", nothing of what follows is there
      "programs": {"before": {"updates": 3, "seconds": 9.5, "peak_memory": 500000000},
                   "after": {...}},     bytes; of the program's own process
      "leaves": 4,                      how many were compared
      "differences": [                  those beyond rounding at the first place that has any
        {"place": "update 2", "what": "norm of leaf dense/kernel", "before": "1", "after": "2",
         "relative": 0.5, "allowed": 1.9e-06}
      ],                                `relative` is null where there is no size to measure
      "largest": {...},                 the largest difference of all, or null
      "files": ["train.py"],            that differ between the programs, and were loaded
      "notes": ["..."],
      "updates": [                      every update that was compared
        {"process": "",                 "" is the program itself
         "index": 1, "optimizer": [1, "Adam"],
         "loss": [0.5, 0.5],            before and after; null where it is not known
         "gradient_norm": [1.5, 1.5], "difference": 0.0,
         "leaves": [{"name": "dense/kernel", "digest": ["0a1b2c3d", "0a1b2c3d"]}]}
      ]
    }

Numbers that are not finite are null.
"""

from __future__ import annotations

import json
import math
from typing import Any

from tfexplicit_codemod.verify.differences import Difference
from tfexplicit_codemod.verify.options import Options
from tfexplicit_codemod.verify.records import Trajectory
from tfexplicit_codemod.verify.verdict import Verdict
from tfexplicit_codemod.version import VERSION

SCHEMA = 1


def report(verdict: Verdict) -> str:
    comparison = verdict.comparison
    return json.dumps(
        _head(verdict.options, verdict.status.value, verdict.lines)
        | {
            "programs": {"before": _program(verdict.before), "after": _program(verdict.after)},
            "leaves": comparison.leaves,
            "differences": [_difference(each) for each in comparison.beyond],
            "largest": _difference(comparison.largest) if comparison.largest else None,
            "files": [result.path.as_posix() for result in verdict.changes.proven],
            "notes": verdict.notes,
            "updates": [_update(verdict, position) for position in range(comparison.updates)],
        },
        indent=2,
        allow_nan=False,
    )


def no_verdict(options: Options, reason: str) -> str:
    return json.dumps(_head(options, "none", reason.splitlines()), indent=2)


def _head(options: Options, verdict: str, text: list[str]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "tool": "tfexplicit",
        "version": VERSION,
        "command": options.title,
        "verdict": verdict,
        "text": text,
    }


def _program(run: Trajectory) -> dict[str, Any]:
    return {
        "updates": len(run.updates),
        "seconds": round(run.seconds, 3),
        "peak_memory": run.peak_memory,
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "place": difference.place,
        "what": difference.what,
        "before": difference.before,
        "after": difference.after,
        "relative": _finite(difference.relative),
        "allowed": difference.allowed,
    }


def _update(verdict: Verdict, position: int) -> dict[str, Any]:
    one, other = (run.updates[position] for run in (verdict.before, verdict.after))
    digests = {leaf.key: leaf.crc for leaf in other.leaves}
    return {
        "process": one.process,
        "index": one.index,
        "optimizer": list(one.owner),
        "loss": [_finite(one.loss), _finite(other.loss)],
        "gradient_norm": [_finite(one.gradient_norm), _finite(other.gradient_norm)],
        "difference": _finite(verdict.comparison.relative[position]),
        "leaves": [
            {"name": leaf.title, "digest": [f"{crc:08x}" for crc in (leaf.crc, digests[leaf.key])]}
            for leaf in one.leaves
        ],
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
