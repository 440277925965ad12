"""What data may make resolve run."""

import json
import sys

import pytest

import konfig

CALLED = []


def touch(*args):
    CALLED.append(args)


def data(target, *args, **kwargs):
    return {
        "__qualname__": target,
        **{str(index): arg for index, arg in enumerate(args)},
        **kwargs,
    }


@pytest.mark.spec("konfig-95")
def test_data_runs_nothing_without_a_word(monkeypatch):
    cfg = konfig.from_json('{"__qualname__":"builtins:eval","0":"1+1"}')
    with pytest.raises(PermissionError, match="builtins:eval") as error:
        konfig.resolve(cfg)
    assert "allow=" in str(error.value)
    assert konfig.resolve(cfg, trusted=True) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda raw: konfig.ConfigDict(raw),
        lambda raw: konfig.ConfigDict(a=raw),
        lambda raw: konfig.ConfigDict(a=1) | raw,
        lambda raw: konfig.deepcopy(konfig.from_json(raw)),
        lambda raw: raw,
        lambda raw: konfig.ConfigDict(l=[raw]),
    ],
)
def test_every_way_of_raw_data_into_a_config_stays_untrusted(make):
    name = f"{__name__}:touch"
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(make(data(name)))
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(make({"k": {"__const__": name}}))
    assert not CALLED


def test_a_new_target_in_an_old_node_is_not_trusted():
    node = konfig.call(touch)
    node["__qualname__"] = "os:getcwd"
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(node)


@pytest.mark.parametrize("key", ["__qualname__", "__const__", "__id__"])
def test_a_target_cannot_arrive_as_a_keyword(key):
    with pytest.raises(konfig.ConfigValueError, match="cannot be an argument"):
        konfig.proxy(dict)(**{key: "os:system"})


def test_an_allowed_target_runs():
    cfg = konfig.from_json(data("fractions:Fraction", 1, 3))
    assert konfig.resolve(cfg, allow=["fractions.*"]) == konfig.resolve(
        cfg, allow="fractions:Fraction"
    )
    with pytest.raises(konfig.UnsafeTargetError, match="no pattern"):
        konfig.resolve(cfg, allow=["decimal.*"])


@pytest.mark.spec("konfig-97")
@pytest.mark.case("026")
def test_an_alias_in_an_allowed_module_is_refused():
    cfg = konfig.from_json(data("logging:os.system", "true"))
    with pytest.raises(konfig.UnsafeTargetError, match="module os"):
        konfig.resolve(cfg, allow=["logging.*"])
    cfg = konfig.from_json(data("os:getcwd"))
    with pytest.raises(konfig.UnsafeTargetError, match="never covers os"):
        konfig.resolve(cfg, allow=["os.*", "*"])


@pytest.mark.spec("konfig-98")
def test_a_dispatcher_runs_allowed_constants_only():
    cfg = konfig.from_json(data("functools:partial", {"__const__": "builtins:eval"}))
    with pytest.raises(konfig.UnsafeTargetError, match="eval"):
        konfig.resolve(cfg, allow=["functools.*"])
    cfg = konfig.from_json(
        data("functools:partial", {"__const__": "builtins:int"}, "3")
    )
    assert konfig.resolve(cfg, allow=["functools.*", "builtins:int"])() == 3
    inner = data("functools:partial", {"__const__": "builtins:int"})
    cfg = konfig.from_json(data("functools:reduce", inner, [1]))
    with pytest.raises(konfig.UnsafeTargetError, match="no constant"):
        konfig.resolve(cfg, allow=["functools.*", "builtins:int"])
    cfg = konfig.from_json(data("operator:attrgetter", "__class__"))
    with pytest.raises(konfig.UnsafeTargetError, match="by text"):
        konfig.resolve(cfg, allow=["operator.*"])


@pytest.mark.parametrize(
    "name",
    [
        "builtins:eval",
        "builtins:getattr",
        "subprocess:run",
        "konfig:resolve",
        "konfig._target:load",
    ],
)
def test_a_star_never_covers_what_runs_code(name):
    with pytest.raises(konfig.UnsafeTargetError, match="never covers"):
        konfig.resolve(konfig.from_json(data(name, "1")), allow=["*"])


@pytest.mark.parametrize("allow", ["*", "konfig.*", "json.*"])
def test_konfig_itself_is_no_way_around_the_guard(allow):
    bomb = json.dumps(data("os:getcwd"))
    read = {"__qualname__": "konfig:from_json", "0": bomb, "trusted": True}
    for run in (data("konfig:resolve", read), data("json:konfig.resolve", read)):
        with pytest.raises(konfig.UnsafeTargetError):
            konfig.resolve(konfig.from_json(run), allow=[allow])


