"""The whole idea in one script: configs as data, parts bound by paths, exact numbers.

    uv run python examples/regression/story.py [WORKDIR]

Written as a notebook: every class is defined here, in `__main__`, and no part knows
another. Each cell prints what it found, one line of JSON per finding.
"""

# %% The parts: a model, a loss and two metrics that never import one another.
import dataclasses
import json
import sys
import tempfile

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

import kmetrics
import konfig
import kontext
from kontext import REQUIRED, Key
from ktrain.writers import read_jsonl
from ktyping import Float, typechecked


def show(name, value):
    """Prints one finding."""
    print(json.dumps({name: value}, default=float), flush=True)


class MLP(nn.Module):
    """Two dense layers; reads `x` from wherever the config points it to."""

    x: Key = REQUIRED
    hidden: int = 32

    @nn.compact
    def __call__(self, x):
        """Gives predictions [b 1] under the name y."""
        x = nn.relu(nn.Dense(self.hidden, name="enc")(x))
        return {"y": nn.Dense(1, name="dec")(x)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogCosh(kmetrics.Loss):
    """log(cosh(error)) per element; weight, mask and mean are the base class's."""

    preds: Key = REQUIRED
    targets: Key = REQUIRED

    @typechecked
    def get_values(self, preds: Float["*b n"], targets: Float["*b n"]) -> Float["*b n"]:
        """Gives one value per element."""
        error = preds - targets
        return error + jax.nn.softplus(-2.0 * error) - jnp.log(2.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanGap(kmetrics.Metric):
    """Mean of pred - target; which tensors these are is not its business."""

    pred: Key = REQUIRED
    target: Key = REQUIRED

    def get_state(self, pred, target, mask=None):
        """Gives the mean as sum and count."""
        return kmetrics.AverageState.from_values(pred - target, mask=mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Within(kmetrics.Metric):
    """Share of predictions within `limit` of their target, exact over any batches."""

    pred: Key = REQUIRED
    target: Key = REQUIRED
    limit: float = 0.5

    @kmetrics.state
    class State(kmetrics.AutoState):
        """Two sums; they merge by adding."""

        hits: jax.Array = kmetrics.sum_field()
        count: jax.Array = kmetrics.sum_field()

        def compute(self):
            """Gives the share in [0, 1]."""
            return self.hits / self.count

    def get_state(self, pred, target, mask=None):
        """Counts the rows that the mask keeps."""
        near = jnp.abs(pred - target) < self.limit
        rows = jnp.ones(near.shape[0], bool) if mask is None else mask.astype(bool)
        hits = jnp.where(rows[:, None], near, False)
        return self.State(hits=hits.sum(), count=rows.sum())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Waves:
    """A loader: n examples of a noisy function of 8 numbers."""

    seed: int
    n: int

    def __call__(self):
        """Gives x [n 8] and y [n 1]."""
        rng = np.random.default_rng(self.seed)
        x = rng.normal(size=(self.n, 8)).astype("f4")
        y = np.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
        return {"x": x, "y": (y + 0.05 * rng.normal(size=y.shape)).astype("f4")}


# %% A config is data: inside the block, importing optax runs nothing of it.
with konfig.imports():
    import optax as optax_

adam = optax_.adam(learning_rate=3e-3)
text = konfig.to_json(adam)
again = konfig.from_json(text, trusted=True)
show("config type", type(adam).__name__)
show("config json", json.loads(text))
show("json round trip is equal", again == adam)
optimizer = konfig.resolve(again)
show("it resolves to an optimizer", isinstance(optimizer, optax.GradientTransformation))

# %% The whole experiment. Classes of a notebook live in `__main__`: lazy imports.
with konfig.imports(lazy=True):
    import __main__ as story
with konfig.imports():
    import kmetrics as kmetrics_
    import ktrain


def get_config(workdir):
    """Gives the experiment as plain data."""
    cfg = ktrain.Trainer(
        seed=0,
        workdir=workdir,
        num_train_steps=1000,
        train_ds=ktrain.data.InMemoryPipeline(
            loader=story.Waves(seed=0, n=1024), batch_size=128, shuffle=True
        ),
        eval_ds=ktrain.data.InMemoryPipeline(
            loader=story.Waves(seed=1, n=250), batch_size=100
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
    cfg.schedules["lr"] = optax_.cosine_decay_schedule(
        init_value=1e-2, decay_steps=cfg.ref.num_train_steps
    )
    cfg.optimizer = optax_.adam(learning_rate=cfg.ref.schedules["lr"])
    return cfg


workdir = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="story-")
cfg = get_config(f"{workdir}/main")

# %% References follow: the schedule is always as long as the training.
show("decay steps before", cfg.schedules["lr"].decay_steps)
cfg.num_train_steps = 200
show("decay steps after", cfg.schedules["lr"].decay_steps)

# %% A config holds no built object: refused at once, with advice.
for kind, built in {"module": MLP(x="batch.x"), "optimizer": optimizer}.items():
    try:
        cfg.model = built
    except konfig.ConfigTypeError as error:
        show(f"refused {kind}", str(error))


# %% Paths read dicts, attributes and lists alike.
@dataclasses.dataclass
class Preds:
    """What a model with an auxiliary head returns."""

    logits: list
    aux: list


context = {
    "batch": {"image": "an image"},
    "preds": Preds(logits=[0.5], aux=[{"pos": [3, 4]}]),
}
for path in ("batch.image", "preds.logits", "preds.aux[0].pos"):
    show(path, kontext.get_by_path(context, path))
try:
    kontext.get_by_path(context, "batch.imag")
except KeyError as error:
    show("missing path", str(error))


# %% Shapes are checked where they are written; the error says who bound what.
@typechecked
def project(x: Float["*b n c"], w: Float["c d"]) -> Float["*b n d"]:
    """Projects the last axis."""
    return x @ w


ones = np.ones((2, 3, 4), "f4")
show("projected", project(ones, np.ones((4, 5), "f4")).shape)
try:
    project(ones, np.ones((9, 5), "f4"))
except TypeError as error:
    show("shape error", str(error))

# %% A loss gives one value per element; half the weight is exactly half.
arrays = {"preds": jnp.array([[1.0], [3.0]]), "targets": jnp.array([[0.0], [1.0]])}
whole = LogCosh().get_state(**arrays).compute()
half = LogCosh(weight=0.5).get_state(**arrays).compute()
show("log cosh", whole)
show("half the weight", half)

# %% A metric with two sums is exact over a short last batch; means of means are not.
metric = Within(limit=0.5)
pred = jnp.array([[0.0], [0.1], [0.2], [0.9], [0.8]])
target = jnp.zeros((5, 1))
first = metric.get_state(pred=pred[:4], target=target[:4])
last = metric.get_state(pred=pred[4:], target=target[4:])
show("within, merged", first.merge(last).finalize().compute())
means = [float(s.finalize().compute()) for s in (first, last)]
show("within, mean of means", sum(means) / 2)

# %% One trainer, 200 steps. Inner layers are watched by path, the model untouched.
result = konfig.resolve(cfg).train()
curve = read_jsonl(result.workdir / "metrics" / "train.jsonl")
show("first run", [result.start_step, int(result.state.step), result.stop_reason])
show("loss", {line["step"]: line["values"]["losses/logcosh"] for line in curve})
show("enc_norm at 0", curve[0]["values"]["metrics/enc_norm"])

trainer = konfig.resolve(cfg)
batch = next(iter(trainer.train_ds))
enc = trainer.init_state().params["enc"]
outputs = batch["x"] @ enc["kernel"] + enc["bias"]
show("enc_norm at 0 by hand", np.linalg.norm(outputs, axis=-1).mean())

# %% The same workdir with more steps goes on; it does not begin again.
cfg.num_train_steps = 300
result = konfig.resolve(cfg).train()
show("second run", [result.start_step, int(result.state.step), result.stop_reason])

# %% An evaluator in four lines inherits the model, the losses and the metrics.
longer = konfig.deepcopy(cfg)
longer.workdir = f"{workdir}/evaluated"
longer.evals = {
    "val": ktrain.evals.Evaluator(
        run=ktrain.evals.EveryNSteps(100),
    ),
}
evaluated = konfig.resolve(longer).train().evals["val"]
show("evaluated examples", evaluated.num_examples)
show("evaluated values", sorted(evaluated.values))
show("evaluated loss", evaluated.values["losses/logcosh"])

# %% Re-pointing a metric is one line; it never knew the model.
repointed = konfig.deepcopy(longer)
repointed.workdir = f"{workdir}/repointed"
repointed.num_train_steps = 1
repointed.train_metrics["gap"].target = "preds.y"
show("gap re-pointed", konfig.resolve(repointed).train().last_metrics["metrics/gap"])

# %% A sweep is a loop over configs; model and loop stay as they are.
base = get_config(None)
base.checkpointer = None
base.writer = ktrain.writers.NoopWriter()
base.num_train_steps = 100
base.log_metrics_every = 99
points = {
    "width 4": {"hidden": 4},
    "width 128": {"hidden": 128},
    "slow": {"learning_rate": 1e-5},
    "sgd": {"optimizer": "sgd"},
}
sweep = {}
for name, change in points.items():
    point = konfig.deepcopy(base)
    point.model.hidden = change.get("hidden", 32)
    point.schedules["lr"].init_value = change.get("learning_rate", 1e-2)
    if change.get("optimizer") == "sgd":
        point.optimizer = optax_.sgd(learning_rate=point.ref.schedules["lr"])
    state, metrics = konfig.resolve(point).train()
    sweep[name] = {
        "loss": metrics["losses/total"],
        "params": state.num_params(),
        "optimizer": point.optimizer["__qualname__"],
    }
show("sweep", sweep)
