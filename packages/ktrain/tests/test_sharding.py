import dataclasses
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from ktrain import ShardingStrategy, errors


def test_one_device_needs_no_sharding():
    layout = ShardingStrategy().layout()
    assert layout.replicated is None
    assert layout.num_devices == 1
    batch = {"x": np.zeros(3)}
    assert layout.place(batch) is batch


def test_the_layout_is_made_once():
    assert ShardingStrategy().layout() is ShardingStrategy().layout()


@pytest.mark.spec("core-70", "io-5")
@pytest.mark.parametrize(
    ("batch_size", "valid"), [(66, "64 or 68"), (2, "4"), (5, "4 or 8")]
)
def test_a_batch_that_devices_cannot_share_names_the_nearest_sizes(batch_size, valid):
    layout = dataclasses.replace(ShardingStrategy().layout(), num_devices=4)
    with pytest.raises(errors.DataError) as caught:
        layout.check_batch_size(batch_size, what="train_ds")
    text = str(caught.value)
    assert f"train_ds: a batch of {batch_size} examples" in text
    assert "over 4 devices" in text
    assert f"batch_size={valid}," in text


def test_a_batch_that_devices_can_share_passes():
    layout = dataclasses.replace(ShardingStrategy().layout(), num_devices=4)
    layout.check_batch_size(64, what="train_ds")


def test_the_spec_of_a_state_keeps_shapes_and_dtypes():
    tree = {"a": jax.ShapeDtypeStruct((2, 3), np.int32)}
    spec = ShardingStrategy().layout().state_spec(tree)
    assert spec["a"].shape == (2, 3)
    assert spec["a"].dtype == np.int32


@pytest.mark.slow
def test_a_short_batch_that_devices_cannot_share_says_how_to_fill_it():
    code = """
import numpy as np, pytest
from ktrain import ShardingStrategy, errors
layout = ShardingStrategy().layout()
assert layout.num_devices == 4
batch = {"x": np.zeros((8, 2))}
assert layout.place(batch) is batch
with pytest.raises(errors.DataError, match="6 examples for 4 devices.*") as caught:
    layout.place({"x": np.zeros((6, 2))})
assert "remainder='pad'" in str(caught.value)
"""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | flags)
