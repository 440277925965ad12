"""Every message as a user reads it, side by side in errors.json.

`KTYPING_WRITE_ERRORS=1 pytest packages/ktyping/tests/test_errors.py` writes it anew;
the change is reviewed as text.
"""

import dataclasses
import functools
import json
import os
import pathlib
import pickle
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

import pytest

import ktyping as kt
from ktyping import (
    Array,
    Float,
    Int,
    PyTree,
    Shape,
    backend,
    check_type,
    config,
    dim,
    shape,
    typechecked,
)

np = pytest.importorskip("numpy", reason="the messages are about arrays of numpy")

SNAPSHOT = pathlib.Path(__file__).with_name("errors.json")
# What differs between machines and edits: files and lines.
PLACE = re.compile(r"\([^()\n]*?:\d+\)|in file .*")
T = TypeVar("T")


def z(*sizes):
    return np.zeros(sizes, np.float32)


def i(*sizes):
    return np.zeros(sizes, np.int32)


def call(*annotations, returns=Any, result=None):
    """Returns a call of a function with these annotations, by position."""

    def made(*values):
        def run():
            def f(x=None, y=None, w=None):
                return result

            names = ("x", "y", "w")[: len(annotations)]
            f.__annotations__ = dict(zip(names, annotations, strict=True))
            f.__annotations__["return"] = returns
            g = f if len(annotations) == 3 else _narrow(f, len(annotations))
            return typechecked(g)(*values)

        return run

    return made


def _narrow(f, count):
    def one(x):
        return f(x, None, None)

    def two(x, y):
        return f(x, y, None)

    made = {1: one, 2: two}[count]
    made.__annotations__ = f.__annotations__
    made.__qualname__ = made.__name__ = "f"
    return made


def spec(text):
    return lambda: Float[text]


def in_scope(action, *checks):
    def run():
        with typechecked() as scope:
            for value, annotation in checks:
                check_type(value, annotation)
            action(scope.dim)

    return run


class Pair(NamedTuple):
    """A named tuple."""

    a: Float["n"]
    b: Float["n"]


class Options(TypedDict):
    """Two keys."""

    size: int
    rate: float


@typechecked
@dataclasses.dataclass
class Batch:
    """Two fields of one length."""

    image: Float["b n"]
    label: Int["b"]


@typechecked(ties={"b": "batch"})
def tied(x: Float["b"]):
    return x


@typechecked
def numbers(x: Float["n"]) -> Iterator[Float["n"]]:
    yield z(7)


def shaped(text):
    return in_scope(lambda dims: shape(text, nested_ok=True), (z(3), Float["n"]))


def bad_default():
    @typechecked
    def f(y: Float["a"] = None): ...


def bad_value():
    @typechecked
    def f(x: Float["{missing}"]): ...


