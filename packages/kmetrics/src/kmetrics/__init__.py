"""Losses and metrics whose states merge exactly."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kmetrics import (
        calibration,
        classification,
        clustering,
        confusion,
        curves,
        depth,
        generative,
        image,
        losses,
        multilabel,
        over_time,
        pose,
        ranking,
        regression,
        segmentation,
        slices,
        statistics,
        summaries,
        testing,
        text,
        tokens,
        tracking,
        trees,
        uncertainty,
        wrappers,
    )
    from kmetrics._auto import AutoState
    from kmetrics._average import AverageState
    from kmetrics._collect import Collection, total_loss
    from kmetrics._deprecated import CollectFirstState, CollectingState
    from kmetrics._errors import (
        EmptyMetricError,
        HostOnlyError,
        LawError,
        MaskNotAcceptedError,
        MaskShapeError,
        MergeError,
        MetricError,
        NameCollisionError,
        NonFiniteLossError,
        ScheduleError,
        StateDefinitionError,
    )
    from kmetrics._field_kinds import (
        AtStep,
        buffer_field,
        first_field,
        hist_field,
        last_field,
        moments_field,
        reservoir_field,
        sketch_field,
        state_field,
        topk_field,
        truncate_field,
    )
    from kmetrics._fields import (
        concat_field,
        max_field,
        mean_field,
        min_field,
        static_field,
        sum_field,
    )
    from kmetrics._loss import Loss
    from kmetrics._loss_state import LossState
    from kmetrics._loss_terms import check_finite_losses, per_example_loss
    from kmetrics._metric import Metric
    from kmetrics._moments import MomentsState
    from kmetrics._numerics import Pair
    from kmetrics._register import state
    from kmetrics._results import to_scalars
    from kmetrics._selection import Examples, Selected
    from kmetrics._state import EmptyState, State
    from kmetrics.calibration import Brier, CalibrationError, LogLoss, Perplexity
    from kmetrics.classification import (
        Accuracy,
        BinaryAccuracy,
        JointAccuracy,
        Precision1,
        TopKAccuracy,
    )
    from kmetrics.clustering import Ari, Nmi, VMeasure
    from kmetrics.confusion import (
        BalancedAccuracy,
        CohenKappa,
        ConfusionMatrix,
        FBeta,
        MatthewsCorrelation,
        MeanIoU,
        Precision,
        Recall,
        Specificity,
    )
    from kmetrics.curves import AveragePrecision, PrAuc, RocAuc
    from kmetrics.depth import AbsRel, Delta
    from kmetrics.generative import Fid, FrechetDistance, Lpips
    from kmetrics.image import Psnr, PsnrWithResize, Ssim
    from kmetrics.multilabel import (
        LabelRankingAveragePrecision,
        MultilabelAveragePrecision,
    )
    from kmetrics.over_time import Ema, Every, Last, MaxOverTime, MinOverTime
    from kmetrics.pose import PoseAuc, PoseRotationError, PoseTranslationError
    from kmetrics.ranking import MapAtK, Mrr, Ndcg, RecallAtK
    from kmetrics.regression import (
        R2,
        ExplainedVariance,
        MaxError,
        MeanAbsoluteError,
        MeanAbsolutePercentageError,
        MeanSquaredError,
        MeanSquaredLogError,
        MedianAbsoluteError,
        Pearson,
        RootMeanSquaredError,
        Spearman,
    )
    from kmetrics.segmentation import Dice, PanopticQuality, SegmentationJaccard
    from kmetrics.slices import Grouped
    from kmetrics.statistics import (
        CosineSimilarity,
        Mean,
        MeanCov,
        Moments,
        Norm,
        Quantiles,
        SingleDimension,
        Std,
    )
    from kmetrics.text import Bleu, Cer, ChrF, ExactMatch, RougeL, RougeN, Wer
    from kmetrics.tokens import BitsPerByte, TokenAccuracy
    from kmetrics.tracking import (
        Tap3dJaccard,
        Tap3dPosition,
        TapJaccard,
        TapOcclusion,
        TapPosition,
    )
    from kmetrics.trees import TreeMap, TreeReduce
    from kmetrics.uncertainty import Bootstrap, WithCi
    from kmetrics.wrappers import SkipIfMissing

__all__ = [
    # Writing metrics and losses.
    "Metric",
    "Loss",
    # States.
    "state",
    "State",
    "AutoState",
    "AverageState",
    "CollectFirstState",
    "CollectingState",
    "EmptyState",
    "LossState",
    "MomentsState",
    "Pair",
    # Fields of an AutoState, and what goes into them.
    "buffer_field",
    "concat_field",
    "first_field",
    "hist_field",
    "last_field",
    "max_field",
    "mean_field",
    "min_field",
    "moments_field",
    "reservoir_field",
    "sketch_field",
    "state_field",
    "static_field",
    "sum_field",
    "topk_field",
    "truncate_field",
    "AtStep",
    "Examples",
    "Selected",
    # Using many.
    "Collection",
    "to_scalars",
    "total_loss",
    "per_example_loss",
    "check_finite_losses",
    # Metrics.
    "AbsRel",
    "Accuracy",
    "Ari",
    "AveragePrecision",
    "BalancedAccuracy",
    "BinaryAccuracy",
    "BitsPerByte",
    "Bleu",
    "Bootstrap",
    "Brier",
    "CalibrationError",
    "Cer",
    "ChrF",
    "CohenKappa",
    "ConfusionMatrix",
    "CosineSimilarity",
    "Delta",
    "Dice",
    "Ema",
    "Every",
    "ExactMatch",
    "ExplainedVariance",
    "FBeta",
    "Fid",
    "FrechetDistance",
    "Grouped",
    "JointAccuracy",
    "LabelRankingAveragePrecision",
    "Last",
    "LogLoss",
    "Lpips",
    "MapAtK",
    "MatthewsCorrelation",
    "MaxError",
    "MaxOverTime",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanCov",
    "MeanIoU",
    "MeanSquaredError",
    "MeanSquaredLogError",
    "MedianAbsoluteError",
    "MinOverTime",
    "Moments",
    "Mrr",
    "MultilabelAveragePrecision",
    "Ndcg",
    "Nmi",
    "Norm",
    "PanopticQuality",
    "Pearson",
    "Perplexity",
    "PoseAuc",
    "PoseRotationError",
    "PoseTranslationError",
    "PrAuc",
    "Precision",
    "Precision1",
    "Psnr",
    "PsnrWithResize",
    "Quantiles",
    "R2",
    "Recall",
    "RecallAtK",
    "RocAuc",
    "RootMeanSquaredError",
    "RougeL",
    "RougeN",
    "SegmentationJaccard",
    "SingleDimension",
    "SkipIfMissing",
    "Spearman",
    "Specificity",
    "Ssim",
    "Std",
    "Tap3dJaccard",
    "Tap3dPosition",
    "TapJaccard",
    "TapOcclusion",
    "TapPosition",
    "TokenAccuracy",
    "TopKAccuracy",
    "TreeMap",
    "TreeReduce",
    "VMeasure",
    "Wer",
    "WithCi",
    # Modules.
    "calibration",
    "classification",
    "clustering",
    "confusion",
    "curves",
    "depth",
    "generative",
    "image",
    "losses",
    "multilabel",
    "over_time",
    "pose",
    "ranking",
    "regression",
    "segmentation",
    "slices",
    "statistics",
    "summaries",
    "testing",
    "text",
    "tokens",
    "tracking",
    "trees",
    "uncertainty",
    "wrappers",
    # Errors.
    "EmptyMetricError",
    "HostOnlyError",
    "LawError",
    "MaskNotAcceptedError",
    "MaskShapeError",
    "MergeError",
    "MetricError",
    "NameCollisionError",
    "NonFiniteLossError",
    "ScheduleError",
    "StateDefinitionError",
]

# Module -> public names, loaded when one of them is first used.
_EXPORTS = {
    "_auto": "AutoState",
    "_average": "AverageState",
    "_collect": "Collection total_loss",
    "_deprecated": "CollectFirstState CollectingState",
    "_errors": "EmptyMetricError HostOnlyError LawError MaskNotAcceptedError "
    "MaskShapeError MergeError MetricError NameCollisionError NonFiniteLossError "
    "ScheduleError StateDefinitionError",
    "_fields": "concat_field max_field mean_field min_field static_field sum_field",
    "_field_kinds": "AtStep buffer_field first_field hist_field last_field "
    "moments_field reservoir_field sketch_field state_field topk_field truncate_field",
    "_loss": "Loss",
    "_loss_state": "LossState",
    "_loss_terms": "check_finite_losses per_example_loss",
    "_metric": "Metric",
    "_moments": "MomentsState",
    "_numerics": "Pair",
    "_register": "state",
    "_results": "to_scalars",
    "_selection": "Examples Selected",
    "_state": "EmptyState State",
    "classification": "Accuracy BinaryAccuracy JointAccuracy Precision1 TopKAccuracy",
    "clustering": "Ari Nmi VMeasure",
    "depth": "AbsRel Delta",
    "generative": "Fid FrechetDistance Lpips",
    "segmentation": "Dice PanopticQuality SegmentationJaccard",
    "calibration": "Brier CalibrationError LogLoss Perplexity",
    "curves": "AveragePrecision PrAuc RocAuc",
    "slices": "Grouped",
    "trees": "TreeMap TreeReduce",
    "uncertainty": "Bootstrap WithCi",
    "confusion": "BalancedAccuracy CohenKappa ConfusionMatrix FBeta "
    "MatthewsCorrelation MeanIoU Precision Recall Specificity",
    "image": "Psnr PsnrWithResize Ssim",
    "multilabel": "LabelRankingAveragePrecision MultilabelAveragePrecision",
    "regression": "ExplainedVariance MaxError MeanAbsoluteError "
    "MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogError "
    "MedianAbsoluteError Pearson R2 RootMeanSquaredError Spearman",
    "pose": "PoseAuc PoseRotationError PoseTranslationError",
    "tracking": "Tap3dJaccard Tap3dPosition TapJaccard TapOcclusion TapPosition",
    "statistics": "CosineSimilarity Mean MeanCov Moments Norm Quantiles "
    "SingleDimension Std",
    "wrappers": "SkipIfMissing",
    "text": "Bleu Cer ChrF ExactMatch RougeL RougeN Wer",
    "tokens": "BitsPerByte TokenAccuracy",
    "ranking": "MapAtK Mrr Ndcg RecallAtK",
    "over_time": "Ema Every Last MaxOverTime MinOverTime",
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}
_MODULES = (
    "losses",
    "summaries",
    "testing",
    *(module for module in _EXPORTS if not module.startswith("_")),
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"kmetrics.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'kmetrics' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"kmetrics.{_HOME[name]}"), name)
    # From now on the name is found without a call.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
