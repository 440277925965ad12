"""imports(): proxies, what they refuse, and what stays untouched."""

import builtins
import sys
import threading

import pytest

import konfig
from konfig import ConfigDict, Const

with konfig.imports():
    import fractions as F
    import os.path
    import types as T
    from types import SimpleNamespace

with konfig.imports(lazy=True):
    import types as L
    from pathlib import Path as LazyPath

    import not_installed.sub
    import numpy as np_proxy


class Strict:
    def __init__(self, hidden, *, rate=0.1):
        self.hidden = hidden
        self.rate = rate


def hijack_test():
    import decimal

    return decimal.Decimal("1")


@pytest.mark.spec("konfig-6")
def test_every_name_of_a_proxy_is_a_name_of_the_target():
    assert np_proxy.copy([1])["__qualname__"] == "numpy:copy"


@pytest.mark.spec("konfig-7")
@pytest.mark.parametrize("name", ["update", "items", "name", "parent", "keys"])
def test_no_name_of_a_proxy_is_its_own(name):
    before = L.X(x=1)
    cfg = ConfigDict({"f": getattr(L, name)})
    assert cfg.f == Const(f"types:{name}")
    assert L.X(x=1) == before


@pytest.mark.spec("konfig-8")
def test_from_import_of_an_attribute():
    assert SimpleNamespace()["__qualname__"] == "types:SimpleNamespace"


@pytest.mark.spec("konfig-9")
def test_a_lazy_class_method_is_found():
    import pathlib

    assert konfig.resolve(LazyPath.cwd()) == pathlib.Path.cwd()


@pytest.mark.spec("konfig-10")
def test_main_can_be_imported_from():
    namespace = {"__name__": "somewhere"}
    main = sys.modules["__main__"]
    main.konfig_test_class = Strict
    try:
        exec(
            "import konfig\n"
            "with konfig.imports():\n"
            "    from __main__ import konfig_test_class as C\n"
            "cfg = C(3)\n",
            namespace,
        )
        assert namespace["cfg"]["__qualname__"] == "__main__:konfig_test_class"
        assert konfig.resolve(namespace["cfg"]).hidden == 3
    finally:
        del main.konfig_test_class


def run_block(body, lazy=False):
    source = f"import konfig\nwith konfig.imports(lazy={lazy}):\n    {body}\n"
    namespace = {"__name__": "somewhere"}
    exec(source, namespace)
    return namespace


@pytest.mark.spec("konfig-12")
def test_a_star_import_is_refused():
    with pytest.raises(konfig.ConfigImportError, match="star"):
        run_block("from types import *")
    assert not isinstance(builtins.__import__, type(konfig.imports()))


def test_missing_modules_and_names_suggest_near_ones():
    with pytest.raises(ImportError, match="fractions") as error:
        run_block("import fraction")
    assert "lazy=True" in str(error.value)
    with pytest.raises(konfig.ConfigImportError, match="did you mean 'Fraction'"):
        run_block("from fractions import Fractio")
    with pytest.raises(konfig.ConfigImportError, match="without a package"):
        run_block("from . import x")


def test_a_module_a_little_alike_by_chance_is_not_suggested():
    with pytest.raises(ImportError, match="cannot import 'exampler'") as error:
        run_block("import exampler")  # 0.62 like `tempfile`
    assert "did you mean" not in str(error.value)


def test_a_missing_module_is_accepted_lazily_and_fails_in_resolve_with_its_path():
    cfg = ConfigDict(m=not_installed.sub.Model(3))
    with pytest.raises(konfig.ConfigImportError, match=r"not_installed") as error:
        konfig.resolve(cfg)
    assert "cfg.m" in str(error.value)
    assert "test_imports.py" in str(error.value)


@pytest.mark.spec("konfig-13")
def test_functions_called_in_the_block_import_for_real():
    import decimal

    with konfig.imports():
        value = hijack_test()
    assert isinstance(value, decimal.Decimal)


@pytest.mark.spec("konfig-14")
def test_other_threads_import_for_real():
    found = []

    def work():
        import tomllib

        found.append(tomllib)

    with konfig.imports():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [sys.modules["tomllib"]]


@pytest.mark.spec("konfig-15")
def test_overlapping_blocks_of_two_threads_restore_the_import():
    original = builtins.__import__
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    def first():
        with konfig.imports():
            first_in.set()
            second_in.wait(5)
        first_out.set()

    def second():
        first_in.wait(5)
        with konfig.imports():
            second_in.set()
            first_out.wait(5)

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first_out.is_set()
    assert builtins.__import__ is original


def test_a_block_inside_a_function_binds_proxies_there():
    with konfig.imports():
        import fractions as local
    assert local.Fraction(1)["__qualname__"] == "fractions:Fraction"
    import fractions

    assert fractions is sys.modules["fractions"]


