"""Programs that ran before and would not run, or train otherwise, if their sites were rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source

STEP = """\
    def step(self):
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
"""
ADAM = "        self.opt = tf.keras.optimizers.Adam()\n"
MODEL = "        self.model = make()\n"
INIT = "    def __init__(self):\n"
SUPER = "        super().__init__()\n"
HEAD = "import tensorflow as tf\nmodel = make()\nopt = tf.keras.optimizers.Adam()\n"


def _class(*parts: str) -> str:
    return "import tensorflow as tf\n" + "".join(parts)


# name: (program, the code of its site, words that the reason must hold)
LEFT = {
    "exclusion_from_decay_after_the_optimizer": (
        f"{HEAD}opt.exclude_from_weight_decay(var_names=['bias'])\n"
        "opt.apply_gradients(zip(grads, model.trainable_variables))\n",
        "TX203",
        "`opt.exclude_from_weight_decay` is called after the optimizer is made",
    ),
    "parameter_servers": (
        HEAD.replace("model", "s = tf.distribute.ParameterServerStrategy(c)\nmodel", 1)
        + "opt.apply_gradients(zip(grads, model.trainable_variables))\n",
        "TX203",
        "in shards",
    ),
    "class_with_slots": (
        _class("class T:\n    __slots__ = ('opt', 'model')\n", INIT, ADAM, MODEL, STEP),
        "TX203",
        "`T` may not take a new attribute",
    ),
    "dataclass_with_slots": (
        _class("@dataclass(slots=True)\nclass T:\n    opt: object\n", INIT, ADAM, MODEL, STEP),
        "TX203",
        "`T` may not take a new attribute",
    ),
    "base_class_makes_the_optimizer_first": (
        _class(
            f"class B:\n{INIT}        self.make()\n    def make(self):\n{ADAM}",
            f"class T(B):\n{INIT}{SUPER}{MODEL}{STEP}",
        ),
        "TX203",
        "perhaps after the optimizer",
    ),
    "optimizer_made_through_another_method": (
        _class(
            f"class T:\n{INIT}        self.prepare()\n{MODEL}",
            f"    def prepare(self):\n        self.make()\n    def make(self):\n{ADAM}{STEP}",
        ),
        "TX203",
        "perhaps after the optimizer",
    ),
    "one_of_two_subclasses_has_the_model": (
        _class(
            f"class B:\n{INIT}{ADAM}class T(B):\n{INIT}{MODEL}{SUPER}{STEP}",
            "class Other(B):\n    pass\n",
        ),
        "TX203",
        "perhaps after the optimizer",
    ),
    "subclass_without_the_base_constructor": (
        _class(
            f"class T:\n{INIT}{MODEL}    def make(self):\n{ADAM}{STEP}",
            f"class Other(T):\n{INIT}        self.make()\n",
        ),
        "TX203",
        "perhaps after the optimizer",
    ),
    "method_that_builds_is_overridden": (
        _class(
            f"class T:\n{INIT}{ADAM}        self.build()\n    def build(self):\n{MODEL}{STEP}",
            "class Other(T):\n    def build(self):\n        self.net = make()\n",
        ),
        "TX203",
        "which not every object has",
    ),
    "constructor_returns_early": (
        _class(
            f"class T(tf.Module):\n{INIT}{ADAM}        if x:\n            return\n",
            STEP.replace("self.model.", "self."),
            INIT.replace("__init__", "other"),
            "        self.n = 1\n",
        ),
        "TX203",
        "`__init__` may return",
    ),
    "constructor_steps_before_its_end": (
        _class(
            f"class T(tf.Module):\n{INIT}{ADAM}        self.warm()\n        self.n = 1\n",
            "    def warm(self):\n        self.step()\n" + STEP.replace("self.model.", "self."),
        ),
        "TX203",
        "`self.warm` may step",
    ),
    "optimizer_replaced_through_setattr": (
        _class("class T:\n", INIT, ADAM, MODEL, STEP, "setattr(T(), 'opt', make())\n"),
        "TX203",
        "several places",
    ),
    "gradients_are_an_iterator": (
        HEAD + "g = map(f, g)\nopt.apply_gradients(zip(g, model.trainable_variables))\n",
        "TX212",
        "`g`",
    ),
    "gradients_are_a_named_generator": (
        HEAD + "g = (f(x) for x in g)\nopt.apply_gradients(zip(g, model.trainable_variables))\n",
        "TX212",
        "`g`",
    ),
    "gradients_are_values_of_a_dict": (
        HEAD + "opt.apply_gradients(zip(g.values(), model.trainable_variables))\n",
        "TX212",
        "`g.values()`",
    ),
    "zip_stops_early": (
        HEAD + "opt.apply_gradients(zip(g[:2], model.trainable_variables))\n",
        "TX212",
        "`g[:2]`",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_site_is_left(name: str) -> None:
    program, code, words = LEFT[name]
    result = migrate_source(program.encode(), Path("left.py"))
    assert [site.code for site in result.sites] == [code]
    assert words in result.sites[0].reason
    assert result.after is not None
    lines = result.after.decode().splitlines()
    assert [line for line in lines if "# TODO(tfexplicit" not in line] == program.splitlines()


REWRITTEN = {
    "optimizer_made_by_a_later_method": _class(
        f"class T:\n{INIT}{MODEL}        self.make()\n    def make(self):\n{ADAM}{STEP}",
        f"class Other(T):\n{INIT}{SUPER}        self.make()\n",
    ),
    "gradients_cut_between_two_models": HEAD
    + "n = len(model.trainable_variables)\n"
    + "opt.apply_gradients(zip(g[:n], model.trainable_variables))\n",
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_site_is_rewritten(name: str) -> None:
    result = migrate_source(REWRITTEN[name].encode(), Path("rewritten.py"))
    assert [site.reason for site in result.sites] == [""]


@pytest.mark.parametrize(
    "rate",
    ["s.rate", "functools.partial(f, 1)", "made()", "Callable()", "named", "s.rate if x else 1"],
)
def test_a_callable_learning_rate_keeps_the_keras_object(rate: str) -> None:
    program = (
        "import functools\nimport tensorflow as tf\n"
        "class S:\n    def rate(self):\n        return 1\n"
        "class Callable:\n    def __call__(self):\n        return 1\n"
        "def made():\n    return lambda: 1\n"
        "s = S()\nnamed = s.rate\nmodel = make()\n"
        f"opt = tf.keras.optimizers.SGD({rate})\n"
        "opt.apply_gradients(zip(grads, model.trainable_variables))\n"
    )
    after = migrate_source(program.encode(), Path("rate.py")).after
    assert after is not None
    assert f"opt = tf.keras.optimizers.SGD({rate})\n" in after.decode()


USE = """\
    model = make()
    opt = tf.keras.optimizers.Adam()
    opt.apply_gradients(zip(grads, model.trainable_variables))
