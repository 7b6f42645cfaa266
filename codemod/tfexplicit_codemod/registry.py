"""The registry of codes: one file in `rules/` declares one code, and nothing else lists it.

`explain`, the guide's pages, the warnings at run time and the generic tests read it. Importing it
must stay cheap, so a rule file imports neither LibCST nor TensorFlow at module level.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache

from tfexplicit_codemod import rules


@dataclass(frozen=True, kw_only=True)
class AtRunTime:
    """What the runtime warns of where a program runs such a line: `does`, and what to `write`.

    In braces stand the user's own names: `{optimizer}`, `{state}`, `{model}`, `{grads}`, `{loss}`,
    `{call}` for the method, and what the place of the warning adds.
    """

    does: str
    write: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One code. TX1xx is a rewrite; TX2xx is a reason to leave a site for a person.

    `before` and `after` are whole little programs: the tests run the codemod on `before` and
    compare with `after`, and where both can run they are run and must train the same. Of a code
    that only a notebook has (`is_cell`), they are one of its cells.

    TX3xx is a mistake that only a running program shows: `before` warns of it on the line that ends
    in `# warns`, `after` does not.
    """

    code: str
    name: str
    summary: str
    why: str
    before: str
    after: str
    since: str = "0.1"
    is_cell: bool = False
    at_run_time: AtRunTime | None = None

    @property
    def is_rewrite(self) -> bool:
        return self.code.startswith("TX1")

    @property
    def is_run_time_only(self) -> bool:
        return self.code.startswith("TX3")

    @property
    def guide(self) -> str:
        return f"migration_guide/codes/{self.code}.md"


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every declared rule, by code."""
    modules = (
        importlib.import_module(f"{rules.__name__}.{module.name}")
        for module in pkgutil.iter_modules(rules.__path__)
    )
    return tuple(sorted((module.rule for module in modules), key=lambda rule: rule.code))


def rule_for(code: str) -> Rule:
    """The rule with this code; `KeyError` naming the code if there is none."""
    by_code = {rule.code: rule for rule in all_rules()}
    return by_code[code]
