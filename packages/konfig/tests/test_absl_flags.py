"""Config files as flags of absl."""

import textwrap

import pytest

import konfig

flags = pytest.importorskip("absl.flags", reason="defines flags of absl")

from konfig import absl_flags  # noqa: E402

FILE = """
import konfig

def get_config(size: str = "S"):
    cfg = konfig.ConfigDict(size=size, steps=10, flag=False, l=[1, 2], name="x")
    cfg.half = cfg.ref.steps // 2
    return cfg
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(textwrap.dedent(FILE))
    return str(path)


def parsed(argv, **options):
    values = flags.FlagValues()
    flags.DEFINE_string("other", None, "", flag_values=values)
    holder = absl_flags.DEFINE_config_file(
        "config", flag_values=values, argv=argv, **options
    )
    rest = values(["program", *argv])
    return holder, values, rest[1:]


@pytest.mark.parametrize("order", [1, -1])
def test_fields_are_set_in_any_order(file, order):
    argv = [f"--config={file}:size=L", "--config.steps=20", "--other=x"][::order]
    holder, values, rest = parsed(argv)
    assert (holder.value.size, holder.value.half, values.other) == ("L", 10, "x")
    assert holder.value is holder.value is values.config
    assert rest == []


def test_every_spelling_of_an_override_is_taken(file):
    argv = [f"--config={file}", "--config.steps", "30", "--config.flag", "--other", "y"]
    argv += ["--config.l[0]=7", "--config.new:=5", "--config.name:del", "word"]
    holder, values, rest = parsed(argv)
    cfg = holder.value
    assert (cfg.steps, cfg.flag, cfg.l, cfg.new) == (30, True, [7, 2], 5)
    assert "name" not in cfg
    assert (values.other, rest) == ("y", ["word"])
    holder, _, _ = parsed([f"--config={file}", "--config.flag=1", "--noconfig.flag"])
    assert holder.value.flag is False


def test_a_default_file_gives_way_to_a_named_one(file, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(
        "import konfig\ndef get_config():\n    return konfig.ConfigDict(n=1)"
    )
    holder, _, _ = parsed([f"--config={other}", "--config.n=2"], default=file)
    assert holder.value == {"n": 2}
    holder, _, _ = parsed([], default=file)
    assert holder.value.steps == 10
    holder, _, _ = parsed([])
    assert holder.value is None


def test_faults_are_those_of_konfig(file):
    holder, _, _ = parsed([f"--config={file}", "--config.stps=3"])
    with pytest.raises(konfig.OverrideError, match="did you mean 'steps'"):
        holder.value  # noqa: B018
    with pytest.raises(flags.IllegalFlagValueError):
        parsed([], required=True)
    with pytest.raises(flags.UnrecognizedFlagError):
        parsed([f"--config={file}", "--confg.steps=3"])
