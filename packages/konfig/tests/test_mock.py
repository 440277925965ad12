"""Modules of the caller as proxies, and back."""

import contextlib
import sys
import textwrap as global_wrap
from fractions import Fraction
from types import ModuleType

import pytest

import konfig

MODULE = """
import fractions
import os.path as p
import konfig

with konfig.mock_modules():
    inside = fractions.Fraction(1, 2)
    join = p.join("a")
    kept = konfig
after = fractions
"""


def test_modules_of_a_notebook_are_proxies_inside_the_block():
    names = {"__name__": "notebook"}
    exec(MODULE, names)
    assert names["inside"] == konfig.call(Fraction, 1, 2)
    assert names["join"]["__qualname__"].endswith("path:join")
    assert names["kept"] is konfig
    assert names["after"] is sys.modules["fractions"]


@pytest.mark.spec("konfig-125")
def test_local_names_of_a_function_are_real_again_after_the_block():
    import types as tt

    before = 1
    with konfig.mock_modules():
        node = tt.SimpleNamespace(x=1)
        wrapped = global_wrap.dedent("x")
        before += 1
    assert isinstance(tt, ModuleType)
    assert tt is sys.modules["types"]
    assert global_wrap is sys.modules["textwrap"]
    assert node["__qualname__"] == "types:SimpleNamespace"
    assert wrapped["__qualname__"] == "textwrap:dedent"
    assert before == 2


def test_an_error_restores_too():
    import types as tt

    with pytest.raises(ZeroDivisionError), konfig.mock_modules():
        tt.SimpleNamespace(1 / 0)
    assert tt is sys.modules["types"]


def test_some_modules_can_be_chosen_or_left_out():
    import types as tt

    with konfig.mock_modules(tt):
        assert not isinstance(tt, ModuleType)
        assert isinstance(global_wrap, ModuleType)
    with konfig.mock_modules(exclude=[tt, "global_wrap"]):
        assert isinstance(tt, ModuleType)
        assert isinstance(global_wrap, ModuleType)
    with pytest.raises(konfig.ConfigTypeError, match="takes modules"):
        konfig.mock_modules(Fraction)


def test_classes_are_real_unless_that_is_asked_for():
    with konfig.mock_modules():
        assert Fraction(1, 2) == 0.5
    with konfig.mock_modules(include_objects=True):
        node = Fraction(1, 2)
    assert node["__qualname__"] == "fractions:Fraction"
    assert Fraction(1, 2) == 0.5


def test_what_is_bound_inside_the_block_stays():
    import types as tt

    with konfig.mock_modules():
        tt = 3
    assert tt == 3


def test_a_stack_of_contexts_can_stand_between():
    import types as tt

    with contextlib.ExitStack() as stack:
        stack.enter_context(konfig.mock_modules())
        assert not isinstance(tt, ModuleType)
    assert tt is sys.modules["types"]


def test_closures_and_threads_are_restored():
    import types as tt

    def reads():
        return tt

    with konfig.mock_modules():
        assert reads() is tt
    assert reads() is sys.modules["types"]
