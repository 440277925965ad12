"""What users call in their own tests."""

import pytest

from ktyping import KTypeCheckError, Shape, config, typechecked
from ktyping.testing import assert_rejects, assert_report, stable_report


@typechecked
def f(x: Shape["a b"], y: Shape["a"]):
    return x


def error():
    return assert_rejects(lambda: f((1, 2), (3,)))


def test_what_is_refused_is_returned():
    found = assert_rejects(
        lambda: f((1, 2), (3,)),
        code="size",
        subject="argument y",
        axis=0,
        text="a is 3, but a = 1",
    )
    assert isinstance(found, KTypeCheckError) and found.axis == 0


def test_checks_are_on_whatever_the_mode_is():
    with config.override("off"):
        assert error().code == "size"


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"code": "rank"}, "code is 'size', expected 'rank'"),
        ({"subject": "argument x"}, "subject is 'argument y', expected 'argument x'"),
        ({"axis": 1}, "axis is 0, expected 1"),
        ({"text": "nowhere"}, "without 'nowhere'"),
    ],
)
def test_another_reason_is_no_success(expected, message):
    with pytest.raises(AssertionError, match=message) as caught:
        assert_rejects(lambda: f((1, 2), (3,)), **expected)
    assert isinstance(caught.value.__cause__, KTypeCheckError)


def test_a_call_that_fits_is_no_success_and_other_errors_pass_through():
    with pytest.raises(
        AssertionError, match="Nothing was refused; the call gave tuple"
    ):
        assert_rejects(lambda: f((1, 2), (1,)))
    with pytest.raises(ZeroDivisionError):
        assert_rejects(lambda: 1 / 0)


def test_a_stable_report_names_no_file():
    text = stable_report(error())
    assert __file__ not in text and text.endswith("Origin: f")
    assert "x axis 0" in text


def test_a_report_is_written_once_and_then_compared(tmp_path, monkeypatch):
    path = tmp_path / "reports" / "size.txt"
    with pytest.raises(AssertionError, match="KTYPING_WRITE_REPORTS=1"):
        assert_report(error(), path)
    monkeypatch.setenv("KTYPING_WRITE_REPORTS", "1")
    assert_report(error(), path)
    monkeypatch.delenv("KTYPING_WRITE_REPORTS")
    assert_report(error(), path)
    other = assert_rejects(lambda: f((1, 2), (4,)))
    with pytest.raises(AssertionError, match=r"-argument y.*\n\+argument y"):
        assert_report(other, path)


def test_the_brief_part_of_a_report_ends_with_the_dims():
    brief = error().brief
    assert brief.startswith("argument y = tuple of length 1 does not fit Shape['a']")
    assert brief.splitlines()[-1].split() == [
        "b",
        "=",
        "2",
        "bound",
        "by",
        "x",
        "axis",
        "1",
    ]
    assert str(error()).startswith(brief)
