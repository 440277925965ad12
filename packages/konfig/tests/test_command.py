"""The command `konfig`, `--cfg.help`, and programs made of a function."""

import json
import pathlib
import subprocess
import sys
import textwrap

import pytest

import konfig
from konfig.cli import command, main, parse
from konfig.cli._help import help_text
from konfig.cli._views import origins, text_of

FILE = """
import konfig

with konfig.imports():
    import textwrap as T

class Model:
    '''A model.

    Args:
      hidden: How many units. More are slower.
      rate: Of dropping,
        from 0 to 1.
    '''
    def __init__(self, hidden: int, rate: float = 0.5):
        pass

def get_config(size: str = "S"):
    cfg = konfig.ConfigDict(size=size, steps=10, dims=(1, 2))
    cfg.half = cfg.ref.steps // 2
    cfg.lr = konfig.placeholder(float, default=0.1, doc="How fast.")
    cfg.model = konfig.call(Model, 3)
    cfg.text = T.dedent(" x")
    return cfg

def sweep_steps():
    yield {"steps": 1}
    yield {"steps": 2, "model.hidden": 4}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(textwrap.dedent(FILE))
    return str(path)


@pytest.fixture
def saved(file, tmp_path):
    path = tmp_path / "saved.json"
    konfig.save(konfig.ConfigDict(a=1, b={"c": [1, 2]}), path)
    return str(path)


def run(capsys, *words):
    code = command(words)
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.spec("konfig-138")
def test_equal_configs_differ_in_nothing(saved, capsys):
    assert run(capsys, "diff", saved, saved) == (0, "", "")


def test_differences_are_printed_and_told_by_the_exit_code(saved, tmp_path, capsys):
    other = tmp_path / "other.json"
    konfig.save(konfig.ConfigDict(a=2, b={"c": [1]}), other)
    code, out, _ = run(capsys, "diff", saved, str(other))
    assert (code, out) == (1, "~ a: 1 → 2\n- b.c[1]: 2\n")
    code, out, _ = run(capsys, "diff", saved, str(other), "--ignore", "b", "--json")
    assert (code, [row["path"] for row in json.loads(out)]) == (1, ["a"])
    assert run(capsys, "diff", saved, str(other), "--ignore=a", "--ignore=b")[0] == 0
    code, _, err = run(capsys, "diff", saved)
    assert code == 2
    assert "usage: konfig diff A B" in err


def test_a_config_is_shown_as_source_json_or_lines(file, capsys):
    code, out, _ = run(capsys, "show", f"{file}:size=L", "--cfg.steps=20")
    assert code == 0
    assert "cfg.steps = 20" in out
    namespace = {}
    exec(konfig.to_python(konfig.load_config(file), lazy=True), namespace)
    assert namespace["get_config"]() == konfig.load_config(file)
    _, out, _ = run(capsys, "show", file, "steps=20", "--format=flat")
    assert "steps = 20\n" in out
    assert "half = 10  ← cfg.ref.steps // 2\n" in out
    assert "dims = (1, 2)\n" in out
    _, out, _ = run(capsys, "show", file, "--format", "flat", "--refs", "resolve")
    assert "half = 5\n" in out
    _, out, _ = run(capsys, "json", file, "--cfg.steps", "30", "--indent", "1")
    assert konfig.from_json(out).steps == 30
    assert "\n" in out.strip()


def test_origins_name_the_line_or_the_flag(file, capsys):
    _, out, _ = run(capsys, "show", file, "--cfg.steps=20", "--origin")
    rows = {line.split()[0]: line for line in out.splitlines()}
    assert "--cfg.steps=20 on the command line" in rows["steps"]
    assert "config.py:20 in get_config" in rows["half"]


def test_problems_are_printed_one_a_line(file, saved, tmp_path, capsys):
    assert run(capsys, "validate", saved) == (0, "", "")
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import konfig\n"
        "def get_config():\n"
        "    cfg = konfig.ConfigDict(a=konfig.required(int))\n"
        "    cfg.b = cfg.ref.nope\n"
        "    return cfg\n"
    )
    code, out, _ = run(capsys, "validate", str(bad))
    assert code == 1
    assert [line.partition(":")[0] for line in out.splitlines()] == ["cfg.a", "cfg.b"]
    assert "bad.py:3 in get_config" in out
    code, out, _ = run(capsys, "validate", str(bad), saved, "--no-import")
    assert (code, out.count(f"{bad}: cfg.")) == (1, 2)
    evil = tmp_path / "evil.json"
    evil.write_text('{"f": {"__qualname__": "colorsys:nope"}}')
    assert "named by data" in run(capsys, "validate", str(evil))[1]
    code, out, _ = run(capsys, "validate", str(evil), "--trusted")
    assert (code, "no attribute 'nope'" in out) == (1, True)


def test_a_part_is_built_and_data_asks_first(file, tmp_path, capsys):
    assert run(capsys, "resolve", file, "--path", "text") == (0, "'x'\n", "")
    path = tmp_path / "data.json"
    path.write_text('{"f": {"__qualname__": "fractions:Fraction", "0": 1, "1": 2}}')
    code, out, err = run(capsys, "resolve", str(path))
    assert (code, out) == (3, "")
    assert "UnsafeTargetError" in err
    code, out, _ = run(capsys, "resolve", str(path), "--allow", "fractions.*")
    assert (code, out) == (0, "FrozenDict({'f': Fraction(1, 2)})\n")


def test_fingerprint_targets_and_sweeps_are_printed(file, capsys):
    cfg = konfig.load_config(file)
    code, out, _ = run(capsys, "fingerprint", file, "steps=11", "--exclude", "steps")
    assert (code, out.strip()) == (0, konfig.fingerprint(cfg, exclude="steps"))
    assert "textwrap:dedent" in run(capsys, "targets", file)[1].splitlines()
    code, out, _ = run(capsys, "sweep", file, "steps")
    assert (code, out) == (0, "0  steps=1\n1  steps=2,hidden=4\n")
    _, out, _ = run(capsys, "sweep", file, "steps", "--json")
    assert json.loads(out.splitlines()[1])["overrides"] == {
        "steps": 2,
        "model.hidden": 4,
    }


def test_formats_are_converted(saved, tmp_path, capsys):
    source = tmp_path / "made.py"
    assert run(capsys, "convert", saved, str(source))[0] == 0
    back = tmp_path / "back.json"
    assert run(capsys, "convert", str(source), str(back))[0] == 0
    assert back.read_bytes() == pathlib.Path(saved).read_bytes()
    code, _, err = run(capsys, "convert", saved, str(tmp_path / "x.ini"))
    assert (code, "ConfigFileError" in err) == (3, True)
    assert not (tmp_path / "x.ini").exists()


def test_errors_take_one_screen_and_their_exit_code(file, tmp_path, capsys):
    code, _, err = run(capsys, "show", file, "--cfg.stps=3")
    assert code == 3
    assert "did you mean 'steps'?" in err
    assert "Traceback" not in err
    code, _, err = run(capsys, "show", file, "--verbose")
    assert (code, "unknown argument '--verbose'" in err) == (2, True)
    assert run(capsys, "show")[0] == 2
    fails = tmp_path / "fails.py"
    fails.write_text("def get_config():\n    raise KeyError('mine')\n")
    code, _, err = run(capsys, "show", str(fails))
    assert code == 3
    assert "KeyError: 'mine'" in err
    assert "fails.py:2" in err
    with pytest.raises(SystemExit) as stop:
        command(["nonsense"])
    assert stop.value.code == 2


def test_help_prints_path_type_value_origin_and_meaning(file, capsys):
    with pytest.raises(SystemExit) as stop:
        parse([file, "--cfg.steps=20", "--cfg.help"])
    assert stop.value.code == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["path"].split() == ["path", "type", "value", "from", "meaning"]
    assert "float" in rows["--cfg.lr"]
    assert rows["--cfg.lr"].endswith("How fast.")
    assert "--cfg.steps=20 on the command line" in rows["--cfg.steps"]
    assert "10  ← cfg.ref.steps // 2" in rows["--cfg.half"]


def test_meanings_come_from_docstrings():
    from konfig._signature import docs_of

    node = konfig.call(Documented, 3)
    assert docs_of(node["__qualname__"]) == {
        "hidden": "How many units",
        "rate": "Of dropping, from 0 to 1",
    }
    row = help_text(konfig.ConfigDict(m=node)).splitlines()[1]
    assert row.split()[:3] == ["--cfg.m[0]", "int", "3"]
    assert row.endswith("How many units")


class Documented:
    """A model.

    Args:
      hidden: How many units. More are slower.
      rate (float): Of dropping,
        from 0 to 1.

    Returns:
      nothing: at all
    """

    def __init__(self, hidden: int, rate: float = 0.5):
        pass


def test_a_function_becomes_a_program(file, capsys):
    @main()
    def train(cfg):
        """Trains."""
        return cfg.steps

    assert train([file, "--cfg.steps=3"]) == 3
    assert train.__doc__ == "Trains."
    for words, code, text in [
        ([file, "--verbose"], 2, "unknown argument '--verbose'"),
        ([file, "--cfg.stps=3"], 3, "did you mean 'steps'"),
        ([], 2, "--cfg=FILE is missing; see --help"),
    ]:
        with pytest.raises(SystemExit) as stop:
            train(words)
        assert stop.value.code == code
        assert text in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        train(["--help"])
    assert stop.value.code == 0
    usage = capsys.readouterr().out.splitlines()
    assert usage[0].endswith("--cfg=FILE [--cfg.PATH=VALUE …]")
    assert "Trains." in usage
    assert any("--cfg.PATH:del" in line for line in usage)


@pytest.mark.slow
def test_the_command_starts_with_the_standard_library_alone(saved):
    code = (
        "import sys, konfig.cli\n"
        "assert konfig.cli.command(['targets', sys.argv[1]]) == 0\n"
        "print(*sorted(sys.modules))\n"
    )
    out = subprocess.run(
        [sys.executable, "-I", "-c", code, saved],
        check=True,
        capture_output=True,
        text=True,
    )
    roots = {name.partition(".")[0] for name in out.stdout.split()} - {"konfig"}
    allowed = sys.stdlib_module_names | {"__main__", "_distutils_hack"}
    assert {r for r in roots if not r.startswith("__editable__")} <= allowed
    done = subprocess.run(
        [sys.executable, "-m", "konfig", "diff", saved, saved], capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_validate_takes_overrides_for_all_its_configs(capsys, tmp_path):
    file, data = tmp_path / "c.py", tmp_path / "c.json"
    file.write_text(
        "import konfig\n"
        "def get_config():\n"
        "    cfg = konfig.ConfigDict(steps=10, out=konfig.required(str))\n"
        "    cfg.half = cfg.ref.steps // 2\n"
        "    return cfg\n"
    )
    konfig.save(konfig.load_config(file), data)
    assert run(capsys, "validate", str(file))[0] == 1
    for more in ([], ["--trusted"]):
        code, out, _ = run(
            capsys, "validate", str(file), str(data), "--cfg.out=x", *more
        )
        assert (code, out) == (0, "")
    code, _, err = run(capsys, "validate", str(file), "--cfg.ot=x")
    assert (code, "did you mean 'out'?" in err) == (3, True)
    _, out, _ = run(capsys, "show", str(file))
    assert "cfg.half = cfg.ref.steps // 2\n" in out


@pytest.mark.parametrize("command", ["diff", "convert"])
def test_a_flag_that_a_command_does_not_take_is_named(capsys, command):
    code, _, err = run(capsys, command, "a.json", "b.json", "--jsn")
    assert (code, "unknown argument '--jsn'" in err) == (2, True)


def test_the_help_of_a_config_shows_what_references_read():
    cfg = konfig.ConfigDict(steps=10)
    cfg.half, cfg.lost = cfg.ref.steps / 2, cfg.ref.nothing
    rows = {line.split()[0]: line.split()[1] for line in help_text(cfg).splitlines()}
    assert (rows["--cfg.half"], rows["--cfg.lost"]) == ("float", "reference")


def test_lists_of_fields_hold_calls_without_arguments_and_references_that_fail():
    cfg = konfig.ConfigDict(a=1, call=konfig.call(dict), nothing={})
    cfg.x = cfg.ref.a / 0
    for text in (help_text(cfg), text_of(cfg, "flat"), origins(cfg)):
        for part in ("call", "dict()", "nothing", "cfg.ref.a / 0"):
            assert part in text
