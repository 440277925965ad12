import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics

with pytest.warns(DeprecationWarning, match=r"kmetrics\n0.3|0.3 leaves out"):

    @kmetrics.state
    class Pairs(kmetrics.CollectingState):
        preds: jax.Array
        targets: jax.Array

        def compute(self):
            return float(np.mean(self.preds == self.targets))

    @kmetrics.state
    class Shown(kmetrics.CollectFirstState):
        images: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class Show(kmetrics.Metric):
    State = Shown

    def get_state(self, images):
        return Shown(images=images, keep_first=3)


def test_a_collecting_state_joins_its_fields_and_computes():
    one = Pairs(preds=jnp.array([1, 2]), targets=jnp.array([1, 3]))
    two = Pairs(preds=jnp.array([4]), targets=jnp.array([4]))
    assert (one | two).compute() == pytest.approx(2 / 3)
    assert (Pairs.empty() | one).compute() == 0.5
    assert (one.finalize() | two).finalize().compute() == pytest.approx(2 / 3)
    assert not one.merges_on_device
    joined = kmetrics.CollectingState.compute(one | two)
    assert joined["preds"].tolist() == [1, 2, 4]


def test_the_first_rows_are_kept_also_beside_an_empty_state():
    states = [Show().get_state(images=np.arange(n) + 10 * n) for n in (2, 2, 5)]
    merged = Show().empty() | states[0] | states[1] | Show().empty() | states[2]
    assert merged.compute()["images"].tolist() == [20, 21, 20]
    assert Show().empty().compute() == {"images": None}
    with pytest.raises(kmetrics.MergeError, match="keep_first"):
        states[0] | states[1].replace(keep_first=2)


def test_a_flax_struct_dataclass_may_derive_from_a_collecting_state():
    struct = pytest.importorskip(
        "flax.struct", reason="flax is no dependency; its structs are accepted"
    )
    with pytest.warns(DeprecationWarning):

        @struct.dataclass
        class Seen(kmetrics.CollectingState):
            x: jax.Array
            unit: str = struct.field(pytree_node=False, default="m")

            def compute(self):
                return self.x.sum(), self.unit

    one = Seen(x=jnp.array([1.0, 2.0]))
    assert (one | Seen(x=jnp.array([4.0]))).compute() == (7.0, "m")
