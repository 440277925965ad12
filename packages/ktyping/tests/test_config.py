"""Modes: on, warn and off."""

import subprocess
import sys
import threading
from typing import TypedDict

import pytest

from ktyping import (
    KTypeCheckError,
    KTypeCheckWarning,
    ScopeDisabledError,
    Shape,
    check_type,
    config,
    dim,
    matches,
    shape,
    typechecked,
)


@typechecked
def f(x: Shape["a a"]) -> Shape["a"]:
    return x


def test_on_raises():
    assert config.current == "on"
    with pytest.raises(KTypeCheckError):
        f((2, 3))


def test_warn_warns_for_arguments_and_result_and_goes_on():
    with config.override("warn"):
        with pytest.warns(KTypeCheckWarning) as caught:
            assert f((2, 3)) == (2, 3)
        assert len(caught) == 2
        assert {warning.filename for warning in caught} == {__file__}
        with pytest.warns(KTypeCheckWarning, match="axis 1"):
            check_type((2, 3), Shape["a a"], nested_ok=True)


def test_off_checks_nothing():
    with config.override("off"):
        assert f((2, 3)) == (2, 3)
        assert check_type((2, 3), Shape["a a"]) == (2, 3)


def test_dims_asked_while_off_say_so():
    with config.override("off"):
        with pytest.raises(ScopeDisabledError, match="off"):
            shape("a")
        with pytest.raises(ScopeDisabledError, match="off"):
            dim["a"]


def test_dims_binds_without_checking():
    with config.override("dims"):
        assert f((2, 3)) == (2, 3)
        with typechecked():
            check_type((2, 3), Shape["a b"])
            check_type((4,), Shape["a"])
            assert dict(dim) == {"a": 2, "b": 3}


@pytest.mark.spec("ktyping-92")
def test_an_override_ends_with_its_block_and_stays_in_its_thread():
    seen = []
    with pytest.raises(KeyError), config.override("off"):
        thread = threading.Thread(target=lambda: seen.append(config.current))
        thread.start()
        thread.join()
        raise KeyError
    assert seen == ["on"]
    assert config.current == "on"


def test_the_mode_of_the_process_can_be_set():
    config.set("off")
    try:
        assert f((2, 3)) == (2, 3)
        with config.override("on"), pytest.raises(KTypeCheckError):
            f((2, 3))
    finally:
        config.set("on")


def test_a_function_may_have_a_mode_of_its_own():
    @typechecked(mode="warn")
    def g(x: Shape["a a"]):
        return x

    with pytest.warns(KTypeCheckWarning):
        g((2, 3))

    def h(x: Shape["a a"]):
        return x

    assert typechecked(mode="off")(h) is h
    with pytest.raises(ValueError, match="on, warn, dims, trace, off"):
        typechecked(mode="maybe")(h)


def test_a_mode_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="on, warn, dims, trace, off"):
        config.set("loud")


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"KTYPING": "off", **environment},
    )


@pytest.mark.slow
def test_off_at_import_leaves_functions_as_they_are():
    code = (
        "from ktyping import typechecked\n"
        "def f(): pass\n"
        "assert typechecked(f) is f\n"
        "assert typechecked(always=True)(f) is not f\n"
        "def g(): pass\n"
        "import os; os.environ['KTYPING_RUNTIME'] = '1'\n"
        "assert typechecked(g) is not g\n"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_wrong_variable_is_refused_by_name():
    done = run("from ktyping import typechecked", KTYPING="maybe")
    assert done.returncode == 1
    assert "KTYPING got the mode 'maybe'" in done.stderr


@pytest.fixture
def settings():
    yield config.set
    config.set(containers="sample", extra_keys="refuse")


@pytest.mark.parametrize(
    ("setting", "refused"),
    [("sample", {0, 4}), ("first", {0}), ("all", {0, 1, 2, 3, 4})],
)
def test_which_items_of_a_collection_are_checked_can_be_chosen(
    settings, setting, refused
):
    settings(containers=setting)
    found = set()
    for index in range(5):
        value = [str(index) if n == index else n for n in range(5)]
        assert matches(tuple(value), tuple[int, ...]) is (index not in refused)
        found |= set() if matches(value, list[int]) else {index}
    assert found == refused


def test_with_arrays_in_them_all_items_are_checked_unless_the_first_is_asked(settings):
    bad = {"a": (1,), "b": (1,), "c": (2,)}
    kinds = [(bad, dict[str, Shape["n"]]), ([*bad.values()], list[Shape["n"]])]
    for value, kind in kinds:
        assert not matches(value, kind)
    settings(containers="first")
    for value, kind in kinds:
        assert matches(value, kind)


class Settings(TypedDict):
    """One key."""

    size: int


def test_keys_that_a_typed_dict_does_not_name_can_be_allowed(settings):
    value = {"size": 3, "more": 4}
    assert not matches(value, Settings)
    settings(extra_keys="allow")
    assert matches(value, Settings) and not matches({"more": 4}, Settings)


def test_a_setting_that_does_not_exist_is_refused_and_sets_nothing(settings):
    with pytest.raises(ValueError, match="sample, first, all"):
        settings("off", containers="some")
    with pytest.raises(ValueError, match="refuse, allow"):
        settings(extra_keys="maybe")
    assert config.mode == "on"


def test_how_many_items_with_arrays_are_checked_can_be_chosen(settings):
    value = [(1,)] * 1000 + [(2,)]
    assert matches(value, list[Shape["n"]])
    settings(container_limit=1001)
    try:
        assert not matches(value, list[Shape["n"]])
        settings(container_limit=3)
        assert matches([(1,)] * 3 + [(2,)], list[Shape["n"]])
    finally:
        settings(container_limit=1000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("container_limit", 0),
        ("container_limit", True),
        ("check_names", 1),
        ("strict", "yes"),
        ("strict_symbolic", 0),
    ],
)
def test_a_setting_of_another_kind_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        config.set("off", **{name: value})
    assert config.mode == "on"
