"""Merges: what was read in one config is read in the one that it came into."""

import copy
from fractions import Fraction

import pytest

import konfig
from konfig import ConfigDict

with konfig.imports(lazy=True):
    import nowhere as N


def merged(how, base, other):
    if how == "update":
        base.update(other)
    elif how == "ior":
        base |= other
    else:
        base = base | other
    return base


def overlay():
    other = ConfigDict(a=5, m={"x": 1})
    other.b = other.ref.a * 2
    other.m.y = other.ref.a + other.m.ref.x
    other.n = {"z": other.m.ref.y, "l": [other.ref.b]}
    return other


@pytest.mark.parametrize("how", ["update", "ior", "or"])
def test_references_of_a_merged_config_follow_into_the_other(how):
    other = overlay()
    base = ConfigDict(a=0, m={"x": 7, "w": 3}, n=None)
    cfg = merged(how, base, other)
    assert (cfg.b, cfg.m.y, cfg.n.z, cfg.n.l[0], cfg.m.w) == (10, 6, 6, 10, 3)
    cfg.a, cfg.m.x = 100, 20
    assert (cfg.b, cfg.m.y, cfg.n.z, cfg.n.l[0]) == (200, 120, 120, 200)
    assert (other.b, other.m.y) == (10, 6)
    assert konfig.from_json(konfig.to_json(cfg)) == cfg
    assert not [p for p in konfig.validate(cfg) if p.kind == "ref"]


def test_a_merge_leaves_the_other_config_independent():
    other = ConfigDict(m={"l": [1]})
    cfg = ConfigDict()
    cfg.update(other)
    cfg.m.l.append(2)
    assert other.m.l == [1]


def test_nodes_in_a_plain_mapping_are_taken_as_they_are():
    node = N.Model(x=1)
    cfg = ConfigDict(a=node)
    cfg.update({"b": node}, c=node)
    assert cfg.a is cfg.b is cfg.c


def test_what_is_shared_in_the_other_config_is_shared_here():
    node = N.Model(x=1)
    cfg = ConfigDict(b=None)
    cfg.update(ConfigDict(a=node, b=node))
    assert cfg.a is cfg.b is not node


def test_a_node_is_merged_where_it_can_be_and_copied_elsewhere():
    patch = ConfigDict(x=1)
    other = ConfigDict(a=patch, b=patch, c=patch)
    other.d = patch.ref.x
    cfg = ConfigDict(a=N.Model(x=0, y=2), b=None, c={"z": 3})
    cfg.update(other)
    assert (cfg.a, cfg.b, cfg.c) == (N.Model(x=1, y=2), {"x": 1}, {"z": 3, "x": 1})
    cfg.a.x = 10
    assert (cfg.d, cfg.b.x, patch.x) == (10, 1, 1)


def test_a_reference_beside_a_merged_node_follows_it():
    node = ConfigDict(x=1)
    cfg = ConfigDict(m={"x": 0})
    cfg.update({"m": node, "twice": node.ref.x * 2})
    cfg.m.x = 10
    assert cfg.twice == 20


def test_a_merge_with_itself_changes_nothing():
    cfg = overlay()
    before = copy.deepcopy(cfg)
    cfg.update(cfg)
    cfg |= cfg
    cfg.update(cfg, new=1)
    before.new = 1
    assert cfg == before


def test_a_config_that_contains_itself_is_merged():
    other = ConfigDict(m={"x": 1})
    other.m.up = other
    cfg = ConfigDict(m={"x": 0})
    cfg.update(other)
    assert cfg.m.up is cfg
    assert cfg.m.x == 1


def test_a_node_of_another_target_replaces_the_one_that_was_there():
    cfg = ConfigDict(m=N.A(x=1, y=2))
    cfg.update(ConfigDict(m=N.B(x=3)))
    assert cfg.m == N.B(x=3)


@pytest.mark.parametrize("how", ["update", "ior", "or"])
def test_another_target_at_the_root_takes_the_place_of_all_that_was_there(how):
    node, other = konfig.call(Fraction, 1, 3), konfig.call(dict, z=3)
    cfg = merged(how, node, other)
    assert cfg == konfig.call(dict, z=3)
    assert konfig.resolve(cfg, freeze=False) == {"z": 3}, "trusted like the other"
    named_by_data = merged(how, cfg, {"__qualname__": "os:getcwd"})
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(named_by_data)


@pytest.mark.parametrize("how", ["update", "ior"])
def test_a_merge_that_fails_changes_nothing(how):
    cfg = ConfigDict(a=1, b={"x": 1, "n": konfig.required(int)}, call=konfig.call(dict))
    cfg.b.lock()
    before, origins = konfig.deepcopy(cfg), cfg.to_json(origins=True)
    for refused in ({"new": 3}, {"x": 2, "n": "text"}):
        with pytest.raises(konfig.KonfigError):
            merged(how, cfg, {"a": 2, "c": 3, "b": refused})
        assert cfg == before
        assert cfg.to_json(origins=True) == origins
    locked = konfig.call(Fraction, 1)
    locked.lock()
    with pytest.raises(konfig.LockedError):
        merged(how, locked, konfig.call(dict))
    assert locked == konfig.call(Fraction, 1)
