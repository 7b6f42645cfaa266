"""What reads the variable lists of one file, with all that it asks."""

from __future__ import annotations

from functools import partial

from tfexplicit_codemod.analysis.keras_models import KerasModels
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.rearranged import Rearranged
from tfexplicit_codemod.analysis.references import References
from tfexplicit_codemod.analysis.set_elsewhere import is_defined_in_other_files
from tfexplicit_codemod.analysis.unlisted_layers import UnlistedLayers
from tfexplicit_codemod.analysis.untrained import Untrained
from tfexplicit_codemod.analysis.variables import Variables
from tfexplicit_codemod.analysis.watched import Watched
from tfexplicit_codemod.surroundings import Surroundings


def reader_of(module: Module, references: References, around: Surroundings) -> Variables:
    models = KerasModels(module)
    return Variables(
        module.source,
        references,
        Untrained(module.source, models, around.freezes),
        UnlistedLayers(module),
        Rearranged(module, references, partial(is_defined_in_other_files, around)),
        Watched(models, around.freezes),
    )
