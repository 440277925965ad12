"""The etils shim, on small packages that stand for etils and jax."""

import importlib
import importlib.util
import sys
import threading
from pathlib import Path

import pytest

from ktyping.compat import etils as shim

BROKEN = """
def _is_jax_random_dtype(dtype):
    import jax
    return isinstance(dtype, jax._src.prng.KeyTy)
"""
PUBLIC = """
def _is_jax_random_dtype(dtype):
    import jax
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)
"""
WITHOUT = "VALUE = 1\n"
JAX = """
class dtypes:
    prng_key = object()

    @staticmethod
    def issubdtype(dtype, other):
        if not isinstance(dtype, str):
            raise TypeError("no dtype")
        return dtype == "key"

class _src:
    pass
"""


@pytest.fixture(autouse=True)
def clean_import_state(monkeypatch):
    monkeypatch.delenv("KTYPING_ETILS_SHIM", raising=False)
    finders = list(sys.meta_path)
    shim.uninstall()  # another test of this process may have imported ktrain
    names = [n for n in sys.modules if n.split(".")[0] in ("etils", "jax")]
    kept = {name: sys.modules.pop(name) for name in names}
    yield
    for name in [n for n in sys.modules if n.split(".")[0] in ("etils", "jax")]:
        del sys.modules[name]
    sys.modules.update(kept)
    sys.meta_path[:] = finders
    importlib.invalidate_caches()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch):
    """Returns a function that puts a fake etils, and a fake jax, on the path."""
    hidden = [p for p in sys.path if not _holds_the_real_ones(p)]

    def make(array_spec: str | None, jax: str = "moved") -> None:
        if array_spec is not None:
            enp = tmp_path / "etils" / "enp"
            enp.mkdir(parents=True)
            (tmp_path / "etils" / "__init__.py").write_text("")
            (enp / "__init__.py").write_text("")
            (enp / "array_spec.py").write_text(array_spec)
        if jax != "none":
            source = tmp_path / "jax" / "_src"
            source.mkdir(parents=True)
            (tmp_path / "jax" / "__init__.py").write_text(JAX)
            if jax == "old":
                (source / "prng.py").write_text("")
        monkeypatch.setattr(sys, "path", [str(tmp_path), *hidden])
        importlib.invalidate_caches()

    return make


def _holds_the_real_ones(path: str) -> bool:
    return any((Path(path or ".") / name).exists() for name in ("etils", "jax"))


def load():
    return importlib.import_module("etils.enp.array_spec")


def finders():
    return [f for f in sys.meta_path if type(f) is shim._Finder]


@pytest.mark.spec("ktyping-102")
def test_the_shim_waits_for_the_module_and_then_patches_it(packages):
    packages(BROKEN)
    assert shim.install().state == "pending"
    assert "etils" not in sys.modules and "jax" not in sys.modules

    module = load()

    assert shim.status().state == "patched"
    assert not finders()
    importlib.import_module("jax")
    assert module._is_jax_random_dtype("key") is True
    assert module._is_jax_random_dtype("float32") is False
    assert module._is_jax_random_dtype(object()) is False


def test_without_the_shim_the_broken_function_fails(packages):
    packages(BROKEN)
    with pytest.raises(AttributeError, match="prng"):
        load()._is_jax_random_dtype("float32")


def test_the_patched_function_answers_false_while_jax_is_not_loaded(packages):
    packages(BROKEN)
    shim.install()
    module = load()
    assert module._is_jax_random_dtype("key") is False
    assert "jax" not in sys.modules


def test_a_module_that_is_loaded_already_is_patched_at_once(packages):
    packages(BROKEN)
    module = load()
    original = module._is_jax_random_dtype
    assert shim.status().state == "pending"
    assert shim.install().state == "patched"
    assert module._is_jax_random_dtype is not original
    assert not finders()


@pytest.mark.spec("ktyping-103")
def test_installing_twice_changes_nothing_more(packages):
    packages(BROKEN)
    shim.install()
    shim.install()
    assert len(finders()) == 1
    module = load()
    patched = module._is_jax_random_dtype
    assert shim.install().state == "patched"
    assert module._is_jax_random_dtype is patched
    assert not finders()


@pytest.mark.spec("ktyping-104")
@pytest.mark.parametrize(
    ("array_spec", "jax"),
    [(BROKEN, "old"), (PUBLIC, "moved"), (WITHOUT, "moved"), (BROKEN, "none")],
    ids=["old jax", "etils asks the public API", "etils never asks", "no jax"],
)
def test_a_healthy_pair_is_left_alone(packages, array_spec, jax):
    packages(array_spec, jax)
    module = load()
    before = dict(vars(module))
    status = shim.install()
    assert status.state == "healthy"
    assert status.reason
    assert dict(vars(module)) == before


@pytest.mark.parametrize("value", ["_is_jax_random_dtype = 3\n", "def other(): pass\n"])
def test_an_unexpected_etils_is_healthy_with_a_reason(packages, value):
    packages(value)
    load()
    assert shim.install() == shim.status()
    assert "no function" in shim.status().reason


@pytest.mark.spec("ktyping-105")
def test_without_etils_there_is_nothing_to_do(packages):
    packages(None)
    before = set(sys.modules)
    assert shim.install().state == "absent"
    assert not finders()
    assert not {n for n in set(sys.modules) - before if n.startswith(("etils", "jax"))}


@pytest.mark.spec("ktyping-105")
def test_the_variable_disables_the_shim(packages, monkeypatch):
    packages(BROKEN)
    monkeypatch.setenv("KTYPING_ETILS_SHIM", "0")
    assert shim.install().state == "disabled"
    assert shim.status().state == "disabled"
    assert not finders()
    with pytest.raises(AttributeError):
        load()._is_jax_random_dtype("float32")


def test_uninstall_puts_the_original_back(packages):
    packages(BROKEN)
    shim.install()
    module = load()
    assert module._is_jax_random_dtype.__code__.co_filename == shim.__file__
    shim.uninstall()
    assert module._is_jax_random_dtype.__code__.co_filename == module.__file__
    assert shim.status().state == "pending"


def test_uninstall_before_the_module_is_loaded_stops_waiting(packages):
    packages(BROKEN)
    shim.install()
    shim.uninstall()
    assert not finders()
    assert load()._is_jax_random_dtype.__name__ == "_is_jax_random_dtype"
    assert not hasattr(load()._is_jax_random_dtype, shim._ORIGINAL)


def test_looking_for_the_module_does_not_use_up_the_shim(packages):
    packages(BROKEN)
    shim.install()
    assert importlib.util.find_spec("etils.enp.array_spec") is not None
    assert len(finders()) == 1
    load()
    assert shim.status().state == "patched"


def test_the_module_keeps_its_own_loader_and_source(packages):
    packages(BROKEN)
    shim.install()
    module = load()
    assert module.__loader__ is module.__spec__.loader
    assert "KeyTy" in module.__loader__.get_source(module.__name__)


def test_after_a_reload_install_patches_again(packages):
    packages(BROKEN)
    shim.install()
    module = importlib.reload(load())
    assert shim.status().state == "pending"
    assert shim.install().state == "patched"
    assert hasattr(module._is_jax_random_dtype, shim._ORIGINAL)


def test_many_threads_install_one_finder(packages):
    packages(BROKEN)
    threads = [threading.Thread(target=shim.install) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(finders()) == 1


def test_importing_ktyping_does_not_install_the_shim():
    assert not finders()
