"""`ktrain.kd`: the names of Kauldron, as far as they exist."""

import json

import pytest

import kmetrics
import konfig
import kontext
import ktrain
import ktyping
from ktrain import kd

with konfig.imports():
    import optax

    from ktrain import kd as described


def test_names_are_the_very_objects_of_our_own_names():
    assert kd.train.Trainer is ktrain.Trainer
    assert kd.train.TrainState is ktrain.TrainState
    assert kd.train.TrainStep is ktrain.TrainStep
    assert kd.train.Context is ktrain.Context
    assert kd.data.InMemoryPipeline is ktrain.data.InMemoryPipeline
    assert kd.evals.Evaluator is ktrain.evals.Evaluator
    assert kd.evals.EveryNSteps is ktrain.evals.EveryNSteps
    assert kd.ckpts.Checkpointer is ktrain.checkpoint.Checkpointer
    assert kd.nn.train_property is ktrain.nn.train_property
    assert (kd.konfig, kd.kontext, kd.ktyping) == (konfig, kontext, ktyping)


def test_every_loss_metric_and_summary_is_there():
    for name in kmetrics.losses.__all__:
        assert getattr(kd.losses, name) is getattr(kmetrics.losses, name)
    for name in kmetrics.__all__:
        assert getattr(kd.metrics, name) is getattr(kmetrics, name)
    for name in kmetrics.summaries.__all__:
        assert getattr(kd.summaries, name) is getattr(kmetrics.summaries, name)
    assert kd.losses.Loss is kd.metrics.Loss is kmetrics.Loss


def test_module_holds_what_it_lists_and_nothing_else():
    public = {name for name in vars(kd) if not name.startswith("_")}
    assert public == set(kd.__all__)


@pytest.mark.parametrize("name", ["optim", "random", "inspect"])
def test_what_does_not_exist_yet_is_absent(name):
    assert not hasattr(kd, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
        getattr(described, name)


def test_names_work_inside_of_konfig_imports():
    cfg = described.train.Trainer(seed=3)
    cfg.train_losses = {"l2": described.losses.L2(preds="preds.y", targets="batch.y")}
    written = json.loads(konfig.to_json(cfg))
    assert written["__qualname__"] == "ktrain.kd:train.Trainer"
    assert written["train_losses"]["l2"]["__qualname__"] == "ktrain.kd:losses.L2"
    assert konfig.from_json(konfig.to_json(cfg)) == cfg


def test_misspelt_argument_fails_at_its_line():
    with pytest.raises(konfig.KonfigError, match="num_train_steps"):
        described.train.Trainer(num_train_step=3)


@pytest.mark.slow
def test_parts_described_with_familiar_names_train(parts):
    described_parts = konfig.ConfigDict(
        train_losses={"l2": described.losses.L2(preds="preds.y", targets="batch.y")},
        train_metrics={"norm": described.metrics.Norm(tensor="preds.y")},
        optimizer=optax.adam(1e-2),
        evals={"val": described.evals.Evaluator(run=described.evals.EveryNSteps(2))},
    )
    result = parts.trainer(num_train_steps=3, **konfig.resolve(described_parts)).train()
    assert result.steps_run == 3
    assert result.last_metrics["losses/total"] == result.last_metrics["losses/l2"]
    assert result.evals["val"].step == 3
