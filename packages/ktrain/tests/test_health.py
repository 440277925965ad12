import logging
import math

import jax
import numpy as np
import pytest

from ktrain import HealthPolicy, errors


def test_finite_values_pass():
    HealthPolicy().check(3, {"losses/a": 1.0, "metrics/m": math.nan}, 2.0)


def test_a_loss_that_is_nan_is_named_with_its_step():
    with pytest.raises(errors.NonFiniteError) as caught:
        HealthPolicy().check(7, {"losses/a": 1.0, "losses/b": math.nan}, 2.0)
    assert "step 7: losses/b is nan" in str(caught.value)
    assert "losses/a" not in str(caught.value)


def test_an_infinite_gradient_norm_is_refused():
    with pytest.raises(errors.NonFiniteError, match="gradient norm is inf"):
        HealthPolicy().check(7, {"losses/a": 1.0}, math.inf)


def test_warn_goes_on(caplog):
    with caplog.at_level(logging.WARNING, "ktrain"):
        HealthPolicy(on_nonfinite="warn").check(7, {"losses/a": math.nan}, 1.0)
    assert "losses/a is nan" in caplog.text


def test_ignore_is_silent(caplog):
    HealthPolicy(on_nonfinite="ignore").check(7, {"losses/a": math.nan}, 1.0)
    assert not caplog.records


def test_an_unknown_policy_is_refused_with_the_nearest():
    with pytest.raises(errors.TrainerConfigError, match="did you mean 'raise'"):
        HealthPolicy(on_nonfinite="raize")


@pytest.mark.slow
@pytest.mark.spec("core-58")
@pytest.mark.parametrize("option", ["debug_nans", "disable_jit"])
def test_the_debugging_modes_of_jax_train_to_the_same_numbers(parts, option):
    mode = jax.debug_nans(True) if option == "debug_nans" else jax.disable_jit()
    trainer = parts.trainer(num_train_steps=2, log_metrics_every=1)
    with mode:
        result = trainer.train()
    plain = trainer.train()
    assert int(result.state.step) == 2
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6),
        (result.state, result.last_metrics["losses/total"]),
        (plain.state, plain.last_metrics["losses/total"]),
    )
