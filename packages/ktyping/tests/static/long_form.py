"""What mypy, pyrefly and pyright read alike; lines with an error say so."""

from typing import Annotated

import numpy as np

import ktyping as kt
from ktyping import (
    Array,
    ArraySpec,
    Axes,
    Bool,
    DType,
    Float,
    Int,
    PRNGKey,
    PyTree,
    ScalarFloat,
    Shape,
    check_type,
    dim,
    explain,
    matches,
    shape,
    typechecked,
)


@typechecked
def attend(
    x: Float[Array, "*b n c"],
    mask: Bool[Array, "*b n"] | None = None,
    scale: ScalarFloat = 1.0,
    key: PRNGKey = None,
) -> Float[Array, "*b c"]:
    weights: Float[Array, "*b n"] = x.mean(axis=-1) * scale
    if mask is not None:
        weights = weights * mask
    n: int = dim["n"]
    return (x * weights[..., None]).sum(axis=-2) / n


@typechecked
def of_one_library(
    x: Float[np.ndarray, "n"], axes: Axes = 0, dtype: DType = "float32"
) -> Int[np.ndarray, "n"]:
    return x.argsort().astype(np.int32)


def trees(
    batch: PyTree[Float[Array, "b ..."]],
    same: Annotated[PyTree[Float[Array, "b ..."]], "$S"],
    spec: ArraySpec[Array, "b n"],
    sizes: Shape[tuple[int, ...], "*b n"],
) -> tuple[tuple[int, ...], int, bool, bool]:
    sizes_of_batch: tuple[int, ...] = shape("*b")
    checked: int = check_type(3, int)
    answer: bool = matches(batch, Float[Array, "b"])
    with kt.config.override("warn"):
        told = explain(attend, batch)
    return sizes_of_batch, checked, answer, told.fits


@typechecked(mode="warn")
def with_options(x: Float[Array, "n"]) -> Float[Array, "n"]:
    return x


class Layer:
    @typechecked
    def call(self, x: Float[Array, "b {self.size}"]) -> Float[Array, "b"]:
        return x[:, 0]

    size = 3


attend(np.zeros((2, 3)))
attend(np.zeros((2, 3)), None, 2.0, None, 5)  # error: too many arguments
attend()  # error: x is missing
of_one_library("no array")  # error: str is no np.ndarray
of_one_library(np.zeros(3), axes="first")  # error: str is no axis
wrong: int = explain(attend, np.zeros(3))  # error: an Explanation is no int
Layer().call(y=3)  # error: no such parameter
print(kt.no_such_name)  # error: no such name
typechecked(mode=3)  # error: a mode is a str
