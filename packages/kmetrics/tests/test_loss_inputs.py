import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import losses

ZEROS = jnp.zeros((2, 2))
CONTEXT = {"preds": jnp.ones((2, 2)), "batch": {"y": ZEROS}}
L2 = losses.L2(preds="preds", targets="batch.y")


def test_a_formula_is_computed_in_the_dtype_that_is_asked_for():
    # 1 + 2⁻⁸ is 1 in bfloat16, whose numbers have 8 bits.
    one = {"preds": jnp.full((2, 2), 1 + 2**-8), "targets": ZEROS}
    assert L2(**one) == (1 + 2**-8) ** 2
    assert L2.replace(compute_dtype="bfloat16")(**one) == 1.0
    # Half precision inputs are widened unless it is asked for: 1.25² is 1.5625.
    half = {"preds": jnp.full((2, 2), 1.25, jnp.bfloat16), "targets": ZEROS}
    assert L2(**half) == L2.replace(compute_dtype="float32")(**half) == 1.5625
    with jax.enable_x64(True):
        double = L2.replace(compute_dtype="float64")
        tenth = {"preds": np.full((2, 2), 0.1), "targets": np.zeros((2, 2))}
        # The sums are pairs of float32: 48 bits.
        assert double(**tenth) == pytest.approx(0.01, rel=1e-14)


def test_a_dtype_of_a_formula_is_compared_by_its_name():
    wanted = L2.replace(compute_dtype="bfloat16")
    assert L2.replace(compute_dtype=jnp.bfloat16) == wanted
    assert L2.replace(compute_dtype=np.float32).compute_dtype == "float32"
    assert L2.replace(compute_dtype=jnp.dtype("bfloat16")).compute_dtype == "bfloat16"


@pytest.mark.parametrize("dtype", ["float16", "int32", "half", 3, jnp.int8])
def test_a_dtype_that_no_loss_is_computed_in_is_refused(dtype):
    with pytest.raises(ValueError, match=r"L2: compute_dtype=.* is no dtype to"):
        L2.replace(compute_dtype=dtype)


def test_float64_is_refused_where_jax_would_make_float32_of_it():
    with pytest.raises(ValueError, match=r"L2: compute_dtype=.float64. needs"):
        L2.replace(compute_dtype="float64")(CONTEXT)
