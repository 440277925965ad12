"""Losses. Each gives one value per element; `Loss` weighs, masks and normalises."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# The base of all, under the name that configs of Kauldron have for it.
from kmetrics._loss import Loss as Loss

if TYPE_CHECKING:
    from kmetrics.losses._cross_entropy import (
        SigmoidBinaryCrossEntropy,
        SigmoidFocal,
        SoftmaxCrossEntropy,
        SoftmaxCrossEntropyWithIntLabels,
        SoftmaxFocal,
    )
    from kmetrics.losses._differences import (
        L1,
        L2,
        AbsoluteValue,
        Charbonnier,
        Huber,
        LogCosh,
        Pinball,
        Value,
        WeightedL1,
    )
    from kmetrics.losses._embeddings import (
        Contrastive,
        Hinge,
        InfoNCE,
        NegativeCosineSimilarity,
        Triplet,
    )
    from kmetrics.losses._likelihoods import KL, GaussianNLL, Poisson
    from kmetrics.losses._regions import Dice, IoU, Lovasz
    from kmetrics.losses._sequences import CTC

__all__ = [
    "AbsoluteValue",
    "CTC",
    "Charbonnier",
    "Contrastive",
    "Dice",
    "GaussianNLL",
    "Hinge",
    "Huber",
    "InfoNCE",
    "IoU",
    "KL",
    "L1",
    "L2",
    "LogCosh",
    "Lovasz",
    "NegativeCosineSimilarity",
    "Pinball",
    "Poisson",
    "SigmoidBinaryCrossEntropy",
    "SigmoidFocal",
    "SoftmaxCrossEntropy",
    "SoftmaxCrossEntropyWithIntLabels",
    "SoftmaxFocal",
    "Triplet",
    "Value",
    "WeightedL1",
]

# Module -> public names, loaded when one of them is first used.
_EXPORTS = {
    "_cross_entropy": "SigmoidBinaryCrossEntropy SigmoidFocal SoftmaxCrossEntropy "
    "SoftmaxCrossEntropyWithIntLabels SoftmaxFocal",
    "_differences": "AbsoluteValue Charbonnier Huber L1 L2 LogCosh Pinball Value "
    "WeightedL1",
    "_embeddings": "Contrastive Hinge InfoNCE NegativeCosineSimilarity Triplet",
    "_likelihoods": "GaussianNLL KL Poisson",
    "_regions": "Dice IoU Lovasz",
    "_sequences": "CTC",
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'kmetrics.losses' has no attribute {name!r}")
    module = importlib.import_module(f"kmetrics.losses.{_HOME[name]}")
    value = getattr(module, name)
    # From now on the name is found without a call.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
