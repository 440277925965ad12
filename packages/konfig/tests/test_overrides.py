"""Overrides: the grammar, the checks, the values."""

import enum
import fractions
import math
import pathlib
import sys
from typing import Literal, Optional

import pytest

import konfig
from konfig import ConfigDict

with konfig.imports():
    import types as T


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


class Typed:
    def __init__(
        self,
        hidden: int,
        rate: float = 0.1,
        name: str = "x",
        flag: bool = False,
        size: Size = Size.SMALL,
        mode: Literal["sum", "mean", 3] = "sum",
        limit: Optional[float] = None,  # noqa: UP045  (the older spelling is meant)
        steps: int | None = None,
        path: pathlib.Path | None = None,
        dims: tuple[int, ...] = (1, 2),
        either: int | str = 1,
    ):
        self.hidden = hidden


@pytest.fixture
def cfg():
    cfg = ConfigDict(
        lr=1e-3,
        n=10,
        name="x",
        flag=True,
        t=(1, 2),
        l=[1, 2],
        none=None,
        d={"a": 1},
        f=1.0,
        model=T.SimpleNamespace(hidden=16, layers=[{"n": 1}, {"n": 2}]),
        typed=konfig.call(Typed, 3),
        callbacks=[],
    )
    cfg.r = cfg.ref.n
    return cfg


def after(cfg, *overrides):
    konfig.apply_overrides(cfg, overrides)
    return cfg


@pytest.mark.spec("konfig-100", "konfig-102")
def test_fields_are_set_and_added(cfg):
    assert after(cfg, "model.hidden=128").model.hidden == 128
    assert after(cfg, "model.hiden:=5").model.hiden == 5
    assert after(cfg, "new.deep.field:=1").new == {"deep": {"field": 1}}


@pytest.mark.spec("konfig-101")
def test_a_misspelt_field_is_refused(cfg):
    with pytest.raises(konfig.OverrideError, match="did you mean 'hidden'") as error:
        after(cfg, "model.hiden=5")
    text = str(error.value)
    assert "cfg.model.hiden:=VALUE" in text
    assert "types:SimpleNamespace" in text
    assert "\n  model.hiden=5\n        ^" in text
    with pytest.raises(konfig.OverrideError, match="did you mean 'model'"):
        after(cfg, "modl.hidden=5")
    with pytest.raises(konfig.OverrideError, match="no field 'zzz' in cfg"):
        after(cfg, "zzz=1")


def test_declared_parameters_need_no_field(cfg):
    assert after(cfg, "typed.rate=1").typed.rate == 1.0
    assert after(cfg, "typed.hidden=7").typed[0] == 7
    assert after(cfg, "typed[0]=8").typed.hidden == 8
    with pytest.raises(konfig.OverrideError, match="did you mean 'rate'") as error:
        after(cfg, "typed.rat=1")
    assert ":=" not in str(error.value)
    with pytest.raises(konfig.OverrideError, match="has no parameter 'rat'"):
        after(cfg, "typed.rat:=1")


@pytest.mark.spec("konfig-104", "konfig-105", "konfig-106")
@pytest.mark.case("004", "017", "019", "020", "022", "023")
@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("lr=1e-5", 1e-5),
        ("lr=1", 1.0),
        ("lr=nan", math.nan),
        ("lr=-inf", -math.inf),
        ("lr=None", None),
        ("n=-3", -3),
        ("n=1e3", 1000),
        ("n=2.0", 2),
        ("n=1_000", 1000),
        ("n=0x10", 16),
        ("flag=False", False),
        ("flag=false", False),
        ("flag=0", False),
        ("flag=off", False),
        ("flag=1", True),
        ("name=5", "5"),
        ("name=True", "True"),
        ("name=-1", "-1"),
        ("name=1e5", "1e5"),
        ("name=[1,2]", "[1,2]"),
        ("name='quoted'", "quoted"),
        ("name=None", None),
        ("name='None'", "None"),
        ("name=a=b,c", "a=b,c"),
        ("name=a|b*#c=d,e", "a|b*#c=d,e"),
        ("name=", ""),
        ("none=null", None),
        ("none=0.5", 0.5),
        ("none=true", True),
        ("none=01", "01"),
        ("none=2024-01-02", "2024-01-02"),
        ("none=a,b", "a,b"),
        ("none=5#6", "5#6"),
        ("t=(3,4,5)", (3, 4, 5)),
        ("t=[3,4]", (3, 4)),
        ("t=3,4", (3, 4)),
        ("l=[5]", [5]),
        ("l=(5,)", [5]),
        ('none={"a": 5, "b": null}', {"a": 5, "b": None}),
        ("d={'z': 2}", {"z": 2}),
        ("f=3", 3.0),
        ("name=str::py::x", "py::x"),
        ('none=json::{"a": [true]}', {"a": [True]}),
    ],
)
def test_values_take_the_type_of_what_they_replace(cfg, override, expected):
    key = override.partition("=")[0]
    value = after(cfg, override)[key]
    if isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(value)
    else:
        assert value == expected
        assert type(value) is type(expected) or isinstance(expected, (dict, list))


