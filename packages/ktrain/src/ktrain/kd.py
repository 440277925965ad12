"""Familiar names: what a user of Kauldron types after `from ktrain import kd`.

A config written for Kauldron changes its import lines, as far as its names are here.
Inside of `konfig.imports()`, `kd.train.Trainer(...)` describes a call of
`ktrain.kd:train.Trainer`. Each name is the very object that our own name is:
`kd.train.Trainer is ktrain.Trainer`.
"""

import kmetrics as metrics
import konfig
import kontext
import ktyping
from kmetrics import losses, summaries
from ktrain import checkpoint as ckpts
from ktrain import data, evals, nn

__all__ = [
    "ckpts",
    "data",
    "evals",
    "konfig",
    "kontext",
    "ktyping",
    "losses",
    "metrics",
    "nn",
    "summaries",
    "train",
]


class train:
    """The loop and what it works on."""

    from ktrain.context import Context
    from ktrain.state import TrainState
    from ktrain.step import TrainStep
    from ktrain.trainer import Trainer
