"""References: lazy values that follow the config."""

import copy
import math
import pickle
import sys

import pytest

import konfig
from konfig import ConfigDict


def square(x):
    return x * x


@pytest.fixture
def cfg():
    return ConfigDict({"a": 10, "b": {"c": 1}, "s": "text", "l": [1, 2]})


@pytest.mark.spec("konfig-80")
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda ref: 2**ref.a, 1024),
        (lambda ref: ~ref.a, -11),
        (lambda ref: ref.a << 1, 20),
        (lambda ref: round(ref.a / 3), 3),
        (lambda ref: -ref.a + +ref.b.c, -9),
        (lambda ref: abs(ref.b.c - ref.a), 9),
        (lambda ref: divmod(ref.a, 3), (3, 1)),
        (lambda ref: math.floor(ref.a / 3), 3),
        (lambda ref: 7 // ref.b.c % 4, 3),
        (lambda ref: (ref.a > 3) & (ref.b.c <= 1), True),
        (lambda ref: ref.a == 10, True),
        (lambda ref: ref.s.upper(), "TEXT"),
        (lambda ref: ref.s[1:3], "ex"),
        (lambda ref: ref.l[0] + ref.l[-1], 3),
        (lambda ref: ref["b"]["c"], 1),
    ],
)
def test_operators_are_lazy_and_right(cfg, build, expected):
    cfg.x = build(cfg.ref)
    assert cfg.x == expected
    assert konfig.from_json(konfig.to_json(cfg), trusted=True).x == expected


@pytest.mark.spec("konfig-73")
def test_every_operand_follows_a_deepcopy(cfg):
    cfg.x = cfg.ref.a + cfg.ref.b.c
    twin = copy.deepcopy(cfg)
    twin.b.c = 1000
    assert twin.x == 1010
    assert cfg.x == 11


@pytest.mark.spec("konfig-74")
def test_functions_of_references_follow_a_deepcopy(cfg):
    cfg.x = konfig.ref_fn(square)(cfg.ref.a)
    cfg.y = konfig.ref_fn(lambda pair: pair[0] + pair[1], [cfg.ref.a, 1])
    twin = copy.deepcopy(cfg)
    twin.a = 3
    assert (twin.x, twin.y) == (9, 4)
    assert (cfg.x, cfg.y) == (100, 11)


@pytest.mark.spec("konfig-76")
def test_references_follow_a_shallow_copy(cfg):
    cfg.x = cfg.ref.a
    twin = copy.copy(cfg)
    twin.a = 1000
    assert (twin.x, cfg.x) == (1000, 10)


def test_references_follow_pickle_and_merges(cfg):
    cfg.x = cfg.ref.a + cfg.ref.b.c
    for twin in (pickle.loads(pickle.dumps(cfg)), cfg | {"b": {"c": 2}}):
        twin.a = 0
        assert twin.x == twin.b.c
    assert cfg.x == 11


def test_a_reference_in_a_tuple_is_read_by_resolve(cfg):
    cfg.t = (cfg.ref.a, [cfg.ref.b])
    twin = konfig.deepcopy(cfg)
    twin.a = 7
    built = konfig.resolve(twin)
    assert built.t == (7, ({"c": 1},))
    assert built.t[1][0] is built.b


@pytest.mark.spec("konfig-38")
def test_configs_with_references_are_compared_by_structure(cfg):
    cfg.x = cfg.ref.a
    assert cfg == copy.deepcopy(cfg)
    other = copy.deepcopy(cfg)
    other.x = other.ref.s
    assert cfg != other
    assert cfg != ConfigDict({**cfg})  # the value 10 is not the reference


@pytest.mark.spec("konfig-77")
def test_a_format_string_is_refused(cfg):
    with pytest.raises(konfig.RefError, match=r"konfig.fstr"):
        f"{cfg.ref.a}/x"


@pytest.mark.spec("konfig-78")
def test_fstr_follows_its_fields(cfg):
    cfg.x = konfig.fstr("{}/ckpt-{n:03d}", cfg.ref.s, n=cfg.ref.a)
    assert cfg.x == "text/ckpt-010"
    cfg.s = "other"
    assert cfg.x == "other/ckpt-010"
    with pytest.raises(konfig.ConfigValueError, match="looks into a value"):
        konfig.fstr("{0.a}", cfg.ref.b)


@pytest.mark.spec("konfig-79")
@pytest.mark.parametrize(
    ("use", "advice"),
    [
        (bool, "konfig.where"),
        (len, "konfig.ref_fn"),
        (int, "konfig.ref_fn"),
        (float, "konfig.ref_fn"),
        (list, "konfig.ref_fn"),
        (lambda ref: 1 in ref, "konfig.ref_fn"),
        (lambda ref: [1, 2][ref], "konfig.ref_fn"),
        (lambda ref: max(ref, 3), "konfig.where"),
        (lambda ref: ref and 1, "konfig.where"),
    ],
)
def test_use_as_a_value_is_refused_with_the_replacement(cfg, use, advice):
    with pytest.raises(konfig.RefError, match=r"cfg.ref.x") as error:
        use(cfg.ref.x)
    assert advice in str(error.value)


