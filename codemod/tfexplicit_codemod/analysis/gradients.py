"""The (gradient, variable) pairs given to an update, and the tape that made the gradients."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tfexplicit_codemod.analysis import lists
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import dotted
from tfexplicit_codemod.analysis.passed_on import PassedOn
from tfexplicit_codemod.analysis.reaching import reaching
from tfexplicit_codemod.rules import tx212_pairs

Comprehension = ast.ListComp | ast.GeneratorExp
UNNAMED = ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await


@dataclass(frozen=True)
class Pairs:
    """`gradients` is the code of the gradients alone, for the variables in the same order.

    `sources` is what `tape.gradient` differentiated by, where the tape call is in sight.
    `skips_none` is true where pairs without a gradient were dropped on the way.
    `gradient_list` is the expression of the gradients, where the call gives them apart.
    """

    gradients: str
    variables: ast.expr
    sources: ast.expr | None = None
    skips_none: bool = False
    gradient_list: ast.expr | None = None


class Gradients:
    """Reads pair expressions of one file; raises `Leave` for one that it does not understand."""

    def __init__(self, module: Module) -> None:
        self.source = module.source
        self.passed_on = PassedOn(module)

    def of_pairs(self, node: ast.expr) -> Pairs:
        """The gradients and variables of `zip(...)`, `[(g, v)]`, a comprehension or a name."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("list", "tuple") and len(node.args) == 1 and not node.keywords:
                return self.of_pairs(node.args[0])
            if node.func.id == "zip" and len(node.args) == 2 and not _has_star(node):
                return self.of_two_lists(node.args[0], node.args[1])
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            return self._of_written_pairs(node)
        if isinstance(node, Comprehension):
            return self._of_comprehension(node)
        if isinstance(node, ast.Name):
            return self._of_name(node)
        raise tx212_pairs.leave(self.source.one_line(node))

    def of_two_lists(self, gradients: ast.expr, variables: ast.expr) -> Pairs:
        """Gradients and variables that the call gives apart."""
        text = self.source.segment(gradients)
        if isinstance(gradients, ast.GeneratorExp):
            text = f"[{text[1:-1]}]"
        elif isinstance(gradients, ast.IfExp | ast.Lambda):
            text = f"({text})"
        elif isinstance(gradients, UNNAMED) or not lists.is_list(self.source, gradients):
            raise tx212_pairs.leave(self.source.one_line(gradients))
        return Pairs(text, variables, self._sources(gradients), gradient_list=gradients)

    def _of_written_pairs(self, node: ast.List | ast.Tuple) -> Pairs:
        gradients, variables = [], []
        for pair in node.elts:
            if not isinstance(pair, ast.Tuple | ast.List) or len(pair.elts) != 2:
                raise tx212_pairs.leave(self.source.one_line(node))
            gradients.append(pair.elts[0])
            variables.append(pair.elts[1])
        text = ", ".join(self.source.segment(gradient) for gradient in gradients)
        sources = [self._sources(gradient) for gradient in gradients]
        known = [source for source in sources if source is not None]
        return Pairs(
            f"[{text}]",
            ast.List(variables, ast.Load()),
            ast.List(known, ast.Load()) if len(known) == len(sources) else None,
        )

    def _of_name(self, name: ast.Name) -> Pairs:
        made = self.passed_on.made(name)
        if made is None:
            raise tx212_pairs.leave(name.id)
        pairs = self.of_pairs(made)
        if pairs.skips_none:
            raise tx212_pairs.leave(name.id)
        return Pairs(f"[g for g, _ in {name.id}]", pairs.variables, pairs.sources)

    def _of_comprehension(self, node: Comprehension) -> Pairs:
        """`[(f(g), v) for g, v in pairs]`: the variables pass through, the gradients change."""
        unknown = tx212_pairs.leave(self.source.one_line(node))
        generator, element = node.generators[0], node.elt
        if len(node.generators) != 1 or generator.is_async or not _is_pair(generator.target):
            raise unknown
        if not isinstance(element, ast.Tuple) or len(element.elts) != 2:
            raise unknown
        assert isinstance(generator.target, ast.Tuple)
        gradient, variable = generator.target.elts
        assert isinstance(gradient, ast.Name)
        assert isinstance(variable, ast.Name)
        if not _is_name(element.elts[1], variable.id) or isinstance(element.elts[0], ast.NamedExpr):
            raise unknown
        skips_none = _tests_not_none(generator.ifs, gradient.id)
        if generator.ifs and not skips_none:
            raise unknown
        pairs = self.of_pairs(generator.iter)
        if _is_name(element.elts[0], gradient.id):
            # A pair left out and a None gradient are the same to `update`: no step.
            return replace(pairs, skips_none=skips_none)
        changed = self.source.segment(element.elts[0])
        if skips_none:
            changed = f"None if {gradient.id} is None else {changed}"
        if _reads(element.elts[0], variable.id):
            pairs_again = self.source.segment(generator.iter)
            text = f"[{changed} for {gradient.id}, {variable.id} in {pairs_again}]"
        else:
            text = f"[{changed} for {gradient.id} in {pairs.gradients}]"
        return Pairs(text, pairs.variables, pairs.sources, skips_none)

    # The tape behind the gradients.

    def _sources(self, gradients: ast.expr, path: tuple[int, ...] = ()) -> ast.expr | None:
        """The second argument of the `tape.gradient` that gave these gradients, if in sight."""
        if isinstance(gradients, ast.Name):
            held = reaching(self.source, gradients)
            return self._sources(held.value, held.path) if held else None
        if isinstance(gradients, ast.List | ast.Tuple) and not path:
            each = [self._sources(element) for element in gradients.elts]
            known = [source for source in each if source is not None]
            return ast.List(known, ast.Load()) if known and len(known) == len(each) else None
        if isinstance(gradients, ast.ListComp) and len(gradients.generators) == 1 and not path:
            generator = gradients.generators[0]
            return None if generator.ifs else self._sources_of_iterated(generator)
        if not isinstance(gradients, ast.Call) or not isinstance(gradients.func, ast.Attribute):
            return None
        if gradients.func.attr == "clip_by_global_norm" and path == (0,) and gradients.args:
            return self._sources(gradients.args[0])
        if gradients.func.attr == "gradient":
            return _element(tape_sources(gradients), path)
        return None

    def _sources_of_iterated(self, generator: ast.comprehension) -> ast.expr | None:
        if isinstance(generator.target, ast.Name):
            return self._sources(generator.iter)
        is_zip = isinstance(generator.iter, ast.Call) and _is_name(generator.iter.func, "zip")
        if is_zip and isinstance(generator.iter, ast.Call) and generator.iter.args:
            return self._sources(generator.iter.args[0])
        return None


def tape_sources(call: ast.Call) -> ast.expr | None:
    """`sources` of a call `tape.gradient(target, sources)`."""
    for keyword in call.keywords:
        if keyword.arg == "sources":
            return keyword.value
    return call.args[1] if len(call.args) > 1 else None


def _element(sources: ast.expr | None, path: tuple[int, ...]) -> ast.expr | None:
    """The one variable behind `dW` in `dW, db = tape.gradient(loss, [W, b])`."""
    for index in path:
        if not isinstance(sources, ast.List | ast.Tuple) or index >= len(sources.elts):
            return None
        sources = sources.elts[index]
    return sources


def _has_star(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg != "strict" for keyword in call.keywords
    )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_pair(target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Tuple)
        and len(target.elts) == 2
        and all(isinstance(element, ast.Name) for element in target.elts)
    )


def _reads(node: ast.expr, name: str) -> bool:
    return any(dotted(inner) == (name,) for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _tests_not_none(conditions: list[ast.expr], name: str) -> bool:
    if len(conditions) != 1 or not isinstance(conditions[0], ast.Compare):
        return False
    test = conditions[0]
    return (
        _is_name(test.left, name)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.IsNot)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    )
