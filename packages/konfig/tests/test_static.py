"""What type checkers make of config files: the samples in `static`."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import konfig

for library in ("optax", "flax", "jax"):
    pytest.importorskip(library, reason="the samples describe its calls")

SAMPLES = Path(__file__).parent / "static"
SOURCE = Path(konfig.__file__).parents[1]
NAMES = ("config.py", "mistakes.py")


def marked():
    """The lines of the samples that end in `# error: …`."""
    found = set()
    for name in NAMES:
        lines = (SAMPLES / name).read_text().splitlines()
        found |= {(name, n) for n, line in enumerate(lines, 1) if "# error:" in line}
    return found


def run(tool, *args, cwd):
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed here")
    for name in NAMES:
        shutil.copy(SAMPLES / name, cwd)
    command = [sys.executable, "-m", tool, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_pyrefly_finds_the_mistakes_of_config_files_and_no_others(tmp_path):
    settings = f'project-includes = ["*.py"]\nsearch-path = ["{SOURCE}"]\n'
    python = f'python-interpreter-path = "{sys.executable}"\n'
    (tmp_path / "pyrefly.toml").write_text(settings + python)
    output = run("pyrefly", "check", "--output-format", "min-text", cwd=tmp_path)
    found = re.findall(r"ERROR \S*?(\w+\.py):(\d+):", output)
    assert {(name, int(line)) for name, line in found} == marked(), output


@pytest.mark.slow
def test_pyright_finds_the_mistakes_of_config_files_and_no_others(tmp_path):
    settings = {"include": ["."], "extraPaths": [str(SOURCE)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    python = ("--pythonpath", sys.executable)
    output = run("pyright", "--outputjson", *python, cwd=tmp_path)
    found = {
        (Path(entry["file"]).name, entry["range"]["start"]["line"] + 1)
        for entry in json.loads(output)["generalDiagnostics"]
        if entry["severity"] == "error"
    }
    assert found == marked(), output


def test_the_config_file_that_they_read_is_a_good_one():
    source = konfig.ConfigSource(SAMPLES / "config.py", args={"size": "L"})
    cfg = source.build()
    assert cfg.schedule.decay_steps == 1_000
    assert [problem.path for problem in konfig.validate(cfg)] == ["cfg.workdir"]
