import jax
import jax.numpy as jnp
import pytest


@pytest.mark.spec("core-87")
def test_a_state_that_went_into_a_step_cannot_be_used_again_and_says_so(parts):
    trainer = parts.trainer()
    step, state = trainer.compile_step(), trainer.init_state()
    batch = next(iter(trainer.train_ds))
    kept = jax.tree.map(jnp.copy, state)
    newer = step.quiet(state, batch)
    for program in (step.quiet, step.report):
        with pytest.raises((RuntimeError, ValueError), match="delete") as caught:
            program(state, batch)
        (note,) = [n for n in caught.value.__notes__ if n.startswith("ktrain:")]
        assert "went into a step before" in note
        assert "jnp.copy" in note
    assert int(step.quiet(newer, batch).step) == 2
    assert int(step.quiet(kept, batch).step) == 1


def test_other_errors_of_a_step_say_nothing_of_the_state(parts):
    trainer = parts.trainer()
    step, state = trainer.compile_step(), trainer.init_state()
    with pytest.raises(Exception) as caught:
        step.quiet(state, {"x": 1})
    assert not any("went into" in n for n in getattr(caught.value, "__notes__", ()))
