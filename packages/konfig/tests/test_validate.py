"""Every problem at once, with its place; and types at the line of the call."""

import dataclasses
import enum
import json
import pathlib
import sys
from collections.abc import Sequence
from typing import Literal, Optional

import pytest

import konfig
from konfig import ConfigDict

with konfig.imports(lazy=True):
    import fractions as lazy_fractions
    import textwrap as lazy_textwrap
    import types as T


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Layer:
    def __init__(self, width: int = 1):
        self.width = width


def layer(width: int) -> Layer:
    return Layer(width)


def number() -> float:
    return 1.0


class Model:
    def __init__(
        self,
        hidden: int,
        rate: float = 0.1,
        name: str = "x",
        flag: bool = False,
        size: Literal["S", "L"] = "S",
        mode: Mode = Mode.FAST,
        dims: tuple[int, ...] = (),
        widths: list[int] = (),
        path: pathlib.Path | None = None,
        layer: Layer | None = None,
        point: Point | None = None,
        maybe: Optional[int] = None,  # noqa: UP045
        seq: Sequence[str] = (),
        options: dict[str, int] | None = None,
    ):
        pass


def kinds(cfg, **options):
    return [(p.path, p.kind, p.level) for p in konfig.validate(cfg, **options)]


@pytest.mark.spec("konfig-133")
def test_four_faults_give_four_problems_with_place_and_origin():
    cfg = ConfigDict()
    cfg.a = T.SimpleNamespce(x=1)
    cfg.b = lazy_textwrap.dedent("x", "y")
    cfg.c = konfig.required(int)
    cfg.d = cfg.ref.nothing
    report = konfig.validate(cfg)
    assert [(problem.path, problem.kind) for problem in report] == [
        ("cfg.a", "import"),
        ("cfg.b", "keyword"),
        ("cfg.c", "required"),
        ("cfg.d", "ref"),
    ]
    assert all("test_validate.py:" in problem.origin for problem in report)
    assert not report.ok


@pytest.mark.spec("konfig-20")
def test_a_misspelt_lazy_name_is_found_by_validate():
    cfg = ConfigDict(f=lazy_fractions.Frction(1))
    (problem,) = konfig.validate(cfg)
    assert (problem.path, problem.kind) == ("cfg.f", "import")
    assert "did you mean 'Fraction'?" in problem.hint


def test_every_fault_of_one_call_is_told():
    node = konfig.from_json(
        {"__qualname__": f"{__name__}:Model", "0": 1, "hiden": 3, "rat": 1},
        trusted=True,
    )
    found = kinds(node)
    assert found == [("cfg", "keyword", "error")] * 2
    node = konfig.call(Model)
    (problem,) = konfig.validate(node)
    assert "needs 'hidden'" in problem.message


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("hidden", 3, "3"),
        ("hidden", 3, 2.5),
        ("rate", 1, "fast"),
        ("name", "y", 3),
        ("flag", True, 1),
        ("size", "L", "M"),
        ("mode", Mode.SLOW, "SLOW"),
        ("dims", (1, 2), (1, "2")),
        ("widths", [1], 3),
        ("path", pathlib.Path("a"), "a"),
        ("path", None, 3),
        ("maybe", None, "x"),
        ("options", {"a": 1}, [1]),
        ("options", {"a": konfig.placeholder(int)}, {"a": "x"}),
        ("options", {}, {1: 1}),
        ("widths", [konfig.placeholder(int)], ["x"]),
        ("layer", konfig.call(layer, 3), konfig.call(number)),
        ("layer", konfig.call(Layer), konfig.call(Point, 1)),
        ("point", konfig.call(Point, 1), {"x": 1}),
        ("rate", konfig.call(number), konfig.call(layer, 3)),
        ("seq", "anything goes", None),
    ],
)
def test_arguments_are_held_against_annotations(field, good, bad):
    node = konfig.call(Model, hidden=1)
    node[field] = good
    assert kinds(node) == []
    node[field] = bad
    if field == "seq":  # not understood, so never guessed
        assert kinds(node) == []
        return
    assert kinds(node) == [(f"cfg.{field}", "type", "warning")]
    assert kinds(node, types="error") == [(f"cfg.{field}", "type", "error")]
    assert kinds(node, types="off") == []


