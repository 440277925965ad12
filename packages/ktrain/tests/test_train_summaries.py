"""Summaries of a training and of its evaluations."""

import json

import numpy as np
import pytest

import ktrain
from kmetrics import summaries
from ktrain import errors, writers

SHOW = summaries.ShowImages(
    images="batch.x", num_images=2, rearrange="b x -> b x () ()", in_vrange=(-3, 3)
)
SUMMARIES = {"inputs": SHOW, "preds": summaries.HistogramSummary(tensor="preds.y")}


@pytest.mark.slow
def test_summaries_are_logged_at_their_own_steps_and_in_evaluations(tmp_path, parts):
    trainer = parts.trainer(
        num_train_steps=7,
        train_summaries=SUMMARIES,
        log_metrics_every=2,
        log_summaries_every=3,
        evals={"val": ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(100))},
        workdir=tmp_path,
        writer=writers.JsonlWriter(),
    )
    seen = {}

    class Remember(writers.NoopWriter):
        def open(self, **kwargs):
            session = super().open(**kwargs)
            session.scalars = lambda name, step, values, extra=None: seen.update(
                {(name, step): writers.flatten(values)}
            )
            return session

    files = writers.MultiWriter(lines=trainer.writer, seen=Remember(), strict=True)
    result = trainer.replace(writer=files).train()
    shown = [key for key, flat in seen.items() if flat.media()]
    assert shown == [("val", 0), ("train", 0), ("train", 3), ("train", 6), ("val", 7)]
    # Where summaries are due, the metrics are logged with them.
    steps = [r["step"] for r in writers.read_jsonl(tmp_path / "metrics/train.jsonl")]
    assert steps == [0, 2, 3, 4, 6]
    media = seen["train", 3].media()
    assert set(media) == {"summaries/inputs", "summaries/preds"}
    assert media["summaries/preds"].counts.sum() == 8
    # 21 examples in batches of 8: the padding of the last one is not counted.
    evaluated = result.evals["val"].values
    assert evaluated["summaries/preds"].counts.sum() == 21
    first = parts.Line(n=21, seed=1)()["x"][:2]
    want = np.round((np.clip(first, -3, 3) + 3) / 6 * 255)
    got = evaluated["summaries/inputs"].pixels.reshape(2, 4)
    assert abs(got - want).max() <= 1
    status = json.loads((tmp_path / "status.json").read_text())
    assert "losses/total" in status["metrics"]
    assert not [name for name in status["metrics"] if name.startswith("summaries")]


@pytest.mark.slow
@pytest.mark.spec("core-18")
def test_summaries_take_one_more_compilation_of_the_step(parts):
    trainer = parts.trainer(train_summaries=SUMMARIES)
    step = trainer.compile_step()
    state = trainer.init_state()
    plain = []
    with trainer.train_ds.open() as batches:
        for k in range(6):
            variant = (step.show, step.quiet, step.report)[k % 3]
            out = variant(state, next(batches))
            state = out if variant is step.quiet else out[0]
            plain += [] if variant is step.quiet else [sorted(out[1].states)]
    assert plain == [["losses", "metrics", "summaries"], ["losses", "metrics"]] * 2
    variants = (step.quiet, step.report, step.show)
    assert [variant.compiled._cache_size() for variant in variants] == [1, 1, 1]


def test_an_evaluation_leaves_out_summaries_that_read_gradients(parts):
    grads = {"grads": summaries.HistogramSummary(tensor="grads.enc.kernel")}
    run = ktrain.evals.EveryNSteps(5)
    trainer = parts.trainer(
        train_summaries={**SUMMARIES, **grads},
        evals={"val": ktrain.evals.Evaluator(run=run)},
    )
    session = trainer.evals["val"].open("val")
    assert set(session._measures.summaries) == {"inputs", "preds"}
    given = ktrain.evals.Evaluator(run=run, summaries=grads)
    with pytest.raises(errors.TrainerConfigError, match=r"evals\['val'\]\.summaries: "):
        parts.trainer(evals={"val": given}).evals["val"].open("val")


def test_summaries_and_their_steps_are_checked(parts):
    with pytest.raises(errors.TrainerConfigError, match="names to summaries"):
        parts.trainer(train_summaries=[SHOW])
    with pytest.raises(errors.TrainerConfigError, match="expected one of summaries"):
        parts.trainer(train_summaries={"images": "batch.x"})
    with pytest.raises(errors.TrainerConfigError, match="log_summaries_every"):
        parts.trainer(log_summaries_every=0)
    with pytest.raises(KeyError, match=r"batch\.img"):
        missing = SHOW.replace(images="batch.img")
        parts.trainer(train_summaries={"images": missing}, num_train_steps=1).train()
