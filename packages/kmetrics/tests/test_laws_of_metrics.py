import numpy as np
import pytest

import kmetrics
from kmetrics import losses
from kmetrics.testing import check_laws


def batches(**shapes):
    """Three batches; a mask makes parts of unequal sizes of them."""
    rng = np.random.default_rng(0)  # for each alone, whatever stands before it
    return [
        {
            name: rng.integers(0, 3, (n, *shape))
            if name in ("labels", "by", "ids")
            else rng.normal(size=(n, *shape)).astype(np.float32)
            for name, shape in shapes.items()
        }
        for n in (2, 2, 2)
    ]


def yes_or_no(**shapes):
    """The same with labels of 0 and 1."""
    return [{**batch, "labels": batch["labels"] % 2} for batch in batches(**shapes)]


CASES = {
    "accuracy": (kmetrics.Accuracy(), batches(logits=(3,), labels=())),
    "top_2": (kmetrics.Accuracy(top_k=2), batches(logits=(3,), labels=(1,))),
    "nan_rows": (
        kmetrics.Accuracy(count_nan=True),
        batches(logits=(3,), labels=()),
    ),
    "top_k": (kmetrics.TopKAccuracy(k=2), batches(logits=(3,), labels=())),
    "precision_1": (kmetrics.Precision1(), yes_or_no(logits=(3,), labels=(3,))),
    "joint": (
        kmetrics.JointAccuracy(),
        [
            {"logits": [b["logits"]] * 2, "labels": [b["labels"], b["ids"]]}
            for b in batches(logits=(3,), labels=(), ids=())
        ],
    ),
    "mean": (kmetrics.Mean(), batches(values=(2,))),
    "std": (kmetrics.Std(ddof=1), batches(values=())),
    "norm": (kmetrics.Norm(), batches(tensor=(5,))),
    "norm_sum": (kmetrics.Norm(across="sum"), batches(tensor=(5,))),
    "norm_last": (
        kmetrics.Norm(across="last"),
        batches(tensor=(5,)),
        {"splits": False, "in_order": False},
    ),
    "moments": (kmetrics.Moments(), batches(values=())),
    # Far from each other: an entry of the covariance near 0 has no digits.
    "cov": (
        kmetrics.MeanCov(),
        [{"values": b["x"] @ [[1, 0.5], [0, 1]]} for b in batches(x=(2,))],
        {"rtol": 1e-5},
    ),
    "cosine": (kmetrics.CosineSimilarity(), batches(preds=(2,), targets=(2,))),
    "single": (kmetrics.SingleDimension(index=1), batches(values=(2,))),
    "noop": (kmetrics.NoopMetric(), batches(values=())),
    "skip": (kmetrics.SkipIfMissing(metric=kmetrics.Mean()), batches(values=())),
    "binary": (kmetrics.BinaryAccuracy(), yes_or_no(logits=(), labels=())),
    "tree_map": (
        kmetrics.TreeMap(metric=kmetrics.Mean()),
        [{"values": batch} for batch in batches(a=(2,), b=())],
    ),
    "tree_reduce": (
        kmetrics.TreeReduce(metric=kmetrics.Mean()),
        [{"values": batch} for batch in batches(a=(2,), b=())],
    ),
    "grouped": (
        kmetrics.Grouped(metric=kmetrics.Mean(), groups=3),
        batches(values=(), by=()),
    ),
    "bootstrap": (
        kmetrics.Bootstrap(metric=kmetrics.Mean(), n=5),
        batches(values=(), ids=()),
    ),
    "with_ci": (
        kmetrics.WithCi(metric=kmetrics.Accuracy()),
        batches(logits=(3,), labels=()),
    ),
    "quantiles": (kmetrics.Quantiles(), batches(values=(2,))),
    **{
        name: (getattr(kmetrics, name)(), batches(preds=(2,), targets=(2,)))
        for name in kmetrics.regression.__all__
        # The logarithm wants numbers above -1.
        if name != "MeanSquaredLogError"
    },
    "log_error": (
        kmetrics.MeanSquaredLogError(),
        [{"preds": b["ids"], "targets": b["by"]} for b in batches(ids=(2,), by=(2,))],
    ),
    "binned": (
        kmetrics.RocAuc(method="binned", bins=8),
        batches(logits=(3,), labels=()),
    ),
    **{
        name: (getattr(kmetrics, name)(), batches(logits=(3,), labels=()))
        for module in (kmetrics.calibration, kmetrics.confusion, kmetrics.curves)
        for name in module.__all__
    },
    "equal_mass": (
        kmetrics.CalibrationError(bins=2, strategy="mass"),
        batches(logits=(3,), labels=()),
    ),
    **{
        name: (getattr(kmetrics, name)(), yes_or_no(logits=(3,), labels=(3,)))
        for name in kmetrics.multilabel.__all__
    },
}


