"""Source files in the long and the short form."""

import pytest

from ktyping.rewrite import main, rewrite

SHORT = """\
import numpy as np

import ktyping as kt
from ktyping import Float, Shape as Sizes, typechecked


@typechecked
def f(é: Float["n"], x: kt.Int["n m"] | None, s: Sizes["n"]) -> list[Float["*b"]]:
    text = {"Float": ["n"]}["Float"]
    y: Float[np.ndarray, "n"] = Float["n"]; z: Float
    return [Float["n"], Float[
        "m"
    ]]
"""
LONG = """\
import numpy as np

import ktyping as kt
from ktyping import Array, Float, Shape as Sizes, typechecked


@typechecked
def f(é: Float[Array, "n"], x: kt.Int[kt.Array, "n m"] | None, s: Sizes[tuple[int, ...], "n"]) -> list[Float[Array, "*b"]]:
    text = {"Float": ["n"]}["Float"]
    y: Float[np.ndarray, "n"] = Float[Array, "n"]; z: Float
    return [Float[Array, "n"], Float[
        Array, "m"
    ]]
"""  # noqa: E501


def test_the_short_form_becomes_the_long_one_and_nothing_else_changes():
    assert rewrite(SHORT, long=True) == LONG
    assert rewrite(LONG, long=True) == LONG


def test_the_long_form_becomes_the_short_one():
    back = rewrite(LONG, long=False)
    assert back == SHORT.replace("import Float,", "import Array, Float,")
    assert rewrite(back, long=False) == back


def test_names_that_are_not_of_ktyping_are_left_alone():
    source = 'from other import Float\nx: Float["n"]\ny: a.b.Float["n"]\n'
    assert rewrite(source, long=True) == source


def test_line_ends_stay_as_they_are(tmp_path):
    path = tmp_path / "dos.py"
    path.write_bytes(SHORT.replace("\n", "\r\n").encode())
    assert main(["--long", str(path)]) == 0
    assert path.read_bytes() == LONG.replace("\n", "\r\n").encode()


def test_files_are_rewritten_in_place_and_broken_ones_are_left(tmp_path, capsys):
    good, broken = tmp_path / "good.py", tmp_path / "broken.py"
    good.write_text(SHORT, encoding="utf-8")
    broken.write_text("def (")
    assert main(["--long", str(good), str(broken)]) == 2
    assert good.read_text(encoding="utf-8") == LONG
    assert broken.read_text() == "def ("
    told = capsys.readouterr()
    assert "good.py: rewritten" in told.out and "left as it is" in told.err
    assert main(["--long", str(good)]) == 0
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit):
        main([str(good)])
    assert "--long" in capsys.readouterr().err
