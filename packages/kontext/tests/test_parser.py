"""The grammar: what parses to which parts, and what is refused with which reason."""

import math
import pickle
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kontext
from kontext import (
    DOUBLE_STAR,
    STAR,
    GlobPath,
    Path,
    PathSyntaxError,
    parse,
    testing,
)
from kontext._path import PLAIN_PATHS

LEGAL = [
    ("", ()),
    ("a", ("a",)),
    ("a.b", ("a", "b")),
    ("a[0]", ("a", 0)),
    ("a[-1]", ("a", -1)),
    ("[0].a", (0, "a")),
    ('a["x.y"]', ("a", "x.y")),
    ("""a['x']["y"]""", ("a", "x", "y")),
    ("a.0", ("a", 0)),
    ("a.123.b", ("a", 123, "b")),
    ("0", (0,)),
    ("a.-1", ("a", -1)),
    ("0.1", (0, 1)),
    ("1.5", (1, 5)),
    ("é.ü", ("é", "ü")),
    ("日本.語", ("日本", "語")),
    ("class", ("class",)),
    ("a.None", ("a", "None")),
    ("__call__[0]", ("__call__", 0)),
    ("interms.enc.__call__[0]", ("interms", "enc", "__call__", 0)),
    ("a[1:2]", ("a", slice(1, 2))),
    ("a[:]", ("a", slice(None))),
    ("a[::]", ("a", slice(None))),
    ("a[::-1]", ("a", slice(None, None, -1))),
    ("a[ 1 : 2 ]", ("a", slice(1, 2))),
    ("a[...,0]", ("a", (..., 0))),
    ("a[0,]", ("a", (0,))),
    ("a[None,...,1:,::2]", ("a", (None, ..., slice(1, None), slice(None, None, 2)))),
    ("a[...]", ("a", ...)),
    ("a[(0,1)]", ("a", (0, 1))),
    ("a[('x',1)]", ("a", ("x", 1))),
    ("a[()]", ("a", ())),
    ("a[(0,)]", ("a", (0,))),
    ("a[((1,2),'x')]", ("a", ((1, 2), "x"))),
    ("a[1e3]", ("a", 1000.0)),
    ("a[1.5]", ("a", 1.5)),
    ("a[-.5]", ("a", -0.5)),
    ("a[2j]", ("a", 2j)),
    ("a[(1+2j)]", ("a", 1 + 2j)),
    ("a[True]", ("a", True)),
    ("a[None]", ("a", None)),
    ("a[0x1f]", ("a", 31)),
    ("a[0b11]", ("a", 3)),
    ("a[0o17]", ("a", 15)),
    ("a[+1]", ("a", 1)),
    ("a[1_000]", ("a", 1000)),
    ("a[1234567890123456789012]", ("a", 1234567890123456789012)),
    (r"a['it\'s \u00e9']", ("a", "it's é")),
    (r"a[r'\d']", ("a", r"\d")),
    (" a . b [ 0 ] ", ("a", "b", 0)),
    ("['*']", ("*",)),
]


def exact(value):
    """A comparable form that tells 1 from True and from 1.0."""
    if isinstance(value, tuple):
        return tuple(exact(item) for item in value)
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    return (type(value), value)


@pytest.mark.spec("kontext-23", "kontext-24")
@pytest.mark.case("034")
@pytest.mark.parametrize(("text", "parts"), LEGAL)
def test_text_gives_its_parts(text, parts):
    assert exact(parse(text).parts) == exact(parts)


ILLEGAL = [
    ("a[x]", 2, "did you mean a['x'] or a.x?"),
    ("[x]", 1, "did you mean ['x'] or x?"),
    ("a[1.5:2]", 2, "slice bounds must be integers"),
    ("a[1:2.5]", 4, "slice bounds must be integers"),
    ("a[1:2:3:4]", 2, "at most three bounds"),
    ("a[007]", 2, "leading zeros"),
    ("a.007", 2, "leading zeros"),
    ("a[1__0]", 2, "not an integer"),
    ("a.0x", 2, "not a name"),
    ("a.1e3", 2, "not a name"),
    (".a", 0, "before the dot"),
    ("a.", 2, "after the dot"),
    ("a..b", 2, "before the dot"),
    ("a b", 2, "between parts"),
    ("a-b", 1, "quoted in brackets"),
    ("a/b", 1, "between parts"),
    ("a[", 2, "expected a key"),
    ("a[1", 1, "never closed"),
    ("a]", 1, "closes nothing"),
    ("a[]", 2, "between [ and ]"),
    ("a[1 2]", 4, "expected ]"),
    ('a."x"', 2, "stands in brackets"),
    ('a[b"x"]', 2, "bytes keys are not supported"),
    ("a['x]", 2, "quote is never closed"),
    (r"a['\d']", 3, "unknown escape"),
    (r"a['\x1']", 2, "broken escape"),
    ("a[(1)]", 2, "needs a comma"),
    ("a[(1,2]", 2, "( is never closed"),
    ("a[1,'x']", 2, "stands in parentheses"),
    ("a[nan]", 2, "must be quoted"),
    ("a[1e999]", 2, "finite"),
    ("a[+]", 2, "expected a number"),
    ("a.+b", 2, "expected digits"),
    pytest.param(f"a[{'9' * 5000}]", 2, "too many digits", id="decimal"),
    pytest.param(f"a[0x{'f' * 5000}]", 2, "too many digits", id="hexadecimal"),
    pytest.param(f"a.{'9' * 5000}", 2, "too many digits", id="dotted"),
    ("a.*", 2, "glob path only"),
    ("a.*b", 2, "partial globs"),
    ("a[**]", 2, "glob path only"),
    ("a.²", 2, "not a name"),
    ("a.{b,c}", 2, "alternatives"),
]


