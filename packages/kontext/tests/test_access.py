"""Reading: the rule for each kind of node, defaults, and what errors tell."""

import pickle
from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kontext
from kontext import Path, PathLookupError, PathTypeError, get, has

NT = namedtuple("NT", "x y")


@pytest.fixture
def c():
    return {
        "a": [1, 2, 3],
        "b": {"c": {"d": 5}},
        "items": "shadow",
        "0": "s",
        0: "i",
        "x.y": "dot",
        "tup": (1, (2, 3)),
        "none": None,
        "nt": NT(x=1, y=2),
    }


@pytest.mark.spec("kontext-1", "kontext-2", "kontext-4", "kontext-8", "kontext-9")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("b.c.d", 5),
        ("a[-1]", 3),
        ("a.0", 1),
        ("a[1:]", [2, 3]),
        ("tup[1][0]", 2),
        ("nt.x", 1),
        ("nt[1]", 2),
        ('["x.y"]', "dot"),
        ("items", "shadow"),
        ("0", "i"),
        ("['0']", "s"),
        (("b", "c", "d"), 5),
        (Path("a", 0), 1),
    ],
)
def test_path_reads_its_value(c, path, value):
    assert get(c, path) == value
    assert has(c, path)


@pytest.mark.case("035")
def test_empty_path_is_the_context_itself(c):
    assert get(c, "") is c


@pytest.mark.case("034")
def test_path_may_start_with_an_index():
    assert get([{"a": 10}], "[0].a") == 10


@pytest.mark.spec("kontext-10")
@pytest.mark.parametrize(
    "path", ["a.append", "b.keys", "keys", "tup.count", "x.upper", "b.__class__"]
)
def test_methods_and_dunder_names_are_not_there(c, path):
    with pytest.raises(PathLookupError):
        get(c, path)


@pytest.mark.spec("kontext-12")
def test_key_with_the_same_text_is_found():
    assert get({"0": 1}, "0") == 1
    assert get({0: 1}, "['0']") == 1
    assert not has({"01": 1}, "1")


@pytest.mark.spec("kontext-13", "kontext-14", "kontext-15")
def test_default_stands_in_for_absence_only(c):
    assert get(c, "none") is None
    assert get(c, "none", default=7) is None
    assert get(c, "zz", default=None) is None
    assert get(c, "a[9]", 4) == 4
    assert get(c, None) is None
    assert get(c, None, default=3) == 3
    with pytest.raises(PathLookupError):
        get(c, "zz", ...)
    with pytest.raises(kontext.PathSyntaxError):
        get(c, "a[", default=1)


@pytest.mark.spec("kontext-16")
def test_reading_adds_nothing_to_a_defaultdict():
    d = defaultdict(dict)
    assert get(d, "q", default=0) == 0
    assert not has(d, "q.r")
    assert len(d) == 0


class Component:
    def __init__(self):
        self.value = 1
        self.act = len

    @property
    def double(self):
        return self.value * 2

    @property
    def broken(self):
        raise AttributeError("inner")

    @property
    def invalid(self):
        raise ValueError("also inner")

    def method(self):
        return 1

    class Nested:
        pass


@pytest.mark.spec("kontext-20")
def test_error_inside_a_property_is_not_absence():
    with pytest.raises(AttributeError, match="inner") as caught:
        get({"x": Component()}, "x.broken", default=0)
    assert any("Component.broken" in note for note in caught.value.__notes__)
    with pytest.raises(ValueError, match="also inner"):
        has({"x": Component()}, "x.invalid")


def test_objects_are_read_by_attribute():
    obj = Component()
    assert get(obj, "value") == 1
    assert get(obj, "double") == 2
    # A function that the instance stores is data.
    assert get(obj, "act") is len
    assert not has(obj, "method")
    assert not has(obj, "Nested")
    assert get(SimpleNamespace(a={"b": 1}), "a.b") == 1


def test_dataclasses_with_dict_fields_are_read_as_a_context():
    @dataclass(frozen=True)
    class Context:
        batch: dict[str, Any]
        interms: dict[str, Any] = field(default_factory=dict)

    ctx = Context({"image": 1}, {"enc": {"__call__": ("out",)}})
    assert get(ctx, "interms.enc.__call__[0]") == "out"
    assert get(ctx, "batch.image") == 1
    assert not has(ctx, "__call__")


def test_unset_slots_are_absent():
    class Slotted:
        __slots__ = ("x", "y")

    obj = Slotted()
    obj.x = 1
    assert get(obj, "x") == 1
    assert not has(obj, "y")


def test_mappings_of_all_kinds_are_read_by_key():
    for kind in (OrderedDict, UserDict, MappingProxyType):
        assert get(kind({"a": 1}), "a") == 1
        assert not has(kind({"a": 1}), "items")
    assert get({(0, "x"): 1}, "[(0,'x')]") == 1
    assert get({None: 1, True: 2}, "[None]") == 1
    assert not has({"a": 1}, "[1:2]")


def test_sequences_of_all_kinds_are_read_by_index():
    assert get(range(5), "[3]") == 3
    assert get(deque([1, 2]), "[-1]") == 2
    assert not has([1], "[1]")
    assert not has([1], "[True]")
    assert not has([], "[-1]")


def test_error_inside_a_mapping_is_not_absence():
    class Lazy(UserDict):
        def __getitem__(self, key):
            raise TypeError("inner")

    with pytest.raises(TypeError, match="inner"):
        get({"x": Lazy(a=1)}, "x.a", default=0)
    assert get({"x": Lazy(a=1)}, "x.b", default=0) == 0


def test_methods_of_a_class_are_no_values_either():
    assert not has(Component, "method")
    assert not has(Component, "Nested")
    assert get(Component, "method", allow_callables=True) is Component.method


