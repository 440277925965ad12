"""The text of a failed check, word for word."""

import re

import pytest

from ktyping import Float, Int, KTypeCheckError, Shape, check_type, typechecked

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


def z(*shape):
    return np.zeros(shape, np.float32)


@typechecked
def project(x: Float["*b n c"], y: Float["c d"]) -> Float["*b n d"]:
    return np.einsum("...nc,cd->...nd", x, y)


def text(function, *args):
    with pytest.raises(KTypeCheckError) as caught:
        function(*args)
    return re.sub(r"\(/.*?:\d+\)", "(FILE:LINE)", str(caught.value))


def test_the_whole_report_of_a_wrong_axis():
    assert text(project, z(2, 3, 4), z(9, 5)).splitlines() == [
        "argument y = np.f32[9,5] does not fit Float['c d']: "
        "axis 0: c is 9, but c = 4 from x axis 2",
        "  spec   c  d",
        "  shape  9  5",
        "         ^",
        "Inferred Dims",
        "  *b = (2,)  bound by x axes 0",
        "  n  = 3     bound by x axis 1",
        "  c  = 4     bound by x axis 2",
        "Arguments",
        "    x: np.f32[2,3,4]",
        "  > y: np.f32[9,5]",
        "Origin: project (FILE:LINE)",
    ]


def test_the_whole_report_of_a_wrong_type():
    assert text(project, [[1.0]], z(9, 5)).splitlines() == [
        "argument x: list of length 1 is not an array of numpy or jax "
        "(required by Float['*b n c'])",
        "Inferred Dims",
        "  c = 9  bound by y axis 0",
        "  d = 5  bound by y axis 1",
        "Arguments",
        "  > x: list of length 1",
        "    y: np.f32[9,5]",
        "Origin: project (FILE:LINE)",
        "Hint: make an array of it: `np.asarray(x)` or `jnp.asarray(x)`.",
    ]


def test_the_mark_stands_under_the_failing_axis_behind_a_run():
    @typechecked
    def f(x: Float["*b n 3"]):
        pass

    lines = text(f, z(7, 8, 2, 5)).splitlines()
    assert lines[1:4] == [
        "  spec   *b n   3",
        "  shape  7 8 2  5",
        "                ^",
    ]


def test_open_constraints_are_listed():
    @typechecked
    def f(x: Shape["n//2"], y: Shape["n"]):
        pass

    assert "n is 8, but n//2 = 3 from x axis 0" in text(f, (3,), (8,))
    assert "  open: n//2 = 3 (from x axis 0)" in text(f, (3,), (8,))


def test_a_division_by_zero_is_the_reason():
    @typechecked
    def f(m: Shape["m"], n: Shape["n//m"]):
        pass

    assert "division by zero" in text(f, (0,), (3,))


def test_a_negative_expression_is_the_reason():
    @typechecked
    def f(n: Shape["n"], m: Shape["n-5"]):
        pass

    assert "n-5 = -2 is negative (n = 3 from n axis 0)" in text(f, (3,), (1,))


@pytest.mark.parametrize(
    ("annotation", "value", "hint"),
    [
        (Float["3 4"], z(4, 3), "the order (1, 0): transpose"),
        (Float["3"], z(1, 3), "x[0]"),
        (Float["1 3"], z(3), "x[None]"),
        (Float["3"], z(5, 3), "`... 3` allows it"),
        (Float["n"], np.zeros(3, int), "astype"),
        (Float["n"], None, "| None"),
        (Float[""], 1.0, "ScalarFloat"),
        (Int["n n"], np.zeros((4, 1), int), "`#n` accepts size 1"),
    ],
)
def test_a_change_that_would_help_is_hinted(annotation, value, hint):
    with pytest.raises(KTypeCheckError) as caught:
        check_type(value, annotation, nested_ok=True)
    (line,) = [n for n in str(caught.value).splitlines() if n.startswith("Hint:")]
    assert hint in line


def test_nested_arguments_name_their_path_and_keep_the_mark():
    @typechecked
    def f(xs: list[Float["n"]], w: Float["n"]):
        pass

    shown = text(f, [z(3), z(4)], z(3))
    assert shown.startswith("argument xs[1] does not fit list[Float['n']]: axis 0")
    assert "  > xs: list of length 2" in shown


def test_a_report_is_cut_at_four_thousand_characters():
    @typechecked
    def f(**many: Float["3"]):
        pass

    wide = {f"name_{n:03}_{'x' * 150}": z(3) for n in range(300)}
    with pytest.raises(KTypeCheckError) as caught:
        f(**wide, last=z(4))
    assert len(str(caught.value)) <= 4000


def test_many_readings_are_counted_not_listed():
    @typechecked
    def f(x: Shape["... a ..."], y: Shape["a"]):
        pass

    shown = text(f, tuple(range(1, 10)), (99,))
    assert "  reading 5" in shown
    assert "reading 6" not in shown
    assert "  +4 more readings" in shown


def test_a_run_that_differs_names_its_axis_and_both_values():
    @typechecked
    def f(x: Shape["*b c"], y: Shape["*b d"]):
        pass

    with pytest.raises(KTypeCheckError) as caught:
        f((2, 3, 4), (2, 5, 6))
    assert caught.value.axis == 1
    assert "axis 1: *b is (2, 5), but *b = (2, 3) from x axes 0-1" in str(caught.value)
    assert "expected axes with *b = (2, 3) from x axes 0-1, got 1" in text(
        f, (2, 3, 4), (2,)
    )


def test_a_union_names_each_member_with_its_reason():
    @typechecked
    def f(x: list[Shape["n"]] | Shape["n m"] | None):
        pass

    lines = text(f, [(3,), (4,)]).splitlines()
    start = lines.index("None of the alternatives fits:")
    assert lines[start + 1] == (
        "  - list[Shape['n']]: axis 0: n is 4, but n = 3 from x[0] axis 0"
    )
    assert lines[start + 2].startswith("  - Shape['n m']: list of length 2 is not")
    assert lines[start + 3] == "Arguments"


def test_a_value_from_the_call_is_shown_with_its_size():
    @typechecked
    def f(n: int, x: Shape["{n}"], y: Shape["a"] | None = None):
        pass

    shown = text(f, 3, (4,))
    assert "axis 0: size is 4, but {n} = 3 is wanted" in shown
    assert "alternatives" not in text(f, 3, (3,), (1, 2))


class _Base:
    @typechecked
    def f(self, x: Float["2"]):
        pass


class Sub(_Base):
    pass


def test_an_inherited_method_is_named_by_the_class_of_the_object():
    for obj, name in ((Sub(), "Sub.f"), (_Base(), "_Base.f")):
        assert f"Origin: {name} (FILE:LINE)" in text(obj.f, z(3))
    with pytest.raises(KTypeCheckError) as caught:
        Sub().f(z(3))
    assert caught.value.origin.startswith("Sub.f (")
