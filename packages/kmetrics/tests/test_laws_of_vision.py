import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics.testing import check_laws

MODULES = (
    kmetrics.clustering,
    kmetrics.depth,
    kmetrics.generative,
    kmetrics.image,
    kmetrics.pose,
    kmetrics.segmentation,
    kmetrics.tracking,
)


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


def poses(x):
    """Numbers `[*b, 3, 4]` as rotations and places, `[*b, 4, 4]`."""
    turn = np.linalg.qr(x[..., :3])[0]
    turn[..., 0] *= np.linalg.det(turn)[..., None]
    last = np.broadcast_to(np.float32([0, 0, 0, 1]), (*x.shape[:-2], 1, 4))
    return np.concatenate([np.concatenate([turn, x[..., 3:]], -1), last], -2)


def mean_color(images):
    return jnp.mean(images, axis=(-3, -2))


CASES = {
    "psnr": (kmetrics.Psnr(), batches(preds=(3, 3, 1), targets=(3, 3, 1))),
    "ssim": (
        kmetrics.Ssim(window=3),
        # Alike: a mean of similarities of both signs would cancel to its rounding.
        [
            {"preds": b["targets"] + 0.1 * b["preds"], "targets": b["targets"]}
            for b in batches(preds=(3, 3, 1), targets=(3, 3, 1))
        ],
    ),
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
    **{
        name: (
            getattr(kmetrics, name)(),
            [
                {key: poses(x) for key, x in b.items()}
                for b in batches(preds=(2, 3, 4), targets=(2, 3, 4))
            ],
            {"rtol": 1e-5},
        )
        for name in kmetrics.pose.__all__
    },
    "depth": (kmetrics.AbsRel(), batches(preds=(2,), targets=(2,))),
    "drawn": (
        # From 1 on, so that no batch is without a depth that was measured.
        kmetrics.RgbAbsRel(depth_range=(1.0, 2.0)),
        batches(preds=(1, 2, 3), targets=(1, 2, 3)),
    ),
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
        kmetrics.PsnrWithResize(in_vrange=(-4.0, 4.0)),  # far from 0 dB
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
}


def test_every_shipped_metric_is_among_the_cases():
    tested = {type(metric).__name__ for metric, *_ in CASES.values()}
    assert tested == {name for module in MODULES for name in module.__all__}


@pytest.mark.slow
@pytest.mark.spec("kmetrics-20", "kmetrics-87")
@pytest.mark.parametrize("name", CASES)
def test_every_shipped_metric_keeps_the_laws(name):
    metric, data, *options = CASES[name]
    check_laws(metric, data, **dict(*options))
    assert metric.get_state(**data[0]).merges_on_device  # hence of fixed size
    low, high = metric.range or (-np.inf, np.inf)
    values = np.array(jax.tree.leaves(metric(**data[0])))
    assert ((low <= values) & (values <= high) | np.isnan(values)).all()
    assert metric.higher_is_better is not None