@pytest.mark.spec("konfig-104")
@pytest.mark.case("020", "023")
@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("n=1.5", "expected int"),
        ("n=abc", "expected int"),
        ("n=1___0", "expected int"),
        ("n=True", "expected int"),
        ("lr=abc", "expected float"),
        ("flag=maybe", "true, false, yes, no, on, off, 1 or 0"),
        ("t=3", "expected tuple"),
        ("model=abc", "py:: expression"),
        ("typed.hidden=abc", "expected int"),
        ("typed.rate=abc", "expected float"),
        ("typed.mode=max", "'sum', 'mean', 3"),
        ("typed.size=HUGE", "SMALL, LARGE"),
        ("typed.limit=abc", "expected float | None"),
        ("typed.steps=1.5", "expected int | None"),
        ("typed.dims=[1,'a']", "expected int"),
        ("none=json::{", "not JSON"),
    ],
)
def test_values_of_another_type_are_refused(cfg, override, expected):
    before = konfig.to_json(cfg)
    with pytest.raises(konfig.OverrideError) as error:
        after(cfg, override)
    assert expected in str(error.value)
    assert override in str(error.value)
    assert konfig.to_json(cfg) == before


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("typed.mode=mean", "mean"),
        ("typed.mode=3", 3),
        ("typed.limit=1", 1.0),
        ("typed.limit=None", None),
        ("typed.steps=1e3", 1000),
        ("typed.path=a/b", pathlib.Path("a/b")),
        ("typed.dims=[1,2,3]", (1, 2, 3)),
        ("typed.either=5", 5),
        ("typed.either=abc", "abc"),
        ("typed.name=5", "5"),
    ],
)
def test_annotations_decide_where_there_are_some(cfg, override, expected):
    value = konfig.get_path(after(cfg, override), override.partition("=")[0])
    assert value == expected
    assert type(value) is type(expected)


def test_a_member_of_an_enum_is_set_by_name(cfg):
    after(cfg, "typed.size=LARGE")
    assert cfg.typed.size.__const__.endswith(":Size.LARGE")


def test_placeholders_decide_before_everything(cfg):
    cfg.rate = konfig.required(float)
    cfg.rank = konfig.required(int | None)
    assert after(cfg, "rate=1").rate == 1.0
    assert after(cfg, "rank=None").rank is None
    with pytest.raises(konfig.OverrideError, match="expected float"):
        after(cfg, "rate=abc")
    with pytest.raises(konfig.OverrideError, match=r"int \| None"):
        after(cfg, "rank=abc")


@pytest.mark.spec("konfig-108")
def test_indices_in_every_spelling(cfg):
    after(cfg, "model.layers[-1].n=9", "model.layers.0.n=8", "t[0]=5", "l[-1]=7")
    assert [layer.n for layer in cfg.model.layers] == [8, 9]
    assert (cfg.t, cfg.l) == ((5, 2), [1, 7])
    with pytest.raises(konfig.OverrideError, match="in a list of 2; positions: 0 to 1"):
        after(cfg, "model.layers[5].n=9")
    cfg.only = [1]
    assert after(cfg, "only[-1]=2").only == [2]
    cfg.named = {"0": 1}
    assert after(cfg, "named[0]=2").named == {"0": 2}


@pytest.mark.spec("konfig-109", "konfig-110")
def test_wildcards_set_every_match_and_report_it(cfg):
    changed = konfig.apply_overrides(cfg, ["model.layers[*].n=3", "**.n=4"])
    assert changed == [
        "cfg.model.layers[0].n",
        "cfg.model.layers[1].n",
        "cfg.n",
        "cfg.model.layers[0].n",
        "cfg.model.layers[1].n",
    ]
    assert (cfg.n, cfg.model.layers[1].n) == (4, 4)
    with pytest.raises(konfig.OverrideError, match="no match"):
        after(cfg, "**.zzz=1")


def test_deleting_and_appending(cfg):
    after(
        cfg, "model.hidden:del", "l+=3", "l+=[4,5]", "t+=3", "d+={'b': 2}", "t[0]:del"
    )
    assert "hidden" not in cfg.model
    assert (cfg.l, cfg.t, cfg.d) == ([1, 2, 3, 4, 5], (2, 3), {"a": 1, "b": 2})
    with pytest.raises(konfig.OverrideError, match=r"\+= appends to a list"):
        after(cfg, "n+=1")
    with pytest.raises(konfig.OverrideError, match="no field 'nope'"):
        after(cfg, "model.nope:del")


