import jax
import numpy as np
import pytest

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
    "l1": (losses.L1(), batches(preds=(2,), targets=(2,))),
    "l2": (losses.L2(weight=0.3), batches(preds=(2,), targets=(2,))),
    "sum": (losses.L1(normalize_by="sum"), batches(preds=(2,), targets=(2,))),
    "huber": (losses.Huber(), batches(preds=(), targets=())),
    "log_cosh": (losses.LogCosh(), batches(preds=(), targets=())),
    "soft": (losses.SoftmaxCrossEntropy(), batches(logits=(3,), labels=(3,))),
    "int": (
        losses.SoftmaxCrossEntropyWithIntLabels(),
        batches(logits=(3,), labels=()),
    ),
    "bce": (losses.SigmoidBinaryCrossEntropy(), yes_or_no(logits=(3,), labels=(3,))),
    "weighted_classes": (
        losses.SoftmaxCrossEntropyWithIntLabels(class_weights=(1, 2, 0.5)),
        batches(logits=(3,), labels=()),
    ),
    "softmax_focal": (losses.SoftmaxFocal(), batches(logits=(3,), labels=())),
    **{
        name: (getattr(losses, name)(), yes_or_no(logits=(3,), labels=(3,)))
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
        yes_or_no(preds=(2,), targets=(2,), labels=()),
    ),
    "triplet": (
        losses.Triplet(),
        batches(anchors=(2,), positives=(2,), negatives=(2,)),
    ),
    **{
        name: (getattr(losses, name)(), yes_or_no(logits=(2, 2, 1), labels=(2, 2, 1)))
        for name in ("Dice", "Lovasz")
    },
    "iou": (
        losses.IoU(),
        yes_or_no(iou_preds=(1,), logits=(2, 2, 1), labels=(2, 2, 1)),
    ),
    "ctc": (
        losses.CTC(blank=3),
        batches(logits=(5, 4), labels=(2,)),
    ),
}


def test_every_shipped_loss_is_among_the_cases():
    tested = {type(metric).__name__ for metric, *_ in CASES.values()}
    assert tested == set(losses.__all__)


@pytest.mark.slow
@pytest.mark.spec("kmetrics-20", "kmetrics-87")
@pytest.mark.parametrize("name", CASES)
def test_every_shipped_loss_keeps_the_laws(name):
    metric, data, *options = CASES[name]
    check_laws(metric, data, **dict(*options))
    assert metric.get_state(**data[0]).merges_on_device  # hence of fixed size


@pytest.mark.parametrize("name", CASES)
def test_every_shipped_loss_is_computed_in_the_dtype_that_is_asked_for(name):
    metric, data, *_ = CASES[name]

    def dtype_in(compute_dtype):
        loss = metric.replace(compute_dtype=compute_dtype)
        return jax.eval_shape(lambda b: loss.get_values(**b), data[0]).dtype

    assert dtype_in(None) == dtype_in("float32") == "float32"
    # Pixels are added up in float32 at least.
    over_pixels = name in ("Dice", "Lovasz")
    assert dtype_in("bfloat16") == ("float32" if over_pixels else "bfloat16")
    with jax.enable_x64(True):
        assert dtype_in("float64") == "float64"