@pytest.mark.spec("konfig-16")
def test_an_exception_in_the_block_passes_unchanged():
    original = builtins.__import__
    error = RuntimeError("mine")
    with pytest.raises(RuntimeError) as caught:
        with konfig.imports():
            raise error
    assert caught.value is error
    assert builtins.__import__ is original


@pytest.mark.spec("konfig-17")
def test_names_do_not_depend_on_what_was_imported_since(tmp_path, monkeypatch):
    package = tmp_path / "pp"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sub.py").write_text("class Cls:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    x = run_block("from pp import sub\nx = sub.Cls()", lazy=True)["x"]
    y = run_block("import pp.sub\ny = pp.sub.Cls()", lazy=True)["y"]
    z = run_block("from pp import sub\nz = sub.Cls()")["z"]
    assert x == y == z
    assert konfig.fingerprint(x) == konfig.fingerprint(y) == konfig.fingerprint(z)
    assert len({type(konfig.resolve(node)) for node in (x, y, z)}) == 1


@pytest.mark.spec("konfig-18")
def test_a_misspelt_name_fails_at_its_line():
    with pytest.raises(konfig.ConfigAttributeError, match="did you mean 'Fraction'"):
        F.Frction(1)


def test_a_misspelt_keyword_fails_at_its_line():
    strict = konfig.proxy(Strict)
    with pytest.raises(TypeError, match="did you mean 'hidden'"):
        strict(hiden=3)
    with pytest.raises(TypeError, match="takes 1 positional argument, got 2"):
        strict(1, 2)
    with pytest.raises(TypeError, match="twice"):
        strict(1, hidden=2)
    node = strict(1)
    with pytest.raises(AttributeError, match="did you mean 'rate'"):
        node.rat = 3
    node.rate = 0.5
    assert konfig.resolve(node).rate == 0.5


def test_a_parameter_given_by_position_is_addressed_by_name():
    node = konfig.proxy(Strict)(1)
    node.hidden = 32
    assert node.hidden == node[0] == 32
    assert konfig.resolve(node).hidden == 32


@pytest.mark.spec("konfig-21")
def test_subclassing_a_proxy_is_refused():
    with pytest.raises(konfig.ConfigTypeError, match=r"types:X.*") as error:

        class A(L.X):
            pass

    assert "konfig.imports" in str(error.value)


@pytest.mark.parametrize(
    "use",
    [
        lambda proxy: proxy * 2,
        lambda proxy: proxy[0],
        lambda proxy: list(proxy),
        lambda proxy: isinstance(3, proxy),
        lambda proxy: -proxy,
        lambda proxy: setattr(proxy, "x", 1),
    ],
)
def test_uses_that_need_the_real_thing_are_refused(use):
    with pytest.raises(konfig.ConfigTypeError, match="types:SimpleNamespace is a"):
        use(T.SimpleNamespace)


def test_proxies_show_the_real_documentation_and_signature():
    import fractions
    import inspect

    assert F.Fraction.__doc__ == fractions.Fraction.__doc__
    assert F.Fraction.__name__ == "Fraction"
    assert inspect.signature(F.gcd if hasattr(F, "gcd") else F.Fraction)
    assert "Fraction" in dir(F)


def test_modules_under_other_names_keep_the_imported_name():
    assert os.path.join("a", "b")["__qualname__"] == "os.path:join"


@pytest.mark.spec("konfig-126")
def test_call_describes_a_class_defined_anywhere():
    node = konfig.call(Strict, hidden=3)
    assert node["__qualname__"] == f"{Strict.__module__}:Strict"
    assert konfig.resolve(node).hidden == 3
    with pytest.raises(konfig.ConfigTypeError):
        konfig.call(lambda: 1)


def test_partial_and_const_describe_real_objects():
    assert konfig.resolve(konfig.partial(Strict, rate=0.5))(1).rate == 0.5
    assert konfig.const(Strict) == Const(f"{Strict.__module__}:Strict")
    assert konfig.const(sys) == Const("sys:")
    with pytest.raises(konfig.ConfigTypeError):
        konfig.const(3)


def test_lazy_modules_cover_prefixes_and_exclusions_win():
    with konfig.lazy_modules("not_there", except_="types"):
        with konfig.lazy_modules():
            run_block("import not_there.at_all")
            with pytest.raises(konfig.ConfigAttributeError):
                run_block("import types\ntypes.Nope")
        with pytest.raises(ImportError):
            run_block("import not_there_either")
    with pytest.raises(ImportError):
        run_block("import not_there")


def test_checks_can_be_switched_off():
    namespace = {"__name__": "somewhere"}
    exec(
        "import konfig\n"
        "with konfig.imports(check='off'):\n"
        "    import fractions\n"
        "cfg = fractions.Frction(nope=1)\n",
        namespace,
    )
    assert namespace["cfg"]["__qualname__"] == "fractions:Frction"
    with pytest.raises(konfig.ConfigValueError, match="'types' or 'off'"):
        konfig.imports(check="sometimes")