@pytest.mark.spec("konfig-112", "konfig-116")
def test_expressions_describe_and_import_nothing(cfg):
    after(cfg, "none=py::wave.open(1e-3)")
    assert cfg.none == {"__qualname__": "wave:open", "0": 1e-3}
    assert "wave" not in sys.modules
    after(cfg, "callbacks+=py::a.b(x=[c.d, (1,)], y={'k': -2}, z={1, 2}, w=b'x')")
    node = cfg.callbacks.pop()
    assert node.x == [konfig.Const("c:d"), (1,)]
    assert (node.y, node.z, node.w) == ({"k": -2}, {1, 2}, b"x")
    after(cfg, "none=py::a.b:C.make(..., +1) ")
    assert cfg.none["__qualname__"] == "a.b:C.make"
    cfg.pop("typed")
    after(cfg, "none=py::int | None")
    assert konfig.resolve(cfg).none == int | None


@pytest.mark.spec("konfig-113")
def test_names_of_the_file_come_first(cfg):
    konfig.apply_overrides(cfg, ["none=py::ns.SimpleNamespace(3)"], names={"ns": T})
    assert cfg.none["__qualname__"] == "types:SimpleNamespace"
    with pytest.raises(konfig.OverrideError, match="did you mean 'SimpleNamespace'"):
        konfig.apply_overrides(cfg, ["none=py::ns.SimpleNamespac()"], names={"ns": T})


@pytest.mark.spec("konfig-114")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f.g(a=1,a=2)", "stands twice"),
        ("f.g(x=1, 2)", "positional argument follows keyword"),
        ("f.g(class=1)", "invalid syntax"),
        ("f.g(1 + 2)", "only names, calls and literals"),
        ("[x for x in y]", "only names, calls and literals"),
        ("f(1)", "unknown name 'f'"),
        ("f.g(1)(2)", "only a name can be called"),
        ("f.g(*a.b)", r"\* cannot stand here"),
        ("f.g(**a.b)", r"\*\* cannot stand here"),
        ("lambda: 1", "invalid syntax"),
        ("-a.b", "only numbers"),
    ],
)
def test_expressions_that_are_not_allowed_get_a_caret(cfg, text, message):
    with pytest.raises(konfig.OverrideError, match=message) as error:
        after(cfg, f"none=py::{text}")
    assert "^" in str(error.value)


def test_references_can_be_written(cfg):
    after(cfg, "lr=ref::n*2 + model.layers[0].n")
    assert cfg.lr == 21
    cfg.n = 1
    assert cfg.lr == 3
    with pytest.raises(konfig.OverrideError, match="did you mean 'name'"):
        after(cfg, "lr=ref::nam*2")


def test_files_can_be_put_in(cfg, tmp_path):
    konfig.save(ConfigDict(a=(1, 2)), tmp_path / "part.json")
    assert after(cfg, f"none=file::{tmp_path}/part.json").none == {"a": (1, 2)}


@pytest.mark.spec("konfig-122")
def test_a_derived_field_is_replaced_and_its_source_untouched(cfg):
    after(cfg, "r=5")
    assert (cfg.r, cfg.n) == (5, 10)
    other = ConfigDict(n=1)
    other.r = other.ref.n
    assert after(other, "n=20", "n=30").r == 30


def test_a_new_target_on_the_command_line_is_trusted(cfg):
    after(cfg, "model.__qualname__=builtins:dict")
    assert konfig.resolve(cfg.model)["hidden"] == 16


@pytest.mark.parametrize("text", ["", "a", "a b=1", "=1", "a..b=1", "a[=1", "1 2"])
def test_what_is_no_override_is_refused(cfg, text):
    with pytest.raises(konfig.OverrideError):
        after(cfg, text)


def test_errors_say_that_the_command_line_set_the_field(cfg):
    after(cfg, "typed.rate=0.5")
    cfg.typed = konfig.call(fails)
    after(cfg, "typed.x=2")
    with pytest.raises(RuntimeError) as error:
        konfig.resolve(cfg.typed)
    assert "typed.x=2 on the command line" in error.value.__notes__[-1]


def fails(x: int = 1):
    raise RuntimeError("mine")


def test_an_override_says_what_is_near_and_where_a_file_is_broken(tmp_path):
    cfg = ConfigDict(steps=1, model=konfig.call(fractions.Fraction, 1))
    with pytest.raises(konfig.OverrideError, match="did you mean 'steps'") as error:
        konfig.apply_overrides(cfg, ["**.stps=3"])
    with pytest.raises(konfig.OverrideError) as error:
        konfig.apply_overrides(cfg, ["model.num=3"])
    assert "_normalize" not in error.value.hint
    file = tmp_path / "part.json"
    file.write_text('{"a": 1,\n "b": }')
    with pytest.raises(konfig.OverrideError) as error:
        konfig.apply_overrides(cfg, [f"steps=file::{file}"])
    assert error.value.origin == f"{file}:2, column 7"
    with pytest.raises(konfig.OverrideError, match="it is empty"):
        konfig.apply_overrides(cfg, ["model=py::"])