def test_the_check_comes_before_the_import(tmp_path, monkeypatch):
    (tmp_path / "konfig_evil.py").write_text("raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(konfig.from_json(data("konfig_evil:f")), allow=["fractions.*"])


@pytest.mark.parametrize(
    "expression",
    [
        ["call", {"__const__": "os:getcwd"}],
        ["attr", {"__ref__": "a"}, "__class__"],
        ["call", {"__ref__": "a.upper"}],
        ["format", "{0.__class__}", {"__ref__": "a"}],
    ],
)
def test_reading_a_field_of_data_runs_nothing(expression):
    text = json.dumps({"a": "text", "x": {"__expr__": expression}})
    cfg = konfig.from_json(text)
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(cfg)
    if expression[0] != "call" or "__ref__" in expression[1]:
        with pytest.raises(konfig.UnsafeTargetError):
            cfg.x  # noqa: B018
    assert konfig.resolve(konfig.from_json(text, trusted=True)) is not None


def test_arithmetic_of_data_is_harmless_and_works():
    cfg = konfig.from_json('{"a": 2, "x": {"__expr__": ["mul", {"__ref__": "a"}, 3]}}')
    assert cfg.x == 6
    assert konfig.resolve(cfg) == {"a": 2, "x": 6}


READERS = {
    "field": lambda cfg: cfg.x,
    "item": lambda cfg: cfg.l[0],
    "to_dict": lambda cfg: cfg.to_dict(),
    "plain": lambda cfg: cfg.to_json(lossless=False),
    "flatten": konfig.flatten,
    "select": konfig.select,
    "validate": konfig.validate,
    "html": lambda cfg: cfg._repr_html_(),
    "fingerprint": lambda cfg: konfig.fingerprint(cfg, refs="resolve"),
    "override": lambda cfg: konfig.apply_overrides(cfg, ["x=3"]),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_reading_what_data_refers_to_imports_nothing(read, tmp_path, monkeypatch):
    (tmp_path / "konfig_evil.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    lazy = {"__expr__": ["add", {"__ref__": "a"}, {"__const__": "konfig_evil:x"}]}
    cfg = konfig.from_json({"a": 1, "x": lazy, "l": [lazy]})
    try:
        read(cfg)
    except konfig.UnsafeTargetError as error:
        assert "would import konfig_evil:x" in error.message
    assert "konfig_evil" not in sys.modules


def test_reading_what_the_program_refers_to_imports_it():
    cfg = konfig.ConfigDict(a=1)
    cfg.x = konfig.maximum(cfg.ref.a, konfig.Const("math:pi"))
    assert cfg.x > 3
    assert konfig.validate(cfg, import_targets=False).ok


@pytest.mark.parametrize(
    "part",
    [
        data("os:getcwd"),
        {"__const__": "os:getcwd"},
        {"__tuple__": [data("os:getcwd")]},
        {"__expr__": ["call", {"__const__": "os:getcwd"}, {"__ref__": "a"}]},
        {"__ref__": "a.__class__"},
    ],
)
def test_a_difference_does_not_make_data_trusted(part):
    other = konfig.from_json({"a": 1, "x": part})
    for base in (konfig.ConfigDict(), konfig.ConfigDict(a=1, x=konfig.call(dict))):
        applied = konfig.apply(base, konfig.diff(base, other))
        assert applied == other
        with pytest.raises(konfig.UnsafeTargetError):
            konfig.resolve(applied)
    mine = konfig.from_json({"a": 1, "x": data("fractions:Fraction", 1)}, trusted=True)
    applied = konfig.apply(konfig.ConfigDict(), konfig.diff(konfig.ConfigDict(), mine))
    assert konfig.resolve(applied).x == 1


def test_what_is_written_beside_a_change_is_not_trusted_for_it():
    node = konfig.from_json(data("os:getcwd"))
    part = konfig.ConfigDict(l=[1, 2], n=node, v=1)
    for old, new in (
        (konfig.ConfigDict(l=[1, node]), konfig.ConfigDict(l=[0, 1, node])),
        (
            konfig.ConfigDict(p=part, q=part),
            konfig.ConfigDict(p=part | {"v": 2}, q=part),
        ),
    ):
        applied = konfig.apply(old, konfig.diff(old, new))
        assert applied == new
        with pytest.raises(konfig.UnsafeTargetError):
            konfig.resolve(applied)


def test_a_partial_of_a_name_from_data_is_not_trusted():
    cfg = konfig.from_json({"f": {"__const__": "os:getcwd"}})
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(konfig.partial(cfg.f))


def test_targets_are_found_wherever_a_name_can_stand():
    cfg = konfig.ConfigDict(a=1, s={konfig.Const("m:in_set")}, e={konfig.Const("m:s")})
    cfg.x = konfig.maximum(cfg.ref.a, [konfig.Const("m:in_expression")])
    cfg.p = konfig.placeholder(object, default=konfig.Const("m:in_default"))
    cfg.c = konfig.from_json(data("m:target", {"__const__": "m:s"}))
    assert konfig.targets(cfg) == [
        "m:in_set", "m:s", "m:in_expression", "m:in_default", "m:target"
    ]  # fmt: skip
