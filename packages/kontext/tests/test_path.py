"""`Path` as a value: equality, order, parts, and relatives."""

import copy
import enum
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kontext
from kontext import STAR, GlobPath, Path, PathTypeError, parse


@pytest.mark.spec("kontext-28")
def test_parts_of_different_types_make_different_paths():
    paths = [Path(1), Path(True), Path(1.0), Path("1"), Path(1 + 0j)]
    assert len(set(paths)) == 5
    assert Path(1) != Path(True)


@pytest.mark.spec("kontext-29")
def test_path_cannot_be_changed():
    path = Path("a", "b")
    with pytest.raises(AttributeError, match="parts"):
        path.parts = ("c",)
    with pytest.raises(AttributeError, match="other"):
        path.other = 1
    with pytest.raises(AttributeError, match="parts"):
        del path.parts
    assert path.parts == ("a", "b")


@pytest.mark.case("032")
def test_path_from_literal_parts():
    path = Path("a", "mm(1:3)", 0)
    assert len(path) == 3
    assert Path.parse(str(path)) == path == Path.from_str(str(path))


def test_repr_shows_the_text():
    assert repr(parse("a.b[0]")) == "Path('a.b[0]')"
    assert repr(parse("a.*", glob=True)) == "GlobPath('a.*')"
    assert str(Path()) == ""
    written = []
    parse("a.b[0]")._repr_pretty_(SimpleNamespace(text=written.append), False)
    assert written == ["Path('a.b[0]')"]


def test_path_is_a_sequence_of_parts():
    path = parse("a.b[0]")
    assert list(path) == ["a", "b", 0]
    assert path[-1] == 0
    assert path[1:] == parse("b[0]")
    assert "a" in path
    assert False not in path
    assert not Path()
    match path:
        case Path(("a", *rest)):
            assert rest == ["b", 0]
        case _:
            pytest.fail("a path matches by its parts")


def test_parent_name_and_parents():
    path = parse("a.b[0]")
    assert path.parent == parse("a.b")
    assert path.name == 0
    assert path.parents == (parse("a.b"), parse("a"), Path())
    assert Path().parent == Path()
    with pytest.raises(PathTypeError, match="root"):
        _ = Path().name


def test_paths_join():
    path = parse("a")
    assert path / "b.c" == Path("a", "b.c")
    assert path / ("b", 0) == parse("a.b[0]")
    assert path / parse("b.c") == parse("a.b.c") == path + parse("b.c")
    assert path.with_prefix("x.y") == parse("x.y.a")
    joined = path / GlobPath(STAR)
    assert joined == parse("a.*", glob=True)
    assert joined.is_glob


def test_prefix_is_tested_part_by_part():
    path = parse("params.dense1.kernel")
    assert path.startswith("params.dense1")
    assert not path.startswith("params.dense")
    assert path.relative_to("params") == parse("dense1.kernel")
    with pytest.raises(PathTypeError, match="does not lie below"):
        path.relative_to("opt")


@settings(deadline=None)
@given(st.lists(st.text(max_size=3) | st.integers(), max_size=4), st.integers(0, 4))
def test_head_and_rest_make_the_whole(parts, cut):
    path = Path(*parts)
    head = path[:cut]
    assert head + path.relative_to(head) == path


def test_paths_order_by_text():
    assert sorted(map(parse, ["b", "a[1]", "a.b"])) == [
        parse("a.b"),
        parse("a[1]"),
        parse("b"),
    ]
    assert parse("a") <= parse("a") < parse("b")


def test_path_survives_pickle_and_copy():
    for path in (parse("a[1:2].b[...,0]"), parse("a.**", glob=True)):
        again = pickle.loads(pickle.dumps(path))
        assert again == path
        assert type(again) is type(path)
        assert copy.deepcopy(path) is path
        assert copy.copy(path) is path


def test_glob_without_wildcards_equals_the_path():
    glob = parse("a.b", glob=True)
    assert glob == parse("a.b")
    assert hash(glob) == hash(parse("a.b"))
    assert kontext.get({"a": {"b": 1}}, glob) == 1


@pytest.mark.parametrize(
    ("text", "parent"),
    [("a.b.*.c", "a.b"), ("**.x", ""), ("a.b", "a"), ("a", ""), ("", "")],
)
def test_first_parent_without_wildcard(text, parent):
    assert parse(text, glob=True).first_non_glob_parent == parse(parent)


def test_subclasses_of_parts_become_plain():
    class Split(enum.StrEnum):
        TRAIN = "train"

    class Count(int):
        pass

    path = Path(Split.TRAIN, Count(3))
    assert [type(part) for part in path] == [str, int]
    assert path == parse("train[3]")


@pytest.mark.parametrize(
    "value", [b"x", frozenset(), [1], {}, object(), float("nan"), float("inf")]
)
def test_value_that_is_no_part_is_refused(value):
    with pytest.raises(PathTypeError):
        Path("a", value)


def test_wildcard_in_a_plain_path_is_refused():
    with pytest.raises(PathTypeError, match="GlobPath"):
        Path("a", STAR)


@pytest.mark.spec("kontext-61")
def test_jax_key_paths_are_recognised_by_their_attributes():
    entries = (
        SimpleNamespace(key="a"),
        SimpleNamespace(idx=0),
        SimpleNamespace(name="b"),
    )
    assert Path.from_jax_path(entries) == parse("a[0].b")
    with pytest.raises(PathTypeError, match="key path"):
        Path.from_jax_path((object(),))
    with pytest.raises(PathTypeError, match="bytes"):
        Path.from_jax_path((SimpleNamespace(key=b"a"),))


def test_get_from_reads_a_context():
    assert parse("a[1]").get_from({"a": [1, 2]}) == 2
    assert parse("b").get_from({}, default=3) == 3
    with pytest.raises(KeyError):
        parse("b").get_from({}, ...)


def test_get_from_lists_the_context_on_request():
    context = {"a": {"x": 1}, "b": ["s"], **{f"k{i}": i for i in range(30)}}
    with pytest.raises(KeyError) as caught:
        parse("z").get_from(context, err_spec=True)
    lines = caught.value.__notes__[0].splitlines()
    assert lines[:3] == ["the context holds", "  a.x: int", "  b[0]: str"]
    assert lines[-1] == "  … (+12 more)"