def test_text_and_numbers_are_leaves():
    assert not has({"s": "text"}, "s[0]")
    assert not has({"n": 3}, "n.real")
    assert not has({"b": b"x"}, "b[0]")


def test_object_with_items_is_read_by_item():
    class Rows:
        def __getitem__(self, index):
            return {0: "first", "a b": "named"}[index]

    assert get(Rows(), "[0]") == "first"
    assert get(Rows(), "['a b']") == "named"
    assert not has(Rows(), "[1]")


def test_object_may_read_its_parts_itself():
    class Lazy:
        def __kontext_get__(self, part):
            return {"x": 1, 0: 2}[part]

    assert get({"l": Lazy()}, "l.x") == 1
    assert get({"l": Lazy()}, "l[0]") == 2
    assert get({"l": Lazy()}, "l.y", default=3) == 3
    assert "reached 'l' (Lazy) which reads its parts itself" in message(
        {"l": Lazy()}, "l.y"
    )


@pytest.mark.parametrize("path", [["a"], 3, b"a", object()])
def test_what_is_no_path_is_refused(c, path):
    with pytest.raises(PathTypeError, match="not a path"):
        get(c, path)


def test_glob_is_refused_where_one_place_is_needed(c):
    with pytest.raises(PathTypeError, match="get_all"):
        get(c, kontext.parse("a.*", glob=True))


nested = st.recursive(
    st.integers(),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below)
    ),
)


@settings(deadline=None)
@given(nested, st.data())
def test_path_of_any_place_reads_that_place(tree, data):
    node, parts = tree, []
    while isinstance(node, dict | list) and node:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        parts.append(data.draw(st.sampled_from(keys)))
        node = node[parts[-1]]
    assert get(tree, str(Path(*parts))) is node


# What errors tell.


def message(obj, path):
    with pytest.raises(PathLookupError) as caught:
        get(obj, path)
    return str(caught.value)


@pytest.mark.spec("kontext-17")
def test_message_shows_what_exists_with_a_caret(c):
    assert message(c, "b.c.x") == (
        "no 'x' at path 'b.c.x'\n"
        "  b.c.x\n"
        "      ^\n"
        "  reached 'b.c' (dict) with keys: 'd'\n"
        "  did you mean: nt.x ?"
    )


def test_caret_stands_under_a_bracket():
    lines = message({"a": {"x": 1}}, "a['y z'].b").splitlines()
    assert lines[1:3] == ["  a['y z'].b", "   ^"]


def test_message_suggests_the_nearest_sibling_with_the_rest_of_the_path():
    tree = {"batch": {"image": {"pixels": 1}, "label": 2}}
    assert message(tree, "batch.imag.pixels").endswith(
        "did you mean: batch.image.pixels ?"
    )
    assert message(tree, "batch.Label").endswith("did you mean: batch.label ?")


def test_message_suggests_the_same_name_elsewhere():
    tree = {"preds": {"aux": [{"logits": 1}]}}
    assert message(tree, "logits").endswith("did you mean: preds.aux[0].logits ?")


def test_message_makes_no_suggestion_without_a_near_name(c):
    assert "did you mean" not in message(c, "qqqq")


@pytest.mark.case("031")
def test_key_with_a_dot_is_suggested_quoted():
    assert get({"a.b": 1}, "['a.b']") == 1
    assert message({"a.b": 1}, "a.b").endswith("did you mean: ['a.b'] ?")
    assert "did you mean: x['a.b'].c ?" in message({"x": {"a.b": {}}}, "x.a.b.c")


@pytest.mark.spec("kontext-18")
def test_message_tells_the_length_of_a_sequence(c):
    assert "reached 'a' (list) with length 3: indices 0 to 2" in message(c, "a[5]")
    assert "length 0" in message([], "[0]")


def test_message_tells_fields_of_objects():
    assert "with fields: 'x', 'y'" in message(NT(1, 2), "z")
    obj = Component()
    assert "with fields: 'value', 'act', 'double'" in message(obj, "zzz")


def test_message_tells_a_leaf(c):
    assert "  'b.c.d' is a leaf of type int" in message(c, "b.c.d.e")
    assert "  the context is a leaf of type NoneType" in message(None, "a")


def test_message_lists_twenty_keys_and_counts_the_rest():
    text = message({f"k{i:02}": i for i in range(32)}, "nothing")
    assert "'k19', … (+12 more)" in text
    assert "'k20'" not in text


def test_message_copes_with_keys_of_mixed_types():
    text = message({1: 0, "b": 0, None: 0, "a": 0}, "zz")
    assert "keys: None, 1, 'a', 'b'" in text


def test_error_has_its_facts_as_attributes(c):
    with pytest.raises(KeyError) as caught:
        get(c, "b.cc.d")
    error = caught.value
    assert error.path == "b.cc.d"
    assert error.reached == "b"
    assert error.part == "cc"
    assert error.available == ("c",)
    assert error.suggestions == ("b.c.d",)
    assert error.errors == ()


def test_lookup_error_survives_pickle(c):
    with pytest.raises(PathLookupError) as caught:
        get(c, "b.x")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.path == "b.x"


def test_message_is_built_when_it_is_read():
    class Counting(dict):
        listed = 0

        def __iter__(self):
            type(self).listed += 1
            return super().__iter__()

    tree = Counting(a=1)
    assert get(tree, "b", default=0) == 0
    with pytest.raises(PathLookupError) as caught:
        get(tree, "b")
    assert Counting.listed == 0
    assert "'a'" in str(caught.value)
    assert Counting.listed > 0


def test_suggestions_touch_no_property():
    assert "did you mean" not in message({"x": Component()}, "broken")
