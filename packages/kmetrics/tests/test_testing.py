import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import losses
from kmetrics.testing import check_laws

RNG = np.random.default_rng(0)


def batches(**shapes):
    """Three batches of unequal sizes."""
    return [
        {
            name: RNG.integers(0, 3, (n, *shape))
            if name in ("labels", "by", "ids")
            else RNG.normal(size=(n, *shape)).astype(np.float32)
            for name, shape in shapes.items()
        }
        for n in (2, 1, 2)
    ]


def mean_color(images):
    return jnp.mean(images, axis=(-3, -2))


CASES = {
    "accuracy": (kmetrics.Accuracy(), batches(logits=(3,), labels=())),
    "top_2": (kmetrics.Accuracy(top_k=2), batches(logits=(3,), labels=(1,))),
    "nan_rows": (
        kmetrics.Accuracy(count_nan=True),
        batches(logits=(3,), labels=()),
    ),
    "top_k": (kmetrics.TopKAccuracy(k=2), batches(logits=(3,), labels=())),
    "precision_1": (kmetrics.Precision1(), batches(logits=(3,), labels=(3,))),
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
    "skip": (kmetrics.SkipIfMissing(metric=kmetrics.Mean()), batches(values=())),
    "binary": (kmetrics.BinaryAccuracy(), batches(logits=(), labels=())),
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
    "psnr": (kmetrics.Psnr(), batches(preds=(3, 3, 1), targets=(3, 3, 1))),
    "ssim": (
        kmetrics.Ssim(window=3),
        # Alike: a mean of similarities of both signs would cancel to its rounding.
        [
            {"preds": b["targets"] + 0.1 * b["preds"], "targets": b["targets"]}
            for b in batches(preds=(3, 3, 1), targets=(3, 3, 1))
        ],
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
    "occlusion": (
        kmetrics.TapOcclusion(),
        [
            {
                "query_points": 0 * b["x"],
                "occluded": b["ids"] > 1,
                "pred_occluded": b["by"] > 1,
            }
            for b in batches(x=(2, 3), ids=(2, 4), by=(2, 4))
        ],
    ),
    **{
        name: (
            getattr(kmetrics, name)(thresholds=(1, 2)),
            [
                {
                    "query_points": 0 * b["q"],
                    "occluded": b["ids"] > 1,
                    "tracks": b["x"],
                    "pred_tracks": b["p"],
                    **({"pred_occluded": b["by"] > 1} if "Jaccard" in name else {}),
                }
                for b in batches(
                    q=(2, 3), ids=(2, 4), by=(2, 4), x=(2, 4, d), p=(2, 4, d)
                )
            ],
        )
        for d, names in (
            (2, ("TapPosition", "TapJaccard")),
            (3, ("Tap3dPosition", "Tap3dJaccard")),
        )
        for name in names
    },
    # No poses, but any matrices do.
    **{
        name: (
            getattr(kmetrics, name)(),
            batches(preds=(2, 4, 4), targets=(2, 4, 4)),
            {"rtol": 1e-5},
        )
        for name in kmetrics.pose.__all__
    },
    "depth": (kmetrics.AbsRel(), batches(preds=(2,), targets=(2,))),
    "delta": (kmetrics.Delta(threshold=3), batches(preds=(2,), targets=(2,))),
    **{
        f"{name}{per_example}": (
            getattr(kmetrics, name)(
                num_clusters=3, num_classes=3, per_example=per_example
            ),
            [
                {"preds": b["ids"], "targets": b["by"]}
                for b in batches(ids=(6,), by=(6,))
            ],
        )
        for name in kmetrics.clustering.__all__
        for per_example in (False, True)
        if name == "Ari" or not per_example
    },
    # Apart from each other: a distance near 0 has no digits.
    "frechet": (
        kmetrics.FrechetDistance(),
        [{**b, "targets": b["targets"] + 5} for b in batches(preds=(2,), targets=(2,))],
        {"rtol": 1e-5},
    ),
    "fid": (
        kmetrics.Fid(features=mean_color),
        [
            {**b, "targets": b["targets"] + 5}
            for b in batches(preds=(2, 2, 2), targets=(2, 2, 2))
        ],
        {"rtol": 1e-5},
    ),
    "lpips": (
        kmetrics.Lpips(features=lambda images: [images, images**2]),
        batches(preds=(2, 2, 2), targets=(2, 2, 2)),
    ),
    "resize": (
        kmetrics.PsnrWithResize(),
        batches(preds=(2, 3, 1), targets=(3, 2, 1)),
    ),
    "overlap": (kmetrics.Dice(), batches(logits=(3,), labels=())),
    "panoptic": (
        kmetrics.PanopticQuality(num_classes=3, max_segments=6),
        [
            {
                "pred_classes": b["ids"],
                "pred_instances": 0 * b["by"],
                "target_classes": b["by"],
                "target_instances": 0 * b["ids"],
            }
            for b in batches(ids=(2, 2), by=(2, 2))
        ],
    ),
    "video": (
        kmetrics.SegmentationJaccard(num_objects=2),
        [
            {"features": b["x"], "targets": b["ids"]}
            for b in batches(x=(3, 2, 2, 2), ids=(3, 2, 2))
        ],
    ),
    "equal_mass": (
        kmetrics.CalibrationError(bins=2, strategy="mass"),
        batches(logits=(3,), labels=()),
    ),
    **{
        name: (getattr(kmetrics, name)(), batches(logits=(3,), labels=(3,)))
        for name in kmetrics.multilabel.__all__
    },
    "l1": (losses.L1(), batches(preds=(2,), targets=(2,))),
    "l2": (losses.L2(weight=0.3), batches(preds=(2,), targets=(2,))),
    "huber": (losses.Huber(), batches(preds=(), targets=())),
    "log_cosh": (losses.LogCosh(), batches(preds=(), targets=())),
    "soft": (losses.SoftmaxCrossEntropy(), batches(logits=(3,), labels=(3,))),
    "int": (
        losses.SoftmaxCrossEntropyWithIntLabels(),
        batches(logits=(3,), labels=()),
    ),
    "bce": (losses.SigmoidBinaryCrossEntropy(), batches(logits=(3,), labels=(3,))),
    "weighted_classes": (
        losses.SoftmaxCrossEntropyWithIntLabels(class_weights=(1, 2, 0.5)),
        batches(logits=(3,), labels=()),
    ),
    "softmax_focal": (losses.SoftmaxFocal(), batches(logits=(3,), labels=())),
    **{
        name: (getattr(losses, name)(), batches(logits=(3,), labels=(3,)))
        for name in ("Hinge", "SigmoidFocal")
    },
    **{
        name: (getattr(losses, name)(), batches(values=(2,)))
        for name in ("AbsoluteValue", "Value")
    },
    **{
        name: (getattr(losses, name)(), batches(preds=(2,), targets=(2,)))
        for name in (
            "Charbonnier",
            "NegativeCosineSimilarity",
            "Pinball",
            "Poisson",
            "WeightedL1",
        )
    },
    "nll": (
        losses.GaussianNLL(eps=0.5),
        batches(preds=(2,), targets=(2,), variances=(2,)),
    ),
    "kl": (
        losses.KL(),
        [{**b, "labels": b["labels"] / 4} for b in batches(logits=(3,), labels=(3,))],
    ),
    # An example has the others of its batch for negatives. The temperature of 0.07
    # multiplies the rounding of a similarity by 14.
    "infonce": (
        losses.InfoNCE(),
        batches(preds=(2,), targets=(2,)),
        {"splits": False, "rtol": 1e-5},
    ),
    "contrastive": (
        losses.Contrastive(),
        batches(preds=(2,), targets=(2,), labels=()),
    ),
    "triplet": (
        losses.Triplet(),
        batches(anchors=(2,), positives=(2,), negatives=(2,)),
    ),
    **{
        name: (getattr(losses, name)(), batches(logits=(2, 2, 1), labels=(2, 2, 1)))
        for name in ("Dice", "Lovasz")
    },
    "iou": (
        losses.IoU(),
        batches(iou_preds=(1,), logits=(2, 2, 1), labels=(2, 2, 1)),
    ),
    "ctc": (
        losses.CTC(blank=3),
        batches(logits=(5, 4), labels=(2,)),
    ),
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


def test_every_shipped_metric_and_loss_is_among_the_cases():
    assert all(getattr(kmetrics, module) for module in kmetrics._MODULES)
    tested = {type(metric).__name__ for metric, *_ in CASES.values()}
    shipped = {
        name
        for module in map(kmetrics.__dict__.get, kmetrics._MODULES)
        # Summaries compute media; test_summaries_laws.py has their cases.
        if module not in (kmetrics.testing, kmetrics.summaries)
        for name in module.__all__
        if issubclass(getattr(module, name), kmetrics.Metric)
    }
    assert tested == shipped


@pytest.mark.slow
@pytest.mark.spec("kmetrics-20", "kmetrics-87")
@pytest.mark.parametrize("name", CASES)
def test_every_shipped_metric_keeps_the_laws(name):
    metric, data, *options = CASES[name]
    check_laws(metric, data, **dict(*options))


@pytest.mark.slow
def test_a_norm_of_one_tensor_keeps_the_laws_but_for_the_split():
    metric, data = kmetrics.Norm(aggregation="concat"), batches(tensor=(5,))
    check_laws(metric, data, splits=False)
    with pytest.raises(kmetrics.LawError, match="merged batches equal one batch"):
        check_laws(metric, data)


@kmetrics.state
class MeanOfMeans(kmetrics.State):
    value: jax.Array

    @classmethod
    def empty(cls):
        return cls(value=jnp.float32(0))

    def merge(self, other):
        return MeanOfMeans(
            value=(self.value + other.value) / 2, _parent=self.merged_parent(other)
        )

    def compute(self):
        return float(self.value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatchMean(kmetrics.Metric):
    State = MeanOfMeans

    def get_state(self, values):
        return MeanOfMeans(value=jnp.mean(values))


def test_a_mean_of_batch_means_breaks_the_laws():
    with pytest.raises(kmetrics.LawError) as error:
        check_laws(BatchMean(), batches(values=()))
    assert "BatchMean breaks a law of metrics: brackets do not matter" in str(
        error.value
    )
    assert isinstance(error.value, AssertionError)


def test_an_empty_state_that_counts_breaks_a_law():
    same = [{"values": np.ones(2, np.float32)}] * 2
    with pytest.raises(kmetrics.LawError, match=r"empty \| s equals s"):
        check_laws(BatchMean(), same)


def test_one_batch_shows_no_law():
    with pytest.raises(ValueError, match="two batches or more, got 1"):
        check_laws(kmetrics.Mean(), batches(values=())[:1])


class LooksAtPadding(kmetrics.Mean):
    def get_state(self, values, mask=None):
        # NaN · 0 is NaN.
        return kmetrics.AverageState.from_values(
            values if mask is None else values * mask
        )


class FailsOnNothing(kmetrics.Mean):
    def get_state(self, values):
        return kmetrics.AverageState.from_values(values + jnp.max(values) * 0)


def test_looking_at_what_a_mask_drops_breaks_a_law_unless_it_is_not_asked_for():
    data = batches(values=())
    with pytest.raises(kmetrics.LawError, match="rows that the mask drops"):
        check_laws(LooksAtPadding(), data)
    check_laws(LooksAtPadding(), data, padding=False)


def test_a_batch_without_examples_is_part_of_the_laws():
    with pytest.raises(ValueError, match="zero-size array"):
        check_laws(FailsOnNothing(), batches(values=()))
