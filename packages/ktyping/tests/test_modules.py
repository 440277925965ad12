"""Rules for modules, the names of Kauldron, and annotations that cannot be read."""

import subprocess
import sys
import types
import typing
import warnings
from dataclasses import InitVar, dataclass

import pytest

import ktyping as kt
from ktyping import (
    KTypeCheckError,
    KTypeCheckWarning,
    Shape,
    UnresolvedAnnotationError,
    UnresolvedAnnotationWarning,
    check_type,
    config,
    matches,
    typechecked,
)


def made_in(module, **options):
    def f(x: Shape["a a"]):
        return x

    f.__module__ = module
    return typechecked(**options)(f)


@pytest.fixture
def rule():
    given = []

    def add(prefix, mode, **options):
        given.append((prefix, options))
        config.module_rule(prefix, mode, **options)

    yield add
    for prefix, options in given:
        config.module_rule(prefix, None, **options)


def test_a_rule_is_for_a_module_and_those_below_it(rule):
    before = made_in("pkg.sub.deep")
    rule("pkg.sub", "off")
    for f in (before, made_in("pkg.sub"), made_in("pkg.sub.x")):
        assert f((1, 2)) == (1, 2)
    for module in ("pkg", "pkg.subway", "other"):
        with pytest.raises(KTypeCheckError):
            made_in(module)((1, 2))
    config.module_rule("pkg.sub", None)
    with pytest.raises(KTypeCheckError):
        before((1, 2))


def test_the_longest_rule_counts_and_the_mode_of_the_process_is_below_it(rule):
    rule("pkg", "off")
    rule("pkg.sub", "warn")
    f, g = made_in("pkg.sub.deep"), made_in("pkg.other")
    with pytest.warns(KTypeCheckWarning):
        f((1, 2))
    config.set("on")
    assert g((1, 2)) == (1, 2)


def test_a_mode_of_its_own_and_an_override_go_before_a_rule(rule):
    rule("pkg", "off")
    with pytest.raises(KTypeCheckError):
        made_in("pkg", mode="on")((1, 2))
    f = made_in("pkg")
    with config.override("on"), pytest.raises(KTypeCheckError):
        f((1, 2))


def test_a_forced_rule_goes_before_modes_and_other_rules(rule):
    rule("pkg", "on", force=True)
    rule("pkg.sub", "off")
    with pytest.raises(KTypeCheckError):
        made_in("pkg.sub", mode="off")((1, 2))


def test_a_rule_counts_for_blocks_and_dataclasses_of_the_module(rule):
    @typechecked
    @dataclass
    class D:
        x: Shape["a a"]

    with pytest.raises(KTypeCheckError):
        D((1, 2))
    rule(__name__, "off")
    assert D((1, 2)).x == (1, 2)
    assert check_type((1, 2), Shape["a a"], nested_ok=True) == (1, 2)


@pytest.mark.parametrize("prefix", ["", "pkg.*", "a..b", "a-b"])
def test_a_rule_takes_a_dotted_name(prefix):
    with pytest.raises(ValueError, match="dotted name"):
        config.module_rule(prefix, "off")


@pytest.mark.slow
def test_a_rule_turns_on_what_the_environment_left_off():
    code = (
        "from ktyping import config, typechecked\n"
        "config.module_rule('__main__', 'on')\n"
        "def f(): pass\n"
        "assert typechecked(f) is not f\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"KTYPING": "off"},
    )
    assert done.returncode == 0, done.stderr


def test_names_of_kauldron_set_the_same_modes():
    with kt.Config(typechecking_enabled=False):
        assert config.current == "off"
    assert config.current == "on" and kt.CONFIG.typechecking_enabled
    kt.CONFIG.typechecking_enabled = False
    assert config.mode == "off"
    kt.CONFIG.typechecking_enabled = True
    kt.add_config_override(r"pkg\.sub.*", kt.Config(typechecking_enabled=False))
    try:
        assert made_in("pkg.sub.deep")((1, 2)) == (1, 2)
    finally:
        kt.remove_config_override(r"pkg\.sub.*")
    with pytest.raises(KTypeCheckError):
        made_in("pkg.sub.deep")((1, 2))
    with pytest.raises(ValueError, match="dotted name"):
        kt.add_config_override("a|b", kt.Config())


