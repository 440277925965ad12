"""Losses and metrics whose states merge exactly.

Names are loaded when first used; what type checkers read is in `__init__.pyi`.
"""

from __future__ import annotations

import importlib
from typing import Any

# Module -> public names.
_EXPORTS = {
    # Writing metrics and losses.
    "_metric": "Metric",
    "_loss": "Loss",
    # States.
    "_register": "state",
    "_state": "EmptyState State",
    "_auto": "AutoState",
    "_average": "AverageState",
    "_covariance": "CovarianceState",
    "_deprecated": "CollectFirstState CollectingState",
    "_loss_state": "LossState",
    "_moments": "MomentsState",
    "_numerics": "Pair",
    # Fields of an AutoState, and what goes into them.
    "_fields": "concat_field max_field mean_field min_field static_field sum_field",
    "_field_kinds": "AtStep buffer_field first_field hist_field last_field "
    "moments_field reservoir_field sketch_field state_field topk_field truncate_field",
    "_selection": "Examples Selected",
    # Using many.
    "_collect": "Collection total_loss",
    "_loss_terms": "check_finite_losses per_example_loss",
    "_results": "to_scalars",
    # Metrics.
    "calibration": "Brier CalibrationError LogLoss Perplexity",
    "classification": "Accuracy BinaryAccuracy JointAccuracy Precision1 TopKAccuracy",
    "clustering": "Ari Nmi VMeasure",
    "confusion": "BalancedAccuracy CohenKappa ConfusionMatrix FBeta "
    "MatthewsCorrelation MeanIoU Precision Recall Specificity",
    "curves": "AveragePrecision PrAuc RocAuc",
    "depth": "AbsRel Delta RgbAbsRel",
    "generative": "Fid FrechetDistance Lpips",
    "image": "Psnr PsnrWithResize Ssim",
    "multilabel": "LabelRankingAveragePrecision MultilabelAveragePrecision",
    "over_time": "Ema Every Last MaxOverTime MinOverTime",
    "pose": "PoseAuc PoseRotationError PoseTranslationError",
    "ranking": "MapAtK Mrr Ndcg RecallAtK",
    "regression": "ExplainedVariance MaxError MeanAbsoluteError "
    "MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogError "
    "MedianAbsoluteError Pearson R2 RootMeanSquaredError Spearman",
    "segmentation": "Dice PanopticQuality SegmentationJaccard",
    "slices": "Grouped",
    "statistics": "CosineSimilarity Mean MeanCov Moments Norm Quantiles "
    "SingleDimension Std",
    "text": "Bleu Cer ChrF ExactMatch RougeL RougeN Wer",
    "tokens": "BitsPerByte TokenAccuracy",
    "tracking": "Tap3dJaccard Tap3dPosition TapJaccard TapOcclusion TapPosition",
    "trees": "TreeMap TreeReduce",
    "uncertainty": "Bootstrap WithCi",
    "wrappers": "NoopMetric SkipIfMissing",
    # Errors.
    "_errors": "EmptyMetricError HostOnlyError LawError MaskNotAcceptedError "
    "MaskShapeError MergeError MetricError NameCollisionError NonFiniteLossError "
    "ScheduleError StateDefinitionError",
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}
_MODULES = (
    "losses",
    "summaries",
    "testing",
    *(module for module in _EXPORTS if not module.startswith("_")),
)
# What papers call them; served, but not part of a star import.
_FAMILIAR = {
    "MAE": "MeanAbsoluteError",
    "MAPE": "MeanAbsolutePercentageError",
    "MCC": "MatthewsCorrelation",
    "MSE": "MeanSquaredError",
    "MSLE": "MeanSquaredLogError",
    "RMSE": "RootMeanSquaredError",
}

__all__ = [*_HOME, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"kmetrics.{name}")
    full = _FAMILIAR.get(name, name)
    if full not in _HOME:
        raise AttributeError(f"module 'kmetrics' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"kmetrics.{_HOME[full]}"), full)
    # From now on the name is found without a call.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FAMILIAR})
