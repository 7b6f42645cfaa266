"""Python imports this module at its start in every process of a program that `verify` runs.

It makes the process record its updates, then makes way for the `sitecustomize` that it hides.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec


def _record_this_process() -> None:
    sys.path.remove(os.path.dirname(__file__))  # noqa: PTH120  pathlib is slow to import
    request = os.environ["TFEXPLICIT_VERIFY"]
    folders = json.loads(request)["own_folders"]
    sys.path += [folder for folder in folders if folder not in sys.path]
    from tfexplicit_codemod.verify.child import join

    join(request)


def _run_the_hidden_one() -> None:
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_record_this_process()
_run_the_hidden_one()
