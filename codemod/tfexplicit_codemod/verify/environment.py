"""The environment of the program, which every process that it starts inherits."""

from __future__ import annotations

import os
from pathlib import Path

from tfexplicit_codemod.verify.request import Request

REQUEST = "TFEXPLICIT_VERIFY"
# Holds the `sitecustomize` that makes a Python process record its updates.
BOOTSTRAP = str(Path(__file__).with_name("bootstrap"))

SAME_FOR_BOTH = {
    "TFEXPLICIT_STEP": "formula",  # of each rule, which Keras rounds alike; fused ops do not
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written next to modules outside of the copy
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "MPLBACKEND": "Agg",  # a plot must not wait for someone to close its window
}


def environment_for(request: Request) -> dict[str, str]:
    # What the warnings of the runtime are asked for is not asked of the migrated program.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TFEXPLICIT_")}
    path = [BOOTSTRAP, *filter(None, [os.environ.get("PYTHONPATH")])]
    return (
        inherited
        | SAME_FOR_BOTH
        | {
            REQUEST: request.to_json(),
            "PYTHONPATH": os.pathsep.join(path),
            "TMPDIR": request.temporary,
        }
    )
