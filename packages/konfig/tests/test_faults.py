"""Where an error says that its fault is: never a path that is not so."""

import fractions
import types

import pytest

import konfig
from konfig import ConfigDict


def nested():
    """A field that waits for its value, inside a call, inside a list."""
    part = konfig.call(types.SimpleNamespace, z=konfig.required(float))
    return ConfigDict(m={"l": [0, part]})


def message(act):
    with pytest.raises(konfig.KonfigError) as caught:
        act()
    return caught.value


NAMED = "the call of types:SimpleNamespace"


@pytest.mark.parametrize(
    ("act", "path"),
    [
        (lambda cfg: cfg.m.l[1].z, ".z"),
        (lambda cfg: setattr(cfg.m.l[1], "z", "fast"), ".z"),
        (lambda cfg: setattr(cfg.m.l[1], "y", {"a": [object()]}), ".y.a[0]"),
        (lambda cfg: konfig.call(types.SimpleNamespace, y=object()), ".y"),
    ],
)
def test_a_part_that_knows_no_root_names_itself_and_no_flag(act, path):
    error = message(lambda: act(nested()))
    assert (error.path, error.owner) == (path, NAMED)
    assert f"  at:      {path} of {NAMED}\n" in f"{error}\n"
    assert "--cfg" not in str(error)
    assert "cfg." not in str(error)


def test_a_list_below_the_root_names_itself():
    cfg = ConfigDict(a={"l": [konfig.required(int)]})
    for act in (
        lambda: cfg.a.l[0],
        lambda: list(cfg.a.l),
        lambda: cfg.a.l.insert(0, len.__call__),
        lambda: cfg.a.l.__setitem__(0, "x"),
    ):
        error = message(act)
        assert (error.path, error.owner) == ("[0]", "the list")


@pytest.mark.parametrize(
    ("act", "path"),
    [
        (lambda cfg: konfig.get_path(cfg, "m.l[1].z"), "cfg.m.l[1].z"),
        (lambda cfg: konfig.get_path(cfg, "m.l[1].y"), "cfg.m.l[1].y"),
        (lambda cfg: konfig.set_path(cfg, "m.l[1].z", "fast"), "cfg.m.l[1].z"),
        (lambda cfg: konfig.set_path(cfg, "m.l[1].y", [object()]), "cfg.m.l[1].y[0]"),
        (lambda cfg: konfig.set_path(cfg, "m.l[5].z", 1), "cfg.m.l[5]"),
        (lambda cfg: konfig.set_path(cfg, "m.l[5]", 1), "cfg.m.l[5]"),
        (lambda cfg: konfig.del_path(cfg, "m.k"), "cfg.m.k"),
        (lambda cfg: konfig.resolve(cfg), None),
        (lambda cfg: konfig.to_json(cfg, refs="resolve"), "cfg.m.l[1].z"),
    ],
)
def test_who_is_given_the_root_names_the_whole_path(act, path):
    error = message(lambda: act(nested()))
    assert (error.path, error.owner) == (path, None)
    assert "cfg.m.l[1].z (float)" in str(error) or path in str(error)


def test_an_item_of_a_tuple_is_refused_with_its_whole_path():
    cfg = ConfigDict(t=(1, (2, 3)))
    error = message(lambda: konfig.set_path(cfg, "t[1][0]", {"a": object()}))
    assert error.path == "cfg.t[1][0].a"
    assert cfg.t == (1, (2, 3))


def test_a_reference_to_a_field_that_is_not_set_names_the_reference():
    cfg = ConfigDict(b={"c": konfig.required(int)})
    cfg.a = cfg.ref.b.c * 2
    error = message(lambda: cfg.a)
    assert error.message == "a required int is not set: cfg.ref.b.c reads it"
    assert error.path == ".a"
    assert "--cfg" not in str(error)


def test_objects_among_raw_data_are_refused_with_their_whole_path():
    error = message(lambda: konfig.resolve({"a": [{"b": ({"c": object()},)}]}))
    assert error.path == "cfg.a[0].b[0].c"


# Positions of a call are written as overrides read them.


def positional():
    cfg = ConfigDict(f=konfig.call(fractions.Fraction, 1, "x"))
    cfg.f[1] = konfig.call(dict, konfig.required(int), x=cfg.ref.lost)
    return cfg


def test_every_listing_writes_positions_in_one_way():
    cfg = positional()
    twin = konfig.deepcopy(cfg)
    twin.f[1].x = 5
    paths = [problem.path for problem in konfig.validate(cfg)]
    assert paths == ["cfg.f[1][0]", "cfg.f[1].x"]
    assert [entry.path for entry in konfig.diff(cfg, twin)] == ["f[1].x"]
    assert "f[1].x" in konfig.flatten(twin)
    assert list(konfig.select(cfg, "f[*]"))[1:] == ["f[0]", "f[1]"]
    assert "cfg.f[1][0] (int)" in str(message(lambda: konfig.resolve(cfg)))
    assert konfig.apply_overrides(twin, ["f[1].x=6"]) == ["cfg.f[1].x"]
    assert konfig.unflatten(konfig.flatten(twin)).f[1].x == 6


def test_an_anchor_at_a_position_is_found_again():
    cfg = ConfigDict(f=konfig.call(dict, {"a": 1}))
    cfg.f[0].b = cfg.f[0].ref.a
    text = konfig.to_json(cfg)
    assert '"__anchor__": "f[0]"' in text
    for written in (text, text.replace("f[0]", "f['0']")):
        back = konfig.from_json(written, trusted=True)
        back.f[0].a = 2
        assert back.f[0].b == 2


def test_a_text_key_of_a_mapping_stays_a_text():
    cfg = ConfigDict(m={"0": konfig.required(int)})
    cfg.n = konfig.call(dict, **{"00": konfig.required(int)})
    paths = [problem.path for problem in konfig.validate(cfg)]
    assert paths[0] == "cfg.m['0']"
    assert konfig.glob_paths(cfg, "n.*")[-1] == ("n", "00")


def test_what_a_reference_raises_in_resolve_names_it_and_its_line():
    cfg = ConfigDict(a=0)
    cfg.b = konfig.call(dict, 1 / cfg.ref.a)
    with pytest.raises(ZeroDivisionError) as error:
        konfig.resolve(cfg)
    head, reads, created = error.value.__notes__
    assert head == "konfig: while resolving cfg.b[0]"
    assert reads == "  reads:   1 / cfg.ref.a"
    assert "test_faults.py:" in created
    cfg.b = ["x", cfg.ref.c]
    found = message(lambda: konfig.resolve(cfg))
    assert (found.path, "test_faults.py:" in found.origin) == ("cfg.b[1]", True)
