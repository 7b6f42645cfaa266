"""`verify`, from the program to the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.verify.changes import why_not
from tfexplicit_codemod.verify.compare import Comparison, compare
from tfexplicit_codemod.verify.hints import hints_for
from tfexplicit_codemod.verify.options import Options
from tfexplicit_codemod.verify.records import Trajectory

NAMES_SHOWN = 5


class Status(str, Enum):
    BIT_FOR_BIT = "equal bit for bit"
    ROUNDING = "equal within rounding"
    DIFFERENT = "different"
    NOT_DETERMINISTIC = "not deterministic"

    @property
    def exit_code(self) -> int:
        return {Status.DIFFERENT: 1, Status.NOT_DETERMINISTIC: 3}.get(self, 0)


@dataclass(frozen=True)
class Changes:
    """The files that differ between the programs: those that are loaded are put to the proof."""

    loaded: list[FileResult]
    others: list[str]

    @property
    def proven(self) -> list[FileResult]:
        return [result for result in self.loaded if result.is_to_be_written]

    @property
    def notes(self) -> list[str]:
        more = [f"Not proven by this run, which does not load them: {named(self.others)}"]
        return [*why_not(self.loaded), *(more if self.others else [])]


def changes_in(results: list[FileResult], *runs: Trajectory) -> Changes:
    """`CannotVerify` if the programs load none of the files that differ."""
    # A notebook runs from a file of its own beside it.
    names = {name.replace(".ipynb.py", ".ipynb") for run in runs for name in run.loaded}
    loaded = [result for result in results if result.path.as_posix() in names]
    others = [
        str(result.path) for result in results if result.is_to_be_written and result not in loaded
    ]
    if not any(result.is_to_be_written for result in loaded):
        reason = f"no file that this program loads differs. Others do: {named(others)}"
        raise CannotVerify("\n".join([reason, *why_not(loaded)]))
    return Changes(loaded, others)


def named(paths: list[str]) -> str:
    more = len(paths) - NAMES_SHOWN
    return ", ".join(paths[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Verdict:
    """`again` is the program before, run a second time; None where there was no need to."""

    options: Options
    changes: Changes
    before: Trajectory
    after: Trajectory
    again: Trajectory | None = None

    @cached_property
    def comparison(self) -> Comparison:
        return compare(self.before, self.after, self.options.tolerance)

    @cached_property
    def with_itself(self) -> Comparison | None:
        """The program before against its second run."""
        if self.again is None:
            return None
        return compare(self.before, self.again, self.options.tolerance)

    @property
    def status(self) -> Status:
        if self.comparison.equal:
            return Status.BIT_FOR_BIT if self.comparison.bit_for_bit else Status.ROUNDING
        if self.with_itself is not None and not self.with_itself.equal:
            return Status.NOT_DETERMINISTIC
        return Status.DIFFERENT

    @property
    def notes(self) -> list[str]:
        return list(dict.fromkeys([*self.before.notes, *self.after.notes]))

    @property
    def lines(self) -> list[str]:
        """The verdict, in words."""
        comparison = self.comparison
        compared = f"{comparison.updates} updates of {comparison.leaves} leaves"
        if self.status is Status.BIT_FOR_BIT:
            return [f"Training is unchanged: {compared} are equal bit for bit."]
        if self.status is Status.ROUNDING:
            within = f"a tolerance of {self.options.tolerance:g}" if self.options.tolerance else ""
            return [
                f"Training is unchanged: {compared} are equal within {within or 'rounding'}.",
                f"The largest difference: {comparison.largest}.",
            ]
        if self.status is Status.NOT_DETERMINISTIC:
            assert self.with_itself is not None
            first = self.with_itself.first
            assert first is not None
            return [
                "No verdict: the program before is not deterministic. Run a second time, it "
                f"trained differently from its first run: in {first.place} the {first.what} was "
                f"{first.before}, then {first.after}.",
                "Is there a random source without a seed, the time, threads, or a file outside of "
                "the project that the first run left behind?",
            ]
        return [*self._difference(), *self.hints]

    @property
    def hints(self) -> list[str]:
        return hints_for(self.before, self.after, self.comparison)

    def _difference(self) -> list[str]:
        first, *more = self.comparison.beyond
        lines = [f"Training differs: {first}."]
        if more:
            whats = named([difference.what for difference in more])
            lines.append(f"There too, beyond rounding: {whats}.")
        lines.append(
            "It is the first place where they differ beyond rounding. The program before, run a "
            "second time, trained as it did the first time."
        )
        return lines
