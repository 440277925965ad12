"""Config dicts of ml_collections, by path."""

import subprocess
import sys

import pytest

import kontext
from kontext import PathLookupError, PathTypeError


@pytest.fixture(scope="module")
def configs():
    found = pytest.importorskip(
        "ml_collections", reason="these tests read and change its configs"
    )
    from kontext.integrations.ml_collections import register_config_dicts

    register_config_dicts()
    return found


@pytest.fixture
def config(configs):
    made = configs.ConfigDict({"opt": {"lr": 0.1, "betas": (0.9, 0.99)}, "steps": 10})
    made.eval = configs.ConfigDict({"lr": 0.5, "every": 2})
    return made


def test_without_the_library_there_is_nothing_to_register():
    code = (
        "import kontext\n"
        "from kontext.integrations.ml_collections import register_config_dicts\n"
        "try:\n"
        "  register_config_dicts()\n"
        "except kontext.PathTypeError as error:\n"
        "  assert 'import it first' in str(error)\n"
        "else:\n"
        "  raise AssertionError\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_fields_are_read_and_flattened(config):
    assert kontext.get(config, "opt.betas[1]") == 0.99
    assert kontext.get_all(config, "**.lr") == {"opt.lr": 0.1, "eval.lr": 0.5}
    assert kontext.flatten(config, is_leaf=lambda node: isinstance(node, tuple)) == {
        "opt.lr": 0.1,
        "opt.betas": (0.9, 0.99),
        "steps": 10,
        "eval.lr": 0.5,
        "eval.every": 2,
    }
    with pytest.raises(PathLookupError, match=r"did you mean: opt\.lr"):
        kontext.get(config, "opt.lrr")


def test_values_of_references_are_read(configs, config):
    config.opt.lr2 = config.opt.get_ref("lr")
    assert kontext.get(config, "opt.lr2") == 0.1


def test_fields_are_set_under_the_rules_of_the_config(config):
    assert kontext.set(config, "**.lr", 0.2) == ["eval.lr", "opt.lr"]
    assert config.opt.lr == config.eval.lr == 0.2
    with pytest.raises(TypeError):
        kontext.set(config, "steps", "many")
    assert config.steps == 10


def test_a_change_that_fails_is_taken_back(config):
    with pytest.raises(TypeError):
        kontext.set(config, "*.lr", "fast")
    assert config.opt.lr == 0.1 and config.eval.lr == 0.5


def test_copies_are_of_the_same_kind(configs, config):
    config.lock()
    changed = kontext.update(config, "opt.lr", 0.3)
    assert type(changed) is configs.ConfigDict and changed.is_locked
    assert changed.opt.lr == 0.3 and config.opt.lr == 0.1
    assert kontext.unflatten(kontext.flatten(config), like=config) == config
    kept = kontext.filter(config, "**.lr")
    assert kontext.flatten(kept) == {"opt.lr": 0.1, "eval.lr": 0.5}


def test_a_frozen_config_is_copied_and_not_written(configs, config):
    frozen = configs.FrozenConfigDict(config)
    with pytest.raises(PathTypeError, match="immutable"):
        kontext.set(frozen, "opt.lr", 0.2)
    changed = kontext.update(frozen, "opt.lr", 0.2)
    assert type(changed) is configs.FrozenConfigDict
    assert changed.opt.lr == 0.2 and frozen.opt.lr == 0.1
