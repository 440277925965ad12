"""What the tests of the trainer share: a small model and the trainer around it."""

import dataclasses

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import kmetrics
import kontext
import ktrain


class Mlp(nn.Module):
    """Two dense layers with dropout and, if asked for, batch statistics."""

    x: kontext.Key = "batch.x"
    hidden: int = 8
    dropout: float = 0.0
    batch_norm: bool = False

    is_training = ktrain.nn.train_property()

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.hidden, name="enc")(x))
        if self.batch_norm:
            x = nn.BatchNorm(use_running_average=not self.is_training)(x)
        if self.dropout:
            x = nn.Dropout(self.dropout, deterministic=not self.is_training)(x)
        return {"y": nn.Dense(1, name="dec")(x)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """n examples of y = sum(x), as a loader."""

    n: int = 64
    seed: int = 0

    def __call__(self):
        x = np.random.default_rng(self.seed).normal(size=(self.n, 4)).astype("f4")
        return {"x": x, "y": x.sum(axis=1, keepdims=True)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gap(kmetrics.Metric):
    """Mean absolute error, counted per example."""

    pred: kontext.Key = "preds.y"
    target: kontext.Key = "batch.y"

    def get_state(self, pred, target, mask=None):
        return kmetrics.AverageState.from_values(jnp.abs(pred - target), mask=mask)


class Unmeasured:
    """Finite data of a length that nobody knows, as behind a filter."""

    batch_size = property(lambda self: self._pipeline.batch_size)
    element_spec = property(lambda self: self._pipeline.element_spec)

    def __init__(self, pipeline):
        self._pipeline = pipeline

    def open(self, **options):
        return _Unmeasured(self._pipeline.open(**options))


class _Unmeasured:
    num_batches = None

    def __init__(self, batches):
        self._batches = batches

    def __next__(self):
        return next(self._batches)

    def __getattr__(self, name):
        return getattr(self._batches, name)


class Parts:
    """The classes above, for tests (which cannot import this file)."""

    Mlp, Line, Gap, Unmeasured = Mlp, Line, Gap, Unmeasured

    @staticmethod
    def trainer(**changes):
        """A trainer of 8 examples per batch that says and writes nothing."""
        fields = dict(
            num_train_steps=12,
            train_ds=ktrain.data.InMemoryPipeline(
                loader=Line(), batch_size=8, shuffle=True
            ),
            eval_ds=ktrain.data.InMemoryPipeline(
                loader=Line(n=21, seed=1), batch_size=8
            ),
            model=Mlp(),
            train_losses={"l2": kmetrics.losses.L2(preds="preds.y", targets="batch.y")},
            train_metrics={"gap": Gap()},
            optimizer=optax.adam(1e-2),
            log_metrics_every=5,
            writer=ktrain.writers.NoopWriter(),
            progress=None,
        )
        return ktrain.Trainer(**(fields | changes))


@pytest.fixture
def parts():
    return Parts


@pytest.fixture
def saved(parts, tmp_path):
    """Makes trainers that save every 5 steps in one workdir."""

    def make(**changes):
        fields = dict(
            workdir=tmp_path / "run",
            writer=ktrain.writers.JsonlWriter(),
            checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=5),
            model=parts.Mlp(dropout=0.2),
        )
        return parts.trainer(**(fields | changes))

    return make
