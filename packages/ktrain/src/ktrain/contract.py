"""Trees that must agree: checked while a step is traced, so free in every step.

`jax.tree.map` and `optax.apply_updates` broadcast silently: an update of shape
(3,) turns a parameter of shape (3, 1) into (3, 3). Here that is an error.
"""

from __future__ import annotations

from typing import Any

import jax

from ktrain import _errors, spec


def check_tree_contract(reference: Any, other: Any, *, what: str) -> None:
    """Refuses two trees that differ in structure, shape or dtype.

    Args:
      reference: Tree of arrays, tracers or `jax.ShapeDtypeStruct`s as it must be.
      other: The tree to check.
      what: What is compared, for the message ("updates of the optimizer").

    Raises:
      TreeContractError: With a table of at most 20 lines `path | expected | got`.
    """
    expected, got = _leaves(reference), _leaves(other)
    rows = [
        (path, expected.get(path, "absent"), got.get(path, "absent"))
        for path in {**expected, **got}
        if expected.get(path) != got.get(path)
    ]
    if not rows:
        return
    head = [("path", "expected", "got")]
    raise _errors.TreeContractError(
        f"{what} do not have the structure, shapes and dtypes they must have"
        f" ({len(rows)} of {len(expected)} leaves differ):\n"
        + _errors.table(head + rows, limit=21)
    )


def _leaves(tree: Any) -> dict[str, str]:
    flat, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {spec.path_text(path): _describe(leaf) for path, leaf in flat}


def _describe(leaf: Any) -> str:
    if not hasattr(leaf, "shape"):
        return type(leaf).__name__
    shape = " ".join(map(str, leaf.shape))
    return f"{spec.short_dtype(leaf.dtype)}[{shape}]"
