import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import kmetrics
import ktrain
from ktrain import errors


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def same(a, b):
    return all((x == y).all() for x, y in zip(leaves(a), leaves(b), strict=True))


def every(n, **options):
    return ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(n), **options)


@pytest.mark.spec("core-1")
def test_n_steps_are_exactly_n_updates(parts):
    state, metrics = result = parts.trainer(num_train_steps=12).train()
    assert int(state.step) == 12
    assert int(state.opt_state[0].count) == 12
    assert result.steps_run == 12
    assert result.stop_reason == "done"
    assert metrics["losses/total"] == metrics["losses/l2"]


@pytest.mark.spec("core-2")
def test_zero_steps_initialise_and_evaluate(parts):
    result = parts.trainer(num_train_steps=0, evals={"val": every(5)}).train()
    assert int(result.state.step) == 0
    assert result.evals["val"].step == 0
    assert result.stop_reason == "done"


def test_metrics_describe_the_state_before_the_update(parts):
    trainer = parts.trainer(num_train_steps=1, log_metrics_every=1)
    batch = next(iter(trainer.train_ds))
    params = trainer.init_state().params
    x = jax.nn.relu(batch["x"] @ params["enc"]["kernel"] + params["enc"]["bias"])
    preds = x @ params["dec"]["kernel"] + params["dec"]["bias"]
    result = trainer.train()
    by_hand = np.abs(preds - batch["y"]).mean()
    assert result.last_metrics["metrics/gap"] == pytest.approx(by_hand, rel=1e-5)
    assert result.last_metrics_step == 0


def test_training_lowers_the_loss_and_is_deterministic(parts):
    first = parts.trainer(num_train_steps=200, log_metrics_every=1).train()
    again = parts.trainer(num_train_steps=200, log_metrics_every=1).train()
    start = parts.trainer(num_train_steps=1, log_metrics_every=1).train()
    assert first.last_metrics["losses/total"] < (
        0.2 * start.last_metrics["losses/total"]
    )
    assert same(first.state, again.state)


def test_logging_changes_no_number(parts):
    often = parts.trainer(log_metrics_every=1).train()
    never = parts.trainer(log_metrics_every=None).train()
    assert same(often.state, never.state)
    assert never.last_metrics == {}


@pytest.mark.spec("core-48")
def test_last_metrics_are_the_newest_logged_with_their_step(parts):
    result = parts.trainer(num_train_steps=12, log_metrics_every=5).train()
    assert result.last_metrics_step == 10


@pytest.mark.spec("core-10")
def test_without_workdir_and_checkpointer_it_trains(parts, capsys):
    result = parts.trainer(writer=ktrain.writers.ConsoleWriter()).train()
    assert result.workdir is None
    assert result.stop_reason == "done"
    assert "loss=" in capsys.readouterr().out


@pytest.mark.spec("core-15")
def test_a_missing_loss_path_is_a_key_error_with_the_nearest_name(parts):
    loss = kmetrics.losses.L2(preds="preds.z", targets="batch.y")
    with pytest.raises(KeyError) as caught:
        parts.trainer(train_losses={"l2": loss}).train()
    assert "preds.z" in str(caught.value)
    assert "'y'" in str(caught.value)


@pytest.mark.spec("core-16")
def test_a_wrong_path_into_inner_layers_suggests_one_that_exists(parts):
    norm = kmetrics.Norm(tensor="interms.encoder.__call__[0]")
    with pytest.raises(KeyError) as caught:
        parts.trainer(train_metrics={"norm": norm}).train()
    assert "interms.encoder" in str(caught.value)
    assert "'enc'" in str(caught.value)


@pytest.mark.spec("core-72")
def test_a_probe_of_an_inner_layer_equals_the_layer_by_hand(parts):
    norm = kmetrics.Norm(tensor="interms.enc.__call__[0]", axis=-1)
    trainer = parts.trainer(
        num_train_steps=1, log_metrics_every=1, train_metrics={"norm": norm}
    )
    batch = next(iter(trainer.train_ds))
    enc = trainer.init_state().params["enc"]
    by_hand = np.linalg.norm(batch["x"] @ enc["kernel"] + enc["bias"], axis=-1).mean()
    value = trainer.train().last_metrics["metrics/norm"]
    assert value == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.spec("core-17")
def test_trainers_that_are_gone_leave_nothing_behind(parts):
    import gc
    import weakref

    refs = []
    for _ in range(3):
        trainer = parts.trainer(num_train_steps=3)
        step = trainer.compile_step()
        state = trainer.init_state()
        step.quiet(state, next(iter(trainer.train_ds)))
        refs += [weakref.ref(trainer), weakref.ref(step), weakref.ref(step.step)]
        del trainer, step, state
    gc.collect()
    assert [ref() for ref in refs] == [None] * len(refs)