def test_replacements_of_control_flow(cfg):
    ref = cfg.ref
    cfg.x = konfig.where(ref.a > 5, ref.s, ref.missing)
    cfg.y = konfig.maximum(ref.a, 3) - konfig.minimum(ref.a, 3)
    cfg.z = konfig.all_of(ref.a > 5, konfig.not_(konfig.any_of(ref.b.c > 1)))
    assert (cfg.x, cfg.y, cfg.z) == ("text", 7, True)


@pytest.mark.spec("konfig-81")
def test_a_circle_is_named(cfg):
    cfg.x = cfg.ref.y
    cfg.y = cfg.ref.x
    with pytest.raises(konfig.RefCycleError, match=r"cfg.ref.y → cfg.ref.x"):
        cfg.x  # noqa: B018
    with pytest.raises(konfig.RefCycleError):
        konfig.resolve(cfg)


@pytest.mark.spec("konfig-82")
def test_a_reference_may_come_before_its_field(cfg):
    cfg.x = cfg.ref.later
    with pytest.raises(konfig.RefError, match="no field 'later'") as error:
        cfg.x  # noqa: B018
    assert "at:      .x of the mapping" in str(error.value)
    cfg.later = 5
    assert cfg.x == 5


@pytest.mark.spec("konfig-84")
def test_a_diamond_is_evaluated_once():
    cfg = ConfigDict(x0=1)
    for index in range(30):
        cfg[f"x{index + 1}"] = cfg.ref[f"x{index}"] + cfg.ref[f"x{index}"]
    calls = 0

    def tally(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        value = cfg.x30
    finally:
        sys.setprofile(None)
    assert value == 2**30
    # Two evaluations of each would be 2 ** 30 of the first.
    assert calls < 10_000
    shared = cfg.ref.x0
    for _ in range(30):
        shared = shared + shared
    cfg.y = shared
    assert cfg.y == 2**30
    assert konfig.from_json(konfig.to_json(cfg)).y == 2**30
    assert len(repr(cfg)) < 4000


@pytest.mark.spec("konfig-85")
def test_a_reference_has_no_names_of_its_own(cfg):
    cfg["get"] = 3
    cfg.x = cfg.ref.get
    assert cfg.x == 3


@pytest.mark.spec("konfig-86")
def test_a_reference_is_one_way(cfg):
    cfg.x = cfg.ref.a
    cfg.x = 5
    assert (cfg.x, cfg.a) == (5, 10)
    with pytest.raises(AttributeError, match="set the field itself"):
        cfg.ref.a = 3


@pytest.mark.case("013")
def test_a_node_with_a_reference_may_be_attached_later():
    cfg = ConfigDict()
    sub = ConfigDict()
    sub.c = cfg.ref.a
    cfg.b = sub
    cfg.a = 4
    assert cfg.b.c == cfg.a == 4


@pytest.mark.case("014")
def test_merging_evaluates_nothing():
    base = ConfigDict()
    base.a = base.ref.missing
    assert base | {"a": 1} == {"a": 1}
    base.update({"a": 2})
    assert base.a == 2


def test_a_live_object_in_an_expression_is_refused(cfg):
    with pytest.raises(konfig.ConfigTypeError):
        cfg.x = cfg.ref.a * object()


def test_a_long_chain_is_followed():
    cfg = ConfigDict(x0=1)
    for index in range(200):
        cfg[f"x{index + 1}"] = cfg.ref[f"x{index}"] + 1
    assert cfg.x200 == 201


def test_placeholders_check_what_is_set():
    cfg = ConfigDict(lr=konfig.required(float), n=konfig.placeholder(int, default=3))
    assert cfg.n == 3
    cfg.lr = 1
    assert type(cfg.lr) is float
    for value in ("x", True):
        with pytest.raises(konfig.ConfigTypeError, match="expected float"):
            cfg.lr = value
    with pytest.raises(konfig.RequiredValueError, match="not set"):
        ConfigDict(a=konfig.required(int)).a  # noqa: B018
    with pytest.raises(konfig.ConfigTypeError, match="a class or a union"):
        konfig.placeholder("int")


def test_a_placeholder_keeps_its_declaration_in_copies_and_json():
    cfg = ConfigDict(lr=konfig.required(float | None, doc="step size"))
    for twin in (
        copy.deepcopy(cfg),
        pickle.loads(pickle.dumps(cfg)),
        konfig.from_json(konfig.to_json(cfg)),
    ):
        assert twin == cfg
        twin.lr = 0.5
        with pytest.raises(konfig.ConfigTypeError):
            twin.lr = "x"
        assert konfig.from_json(konfig.to_json(twin)).lr == 0.5


@pytest.mark.spec("konfig-87")
def test_a_ref_copy_shares_no_items():
    base = ConfigDict({"l": [{"z": 1}], "m": {"a": 1}})
    twin = konfig.ref_copy(base)
    twin.l[0].z = 5
    twin.l.append(3)
    twin.m.a = 7
    assert base == {"l": [{"z": 1}], "m": {"a": 1}}
    assert twin.to_dict() == {"l": [{"z": 5}, 3], "m": {"a": 7}}


@pytest.mark.spec("konfig-88")
def test_a_ref_copy_follows_until_it_is_set():
    cfg = ConfigDict(train={"a": 1, "l": [1, {"b": 2}]})
    cfg.test = konfig.ref_copy(cfg.train)
    cfg.train.a = 2
    cfg.train.l[1].b = 3
    assert (cfg.test.a, cfg.test.l[1].b) == (2, 3)
    cfg.test.a = 9
    cfg.train.a = 4
    assert (cfg.test.a, cfg.train.a) == (9, 4)
    back = konfig.from_json(konfig.to_json(cfg))
    back.train.l[0] = 7
    assert back.test.l[0] == 7
    with pytest.raises(konfig.ConfigTypeError):
        konfig.ref_copy([1])


def test_an_error_of_a_function_is_the_same_with_the_field_in_a_note():
    cfg = ConfigDict(a=0)
    cfg.x = 1 / cfg.ref.a
    with pytest.raises(ZeroDivisionError) as error:
        cfg.x  # noqa: B018
    assert "while reading .x of the mapping: 1 / cfg.ref.a" in error.value.__notes__[0]
    with pytest.raises(ZeroDivisionError) as error:
        konfig.resolve(cfg)
    assert error.value.__notes__[0] == "konfig: while resolving cfg.x"


def test_a_node_takes_the_place_of_a_declaration():
    cfg = ConfigDict(model=konfig.required(), dims=konfig.required(tuple))
    cfg.model = {"a": 1}
    cfg.model.b = cfg.model.ref.a
    cfg.dims = (1, 2)
    back = konfig.from_json(konfig.to_json(cfg))
    back.model.a = 2
    assert (back.model.b, back.dims) == (2, (1, 2))
    with pytest.raises(konfig.ConfigTypeError):
        ConfigDict(dims=konfig.required(tuple)).dims = 3


READERS = {
    "to_dict": lambda cfg: cfg.to_dict(),
    "to_json": lambda cfg: konfig.to_json(cfg, refs="resolve"),
    "plain": lambda cfg: konfig.to_json(cfg, lossless=False),
    "fingerprint": lambda cfg: konfig.fingerprint(cfg, refs="resolve"),
    "resolve": konfig.resolve,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_whoever_reads_everything_names_the_field_that_fails(cfg, read):
    for value in (konfig.required(float), cfg.ref.nope, cfg.ref.s + 1):
        cfg.d = [1, {"z": value}]
        with pytest.raises((ValueError, TypeError)) as failure:
            read(cfg)
        notes = getattr(failure.value, "__notes__", ())
        assert "cfg.d[1].z" in "\n".join([str(failure.value), *notes])


def test_items_of_lists_that_fail_say_what_they_hold(cfg):
    cfg.d = [cfg.ref.s + 1]
    for read in (lambda: cfg.d[0], lambda: list(cfg.d)):
        with pytest.raises(TypeError) as failure:
            read()
        assert failure.value.__notes__ == [
            "konfig: while reading [0] of the list: cfg.ref.s + 1"
        ]


def test_overrides_replace_references_that_fail(cfg):
    cfg.x = cfg.ref.s + 1
    cfg.d = [cfg.ref.s + 1, cfg.ref.nope]
    konfig.apply_overrides(cfg, ["x=1", "d[0]=2", "d[1]=3"])
    assert (cfg.x, cfg.d) == (1, [2, 3])


def test_a_list_with_references_is_a_list_of_their_values(cfg):
    cfg.d = [cfg.ref.a, 2, {"x": cfg.ref.s}]
    assert 10 in cfg.d
    assert (cfg.d.index(10), cfg.d.count(10)) == (0, 1)
    assert list(reversed(cfg.d))[2] == 10
    assert cfg.d[:2] > [9]
    assert not cfg.d[:2] >= [11]
    plain = list(range(1))
    for longer in (plain + cfg.d, 2 * cfg.d, cfg.d * 2):
        assert type(longer) is konfig.ConfigList
        assert 10 in longer
    cfg.a = 5
    cfg.d.remove(5)
    assert cfg.d[0] == 2
    with pytest.raises(ValueError, match="5 is not in the list"):
        cfg.d.index(5)


def test_references_of_what_is_merged_in_place_follow(cfg):
    other = ConfigDict(a=1, m={})
    other.m.x = other.ref.a + 1
    cfg |= other
    cfg.a = 20
    assert (cfg.m.x, other.m.x) == (21, 2)
    konfig.to_json(cfg)
