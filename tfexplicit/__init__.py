"""Explicit optimiser state for TensorFlow and Keras.

    import tfexplicit as tx

    opt_state = tx.setup(tx.Adam(learning_rate=1e-3), model)  # once
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)  # every step

A rule such as `tx.Adam` holds numbers; the state holds the arrays. The steps are on the page
migration_guide/explicit_state.md, all rules on migration_guide/rules.md.
"""

import types
import typing

from tfexplicit.arrays import is_mutable as is_mutable
from tfexplicit.chain import Chain as Chain
from tfexplicit.hyperparameters import Fraction as Fraction
from tfexplicit.hyperparameters import NonNegative as NonNegative
from tfexplicit.hyperparameters import Number as Number
from tfexplicit.hyperparameters import Positive as Positive
from tfexplicit.hyperparameters import PositiveFraction as PositiveFraction
from tfexplicit.node_types import register_node as register_node
from tfexplicit.ref import Ref as Ref
from tfexplicit.rule import Rule as Rule
from tfexplicit.rules.accumulate_grads import AccumulateGrads as AccumulateGrads
from tfexplicit.rules.adabelief import AdaBelief as AdaBelief
from tfexplicit.rules.adadelta import Adadelta as Adadelta
from tfexplicit.rules.adafactor import Adafactor as Adafactor
from tfexplicit.rules.adagrad import Adagrad as Adagrad
from tfexplicit.rules.adam import Adam as Adam
from tfexplicit.rules.adamax import Adamax as Adamax
from tfexplicit.rules.adamw import AdamW as AdamW
from tfexplicit.rules.adaptive_clip import AdaptiveClip as AdaptiveClip
from tfexplicit.rules.centralize import Centralize as Centralize
from tfexplicit.rules.clip_by_global_norm import ClipByGlobalNorm as ClipByGlobalNorm
from tfexplicit.rules.clip_by_norm import ClipByNorm as ClipByNorm
from tfexplicit.rules.clip_by_value import ClipByValue as ClipByValue
from tfexplicit.rules.cocob import COCOB as COCOB
from tfexplicit.rules.conditional_gradient import ConditionalGradient as ConditionalGradient
from tfexplicit.rules.decayed_first import DecayedFirst as DecayedFirst
from tfexplicit.rules.decoupled_weight_decay import DecoupledWeightDecay as DecoupledWeightDecay
from tfexplicit.rules.ema import EMA as EMA
from tfexplicit.rules.ftrl import Ftrl as Ftrl
from tfexplicit.rules.lamb import Lamb as Lamb
from tfexplicit.rules.lion import Lion as Lion
from tfexplicit.rules.lookahead import Lookahead as Lookahead
from tfexplicit.rules.loss_scale import LossScale as LossScale
from tfexplicit.rules.mixed_precision import MixedPrecision as MixedPrecision
from tfexplicit.rules.moving_average import MovingAverage as MovingAverage
from tfexplicit.rules.muon import Muon as Muon
from tfexplicit.rules.nadam import Nadam as Nadam
from tfexplicit.rules.novograd import NovoGrad as NovoGrad
from tfexplicit.rules.oadam import OAdam as OAdam
from tfexplicit.rules.partition import Partition as Partition
from tfexplicit.rules.proximal_adagrad import ProximalAdagrad as ProximalAdagrad
from tfexplicit.rules.radam import RAdam as RAdam
from tfexplicit.rules.rmsprop import RMSprop as RMSprop
from tfexplicit.rules.rprop import Rprop as Rprop
from tfexplicit.rules.schedule_free_adamw import ScheduleFreeAdamW as ScheduleFreeAdamW
from tfexplicit.rules.sgd import SGD as SGD
from tfexplicit.rules.sign_decay import SignDecay as SignDecay
from tfexplicit.rules.skip_non_finite import SkipNonFinite as SkipNonFinite
from tfexplicit.rules.swa import SWA as SWA
from tfexplicit.rules.weight_decay import WeightDecay as WeightDecay
from tfexplicit.rules.yogi import Yogi as Yogi
from tfexplicit.schedules import OneCycle as OneCycle
from tfexplicit.schedules import Warmup as Warmup
from tfexplicit.state import OptState as OptState
from tfexplicit.trainable_fields import trainable_fields as trainable_fields
from tfexplicit.verbs.adjust import adjust as adjust
from tfexplicit.verbs.adjust import adjusted as adjusted
from tfexplicit.verbs.assign import assign as assign
from tfexplicit.verbs.destructure import destructure as destructure
from tfexplicit.verbs.ema_params import ema_params as ema_params
from tfexplicit.verbs.eval_params import eval_params as eval_params
from tfexplicit.verbs.freeze import freeze as freeze
from tfexplicit.verbs.freeze import thaw as thaw
from tfexplicit.verbs.from_keras import from_keras as from_keras
from tfexplicit.verbs.functional_call import functional_call as functional_call
from tfexplicit.verbs.load_keras_state import load_keras_state as load_keras_state
from tfexplicit.verbs.minimize import minimize as minimize
from tfexplicit.verbs.params import params as params
from tfexplicit.verbs.reset import reset as reset
from tfexplicit.verbs.scale_loss import scale_loss as scale_loss
from tfexplicit.verbs.setup import setup as setup
from tfexplicit.verbs.state_dict import load_state_dict as load_state_dict
from tfexplicit.verbs.state_dict import state_dict as state_dict
from tfexplicit.verbs.train import TrainLog as TrainLog
from tfexplicit.verbs.train import TrainStep as TrainStep
from tfexplicit.verbs.train import train as train
from tfexplicit.verbs.trainables import trainables as trainables
from tfexplicit.verbs.update import update as update
from tfexplicit.verbs.update import updated as updated
from tfexplicit.verbs.value_and_grad import grad as grad
from tfexplicit.verbs.value_and_grad import value_and_grad as value_and_grad
from tfexplicit.warn.categories import ImplicitUpdateWarning as ImplicitUpdateWarning
from tfexplicit.warn.categories import StateMisuseWarning as StateMisuseWarning
from tfexplicit.warn.mode import choose_from_environment as _choose_from_environment
from tfexplicit.warn.mode import warn_implicit as warn_implicit

if typing.TYPE_CHECKING:
    from tfexplicit.keras_optimizer import KerasOptimizer as KerasOptimizer


# What is imported above, without the submodules that importing it has made attributes.
__all__ = sorted(
    [
        "KerasOptimizer",
        *(
            name
            for name, value in globals().items()
            if not name.startswith("_") and not isinstance(value, types.ModuleType)
        ),
    ]
)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> typing.Any:
    # It is a Keras class, and Keras takes long to import.
    if name == "KerasOptimizer":
        from tfexplicit.keras_optimizer import KerasOptimizer

        return KerasOptimizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_choose_from_environment()