def test_policies_for_jaxtyping_have_the_names_of_kauldron():
    assert kt.CONFIG.jaxtyping_annotations == "convert"
    try:
        for policy in kt.ReportingPolicy:
            kt.CONFIG.jaxtyping_annotations = policy
            assert kt.CONFIG.jaxtyping_annotations is policy
            assert config.jaxtyping == policy.value
        with pytest.raises(ValueError, match="LOUD"):
            kt.CONFIG.jaxtyping_annotations = "LOUD"
    finally:
        config.set(jaxtyping="convert")
    assert kt.ShapeScope is kt.Scope


class Unreadable:
    def __repr__(self):
        return f"<unreadable {id(self)}>"


def test_an_annotation_of_unknown_kind_is_warned_about_once_for_each_place():
    kind = Unreadable()

    @typechecked
    def f(x: kind, y: list[kind], z: int):
        return z

    with pytest.warns(UnresolvedAnnotationWarning, match="kind that ktyping") as seen:
        assert f(1, [2], 3) == 3 and f(1, [2], 4) == 4
        assert matches(1, kind) and matches("x", kind)
        with pytest.raises(KTypeCheckError):
            f(1, [2], "z")
    places = [str(w.message).partition(" is not checked")[0] for w in seen]
    assert [place.partition(" of ")[2][:3] for place in places] == ["'x'", "'y'", ""]
    assert {w.filename for w in seen} == {__file__}


def test_a_name_that_nothing_explains_is_warned_about():
    with pytest.warns(UnresolvedAnnotationWarning, match="it is a name"):
        assert matches(3, Shape | "NoSuchName0")


@pytest.fixture
def strict():
    config.set(strict=True)
    yield
    config.set(strict=False)


def test_in_strict_mode_what_cannot_be_read_is_an_error(strict):
    kind = Unreadable()

    @typechecked
    def f(x: int, y: kind):
        return x

    @typechecked
    def g(x: "NoSuchName1"):
        return x

    with pytest.raises(UnresolvedAnnotationError, match="unreadable") as caught:
        f(1, 2)
    assert "of 'y' in " in caught.value.__notes__[0]
    with pytest.raises(UnresolvedAnnotationError, match="NoSuchName1"):
        g(1)


def test_a_field_that_cannot_be_read_is_warned_about_by_name():
    @typechecked
    @dataclass
    class D:
        x: "NoSuchName2"
        y: int
        z: InitVar[object] = None

    with pytest.warns(UnresolvedAnnotationWarning, match="of 'x' in .*D") as seen:
        D(1, 2)
        D(1, 2)
    assert len(seen) == 1
    with pytest.raises(KTypeCheckError):
        D(1, "y")


P = typing.ParamSpec("P")
Ts = typing.TypeVarTuple("Ts")


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (typing.Tuple, (1, 2), [1]),  # noqa: UP006
        (typing.List, [1], (1,)),  # noqa: UP006
        (typing.Type, int, 3),  # noqa: UP006
        (typing.Callable, len, 3),
        (typing.TypeGuard[int], True, 3),
        (types.NoneType, None, 3),
    ],
)
def test_kinds_without_arguments_are_read(annotation, good, bad):
    assert matches(good, annotation) and not matches(bad, annotation)


def test_what_stands_for_any_arguments_is_no_unknown_kind():
    @typechecked
    def f(*args: P.args, **kwargs: P.kwargs):
        return len(args) + len(kwargs)

    @typechecked
    def g(*args: *Ts):
        return len(args)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(1, "x", y=2) == 3
        assert g(1, "x") == 2