@pytest.mark.spec("core-18")
def test_a_run_compiles_the_step_at_most_twice(parts):
    trainer = parts.trainer(num_train_steps=30, log_metrics_every=5)
    step = trainer.compile_step()
    state = trainer.init_state()
    with trainer.train_ds.open() as batches:
        for k in range(30):
            if k % 5 == 0:
                state, _ = step.report(state, next(batches))
            else:
                state = step.quiet(state, next(batches))
    assert step.quiet.compiled._cache_size() == 1
    assert step.report.compiled._cache_size() == 1


@pytest.mark.spec("core-21")
def test_an_optimizer_that_would_broadcast_is_refused_with_path_and_shapes(parts):
    def squeeze(updates, state, params=None):
        return jax.tree.map(lambda u: u[..., 0], updates), state

    bad = optax.GradientTransformation(lambda params: optax.EmptyState(), squeeze)
    with pytest.raises(errors.TreeContractError) as caught:
        parts.trainer(optimizer=bad).train()
    assert "updates of the optimizer" in str(caught.value)
    assert "enc.kernel" in str(caught.value)
    assert "f32[4 8]" in str(caught.value)


@pytest.mark.spec("core-24")
def test_a_collection_that_appears_in_training_only_is_refused(parts):
    class Grows(parts.Mlp):
        @ktrain_compact
        def __call__(self, x):
            if self.is_training and not self.is_initializing():
                self.put_variable("stats", "seen", jnp.ones(()))
            return super().__call__(x)

    with pytest.raises(errors.TreeContractError, match=r"collections\.stats\.seen"):
        parts.trainer(model=Grows()).train()


def ktrain_compact(method):
    import flax.linen as nn

    return nn.compact(method)


@pytest.mark.spec("core-25")
def test_batch_statistics_move_in_training_and_rest_in_evaluation(parts):
    trainer = parts.trainer(model=parts.Mlp(batch_norm=True), num_train_steps=3)
    fresh = trainer.init_state()
    state = trainer.train().state
    mean = state.collections["batch_stats"]["BatchNorm_0"]["mean"]
    start = fresh.collections["batch_stats"]["BatchNorm_0"]["mean"]
    assert not np.allclose(mean, start)
    before = leaves(state.collections)
    evaluator = parts.trainer(
        model=parts.Mlp(batch_norm=True), evals={"val": every(5)}
    ).evals["val"]
    first = evaluator.evaluate(state)
    again = evaluator.evaluate(state)
    assert first.values == again.values
    assert all(
        (x == y).all() for x, y in zip(before, leaves(state.collections), strict=True)
    )


@pytest.mark.spec("core-26")
def test_dropout_differs_between_steps_is_reproducible_and_off_in_evaluation(parts):
    def losses_of(dropout, rate=0.0):
        trainer = parts.trainer(
            model=parts.Mlp(dropout=dropout, hidden=64),
            num_train_steps=2,
            log_metrics_every=1,
            optimizer=optax.sgd(rate),
            train_ds=ktrain.data.InMemoryPipeline(loader=parts.Line(n=8), batch_size=8),
            evals={"val": every(1)},
        )
        seen = []
        step, state = trainer.compile_step(), trainer.init_state()
        with trainer.train_ds.open() as batches:
            for _ in range(2):
                state, report = step.report(state, next(batches))
                seen.append(step.step.measures.compute(report.states)["losses/l2"])
        return seen, trainer.evals["val"].evaluate(state).values["losses/l2"]

    dropped, evaluated = losses_of(0.5)
    assert dropped[0] != dropped[1]
    assert losses_of(0.5)[0] == dropped
    assert evaluated == pytest.approx(losses_of(0.0)[1], rel=1e-6)


@pytest.mark.spec("core-53")
def test_a_loss_that_is_nan_stops_at_the_next_look(parts):
    class Bad(parts.Line):
        def __call__(self):
            data = super().__call__()
            return {**data, "y": data["y"] * np.float32("nan")}

    trainer = parts.trainer(
        train_ds=ktrain.data.InMemoryPipeline(loader=Bad(), batch_size=8),
        num_train_steps=20,
    )
    with pytest.raises(errors.NonFiniteError, match="step 0: losses/l2 is nan"):
        trainer.train()


@pytest.mark.spec("core-66")
def test_stop_after_steps_counts_further_updates(parts):
    result = parts.trainer(stop_after_steps=5).train()
    assert int(result.state.step) == 5
    assert result.stop_reason == "stop_after_steps"


@pytest.mark.spec("core-76")
def test_a_line_search_gets_the_loss(parts):
    whole = ktrain.data.InMemoryPipeline(loader=parts.Line(), batch_size=64)
    result = parts.trainer(
        optimizer=optax.lbfgs(),
        num_train_steps=15,
        log_metrics_every=1,
        train_ds=whole,
    ).train()
    assert result.last_metrics["losses/total"] < 0.05


@pytest.mark.spec("core-94")
def test_the_returned_state_can_be_stepped_on(parts):
    trainer = parts.trainer(num_train_steps=3)
    state = trainer.train().state
    state = trainer.compile_step().quiet(state, next(iter(trainer.train_ds)))
    assert int(state.step) == 4


