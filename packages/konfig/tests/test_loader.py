"""Config files, their arguments, and the command line."""

import gc
import os
import sys
import textwrap
import weakref

import pytest

import konfig
from konfig import ConfigDict
from konfig.cli import parse

FILE = """
import dataclasses
import konfig

with konfig.imports():
    import types as T

@dataclasses.dataclass
class Args:
    size: str = "S"
    n: int = 3
    dims: tuple[int, ...] = (1, 2)

def get_config(args: Args):
    cfg = konfig.ConfigDict(aux=args, n=args.n, flag=False, name="x")
    cfg.model = T.SimpleNamespace(hidden=16)
    cfg.twice = cfg.ref.n * 2
    return cfg

def other():
    return konfig.ConfigDict(which="other")

def keywords(size="S", n=3, *, deep: bool = False):
    return konfig.ConfigDict(size=size, n=n, deep=deep)

def not_a_config():
    return 3

def fails():
    raise KeyError("mine")

def needs(a, b=1):
    return konfig.ConfigDict(a=a)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "vit.py"
    path.write_text(FILE)
    return str(path)


@pytest.mark.case("007")
def test_loading_with_overrides_is_one_call(file):
    cfg = konfig.load(file, ["n=5", "model.hidden=4"])
    assert (cfg.n, cfg.twice, cfg.model.hidden) == (5, 10, 4)
    assert konfig.load_config(file, args={"n": 7}).twice == 14


def test_a_source_is_built_once(file):
    source = konfig.ConfigSource(file, overrides=("n=5",))
    assert source.build() is source.build()
    assert source == konfig.ConfigSource(file, overrides=("n=5",))


@pytest.mark.spec("konfig-117")
def test_arguments_follow_the_file(file):
    assert konfig.load(f"{file}:size=L,n=4,dims=[3,4]").aux == {
        "size": "L",
        "n": 4,
        "dims": (3, 4),
    }
    assert konfig.load(f"{file}@keywords:size=5,deep=yes") == {
        "size": "5",
        "n": 3,
        "deep": True,
    }
    with pytest.raises(konfig.OverrideError, match="value is missing"):
        konfig.load(f"{file}:size")


@pytest.mark.spec("konfig-118", "konfig-119", "konfig-120")
def test_arguments_are_typed(file):
    with pytest.raises(konfig.OverrideError, match="expected int, got 'abc'"):
        konfig.load(file, ["__args__.n=abc"])
    assert konfig.load(file, ["__args__.dims[0]=3"]).aux.dims == (3, 2)
    with pytest.raises(konfig.OverrideError, match="arguments: size, n, dims"):
        konfig.load(file, ["__args__.nope=1"])
    with pytest.raises(konfig.ConfigFileError, match="needs the arguments a"):
        konfig.load(f"{file}@needs")


@pytest.mark.spec("konfig-121")
def test_files_do_not_see_each_other(file, tmp_path):
    konfig.load(file)
    (tmp_path / "second.py").write_text("x = 1\ndef get_confg():\n    pass\n")
    with pytest.raises(konfig.ConfigFileError, match="did you mean 'get_confg'"):
        konfig.load(tmp_path / "second.py")


def test_other_functions_and_modules(file, tmp_path, monkeypatch):
    assert konfig.load(f"{file}@other").which == "other"
    monkeypatch.syspath_prepend(str(tmp_path))
    assert konfig.load_config("vit:other").which == "other"
    assert konfig.load_config("vit").n == 3
    with pytest.raises(konfig.ConfigFileError, match="no config file or module"):
        konfig.load_config("vit_nope")


def test_modules_are_read_by_the_name_that_kauldron_has_for_it(file, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(file))
    name = "vit"
    cfg = konfig.get_config_from_module(name, "size=L,n=5")
    assert (cfg.aux.size, cfg.twice) == ("L", 10)
    assert konfig.get_config_from_module(name).n == 3
    assert konfig.get_config_from_module(sys.modules[name], "n=7").n == 7
    with pytest.raises(konfig.OverrideError, match="expected int"):
        konfig.get_config_from_module(sys.modules[name], "n=many")
    with pytest.raises(konfig.ConfigFileError, match="has no function 'get_config'"):
        konfig.get_config_from_module("json")
    del sys.modules[name]


def test_faulty_files_are_named(file, tmp_path):
    with pytest.raises(konfig.ConfigFileError, match=r"did you mean 'vit.py'"):
        konfig.load(tmp_path / "vitt.py")
    with pytest.raises(konfig.ConfigValueError, match="gave int, not a config"):
        konfig.load(f"{file}@not_a_config")
    with pytest.raises(KeyError) as error:
        konfig.load(f"{file}@fails")
    assert type(error.value) is KeyError
    assert f"while running fails of {file}:" in error.value.__notes__[0]
    (tmp_path / "broken.py").write_text("def f(:\n")
    with pytest.raises(SyntaxError) as caught:
        konfig.load(tmp_path / "broken.py")
    assert "broken.py" in caught.value.__notes__[0]


def test_a_json_file_is_a_source_of_untrusted_data(file, tmp_path):
    konfig.save(konfig.load(file), tmp_path / "config.json")
    cfg = konfig.load_config(tmp_path / "config.json", overrides=["n=5"])
    assert cfg.twice == 10
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(cfg)
    assert konfig.resolve(cfg, trusted=True).twice == 10
    with pytest.raises(konfig.ConfigFileError, match="takes no arguments"):
        konfig.load_config(f"{tmp_path}/config.json:n=5")


@pytest.mark.spec("konfig-124")
def test_locals_of_the_config_function_are_not_kept():
    class Big:
        pass

    def get_config():
        big = Big()
        refs.append(weakref.ref(big))
        return ConfigDict(a={"b": 1})

    refs = []
    cfg = get_config()
    gc.collect()
    assert refs[0]() is None
    assert cfg.a.b == 1


def test_names_of_the_file_can_be_used_on_the_command_line(file):
    cfg = konfig.load(file, ["model=py::T.SimpleNamespace(hidden=9)"])
    assert konfig.resolve(cfg).model.hidden == 9


@pytest.mark.spec("konfig-111")
@pytest.mark.parametrize(
    "argv",
    [
        ["--cfg={}", "--cfg.n=5", "--cfg.name=y"],
        ["--cfg.n=5", "--cfg.name=y", "--cfg={}"],
        ["{}", "n=5", "name=y"],
        ["n=5", "{}", "--cfg.name=y"],
        ["--cfg", "{}", "--cfg.n", "5", "--cfg.name", "y"],
        ["--cfg.n", "5", "{}", "name=y"],
    ],
)
def test_both_spellings_in_any_order(file, argv):
    source, rest = parse([word.format(file) for word in argv])
    cfg = source.build()
    assert (cfg.n, cfg.name, rest) == (5, "y", [])


@pytest.mark.spec("konfig-103")
@pytest.mark.case("022", "023")
def test_values_behind_a_space_and_bare_flags(file):
    def build(*argv):
        return parse([file, *argv])[0].build()

    assert build("--cfg.model.hidden", "12").model.hidden == 12
    assert build("--cfg.n", "-3").twice == -6
    assert build("--cfg.flag").flag is True
    assert build("--cfg.flag", "--cfg.n=4").flag is True
    assert build("--cfg.flag=1", "--nocfg.flag").flag is False
    for flag in ("--cfg.n", "--nocfg.n"):
        with pytest.raises(konfig.OverrideError, match=r"write --cfg\.n=VALUE"):
            build(flag)
    source, _ = parse(["--cfg.flag", file])
    assert source.build().flag is True


def test_what_is_not_about_the_config_is_left(file):
    source, rest = parse(["--x=1", file, "word", "--", "n=5"])
    assert rest == ["--x=1", "word", "n=5"]
    assert source.build().n == 3
    with pytest.raises(konfig.OverrideError, match="two config files"):
        parse([f"--cfg={file}", "--cfg=other.py"])


def test_a_missing_file_flag(file):
    with pytest.raises(konfig.OverrideError, match="--cfg is required"):
        parse(["--cfg.n=5"])
    assert parse(["a", "b"], name="cfg")[0].path == "a"
    assert parse(["--verbose"], required=False) == (None, ["--verbose"])
    with pytest.raises(konfig.OverrideError, match="--conf names none"):
        parse(["--conf.n=5"], name="conf", required=False)
    with pytest.raises(konfig.OverrideError, match="column 3"):
        parse([file, "--cfg.n..x=5"])


def test_relative_origins_point_into_the_file(tmp_path, monkeypatch):
    (tmp_path / "small.py").write_text(
        textwrap.dedent(
            """
            import konfig

            def get_config():
                return konfig.ConfigDict(a=1)
            """
        )
    )
    monkeypatch.chdir(tmp_path)
    cfg = konfig.load("small.py")
    with pytest.raises(AttributeError, match=r"created: small.py:5 in get_config"):
        cfg.b  # noqa: B018


def test_no_argv_means_that_of_the_process(file, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["prog", file, "n=9"])
    assert parse()[0].build().n == 9


def test_a_class_of_a_config_file_has_one_name(tmp_path):
    text = (
        "import konfig\n"
        "class Model: pass\n"
        "def get_config():\n"
        "    return konfig.ConfigDict(m=konfig.call(Model))\n"
    )
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.py").write_text(text)
        found.append(konfig.load_config(tmp_path / folder / "config.py"))
    assert found[0] == found[1]
    assert konfig.fingerprint(found[0]) == konfig.fingerprint(found[1])
    (problem,) = konfig.validate(found[0])
    assert (problem.kind, problem.level) == ("main", "warning")
    assert type(konfig.resolve(found[0]).m).__name__ == "Model"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ("import konfig\nwith konfig.imports():\n    import examples_of_nobody", 3),
        ("x = 1\ny = [\nz = 3", 2),
        ("def f():\n    return 1 / 0\n\nx = f()", 2),
    ],
)
def test_an_error_in_a_config_file_names_its_line(tmp_path, lines, line):
    file = tmp_path / "broken.py"
    file.write_text(lines)
    with pytest.raises(Exception) as caught:
        konfig.load(file)
    notes = caught.value.__notes__
    assert f"konfig: while running the config file {file}:{line}" in notes


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "no config file or module"),
        (".", "no config file or module"),
        ("vit", "did you mean 'vit.py'?"),
        ("folder.py", "is a folder, not a config file"),
    ],
)
def test_what_is_no_config_file_is_told_apart(tmp_path, monkeypatch, name, fault):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vit.py").write_text("def get_config(): pass\n")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(konfig.ConfigFileError, match=fault.replace("?", r"\?")):
        konfig.load_config(name)
    with pytest.raises(konfig.ConfigValueError, match="return cfg"):
        konfig.load_config("vit.py")


def test_an_error_in_a_function_of_a_config_file_names_its_line(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text(
        "import konfig\n\n\ndef get_config():\n    return konfig.ConfigDict(a=1).b\n"
    )
    with pytest.raises(konfig.ConfigAttributeError) as caught:
        konfig.load(file)
    assert caught.value.__notes__ == [f"konfig: while running get_config of {file}:5"]
