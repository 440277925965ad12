"""The grammar of shape specs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktyping import ShapeSpecSyntaxError
from ktyping import _dims as d
from ktyping._parser import parse


def terms(text):
    return parse(text).terms


def test_each_kind_of_term_is_read():
    assert terms("a 3 _ _x ... *b +b *_ +_x #a #3 *#b a? n=3 n<=4 n>=5") == (
        d.Named("a"),
        d.Fixed(3),
        d.Anonymous(),
        d.Anonymous(),
        d.Variadic(None, 0, False),
        d.Variadic("b", 0, False),
        d.Variadic("b", 1, False),
        d.Variadic(None, 1, False),
        d.Broadcast("a"),
        d.FixedBroadcast(3),
        d.Variadic("b", 0, True),
        d.Optional(d.Named("a")),
        d.Bounded("n", "=", 3),
        d.Bounded("n", "<=", 4),
        d.Bounded("n", ">=", 5),
    )


def test_a_choice_is_bound_as_a_whole_by_the_question_mark():
    assert terms("3|a?") == (d.Optional(d.Choice((d.Fixed(3), d.Named("a")))),)


def test_both_orders_of_star_and_hash_mean_the_same():
    assert terms("#*b") == terms("*#b")


def test_neighbouring_runs_of_any_axes_are_one_run():
    assert terms("... *_ +_x a") == (d.Variadic(None, 1, False), d.Named("a"))


def test_leading_zeros_do_not_matter():
    assert terms("00") == (d.Fixed(0),)


@pytest.mark.spec("ktyping-42")
@pytest.mark.parametrize("text", ["a\nb", " a  b ", "a\tb"])
def test_every_kind_of_space_separates_terms(text):
    assert parse(text) == parse("a b")


@pytest.mark.spec("ktyping-36")
def test_names_may_begin_like_functions():
    names = ("minutes", "max_len", "summary", "prod")
    assert terms(" ".join(names)) == tuple(map(d.Named, names))


def test_operators_bind_as_in_python():
    (term,) = terms("-a+b*c**2")
    plus = d.Binary(
        "+",
        d.Unary(d.Name("a")),
        d.Binary("*", d.Name("b"), d.Binary("**", d.Name("c"), d.Number(2))),
    )
    assert term.node == plus
    assert term.names == {"a", "b", "c"}


def test_functions_take_expressions_and_runs():
    (term,) = terms("max(a+1,sum(*b),3)")
    assert term.node == d.Call(
        "max",
        (
            d.Binary("+", d.Name("a"), d.Number(1)),
            d.Call("sum", (d.Splat("b"),)),
            d.Number(3),
        ),
    )


def test_values_of_the_call_are_paths_with_an_index():
    assert terms("{n} {a.b[0]} *{shape}") == (
        d.Splice(d.Interp(("n",), None), False),
        d.Splice(d.Interp(("a", "b"), 0), False),
        d.Splice(d.Interp(("shape",), None), False),
    )


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("a b", 2, 2), ("a? b", 1, 2), ("*b c", 1, None), ("+b", 1, None), ("", 0, 0)],
)
def test_a_spec_knows_how_many_axes_it_describes(text, least, most):
    assert (parse(text).least, parse(text).most) == (least, most)


@pytest.mark.spec("ktyping-37", "ktyping-38", "ktyping-39", "ktyping-40")
@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("a + 1", "space", 2),
        ("(a b)", "space", 3),
        ("min(a, b)", "space", 7),
        ("a,b", "comma", 2),
        ("b*", "postfix", 2),
        ("_4", "anon_fixed", 2),
        ("#_a", "anon_bcast", 2),
        ("_#a", "anon_bcast", 2),
        ("a.b", "attribute", 2),
        ("a==1", "compare", 2),
        ("a[0]", "index", 2),
        ("é", "non_ascii", 1),
        ("x $a", "dollar", 3),
        ("3a", "char", 2),
        ("a+", "end", 3),
        ("(a", "paren", 3),
        ("a)", "paren", 2),
        ("a??", "optional", 3),
        ("#", "bcast", 2),
        ("*", "variadic_name", 2),
        ("n=", "bound", 3),
        ("__a", "anon", 2),
    ],
)
def test_a_mistake_has_a_code_and_a_column(text, code, column):
    with pytest.raises(ShapeSpecSyntaxError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.column) == (code, column)
    lines = str(caught.value).splitlines()
    assert lines[2].index("^") - 2 == column - 1


@pytest.mark.spec("ktyping-41")
@pytest.mark.parametrize(
    ("text", "named"), [("*b-1", "'-'"), ("(a|b)?", "'|'"), ("len(a)", "'len'")]
)
def test_the_message_names_what_cannot_stand_there(text, named):
    with pytest.raises(ShapeSpecSyntaxError, match="at column") as caught:
        parse(text)
    assert named in str(caught.value)


@pytest.mark.spec("ktyping-87")
@pytest.mark.parametrize(
    "text", ["{__import__('os').getpid()}", "{len(text)*5}", "{a+1}", "{a()}", "{}"]
)
def test_braces_take_plain_paths_only(text):
    with pytest.raises(ShapeSpecSyntaxError) as caught:
        parse(text)
    assert caught.value.code == "interp"
    assert "{n}*5" in caught.value.hint


def test_deep_nesting_is_refused_not_overflowed():
    with pytest.raises(ShapeSpecSyntaxError, match="nested"):
        parse("(" * 400 + "a" + ")" * 400)


def test_a_very_long_spec_is_refused():
    with pytest.raises(ShapeSpecSyntaxError, match="characters"):
        parse("a " * 600)


@given(st.text(alphabet="ab1*+#?|_-/%(){}.,=<> ", max_size=12))
def test_any_text_is_read_or_refused_with_a_column_inside_it(text):
    try:
        parse(text)
    except ShapeSpecSyntaxError as error:
        assert 1 <= error.column <= len(text) + 1


def test_a_long_spec_is_shown_around_the_mistake():
    text = "a " * 200 + "b, " + "c " * 200
    with pytest.raises(ShapeSpecSyntaxError) as caught:
        parse(text)
    first, spec, caret, _ = str(caught.value).splitlines()
    assert max(len(first), len(spec), len(caret)) < 170
    assert caught.value.column == 402
    assert spec[caret.index("^")] == ","
