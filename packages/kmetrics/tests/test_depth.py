import numpy as np
import pytest

from kmetrics import AbsRel, Delta

PREDS = np.float32([[1.0, 3.0], [8.0, 5.0]])
TARGETS = np.float32([[2.0, 2.0], [10.0, 4.0]])


def test_the_relative_error_is_relative_to_the_target():
    # 1/2, 1/2, 1/5, 1/4
    both = {"preds": PREDS, "targets": TARGETS}
    assert AbsRel()(**both) == pytest.approx(0.3625, rel=1e-6)
    first = AbsRel()(**both, mask=np.array([True, False]))
    assert first == pytest.approx(0.5, rel=1e-6)


@pytest.mark.spec("kmetrics-70")
def test_a_target_that_was_not_measured_does_not_count():
    for missing in (0.0, -2.0, np.nan):
        targets = np.where(TARGETS == 10, np.float32(missing), TARGETS)
        both = {"preds": PREDS, "targets": targets}
        assert AbsRel()(**both) == pytest.approx(1.25 / 3, rel=1e-6)
        assert Delta(threshold=1.3)(**both) == pytest.approx(1 / 3)
        kept = np.float32([1, 3])
        weighted = AbsRel()(**both, mask=kept)
        assert weighted == pytest.approx((1 + 3 * 0.25) / 5, rel=1e-6)
    nothing = AbsRel()(preds=PREDS, targets=0 * TARGETS)
    assert np.isnan(nothing)


def test_delta_is_the_share_within_a_ratio():
    # Ratios 2, 1.5, 1.25, 1.25: the threshold itself is outside.
    both = {"preds": PREDS, "targets": TARGETS}
    assert Delta()(**both) == 0
    assert Delta(threshold=1.25**2)(**both) == 0.75
    assert Delta(threshold=3)(preds=-PREDS, targets=TARGETS) == 0
    with pytest.raises(ValueError, match="threshold must be above 1"):
        Delta(threshold=0.5)
    with pytest.raises(TypeError, match="targets"):
        AbsRel()(preds=PREDS, targets=TARGETS[:1])
