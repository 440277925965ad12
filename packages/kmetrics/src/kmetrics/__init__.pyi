"""What static checkers see of kmetrics: at run time names are loaded when used."""

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
from kmetrics._covariance import CovarianceState
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
from kmetrics.depth import AbsRel, Delta, RgbAbsRel
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
from kmetrics.wrappers import NoopMetric, SkipIfMissing

MAE = MeanAbsoluteError
MAPE = MeanAbsolutePercentageError
MCC = MatthewsCorrelation
MSE = MeanSquaredError
MSLE = MeanSquaredLogError
RMSE = RootMeanSquaredError

__all__ = [
    "AbsRel",
    "Accuracy",
    "Ari",
    "AtStep",
    "AutoState",
    "AveragePrecision",
    "AverageState",
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
    "CollectFirstState",
    "CollectingState",
    "Collection",
    "ConfusionMatrix",
    "CosineSimilarity",
    "CovarianceState",
    "Delta",
    "Dice",
    "Ema",
    "EmptyMetricError",
    "EmptyState",
    "Every",
    "ExactMatch",
    "Examples",
    "ExplainedVariance",
    "FBeta",
    "Fid",
    "FrechetDistance",
    "Grouped",
    "HostOnlyError",
    "JointAccuracy",
    "LabelRankingAveragePrecision",
    "Last",
    "LawError",
    "LogLoss",
    "Loss",
    "LossState",
    "Lpips",
    "MapAtK",
    "MaskNotAcceptedError",
    "MaskShapeError",
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
    "MergeError",
    "Metric",
    "MetricError",
    "MinOverTime",
    "Moments",
    "MomentsState",
    "Mrr",
    "MultilabelAveragePrecision",
    "NameCollisionError",
    "Ndcg",
    "Nmi",
    "NonFiniteLossError",
    "NoopMetric",
    "Norm",
    "Pair",
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
    "RgbAbsRel",
    "RocAuc",
    "RootMeanSquaredError",
    "RougeL",
    "RougeN",
    "ScheduleError",
    "SegmentationJaccard",
    "Selected",
    "SingleDimension",
    "SkipIfMissing",
    "Spearman",
    "Specificity",
    "Ssim",
    "State",
    "StateDefinitionError",
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
    "buffer_field",
    "calibration",
    "check_finite_losses",
    "classification",
    "clustering",
    "concat_field",
    "confusion",
    "curves",
    "depth",
    "first_field",
    "generative",
    "hist_field",
    "image",
    "last_field",
    "losses",
    "max_field",
    "mean_field",
    "min_field",
    "moments_field",
    "multilabel",
    "over_time",
    "per_example_loss",
    "pose",
    "ranking",
    "regression",
    "reservoir_field",
    "segmentation",
    "sketch_field",
    "slices",
    "state",
    "state_field",
    "static_field",
    "statistics",
    "sum_field",
    "summaries",
    "testing",
    "text",
    "to_scalars",
    "tokens",
    "topk_field",
    "total_loss",
    "tracking",
    "trees",
    "truncate_field",
    "uncertainty",
    "wrappers",
]
