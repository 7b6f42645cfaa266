"""Why an update site stays as it is: raised where the analysis cannot prove a rewrite."""

from __future__ import annotations


class Leave(Exception):
    """Ends the analysis of one site; `code` is a TX2xx of the registry."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason
