"""Outputs of inner layers: captured where they are read, and nowhere else."""

import dataclasses

import flax.linen as nn
import jax.numpy as jnp
import pytest

import kmetrics
import kontext
import ktrain


class Sows(nn.Module):
    """A layer whose output is sown beside what Flax captures by itself."""

    sown: bool = True
    x: kontext.Key = "batch.x"

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(8, name="enc")(x))
        if self.sown:
            self.sow("intermediates", "hidden", h)
        return {"y": nn.Dense(1, name="dec")(h)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Length(kmetrics.Metric):
    """How many outputs one layer holds."""

    outputs: kontext.Key

    def get_state(self, outputs, mask=None):
        per_example = jnp.full(len(outputs[0]), len(outputs))
        return kmetrics.AverageState.from_values(per_example, mask=mask)


LENGTHS = {
    "captured": Length(outputs="interms.enc.__call__"),
    "sown": Length(outputs="interms.hidden"),
}


@pytest.mark.case("037")
def test_captured_outputs_do_not_enter_the_next_step(parts):
    norm = kmetrics.Norm(tensor="interms.enc.__call__[0]")
    trainer = parts.trainer(model=Sows(), train_metrics={"norm": norm, **LENGTHS})
    step = trainer.compile_step()
    state = trainer.init_state()
    with trainer.train_ds.open() as batches:
        for _ in range(5):
            state, report = step.report(state, next(batches))
            values = step.step.measures.compute(report.states)
            assert values["metrics/captured"] == values["metrics/sown"] == 1.0
            assert state.collections == {}
    assert step.report.compiled._cache_size() == 1


@pytest.mark.case("037")
def test_evaluation_sees_one_output_per_layer_too(parts):
    every = ktrain.evals.EveryNSteps(2)
    evaluator = ktrain.evals.Evaluator(run=every, metrics=LENGTHS)
    result = parts.trainer(
        model=Sows(), train_metrics=LENGTHS, evals={"all": evaluator}
    ).train()
    values = result.evals["all"].values
    assert values["metrics/captured"] == values["metrics/sown"] == 1.0
    assert result.state.collections == {}


@pytest.mark.case("038")
def test_what_nobody_reads_is_not_captured(parts):
    """Warnings are errors here, so this also shows that nothing warns."""
    texts = []
    for sown in (True, False):
        trainer = parts.trainer(model=Sows(sown=sown), train_metrics={})
        step = trainer.compile_step()
        state, batch = trainer.init_state(), next(iter(trainer.train_ds))
        for program in (step.quiet.compiled, step.report.compiled):
            texts.append(program.lower(state, batch).as_text())
    assert len(texts) == 4 and texts[:2] == texts[2:]
    assert trainer.train().state.collections == {}
