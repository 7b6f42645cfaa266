"""Explicit optimiser state for TensorFlow and Keras."""

from __future__ import annotations

from tfexplicit.arrays import is_mutable as is_mutable
from tfexplicit.chain import Chain as Chain
from tfexplicit.deprecation import ImplicitUpdateWarning as ImplicitUpdateWarning
from tfexplicit.hyperparameters import Fraction as Fraction
from tfexplicit.hyperparameters import NonNegative as NonNegative
from tfexplicit.hyperparameters import Number as Number
from tfexplicit.hyperparameters import Positive as Positive
from tfexplicit.node_types import register_node as register_node
from tfexplicit.observers import observers as observers
from tfexplicit.ref import Ref as Ref
from tfexplicit.rule import Rule as Rule
from tfexplicit.rules.adabelief import AdaBelief as AdaBelief
from tfexplicit.rules.adam import Adam as Adam
from tfexplicit.rules.adamw import AdamW as AdamW
from tfexplicit.rules.clip_by_global_norm import ClipByGlobalNorm as ClipByGlobalNorm
from tfexplicit.rules.clip_by_norm import ClipByNorm as ClipByNorm
from tfexplicit.rules.clip_by_value import ClipByValue as ClipByValue
from tfexplicit.rules.oadam import OAdam as OAdam
from tfexplicit.rules.radam import RAdam as RAdam
from tfexplicit.rules.rprop import Rprop as Rprop
from tfexplicit.rules.sgd import SGD as SGD
from tfexplicit.state import OptState as OptState
from tfexplicit.trainable_fields import trainable_fields as trainable_fields
from tfexplicit.verbs.adjust import adjust as adjust
from tfexplicit.verbs.adjust import adjusted as adjusted
from tfexplicit.verbs.assign import assign as assign
from tfexplicit.verbs.destructure import destructure as destructure
from tfexplicit.verbs.freeze import freeze as freeze
from tfexplicit.verbs.freeze import thaw as thaw
from tfexplicit.verbs.functional_call import functional_call as functional_call
from tfexplicit.verbs.minimize import minimize as minimize
from tfexplicit.verbs.params import params as params
from tfexplicit.verbs.reset import reset as reset
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