TEXTS = [
    {"preds": np.array(["a b c", "d"]), "targets": np.array(["a c b", "d"])},
    {"preds": np.array(["x"]), "targets": np.array(["y z"])},
    {"preds": np.array(["b b", ""]), "targets": np.array(["b", "b"])},
]
CASES |= {name: (getattr(kmetrics, name)(), TEXTS) for name in kmetrics.text.__all__}
CASES |= {
    name: (
        getattr(kmetrics, name)(k=2),
        [
            {"scores": b["values"], "relevance": b["labels"]}
            for b in batches(values=(3,), labels=(3,))
        ],
    )
    for name in kmetrics.ranking.__all__
}
CASES |= {
    "tokens": (
        kmetrics.TokenAccuracy(ignore_index=0),
        batches(logits=(2, 3), labels=(2,)),
    ),
    "bits": (
        kmetrics.BitsPerByte(),
        [
            {"logits": b["logits"], "labels": b["labels"], "num_bytes": b["ids"]}
            for b in batches(logits=(2, 3), labels=(2,), ids=())
        ],
    ),
}


# Over time the order of the batches matters, and a batch is not a part of another.
CASES |= {
    name: (
        getattr(kmetrics, name)(metric=kmetrics.Mean(), **options),
        batches(values=(2,)),
        {"splits": False, "in_order": name.endswith("OverTime")},
    )
    for name, options in {
        "Ema": {"decay": 0.5},
        "Last": {},
        "MaxOverTime": {},
        "MinOverTime": {},
    }.items()
}
CASES["binned_ranks"] = (
    kmetrics.Spearman(method="binned", bins=4, value_range=(-2, 2)),
    batches(preds=(2,), targets=(2,)),
)
CASES["every"] = (
    kmetrics.Every(metric=kmetrics.Mean(), n=2),
    [{**b, "step": np.int32(i)} for i, b in enumerate(batches(values=(2,)))],
    {"splits": False},
)
CASES["t"] = (
    kmetrics.WithCi(metric=kmetrics.Std(), method="t"),
    batches(values=()),
)
CASES["bootstrap_loss"] = (
    kmetrics.Bootstrap(metric=losses.L2(), n=5),
    batches(preds=(), targets=(), ids=()),
)


# The metrics of these modules are among the cases of another file.
LOSSES = ("losses",)  # test_laws_of_losses.py
MEDIA = ("summaries",)  # test_summaries_laws.py
VISION = (  # test_laws_of_vision.py
    "clustering",
    "depth",
    "generative",
    "image",
    "pose",
    "segmentation",
    "tracking",
)


def test_every_shipped_metric_is_among_the_cases():
    modules = set(kmetrics._MODULES) - {*LOSSES, *MEDIA, *VISION, "testing"}
    tested = {type(metric).__name__ for metric, *_ in CASES.values()}
    shipped = {
        name
        for module in (getattr(kmetrics, name) for name in modules)
        for name in module.__all__
        if issubclass(getattr(module, name), kmetrics.Metric)
    }
    assert tested == shipped


# These keep what they saw, on the host. All others keep their size, as is a law of
# what merges on the device.
ON_HOST = (
    "AveragePrecision",
    "MedianAbsoluteError",
    "MultilabelAveragePrecision",
    "PrAuc",
    "RocAuc",
    "Spearman",
    "equal_mass",
)


@pytest.mark.slow
@pytest.mark.spec("kmetrics-20", "kmetrics-87")
@pytest.mark.parametrize("name", CASES)
def test_every_shipped_metric_keeps_the_laws(name):
    metric, data, *options = CASES[name]
    check_laws(metric, data, **dict(*options))
    on_device = metric.get_state(**data[0]).merges_on_device
    assert on_device == (name not in ON_HOST)
