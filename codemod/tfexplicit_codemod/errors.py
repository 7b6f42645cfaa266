"""Errors that end a run, each with the exit code it ends with."""

from __future__ import annotations


class Stop(Exception):
    """Ends the run: the command line prints the message and exits with `exit_code`."""

    exit_code: int


class UsageError(Stop):
    """The command cannot be carried out as it was written."""

    exit_code = 2


class CannotVerify(Stop):
    """`verify` could not come to a verdict."""

    exit_code = 3


class Refused(Stop):
    """The run would do harm, so nothing was written."""

    exit_code = 4