CASES = {
    **{f"spec {text!r}": spec(text) for text in (
        "a + 1", "a,b", "b*", "_4", "#_a", "*b-1", "(a|b)?", "len(a)", "a.b", "a==1",
        "a[0]", "$a", "é", "a?b", "n<=", "n<3", "3a", "min(a", "*", "#", "a+",
        "{len(x)}", "a\u00a0b", "a" * 1001,
    )},
    "axis of another size": call(Float["*b n c"], Float["c d"])(z(2, 3, 4), z(9, 5)),
    "axis twice in one value": call(Float["a a"])(z(2, 3)),
    "number of axes": call(Float["a b"])(z(3)),
    "number of axes with a run": call(Float["*b c"])(z()),
    "dtype": call(Float["a"])(i(3)),
    "no array": call(Float["a"])([1.0, 2.0]),
    "a number": call(Float["a"])(1.5),
    "None": call(Float["a"])(None),
    "another library": call(backend.torch.Float["a"])(z(3)),
    "another class": call(Float[np.generic, "a"])(z(3)),
    "fixed size": call(Float["3 _"])(z(2, 5)),
    "limit": call(Float["n<=2"])(z(3)),
    "choice": call(Float["3|4"])(z(5)),
    "broadcast": call(Float["#a #a"])(z(4, 5)),
    "broadcast run": call(Float["*#b"], Float["*#b"])(z(2), z(3)),
    "run": call(Float["*b"], Float["*b n"])(z(2, 3), z(2, 4, 5)),
    "expression": call(Float["n"], Float["2*n+1"])(z(3), z(8)),
    "expression without a size": call(Float["2*a"])(z(5)),
    "negative": call(Float["n"], Float["n-4"])(z(3), z(0)),
    "division by zero": call(Int["m"], Int["n//m"])(i(0), i(2)),
    "constraint that waits": call(Float["n//2"], Float["n"])(z(3), z(8)),
    "transposed": call(Float["a b"], Float["a b"])(z(2, 3), z(3, 2)),
    "axis in front": call(Float["a"], Float["a"])(z(3), z(1, 3)),
    "several readings": call(Float["*b *c"], Float["*b *b"])(z(2, 3), z(4)),
    "union": call(Float["3"] | Int["1"])(i(3)),
    "union of classes": call(int | str | None)(1.5),
    "returned": call(Float["a b"], returns=Float["b a"], result=z(2, 3))(z(2, 3)),
    "yielded": lambda: list(numbers(z(3))),
    "item": call(list[Float["n"]])([z(3), z(4)]),
    "value of a dict": call(dict[str, Float["n"]])({"a": z(3), "b": z(4)}),
    "length of a tuple": call(tuple[int, str])((1,)),
    "open tuple": call(tuple[int, *tuple[str, ...]])(()),
    "named tuple": call(Pair)(Pair(z(3), z(4))),
    "keys of a typed dict": call(Options)({"size": 3, "rat": 0.1}),
    "field": lambda: Batch(z(2, 3), i(4)),
    "type variable": call(T, T, returns=T, result="x")(1, 2),
    "literal": call(Literal["a", "b"])("c"),
    "scalar": call(float)(z()),
    "shape": call(Shape["a b"])((2, -1)),
    "leaf of a tree": call(PyTree[Float["n"]])({"a": [z(3), z(4)]}),
    "structure of a tree": call(PyTree[Any, "$S"], PyTree[Any, "$S"])(
        {"a": 1, "b": [2]}, {"a": 1, "b": [2, 3]}
    ),
    "too many readings": call(Float["*a *b *c *d *e *f"])(z(*[1] * 14)),
    "tied dim": in_scope(lambda dims: tied(z(4)), (z(8), Float["batch"])),
    "dim unbound": in_scope(lambda dims: dims["m"], (z(3), Float["n"])),
    "dim of two readings": in_scope(
        lambda dims: dims["*b"], (z(3, 7), Float["*b *o c"])
    ),
    "dim without a name": in_scope(lambda dims: dims["a b"]),
    "dim of a run": in_scope(lambda dims: dims["b"], (z(3, 7), Float["*b"])),
    "dim waits": in_scope(lambda dims: dims["n"], (z(3), Float["n//2"])),
    "dim set again": in_scope(
        lambda dims: dims.__setitem__("n", 4), (z(3), Float["n"])
    ),
    "dim set to what is no size": in_scope(lambda dims: dims.__setitem__("n", "x")),
    "shape that is not whole": shaped("n/2"),
    "shape that is negative": shaped("n-9"),
    "shape without a size": shaped("_ n"),
    "no scope": lambda: dim["n"],
    "brackets twice": lambda: Float["a"]["b"],
    "called": lambda: Float("a"),
    "no spec": lambda: Float[3],
    "no class": lambda: Float[3, "a"],
    "no dtype": lambda: Float[Array, "a", "floaty"],
    "dtype outside": lambda: Float[Array, "a", "int8"],
    "two libraries": lambda: backend.tf.Float[backend.torch, "a"],
    "no library": lambda: backend.nothing,
    "tree of three": lambda: PyTree[int, "$S", "$T"],
    "structure": lambda: PyTree[int, "S"],
    "default of None": bad_default,
    "value without a parameter": bad_value,
    "value that is no size": call(Any, Float["{x.real}"])(1.5, z(3)),
    "class": lambda: typechecked(type("C", (), {})),
    "function in C": lambda: typechecked(len),
    "partial": lambda: typechecked(functools.partial(len)),
    "mode": lambda: config.set("loud"),
    "setting": lambda: config.set(containers="some"),
    "number": lambda: config.set(container_limit=0),
    "module": lambda: config.module_rule("pkg.*", "off"),
    "every": lambda: typechecked(every=0),
    "ties": lambda: typechecked(ties={"b": 3}),
}  # fmt: skip


def told(case):
    with pytest.raises((kt.KTypingError, TypeError, ValueError, AttributeError)) as c:
        case()
    error = c.value
    notes = [f"NOTE {note}" for note in getattr(error, "__notes__", ())]
    text = "\n".join([f"{type(error).__name__}: {error}", *notes])
    return PLACE.sub("(place)", text)


def test_every_message_is_the_one_that_was_reviewed():
    found = {name: told(case).splitlines() for name, case in CASES.items()}
    if os.environ.get("KTYPING_WRITE_ERRORS") == "1":
        text = json.dumps(found, indent=2, ensure_ascii=False)
        SNAPSHOT.write_text(text + "\n", encoding="utf-8")
    assert found == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_message_fits_on_a_screen():
    for name, case in CASES.items():
        text = told(case)
        assert len(text.splitlines()) <= 20, name
        assert len(text) <= 2200, name


def test_errors_can_be_pickled():
    for case in CASES.values():
        with pytest.raises(Exception) as caught:
            case()
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again)) == (type(caught.value), str(caught.value))
