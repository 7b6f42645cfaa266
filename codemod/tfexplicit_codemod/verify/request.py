"""What the parent asks of the child. The parent runs without NumPy, so it cannot import `child`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Request:
    """What to run. `script` is as typed, relative to the working directory or absolute."""

    record: str
    script: str
    arguments: list[str]
    copy: str  # the project's copy, which the program runs in
    original: str  # the project itself, which the program must not import from
    own_folders: list[str]  # where `tfexplicit` and this package are imported from

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Request:
        return cls(**json.loads(text))