"""
SETTING = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"


@pytest.mark.parametrize(
    ("program", "above"),
    [
        (
            f"{SETTING}def f():\n    import tensorflow as tf\n    import numpy\n{USE}",
            "    import numpy",
        ),
        (
            f"import os\nif __name__ == '__main__':\n    {SETTING.splitlines()[1]}\n"
            f"    import tensorflow as tf\n{USE}",
            "    import tensorflow as tf",
        ),
        (
            f"{SETTING}def f():\n    import tensorflow as tf\n{USE}"
            f"def g():\n    import tensorflow as tf\n{USE}",
            SETTING.splitlines()[1],
        ),
    ],
    ids=["in_a_function", "under_main", "in_two_functions"],
)
def test_the_import_comes_after_settings_for_tensorflow(program: str, above: str) -> None:
    after = migrate_source(program.encode(), Path("settings.py")).after
    assert after is not None
    lines = after.decode().splitlines()
    place = [line.strip() for line in lines].index("import tfexplicit as tx")
    assert lines[place - 1] == above
    assert migrate_source(after, Path("settings.py")).after is None


ANOTHER_MODEL = """\
import tensorflow as tf
model = make()
opt = tf.keras.optimizers.Adam()
opt.apply_gradients(zip(grads, model.trainable_variables))
model = make()
def step():
    opt.apply_gradients(zip(grads, model.trainable_variables))
"""


def test_a_site_that_never_runs_does_not_hinder_the_others() -> None:
    result = migrate_source(ANOTHER_MODEL.encode(), Path("idle.py"))
    assert [site.code for site in result.sites] == ["TX101", "TX203"]
    assert result.after is not None
    assert "opt = tf.keras.optimizers.Adam()\nopt_state = tx.setup(opt, model)\n" in (
        result.after.decode()
    )
    assert migrate_source(result.after, Path("idle.py")).after is None


def test_a_site_that_runs_keeps_the_others_as_they_are() -> None:
    result = migrate_source((ANOTHER_MODEL + "step()\n").encode(), Path("runs.py"))
    assert [site.code for site in result.sites] == ["TX203", "TX203"]


def test_an_optimizer_with_a_state_gets_no_second_one() -> None:
    program = HEAD.replace(
        "import tensorflow as tf\n", "import tensorflow as tf\nimport tfexplicit as tx\n"
    ) + (
        "opt_state = tx.setup(opt, model)\n"
        "opt.apply_gradients(zip(grads, model.trainable_variables))\n"
    )
    (site,) = migrate_source(program.encode(), Path("state.py")).sites
    assert (site.code, site.reason) == ("TX203", "`opt` has a state already")


REDEFINED = (
    Path(__file__).parent / "data" / "patterns" / "second_phase_redefines_the_step" / "before.py"
)


@pytest.mark.parametrize(
    ("before_second_phase", "at_the_end"),
    [
        ("train_step(image)\n", ""),
        ("", "run(train_step)\n"),
        ("", "step = lambda: train_step(x)\n"),
    ],
)
def test_a_step_that_may_run_in_both_phases(before_second_phase: str, at_the_end: str) -> None:
    head, opt, tail = REDEFINED.read_text("utf-8").rpartition("opt = ")
    program = head + before_second_phase + opt + tail + at_the_end
    result = migrate_source(program.encode(), Path("phases.py"))
    assert [site.code for site in result.sites] == ["TX214", "TX203"]
