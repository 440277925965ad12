"""Deep and large configs: every operation works, and gives what it should."""

import pickle

import pytest

import konfig

LEVELS = 400
SIZE = 10_000


def deep():
    """Calls inside mappings, lists on every tenth level: 400 nodes in all."""
    node = konfig.ConfigDict(end=1)
    for level in range(LEVELS):
        if level % 10 == 0:
            node = konfig.ConfigDict(down=[node], level=level)
        else:
            node = konfig.call(dict, down=node, level=level)
    return konfig.ConfigDict(top=node)


def levels(value, known=0):
    """The levels below a config, a mapping or what `resolve` made of it."""
    while True:
        if isinstance(value, (list, tuple)):
            value = value[0]
        key = next((key for key in ("top", "down") if key in value), None)
        if key is None:
            return known if value["end"] == 1 else None
        value, known = value[key], known + 1


def large():
    """10,000 calls, ten below each."""
    nodes = [konfig.call(dict, a=i, b=0.5, below=[]) for i in range(SIZE)]
    for index in range(SIZE - 1, 0, -1):
        nodes[(index - 1) // 10].below.append(nodes[index])
    return nodes[0]


COPIES = {
    "deepcopy": konfig.deepcopy,
    "json": lambda cfg: konfig.from_json(konfig.to_json(cfg), trusted=True),
    "indented json": lambda cfg: konfig.from_json(
        konfig.to_json(cfg, indent=1, sort_keys=True, origins=True), trusted=True
    ),
    "pickle": lambda cfg: pickle.loads(pickle.dumps(cfg)),
    "diff": lambda cfg: konfig.apply(cfg, konfig.diff(cfg, konfig.deepcopy(cfg))),
    "canonicalize": konfig.canonicalize,
}


@pytest.mark.parametrize("name", COPIES)
def test_a_deep_config_is_copied_and_is_equal(name):
    cfg = deep()
    twin = COPIES[name](cfg)
    assert twin == cfg
    assert levels(twin) == LEVELS + 1


def test_a_pickle_keeps_what_is_shared_and_what_was_noted():
    cfg = konfig.ConfigDict(a=konfig.call(dict, x=1), l=[])
    cfg.b = [cfg.a, konfig.call(list)]
    cfg.a.y = cfg.a.ref.x
    cfg.lock()
    a, twin = pickle.loads(pickle.dumps((cfg.a, cfg)))
    assert twin.a is a is twin.b[0]
    assert twin.is_locked
    assert konfig.origin(twin, "a.y") == konfig.origin(cfg, "a.y")
    assert konfig.origin(twin, "b[1]") == konfig.origin(cfg, "b[1]")
    with a.unlocked():
        a.x = 5
    assert (a.y, cfg.a.y) == (5, 1)


def with_expressions(count):
    """Calls beside each other, each with an operation in it."""
    cfg = konfig.ConfigDict(value=1)
    for index in range(count):
        items = (cfg.ref.value, [cfg.ref.value])
        cfg[f"f{index}"] = konfig.call(dict, a=cfg.ref.value * 2 + index, b=items)
    return cfg


@pytest.mark.parametrize("name", COPIES)
def test_many_calls_with_operations_are_copied(name):
    cfg = with_expressions(300)
    twin = COPIES[name](cfg)
    assert twin == cfg
    twin.value = 5
    assert (twin.f299.a, twin.f299.b[1][0], cfg.f299.a) == (309, 5, 301)


def test_a_deep_config_is_resolved():
    cfg = deep()
    assert levels(konfig.resolve(cfg)) == LEVELS + 1
    assert levels(konfig.resolve(cfg, freeze=False)) == LEVELS + 1


def test_a_deep_config_is_printed_whole():
    cfg = deep()
    assert repr(cfg).count("level") == LEVELS
    assert cfg._repr_html_().count("level") == LEVELS


def test_the_source_of_a_deep_config_can_be_run():
    cfg = deep()
    namespace = {}
    exec(konfig.to_python(cfg), namespace)
    assert namespace["get_config"]() == cfg


@pytest.mark.slow
def test_a_deep_config_is_searched_changed_and_compared():
    cfg = deep()
    twin = konfig.deepcopy(cfg)
    assert len(konfig.glob_paths(cfg, "**.level")) == LEVELS
    assert len(konfig.flatten(cfg)) >= LEVELS
    assert len(konfig.apply_overrides(twin, ["**.end=2"])) == 1
    (change,) = konfig.diff(cfg, twin)
    assert (change.old, change.new) == (1, 2)
    assert konfig.fingerprint(cfg) != konfig.fingerprint(twin)
    assert konfig.apply(cfg, konfig.diff(cfg, twin)) == twin
    assert konfig.validate(cfg).ok


def test_a_chain_of_references_is_read_once_for_all_its_fields():
    cfg = konfig.ConfigDict(f0=1)
    calls = []
    cfg.f1 = konfig.ref_fn(lambda value: calls.append(value) or value)(cfg.ref.f0)
    for index in range(1, 500):
        cfg[f"f{index + 1}"] = cfg.ref[f"f{index}"]
    assert set(cfg.to_dict().values()) == {1}
    assert calls == [1]
    assert set(konfig.flatten(cfg).values()) == {1}
    assert set(konfig.resolve(cfg).values()) == {1}
    assert calls == [1, 1, 1]


@pytest.mark.slow
def test_ten_thousand_nodes_are_no_problem():
    cfg = large()
    for name in ("deepcopy", "json", "pickle", "diff"):
        assert COPIES[name](cfg) == cfg
    built = konfig.resolve(cfg)
    assert len(built["below"]) == 10
    assert len(konfig.flatten(cfg)) > 2 * SIZE
    assert repr(cfg).count("b=0.5") == SIZE
    assert len(konfig.fingerprint(cfg)) == 12
    assert len(konfig.apply_overrides(cfg, ["**.b=0.25"])) == SIZE
    assert konfig.resolve(cfg)["below"][9]["b"] == 0.25
