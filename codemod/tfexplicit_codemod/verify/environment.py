"""The environment of the program, which every process that it starts inherits."""

from __future__ import annotations

import os
from pathlib import Path

from tfexplicit_codemod.verify.request import Request

REQUEST = "TFEXPLICIT_VERIFY"
# Holds the `sitecustomize` that makes a Python process record its updates.
BOOTSTRAP = str(Path(__file__).with_name("bootstrap"))

SAME_FOR_BOTH = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written next to modules outside of the copy
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "MPLBACKEND": "Agg",  # a plot must not wait for someone to close its window
    # Fused ops round otherwise than Keras; the formula rounds in the same places.
    "TFEXPLICIT_STEP": "formula",
}


def environment_for(request: Request) -> dict[str, str]:
    path = [BOOTSTRAP, *filter(None, [os.environ.get("PYTHONPATH")])]
    return (
        os.environ
        | SAME_FOR_BOTH
        | {
            REQUEST: request.to_json(),
            "PYTHONPATH": os.pathsep.join(path),
            "TMPDIR": request.temporary,
        }
    )