@pytest.mark.spec("core-47")
def test_an_error_in_a_metric_keeps_its_class_and_names_metric_and_step(parts):
    @kmetrics.state
    class Broken(kmetrics.AutoState):
        value: jax.Array = kmetrics.sum_field()

        def compute(self):
            raise ZeroDivisionError("boom")

    class Metric(parts.Gap):
        def get_state(self, pred, target, mask=None):
            return Broken(value=pred.sum())

    with pytest.raises(ZeroDivisionError) as caught:
        parts.trainer(train_metrics={"bad": Metric()}).train()
    notes = "\n".join(caught.value.__notes__)
    assert "bad" in notes
    assert "step 0" in notes


@pytest.mark.spec("core-44")
def test_metrics_may_return_numpy_scalars_and_python_numbers(parts, tmp_path):
    def metric_that_gives(value):
        @kmetrics.state
        class State(kmetrics.AutoState):
            total: jax.Array = kmetrics.sum_field()

            def compute(self):
                return value

        class Metric(parts.Gap):
            def get_state(self, pred, target, mask=None):
                return State(total=pred.sum())

        return Metric()

    trainer = parts.trainer(
        train_metrics={
            "np": metric_that_gives(np.float32(1.5)),
            "int": metric_that_gives(3),
            "array": metric_that_gives(np.array(2.5)),
        },
        writer=ktrain.writers.JsonlWriter(),
        workdir=tmp_path,
        checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=5),
        evals={"val": every(5)},
    )
    trainer.train()
    lines = ktrain.writers.read_jsonl(tmp_path / "metrics" / "train.jsonl")
    assert lines[0]["values"]["metrics/np"] == 1.5
    assert lines[0]["values"]["metrics/int"] == 3
    assert lines[0]["values"]["metrics/array"] == 2.5


def test_a_trainer_that_was_used_can_be_replaced_in_every_part(parts):
    trainer = parts.trainer(num_train_steps=2, log_metrics_every=1)
    whole_loss = trainer.train().last_metrics["losses/total"]
    wider = trainer.replace(model=parts.Mlp(hidden=16))
    assert wider.init_state().params["enc"]["kernel"].shape == (4, 16)
    half = kmetrics.losses.L2(preds="preds.y", targets="batch.y", weight=0.5)
    half_loss = trainer.replace(train_losses={"l2": half}, train_metrics={}).train()
    assert half_loss.last_metrics["losses/total"] < whole_loss
    assert "metrics/gap" not in half_loss.last_metrics


def test_a_used_trainer_does_not_hide_a_wrong_path_after_replace(parts):
    trainer = parts.trainer(num_train_steps=1)
    trainer.train()
    wrong = kmetrics.losses.L2(preds="preds.z", targets="batch.y")
    with pytest.raises(KeyError, match=r"preds\.z"):
        trainer.replace(train_losses={"l2": wrong}).train()


def test_keys_and_numbers_may_stand_in_the_context(parts):
    class WithNumber(parts.Mlp):
        @ktrain_compact
        def __call__(self, x):
            return {**super().__call__(x), "temperature": 1.0}

    noisy = optax.chain(optax.add_noise(0.1, 0.5, jax.random.key(0)), optax.sgd(0.01))
    result = parts.trainer(model=WithNumber(), optimizer=noisy).train()
    assert result.stop_reason == "done"


def test_progress_that_is_off_prints_nothing(parts, capsys):
    parts.trainer(progress=ktrain.Progress(mode="off"), num_train_steps=1).train()
    assert capsys.readouterr().out == ""


def test_replace_follows_and_keeps_explicit_values(parts):
    trainer = parts.trainer(seed=1)
    other = trainer.replace(seed=2, num_train_steps=3)
    assert other.rng_streams.seed == 2
    assert other.train_ds.seed == 2
    assert other.train().steps_run == 3
    assert trainer.train_ds.seed == 1


def test_the_context_lists_every_path_a_key_can_have(parts):
    context = parts.trainer().context_spec
    assert context.preds["y"].shape == (8, 1)
    assert context.interms["enc"]["__call__"][0].shape == (8, 8)
    assert context.grads["dec"]["kernel"].shape == (8, 1)
    assert context.opt_state[0].mu["enc"]["bias"].shape == (8,)


def test_compiling_counts_as_its_own_phase_and_not_as_slow_steps(parts, tmp_path):
    trainer = parts.trainer(
        num_train_steps=12,
        log_metrics_every=5,
        workdir=tmp_path,
        writer=ktrain.writers.JsonlWriter(),
    )
    trainer.train()
    lines = ktrain.writers.read_jsonl(tmp_path / "metrics" / "train.jsonl")
    first = lines[1]["values"]
    assert first["perf/share_compile"] > 0.5
    assert "perf/share_compile" not in lines[2]["values"]
