"""The strategies of `kontext.testing`, and the laws of paths that they show."""

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import kontext
from kontext import DOUBLE_STAR, MISSING, Path, testing


@settings(max_examples=100, deadline=None)
@given(testing.paths())
def test_path_parses_back_from_its_text(path):
    assert kontext.parse(str(path)) == path


@settings(max_examples=100, deadline=None)
@given(testing.glob_paths())
def test_glob_path_parses_back_from_its_text(path):
    assert kontext.parse(str(path), glob=True) == path


@settings(max_examples=100, deadline=None)
@given(testing.trees(), st.data())
def test_what_was_set_at_a_place_is_read_there(tree, data):
    path = data.draw(testing.places(tree))
    new = kontext.update(tree, path, "new")
    assert kontext.get(new, path) == "new"
    others = dict(kontext.flatten(tree, keep_empty=True))
    others.pop(str(path))
    assert {text: kontext.get(new, text) for text in others} == others


@settings(max_examples=100, deadline=None)
@given(testing.trees(), testing.glob_paths(max_size=3))
def test_every_match_reads_as_what_was_matched(tree, pattern):
    for path, value in kontext.iter_matches(tree, pattern):
        assert kontext.get(tree, path, MISSING) is value or (
            kontext.get(tree, path) == value
        )


@settings(max_examples=100, deadline=None)
@given(testing.trees())
def test_double_star_names_the_root_and_all_below(tree):
    found = kontext.get_all(tree, "**")
    assert found.keys() >= kontext.flatten(tree, keep_empty=True).keys()
    assert found[""] is tree


@pytest.mark.parametrize(
    ("strategy", "is_wanted"),
    [
        (testing.keys(), lambda key: isinstance(key, str) and not key.isidentifier()),
        (testing.keys(), lambda key: isinstance(key, complex)),
        (testing.parts(), lambda part: isinstance(part, slice) and part.step),
        (testing.parts(), lambda part: isinstance(part, tuple) and ... in part),
        (testing.paths(), lambda path: len(path) == 5),
        (testing.glob_paths(), lambda path: path.is_glob and DOUBLE_STAR in path),
        (testing.trees(), lambda tree: isinstance(tree, dict) and len(tree) == 3),
        (testing.trees(), lambda tree: isinstance(tree, tuple) and len(tree) == 2),
        (testing.trees(st.just(7)), lambda tree: tree == [7]),
        (testing.places({"a": [1, {}]}), lambda path: path == Path("a", 1)),
        (testing.places([]), lambda path: path == Path()),
    ],
)
def test_strategies_reach_every_kind(strategy, is_wanted):
    without_shrinking = settings(
        phases=[Phase.generate], max_examples=2000, derandomize=True, database=None
    )
    assert is_wanted(find(strategy, is_wanted, settings=without_shrinking))
