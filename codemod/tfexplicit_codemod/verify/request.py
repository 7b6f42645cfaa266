"""What the parent asks of every process of the program, in an environment variable."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Request:
    """How to record. All paths are absolute."""

    records: str  # the folder of the records, one for each process that updates
    copy: str  # the project's copy, which the program runs in
    original: str  # the project itself, which the program must not import from
    own_folders: list[str]  # where `tfexplicit` and this package are imported from
    temporary: str  # the program's folder for temporary files
    steps: int | None  # updates of a process after which it ends

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Request:
        return cls(**json.loads(text))
