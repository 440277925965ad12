"""Annotations that are rare: each is checked, or said not to be."""

import collections
import io
import sys
import typing
import warnings
from collections.abc import Callable, ItemsView, Iterable, ValuesView
from typing import Annotated, Any, Generic, NewType, Protocol, TypeVar, TypeVarTuple

import pytest

import ktyping as kt
from ktyping import (
    KTypeCheckError,
    PyTree,
    Shape,
    config,
    matches,
    typechecked,
)

T = TypeVar("T")
Unpack = typing.Unpack
Nested = typing.Literal[1, 2] | typing.Literal[3]
Bound = TypeVar("Bound", bound=int)
Choice = TypeVar("Choice", int, str)
Ts = TypeVarTuple("Ts")
Sizes = NewType("Sizes", Shape["n"])


class Box(Generic[T]):
    """A generic class."""


@typing.runtime_checkable
class HasSize(Protocol):
    """A protocol that Python can check too."""

    size: int

    def grow(self) -> int: ...


class Sized:
    """Fulfils it."""

    size = 3

    def grow(self):
        return 4


class Sub(HasSize, Protocol):
    """A protocol below another."""

    name: str


class Named(Sized):
    """Fulfils that one."""

    name = "n"


class Open(typing.TypedDict, total=False):
    """One key that may be left out."""

    a: Shape["n"]


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Box[int], Box(), 3),
        (Sizes, (3,), (3, 4)),
        (Annotated[Annotated[int | None, 1], 2], None, "x"),
        (Annotated[Shape["n"], []], (3,), ()),
        (type[int | str], int, float),
        (type[Bound], bool, str),
        (type[Choice], str, float),
        (type[Box[int]], Box, int),
        (type[Any], int, 3),
        (tuple[int, *tuple[str, ...]], (1, "a", "b"), (1, 2)),
        (tuple[int, *tuple[str, ...], float], (1, 2.0), (1, "a", "b")),
        (tuple[int, *tuple[str, float]], (1, "a", 3.0), (1, "a")),
        (tuple[int, Unpack[tuple[str, ...]]], (1, "a"), ("a",)),
        (tuple[int, *Ts], (1, "a", None), ()),
        (tuple[*tuple[Shape["n"], ...], int], ((3,), (3,), 1), ((3,), (4,), 1)),
        (tuple[()], (), (1,)),
        (collections.deque[int], collections.deque([1]), collections.deque("a")),
        (collections.Counter[str], collections.Counter("ab"), collections.Counter([1])),
        (collections.ChainMap[str, int], collections.ChainMap({"a": 1}), {"a": 1}),
        (ItemsView[str, int], {"a": 1}.items(), []),
        (ValuesView[int], {"a": 1}.values(), {"a": "x"}.values()),
        (Iterable[int], iter("ab"), ["a"]),
        (Callable[typing.Concatenate[int, ...], int], print, 3),
        (Nested, 2, True),
        (HasSize, Sized(), 3),
        (Sub, Named(), Sized()),
        (typing.SupportsInt, 3, []),
        (typing.SupportsIndex, 3, 3.5),
        (typing.IO[str], io.StringIO(), "text"),
        (typing.TextIO, sys.stdout, 3),
        (typing.AnyStr, "a", 3),
        (typing.Final[int], 3, "a"),
        (list[dict[str, tuple[int, list[Shape["a b"] | None]]]], [{"a": (1, [None])}],
         [{"a": (1, [(2,)])}]),
        (PyTree[Shape["n"] | int], {"a": 3}, {"a": "x"}),
        (Open, {}, {"b": 1}),
    ],
)  # fmt: skip
def test_an_odd_annotation_is_checked(annotation, good, bad):
    @typechecked
    def f(x: annotation):
        return True

    assert f(good)
    with pytest.raises(KTypeCheckError) as caught:
        f(bad)
    assert "argument x" in str(caught.value)
    assert matches(good, annotation) and not matches(bad, annotation)


@pytest.mark.parametrize(
    "annotation", [3, [int], len, "1 +", "Nowhere", Protocol, type[HasSize]]
)
def test_what_cannot_be_read_is_named_with_its_place(annotation):
    def made():
        def f(x: annotation, y: Shape["n"]):
            return x

        return typechecked(f)

    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f = made()
            assert f(5, (3,)) == 5
            with pytest.raises(KTypeCheckError):
                f(5, 3)
        texts = {str(w.message) for w in caught}
        assert all("of 'x' in " in text and __file__ in text for text in texts)
        # Told once, counted each time.
    assert any("of 'x' in " in text for text in kt.stats().unread)
    config.set(strict=True)
    try:
        with pytest.raises(kt.UnresolvedAnnotationError, match="of 'x' in"):
            made()(5, (3,))
    finally:
        config.set(strict=False)


def test_a_text_that_fails_when_it_is_evaluated_says_where():
    def f(x: "int | 3"):
        return x

    with pytest.raises(TypeError) as caught:
        typechecked(f)
    assert any("annotation of 'x' in" in note for note in caught.value.__notes__)


def test_extra_arguments_may_be_annotated_as_one_tuple():
    @typechecked
    def f(*args: *tuple[int, *tuple[Shape["n"], ...]]):
        return kt.dim.get("n")

    assert f(1) is None and f(1, (3,), (3,)) == 3
    for wrong in ([], ["a"], [1, (3,), (4,)]):
        with pytest.raises(KTypeCheckError):
            f(*wrong)

    @typechecked
    def g(*args: *Ts):
        return args

    assert g(1, "a") == (1, "a")


@pytest.mark.parametrize(
    "annotation",
    [int, list[int], Shape["n"], Shape["n"] | int, dict[str, int], tuple[int, ...]],
)
def test_a_default_of_none_is_refused_for_more_than_arrays(annotation):
    with pytest.raises(TypeError, match="None = None"):

        @typechecked
        def f(x: annotation = None): ...


@pytest.mark.parametrize(
    "annotation",
    [None, Any, object, int | None, Shape["n"] | None, T, PyTree, "Later", HasSize],
)
def test_a_default_of_none_is_left_alone_where_none_may_fit(annotation):
    def f(x: annotation = None): ...

    assert typechecked(f) is not f


def test_keys_of_any_kind_can_be_shown():
    class Rude:
        def __repr__(self):
            raise RuntimeError("no")

    for value, kind, shown in [
        ({Rude(): 1}, dict[int, int], "[<Rude>]"),
        ({"k" * 1000: "x"}, dict[str, int], "kkk..."),
        ({Rude(): 1}, Open, "unexpected keys: <Rude>"),
        (10**5000, str, "int of 16610 bits"),
        (Rude(), int, "Rude is not int"),
    ]:
        with pytest.raises(KTypeCheckError) as caught:
            kt.check_type(value, kind, nested_ok=True)
        assert len(str(caught.value)) < 500
        assert shown in str(caught.value)