@pytest.mark.spec("kontext-21", "kontext-22")
@pytest.mark.parametrize(("text", "column", "reason"), ILLEGAL)
def test_error_tells_column_and_reason(text, column, reason):
    with pytest.raises(PathSyntaxError) as caught:
        parse(text)
    assert (caught.value.text, caught.value.column) == (text, column)
    assert reason in caught.value.reason
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("*", (STAR,)),
        ("a.*.b", ("a", STAR, "b")),
        ("a[*]", ("a", STAR)),
        ("**.b[0]", (DOUBLE_STAR, "b", 0)),
        ("a['*'].*", ("a", "*", STAR)),
    ],
)
def test_glob_text_gives_wildcards(text, parts):
    path = parse(text, glob=True)
    assert type(path) is GlobPath
    assert path.parts == parts
    assert parse(str(path), glob=True) == path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a.***", "partial globs"),
        ("a.b*", "partial globs"),
        ("a.*b", "partial globs"),
        ("a*", "partial globs"),
        ("a[0]*", "a part of its own"),
        ("a.{b,c}", "alternatives"),
    ],
)
def test_what_globs_do_not_mean_is_refused(text, reason):
    with pytest.raises(PathSyntaxError) as caught:
        parse(text, glob=True)
    assert reason in caught.value.reason


def test_message_of_a_syntax_error():
    with pytest.raises(PathSyntaxError) as caught:
        parse("batch[image]")
    assert str(caught.value) == (
        "not a path: 'batch[image]'\n"
        "  batch[image]\n"
        "        ^\n"
        "  name inside [] must be quoted: did you mean batch['image'] or batch.image?"
    )


def test_syntax_error_survives_pickle():
    error = PathSyntaxError("a[", 2, "expected a key")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.spec("kontext-25")
@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (((1,),), "[1,]"),
        (((),), "[()]"),
        ((...,), "[...]"),
        ((((1, 2), 3),), "[((1,2),3)]"),
        (("a", (slice(1, 2),)), "a[1:2,]"),
        (("a", (..., 0)), "a[...,0]"),
        (("*",), "['*']"),
        (("a.b", "mm(1:3)", 0), "['a.b']['mm(1:3)'][0]"),
        ((1.0, True, None, 1), "[1.0][True][None][1]"),
    ],
)
def test_canonical_text_parses_back(parts, text):
    assert str(Path(*parts)) == text
    assert exact(parse(text).parts) == exact(parts)


@pytest.mark.slow
@pytest.mark.spec("kontext-26")
@pytest.mark.case("032")
@settings(max_examples=1000, deadline=None)
@given(st.lists(testing.parts(), max_size=3))
def test_any_path_parses_back_from_its_text(parts):
    path = Path(*parts)
    again = parse(str(path))
    assert again == path
    assert exact(again.parts) == exact(path.parts)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab.*[]()'\"0123:,-+eEjx \\_", max_size=12))
def test_any_text_is_a_path_or_a_syntax_error(text):
    try:
        path = parse(text, glob=True)
    except PathSyntaxError as error:
        assert 0 <= error.column <= len(text)
    else:
        assert parse(str(path), glob=True) == path


@pytest.mark.spec("kontext-63")
def test_threads_get_the_same_objects():
    texts = [f"threads.a{i}[{i}]" for i in range(300)]
    barrier = threading.Barrier(8)
    seen = [[] for _ in range(8)]

    def work(into):
        barrier.wait()
        into.extend(map(parse, texts))

    threads = [threading.Thread(target=work, args=(into,)) for into in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for paths in zip(*seen, strict=True):
        assert len({id(path) for path in paths}) == 1


def test_memory_of_texts_is_bounded_and_forgets_the_oldest():
    first = parse("memory.first")
    for i in range(5000):
        parse(f"memory.n{i}")
    assert 3072 <= len(PLAIN_PATHS) <= 4096
    assert "memory.first" not in PLAIN_PATHS
    assert parse("memory.first") == first
    last = parse("memory.n4999")
    assert parse("memory.n4999") is last


def test_subclass_of_str_is_remembered_as_plain_text():
    class Text(str):
        __slots__ = ()

    assert parse(Text("memory.text")) is parse("memory.text")
    assert all(type(text) is str for text in PLAIN_PATHS)


def test_number_that_prints_as_itself_is_kept_to_the_sign():
    assert math.copysign(1, parse(str(Path(-0.0)))[0]) == -1
    assert Path(-0.0) != Path(0.0)


def test_text_must_be_a_str():
    with pytest.raises(kontext.PathTypeError, match="int"):
        parse(3)
