import contextlib

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import kmetrics
from kmetrics import losses

RNG = np.random.default_rng(0)
CONTEXT = {
    "x": RNG.normal(size=(4, 3)).astype(np.float32),
    "y": np.array([0, 1, 2, 1]),
    "grades": RNG.integers(0, 2, (4, 3)),
    "mask": np.array([True, True, True, False]),
}
METRICS = {
    "count": kmetrics.FBeta(logits="x", labels="y"),
    "look_up": kmetrics.Ndcg(scores="x", relevance="grades"),
    "multiply": losses.InfoNCE(preds="x", targets="x", temperature=1.0),
    "sort": kmetrics.RocAuc(logits="x", labels="grades"),
}
COLLECTION = kmetrics.Collection(METRICS)


def explicit_mesh():
    kind = jax.sharding.AxisType.Explicit
    return jax.make_mesh((1,), ("data",), axis_types=(kind,))


def states_of(context):
    return COLLECTION.get_states(context, mask=context["mask"])


@pytest.mark.parametrize("is_set", [False, True])
def test_arrays_that_carry_their_sharding_give_the_same_values(is_set):
    mesh = explicit_mesh()
    split = NamedSharding(mesh, PartitionSpec("data"))
    context = jax.device_put(CONTEXT, split)
    make = jax.jit(states_of)
    expected = COLLECTION.compute(make(CONTEXT))
    with jax.set_mesh(mesh) if is_set else contextlib.nullcontext():
        states = make(context)
        assert COLLECTION.compute(states) == pytest.approx(expected, rel=1e-6)
        merged = COLLECTION.compute(COLLECTION.merge(states, make(context)))
        assert merged == pytest.approx(expected, rel=1e-6)
        for name in ("count", "sort"):
            state = METRICS[name].get_state_from_context(context, mask=context["mask"])
            assert state.merge(state).compute() == pytest.approx(expected[name])
        with pytest.raises(ValueError, match="FBeta: a label is no class\n  got 3"):
            METRICS["count"](logits=context["x"], labels=context["y"] + 3)


def test_gradients_keep_the_sharding_of_the_inputs():
    split = NamedSharding(explicit_mesh(), PartitionSpec("data"))
    loss = METRICS["multiply"]

    def total(x):
        return kmetrics.total_loss({"it": loss}, {"x": x})[0]

    gradient = jax.jit(jax.grad(total))
    whole = gradient(CONTEXT["x"])
    parts = gradient(jax.device_put(CONTEXT["x"], split))
    assert jax.typeof(parts).sharding.spec == PartitionSpec("data", None)
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-7)
