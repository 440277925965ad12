"""What classes and programs tell konfig: hooks, converters, aliases."""

import pytest

import konfig
from konfig import ConfigDict


class Keeps:
    __konfig_resolve_exclude_fields__ = ("body",)

    def __init__(self, x, body):
        self.x, self.body = x, body


class KeepsOne(Keeps):
    __konfig_resolve_exclude_fields__ = "body"


@pytest.mark.parametrize("kind", [Keeps, KeepsOne])
def test_an_excluded_argument_stays_a_config_however_it_is_given(kind):
    cfg = ConfigDict(part=konfig.call(dict, a=1), set=konfig.required(int))
    cfg.set = 3
    given = {
        "keyword": konfig.call(kind, 1, body=konfig.call(dict, a=1)),
        "position": konfig.call(kind, 1, konfig.call(dict, a=1)),
        "reference": konfig.call(kind, 1, cfg.ref.part),
    }
    cfg.update(given)
    built = konfig.resolve(cfg)
    for name in given:
        assert type(built[name].body) is ConfigDict
        assert built[name].body == konfig.call(dict, a=1)
    declared = ConfigDict(k=konfig.call(kind, 1, body=konfig.required(int)))
    declared.k.body = 3
    assert konfig.resolve(declared).k.body == 3


@pytest.mark.parametrize("kind", [int, dict, list, tuple, ConfigDict, konfig.Const])
def test_types_of_configs_themselves_have_no_converter(kind):
    with pytest.raises(konfig.ConfigTypeError, match="a type of configs themselves"):
        konfig.register_converter(kind, str)
    assert ConfigDict(a=[{"x": (1,)}]).a[0].x == (1,)


@pytest.mark.parametrize("aliases", ["x", {3: "a"}, {"a": 4}, None])
def test_aliases_are_texts(aliases):
    with pytest.raises(konfig.ConfigTypeError, match="short names by module"):
        konfig.register_aliases(aliases)
