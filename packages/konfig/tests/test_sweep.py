"""Sweeps: which points, under which names, and that none fails half-way."""

import textwrap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict, sweep

FILE = """
import konfig
from konfig import sweep as sweeps

def get_config(size="S"):
    return konfig.ConfigDict(size=size, lr=0.1, model={"hidden": 4})

def sweep():
    yield {"lr": 1.0}
    yield {"cfg.lr": 2.0}

def sweep_size():
    return sweeps.grid({"__args__.size": ["S", "L"]})
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(textwrap.dedent(FILE))
    return str(path)


def base():
    return ConfigDict(lr=0.1, a=1, b=2, model={"hidden": 4, "name": "x"})


@pytest.mark.spec("konfig-134")
def test_a_product_holds_every_pair_under_names_that_stay():
    made = sweep.grid(a=[1, 2]) * sweep.grid(b=[3, 4])
    assert [point.name for point in made] == [
        "a=1,b=3",
        "a=1,b=4",
        "a=2,b=3",
        "a=2,b=4",
    ]
    assert [point.index for point in made] == [0, 1, 2, 3]
    assert made[1].overrides == {"a": 1, "b": 4}
    assert list(made) == list(sweep.grid(a=[1, 2], b=[3, 4]))


@pytest.mark.spec("konfig-135")
def test_a_key_in_both_factors_is_a_conflict():
    with pytest.raises(konfig.ConfigValueError, match=r"conflicting key.*'a'"):
        sweep.grid(a=[1]) * sweep.grid({"cfg.a": [2]})
    with pytest.raises(konfig.ConfigValueError, match="conflicting key"):
        sweep.points([{"a": 1, "cfg.a": 2}])


@pytest.mark.spec("konfig-136")
def test_a_misspelt_path_fails_before_the_first_point():
    made = sweep.points([{"lr": 1.0}, {"model.hiden": 3}])
    with pytest.raises(konfig.OverrideError, match="did you mean 'hidden'") as error:
        sweep.configs(base(), made)
    assert error.value.__notes__ == ["konfig: in point 1 of the sweep: hiden=3"]


def test_axes_of_a_zip_go_together():
    made = sweep.zip_({"model.hidden": [4, 128]}, lr=[1.0, 2.0])
    assert [point.overrides for point in made] == [
        {"model.hidden": 4, "lr": 1.0},
        {"model.hidden": 128, "lr": 2.0},
    ]
    with pytest.raises(konfig.ConfigValueError, match="a: 1, b: 2"):
        sweep.zip_(a=[1], b=[1, 2])


def test_sweeps_are_chained_filtered_and_sampled():
    one, two = sweep.grid(a=[1, 2]), sweep.grid(b=[3])
    assert list(one + two) == list(sweep.chain(one, two))
    assert [point.name for point in one + two] == ["a=1", "a=2", "b=3"]
    wide = sweep.grid(a=range(10), b=range(10))
    kept = wide.filter(lambda values: values["a"] < values["b"])
    assert len(kept) == 45
    drawn = wide.sample(7, seed=3)
    assert len(drawn) == 7
    assert list(drawn) == list(wide.sample(7, seed=3)) != list(wide.sample(7, seed=4))
    with pytest.raises(konfig.ConfigValueError, match="101 of 100"):
        wide.sample(101)


def test_configs_are_copies_with_the_values_of_their_point():
    start = base()
    node = konfig.call(ConfigDict, x=1)
    made = sweep.grid({"model": [node], "**.x": [7]})
    ((_, cfg),) = sweep.configs(start, made)
    assert (cfg.model.x, node.x, start.model.hidden) == (7, 1, 4)
    assert "sweep: model=" in konfig.origin(cfg, "model")
    pairs = list(sweep.configs(start, sweep.grid({"model.hidden": [1, 2]})))
    assert [cfg.model.hidden for _, cfg in pairs] == [1, 2]
    assert pairs[0][1].model is not pairs[1][1].model


def test_equal_configs_are_reported():
    with pytest.warns(UserWarning, match="points 0 and 2 .* same config: lr=0.1,a=1"):
        sweep.configs(base(), sweep.points([{"a": 1}, {"a": 2}, {"lr": 0.1, "a": 1}]))


def test_names_are_short_and_fit_for_files():
    made = sweep.points(
        [
            {"model.name": "a/b c", "opt.name": "x"},
            {"model.name": "plain", "opt.name": "a" * 40},
            {"model.name": None, "opt.name": 1e-3},
        ]
    )
    first, second, third = [point.name for point in made]
    assert third == "model.name=None,opt.name=0.001"
    assert second.startswith("model.name=plain,opt.name=")
    assert len(second) < 40
    assert "/" not in first
    assert " " not in first
    layers = sweep.grid({"layers[0].n": [1], "layers[1].n": [2]})
    assert layers[0].name == "layers_0_.n=1,layers_1_.n=2"


def test_sweeps_of_a_config_file_are_found_by_name(file):
    assert [point.name for point in sweep.load(file)] == ["lr=1.0", "lr=2.0"]
    both = sweep.load(file, "size")
    found = [cfg.size for _, cfg in sweep.configs(file, both)]
    assert found == ["S", "L"]
    with pytest.raises(konfig.ConfigFileError, match="did you mean 'size'"):
        sweep.load(file, "sise")
    with open(file, "a") as more:
        more.write("def sweep_bad():\n    return 3\n")
    with pytest.raises(konfig.ConfigTypeError, match=r"sweep_bad\(\) of .* gives 3"):
        sweep.load(file, "bad")
    with pytest.raises(konfig.OverrideError, match="no argument of a config file"):
        sweep.configs(base(), both)
    source = konfig.ConfigSource(file, {"size": "M"}, ("model.hidden=9",))
    ((_, cfg), _) = sweep.configs(source, sweep.grid(lr=[1.0, 2.0]))
    assert (cfg.size, cfg.model.hidden, cfg.lr) == ("M", 9, 1.0)


def test_what_is_no_list_of_values_is_refused():
    with pytest.raises(konfig.ConfigTypeError, match=r"write a=\[…\]"):
        sweep.grid(a="text")
    with pytest.raises(konfig.ConfigTypeError, match="a point is a mapping"):
        sweep.points([3])
    with pytest.raises(konfig.ConfigTypeError, match="cannot stand in a config"):
        sweep.grid(a=[object()])


AXES = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.integers(), max_size=3, unique=True), max_size=3
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(AXES)
def test_a_grid_is_as_long_as_the_product_of_its_axes_and_has_no_name_twice(axes):
    made = sweep.grid(axes)
    size = 1
    for values in axes.values():
        size *= len(values)
    assert len(made) == size
    assert len({point.name for point in made}) == size
