import jax
import jax.numpy as jnp
import pytest

from ktrain import contract, errors


def test_equal_trees_pass_with_tracers_too():
    tree = {"a": jnp.zeros((2, 3)), "b": [jnp.zeros((), jnp.int32)]}
    contract.check_tree_contract(tree, tree, what="trees")

    @jax.jit
    def run(x):
        contract.check_tree_contract(tree, {"a": x, "b": tree["b"]}, what="trees")
        return x

    run(jnp.ones((2, 3)))


def test_a_broadcast_shape_names_path_and_both_shapes():
    with pytest.raises(errors.TreeContractError) as caught:
        contract.check_tree_contract(
            {"dec": {"kernel": jnp.zeros((3, 1))}},
            {"dec": {"kernel": jnp.zeros((3,))}},
            what="the updates",
        )
    assert "the updates" in str(caught.value)
    assert "dec.kernel" in str(caught.value)
    assert "f32[3 1]" in str(caught.value)
    assert "f32[3]" in str(caught.value)


@pytest.mark.spec("core-22")
def test_another_dtype_is_reported():
    with pytest.raises(errors.TreeContractError, match=r"w +bf16\[2\] +f32\[2\]"):
        contract.check_tree_contract(
            {"w": jnp.zeros(2, jnp.bfloat16)}, {"w": jnp.zeros(2)}, what="updates"
        )


@pytest.mark.spec("core-23")
def test_a_missing_leaf_is_listed_by_path():
    with pytest.raises(errors.TreeContractError, match=r"b +f32\[1\] +absent"):
        contract.check_tree_contract(
            {"a": jnp.zeros(1), "b": jnp.zeros(1)}, {"a": jnp.zeros(1)}, what="grads"
        )


def test_a_long_list_of_differences_is_cut():
    big = {f"p{i:03}": jnp.zeros(1) for i in range(50)}
    with pytest.raises(errors.TreeContractError) as caught:
        contract.check_tree_contract(big, {}, what="grads")
    lines = str(caught.value).splitlines()
    assert len(lines) < 25
    assert lines[-1].strip() == "… and 30 more"