def test_references_and_placeholders_are_read_before_they_are_held_against_types():
    cfg = ConfigDict(n="text", m=konfig.placeholder(int, default=3))
    cfg.model = konfig.call(Model, hidden=cfg.ref.n)
    assert kinds(cfg) == [("cfg.model.hidden", "type", "warning")]
    cfg.model.hidden = cfg.ref.m
    assert kinds(cfg) == []


def test_references_in_a_circle_and_out_of_the_config_are_found():
    outer = ConfigDict(x=1)
    cfg = ConfigDict(sub={})
    cfg.x, cfg.y = cfg.ref.y, cfg.ref.x
    cfg.z = outer.ref.x + 1
    cfg.f = konfig.ref_fn(lambda x: x, cfg.ref.z)
    assert kinds(cfg) == [
        ("cfg.x", "ref", "error"),
        ("cfg.y", "ref", "error"),
        ("cfg.z", "ref", "warning"),
        ("cfg.f", "json", "warning"),
    ]


def test_a_config_inside_itself_is_one_problem():
    cfg = ConfigDict(a={})
    cfg.a.b = cfg
    assert kinds(cfg) == [("cfg", "cycle", "error")]


def test_shared_nodes_and_names_of_main_are_told():
    node = T.SimpleNamespace()
    cfg = ConfigDict(a=node, b=[node])
    (problem,) = konfig.validate(cfg)
    assert (problem.level, problem.path) == ("info", "cfg.a")
    assert "cfg.b[0]" in problem.message
    assert konfig.validate(cfg).ok
    cfg = ConfigDict(a=konfig.Const("__main__:__name__"))
    assert kinds(cfg) == [("cfg.a", "main", "warning")]


def test_malformed_positions_are_found():
    cfg = konfig.from_json({"__qualname__": "builtins:dict", "1": 5}, trusted=True)
    assert kinds(cfg) == [("cfg", "structure", "error")]


def test_arguments_of_a_partial_are_those_of_its_function():
    good = konfig.partial(Model, 1, rate=2.0)
    assert kinds(good) == []
    bad = konfig.partial(Model, rte=2.0)
    assert kinds(bad) == [("cfg", "keyword", "error")]


def test_what_data_names_is_never_imported(tmp_path, monkeypatch):
    (tmp_path / "konfig_untouched.py").write_text("raise AssertionError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    data = {"m": {"__qualname__": "konfig_untouched:f"}}
    assert kinds(konfig.from_json(data)) == [("cfg.m", "untrusted", "warning")]
    assert "konfig_untouched" not in sys.modules
    trusted = konfig.from_json(data, trusted=True)
    assert kinds(trusted, import_targets=False) == []
    assert kinds(trusted) == [("cfg.m", "import", "error")]


def test_a_report_is_a_sequence_with_a_verdict():
    report = konfig.validate(ConfigDict(a=konfig.required(int)))
    assert (len(report), report[0].path, report.ok) == (1, "cfg.a", False)
    assert json.loads(report.to_json())[0]["kind"] == "required"
    with pytest.raises(konfig.ConfigValueError, match=r"1 fault:\n  cfg.a: error"):
        report.raise_if_failed()
    fine = konfig.validate(ConfigDict(a=1))
    fine.raise_if_failed()
    assert (str(fine), repr(fine)) == ("no problems", "<Report: no problems>")
    with pytest.raises(konfig.ConfigValueError):
        konfig.validate(ConfigDict(), types="yes")


def test_types_are_checked_at_the_line_where_that_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "konfig_typed_example", sys.modules[__name__])
    with konfig.imports(check="types"):
        from konfig_typed_example import Model as Typed
    with pytest.raises(konfig.ConfigTypeError, match="expects int for 'hidden'"):
        Typed("three")
    node = Typed(3)
    with pytest.raises(konfig.ConfigTypeError, match="expects float") as error:
        node.rate = "fast"
    assert error.value.path == ".rate"
    assert node == Typed(3)
    assert konfig.proxy(Model)("three").hidden == "three"


def test_the_environment_chooses_the_check(monkeypatch):
    monkeypatch.setenv("KONFIG_CHECK", "off")
    with konfig.imports():
        import fractions as F
    assert F.Frction(1)["__qualname__"] == "fractions:Frction"
    monkeypatch.setenv("KONFIG_CHECK", "loud")
    with pytest.raises(konfig.ConfigValueError, match="KONFIG_CHECK"):
        konfig.imports()
