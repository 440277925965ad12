"""What pyright reads in the short form; lines with an error say so."""

from typing import Annotated

import ktyping as kt
from ktyping import (
    ArraySpec,
    Bool,
    Float,
    Float32,
    Int,
    Key,
    PyTree,
    Shape,
    dim,
    typechecked,
)


@typechecked
def attend(
    x: Float["*b n c"],
    mask: Bool["*b n"] | None = None,
    bias: Float32["c"] | None = None,
) -> Float["*b c"]:
    weights: Float["*b n"] = x.mean(axis=-1)
    if mask is not None:
        weights = weights * mask
    n: int = dim["n"]
    rank: int = len(x.shape)
    return (x * weights[..., None]).sum(axis=-2) / (n * rank)


def others(
    tree: Annotated[PyTree[Int["n"]], "$S"],
    spec: ArraySpec["b n"],
    key: Key[""],
    sizes: Shape["*b n"],
) -> Float["n+1 c//2"]:
    return attend(tree)


attend(1, 2, 3, 4)  # error: too many arguments
attend()  # error: x is missing
print(kt.no_such_name)  # error: no such name
