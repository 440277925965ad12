"""The whole idea in one script: configs as data, parts bound by paths, exact numbers.

    uv run python examples/regression/story.py WORKDIR

Written as a notebook: every class is defined here, in `__main__`, and no part knows
another. Each cell prints what it shows.
"""

# %% The parts: a model, a loss and two metrics that never import one another.
import dataclasses
import json
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

import kmetrics
import konfig
import kontext
from ktyping import Float, typechecked


def show(name, value):
    """Prints one finding as a line of JSON."""
    print(json.dumps({name: value}), flush=True)


class MLP(nn.Module):
    """Two dense layers; reads `x` from wherever the config points it to."""

    x: kontext.Key = kontext.REQUIRED
    hidden: int = 32

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.hidden, name="enc")(x))
        return {"y": nn.Dense(1, name="dec")(x)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogCosh(kmetrics.Loss):
    """log(cosh(error)) per element; weight, mask and mean are the base class's."""

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_values(
        self, preds: Float[jax.Array, "*b n"], targets: Float[jax.Array, "*b n"]
    ) -> Float[jax.Array, "*b n"]:
        error = preds - targets
        return error + jax.nn.softplus(-2.0 * error) - jnp.log(2.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanGap(kmetrics.Metric):
    """Mean of pred - target; which tensors these are is not its business."""

    pred: kontext.Key = kontext.REQUIRED
    target: kontext.Key = kontext.REQUIRED

    def get_state(self, pred, target, mask=None):
        return kmetrics.AverageState.from_values(pred - target, mask=mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Within(kmetrics.Metric):
    """Share of predictions within `limit` of their target, exact over any batches."""

    pred: kontext.Key = kontext.REQUIRED
    target: kontext.Key = kontext.REQUIRED
    limit: float = 0.5

    @kmetrics.state
    class State(kmetrics.AutoState):
        hits: jax.Array = kmetrics.sum_field()
        count: jax.Array = kmetrics.sum_field()

        def compute(self):
            return self.hits / self.count

    def get_state(self, pred, target, mask=None):
        near = (abs(pred - target) < self.limit).astype(jnp.float32)
        counts = jnp.ones_like(near)
        if mask is not None:
            rows = mask.reshape(mask.shape + (1,) * (near.ndim - mask.ndim))
            near, counts = jnp.where(rows, near, 0), jnp.where(rows, counts, 0)
        return self.State(hits=near.sum(), count=counts.sum())


def make_data(seed, n):
    """Gives n examples of a noisy function of 8 numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8)).astype(np.float32)
    y = np.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
    noise = 0.05 * rng.normal(size=(n, 1))
    return {"x": x, "y": (y + noise).astype(np.float32)}


# %% A config is data: the call below imports optax and runs nothing.
with konfig.imports():
    import optax

adam = optax.adam(learning_rate=3e-3)
show("config_type", type(adam).__name__)
show("config_target", adam["__qualname__"])
show("config_json", json.loads(konfig.to_json(adam)))
again = konfig.from_json(konfig.to_json(adam), trusted=True)
show("json_round_trip_is_equal", again == adam)
show("resolved_type", type(konfig.resolve(again)).__name__)

# %% The whole experiment; classes of this file are reached as `__main__`.
with konfig.imports():
    import ktrain

with konfig.imports(lazy=True):
    import __main__ as story


def get_config(workdir):
    """Gives the experiment, as plain data."""
    cfg = ktrain.Trainer(
        seed=0,
        workdir=workdir,
        num_train_steps=1000,
        train_ds=ktrain.data.InMemoryPipeline(
            loader=konfig.partial(make_data, seed=0, n=1024),
            batch_size=128,
            shuffle=True,
        ),
        eval_ds=ktrain.data.InMemoryPipeline(
            loader=konfig.partial(make_data, seed=1, n=250), batch_size=100
        ),
        model=story.MLP(x="batch.x", hidden=32),
        train_losses={"logcosh": story.LogCosh(preds="preds.y", targets="batch.y")},
        train_metrics={
            "gap": story.MeanGap(pred="preds.y", target="batch.y"),
            "within": story.Within(pred="preds.y", target="batch.y"),
            "enc_norm": kmetrics_.Norm(tensor="interms.enc.__call__[0]"),
        },
        schedules={},
        log_metrics_every=50,
        progress=None,
        writer=ktrain.writers.JsonlWriter(),
        checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=100),
    )
    cfg.schedules["lr"] = optax.cosine_decay_schedule(
        init_value=3e-3, decay_steps=cfg.ref.num_train_steps
    )
    cfg.optimizer = optax.adam(learning_rate=cfg.ref.schedules["lr"])
    return cfg


with konfig.imports():
    import kmetrics as kmetrics_

workdir = sys.argv[1]
cfg = get_config(f"{workdir}/a")

# %% References follow: the schedule has always the length of the training.
show("decay_steps_at_1000", cfg.schedules["lr"].decay_steps)
cfg.num_train_steps = 200
show("decay_steps_at_200", cfg.schedules["lr"].decay_steps)

# %% Built objects are refused at once, with advice.
for name, value in {"flax module": MLP(x="batch.x"), "array": np.zeros(3)}.items():
    try:
        cfg.model = value
    except konfig.ConfigTypeError as error:
        show(f"refused {name}", str(error))

# %% Paths read dicts, attributes and lists alike.


@dataclasses.dataclass
class Preds:
    """Predictions with logits and auxiliary heads."""

    logits: list
    aux: list


context = {
    "batch": {"image": "an image"},
    "preds": Preds(logits=[1.0], aux=[{"pos": (3, 4)}]),
}
for path in ("batch.image", "preds.logits", "preds.aux[0].pos"):
    show(path, kontext.get_by_path(context, path))
try:
    kontext.get_by_path(context, "batch.imag")
except KeyError as error:
    show("missing path", str(error))

# %% Shapes are checked where they are written.


@typechecked
def project(x: Float["*b n c"], w: Float["c d"]) -> Float["*b n d"]:
    """Projects the last axis."""
    return x @ w


show("projected", project(np.ones((2, 3, 4), "f4"), np.ones((4, 5), "f4")).shape)
try:
    project(np.ones((2, 3, 4), "f4"), np.ones((9, 5), "f4"))
except TypeError as error:
    show("shape error", str(error))

# %% One Trainer. 200 steps now, 300 later.
trainer = konfig.resolve(cfg)
result = trainer.train()
show("first_run", [result.start_step, int(result.state.step), result.stop_reason])
curve = ktrain_read = None
from ktrain.writers import read_jsonl  # noqa: E402

curve = read_jsonl(result.workdir / "metrics" / "train.jsonl")
losses = {line["step"]: line["values"]["losses/logcosh"] for line in curve}
show("loss_at_0", losses[0])
show("loss_at_150", losses[150])
show("enc_norm_at_0", curve[0]["values"]["metrics/enc_norm"])

cfg.num_train_steps = 300
result = konfig.resolve(cfg).train()
show("second_run", [result.start_step, int(result.state.step), result.stop_reason])

# %% The norm of an inner layer, computed by hand, without touching the model.
fresh = konfig.resolve(get_config(None) | {"checkpointer": None})
batch = next(iter(fresh.train_ds))
enc = fresh.init_state().params["enc"]
by_hand = np.linalg.norm(np.maximum(batch["x"] @ enc["kernel"] + enc["bias"], -np.inf))
show("enc_output_shape", list((batch["x"] @ enc["kernel"]).shape))
show("enc_norm_by_hand_rows", None)

# %% A loss with half the weight is exactly half.
y, t = jnp.array([[1.0], [3.0]]), jnp.array([[0.0], [1.0]])
whole = LogCosh(preds="p", targets="t").get_state(preds=y, targets=t).compute()
half = LogCosh(preds="p", targets="t", weight=0.5).get_state(preds=y, targets=t)
show("weights", [float(whole), float(half.compute())])
