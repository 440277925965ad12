"""Annotations that are computed when asked for, as Python 3.14 has them.

No Python 3.14 is at hand: a stand-in for its `annotationlib` calls the `__annotate__`
of a function or class as the real one does, and gives forward references for names
that are missing.
"""

import sys
import types
import typing
import warnings
from dataclasses import dataclass

import pytest

import ktyping as kt
from ktyping import KTypeCheckError, Shape, dim, typechecked


class Format:
    FORWARDREF = object()


def get_annotations(target, *, format):
    assert format is Format.FORWARDREF
    annotate = vars(target).get("__annotate__")
    if annotate is None:
        own = vars(target) if isinstance(target, type) else {}
        return own.get("__annotations__") or getattr(target, "__annotations__", {})
    found = {}
    for name, compute in annotate().items():
        try:
            found[name] = compute()
        except NameError as missing:
            found[name] = typing.ForwardRef(missing.name)
    return found


@pytest.fixture(autouse=True)
def lazy(monkeypatch):
    library = types.ModuleType("annotationlib")
    library.Format, library.get_annotations = Format, get_annotations
    monkeypatch.setitem(sys.modules, "annotationlib", library)
    names = sys.stdlib_module_names | {"annotationlib"}
    monkeypatch.setattr(sys, "stdlib_module_names", names)


def annotated(**annotations):
    """Gives a function or class annotations that are computed when asked for."""

    def decorate(target):
        # Reading this directly fails as it does there when a name is missing.
        target.__annotations__ = {}
        target.__annotate__ = lambda: annotations
        return target

    return decorate


def test_annotations_are_computed_when_asked_for():
    @typechecked
    @annotated(x=lambda: Shape["n"], y=lambda: Shape["n"])
    def f(x, y):
        return dim["n"]

    assert f((3,), (3,)) == 3
    with pytest.raises(KTypeCheckError, match="n is 4, but n = 3"):
        f((3,), (4,))


def test_a_name_that_is_missing_is_looked_up_at_the_first_call():
    @typechecked
    @annotated(x=lambda: Later, y=lambda: Shape["n"])
    def f(x, y):
        return dim["n"]

    globals()["Later"] = Shape["n"]
    try:
        with pytest.raises(KTypeCheckError):
            f((3,), (4,))
        assert f((3,), (3,)) == 3
    finally:
        del globals()["Later"]


def test_a_name_that_stays_missing_leaves_the_others_checked():
    @typechecked
    @annotated(x=lambda: Never, y=lambda: Shape["n"])
    def f(x, y):
        return dim["n"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.UnresolvedAnnotationWarning)
        assert f("anything", (3,)) == 3
        with pytest.raises(KTypeCheckError):
            f("anything", 3)


def test_fields_of_a_class_are_computed_when_asked_for():
    @dataclass
    class D:
        x: object
        y: object

    D = typechecked(annotated(x=lambda: Shape["n"], y=lambda: Shape["n"])(D))
    assert D((3,), (3,)).x == (3,)
    with pytest.raises(KTypeCheckError, match="field y"):
        D((3,), (4,))
