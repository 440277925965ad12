import jax
import numpy as np
import pytest

from ktrain import RngStream, RngStreams, errors


def bits(key):
    return tuple(np.asarray(jax.random.key_data(key)).tolist())


def test_keys_are_typed():
    for key in RngStreams(seed=0).train(3).values():
        assert jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)


def test_default_streams_exist_in_their_phases():
    streams = RngStreams(seed=0)
    assert set(streams.init()) == {"params", "dropout", "default"}
    assert set(streams.train(0)) == {"dropout", "default"}
    assert streams.eval(0) == {}


def test_keys_differ_between_steps_names_phases_and_seeds():
    noise = RngStream(name="noise", eval=True)
    streams = RngStreams(seed=0, streams=(noise, RngStream(name="other")))
    keys = [
        streams.train(0)["noise"],
        streams.train(1)["noise"],
        streams.train(0)["other"],
        streams.init()["noise"],
        streams.eval(0)["noise"],
        RngStreams(seed=1, streams=(noise,)).train(0)["noise"],
    ]
    assert len({bits(key) for key in keys}) == len(keys)


def test_a_stream_that_is_not_per_step_has_one_key():
    streams = RngStreams(seed=0, streams=(RngStream(name="fixed", per_step=False),))
    assert bits(streams.train(0)["fixed"]) == bits(streams.train(9)["fixed"])


def test_keys_inside_jit_equal_keys_outside():
    streams = RngStreams(seed=7)
    inside = jax.jit(lambda step: streams.train(step)["dropout"])(np.int32(5))
    assert bits(inside) == bits(streams.train(5)["dropout"])


def test_the_order_of_folding_never_changes():
    # A resumed run must find the keys that an older version derived.
    streams = RngStreams(seed=42)
    assert bits(streams.init()["params"]) == GOLDEN["init"]
    assert bits(streams.train(123)["dropout"]) == GOLDEN["train"]


GOLDEN = {"init": (1502083809, 748281936), "train": (566175212, 2963279441)}


def test_two_streams_of_one_name_are_refused():
    with pytest.raises(errors.TrainerConfigError, match="two streams are named 'a'"):
        RngStreams(streams=(RngStream(name="a"), RngStream(name="a")))
