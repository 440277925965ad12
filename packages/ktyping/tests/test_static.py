"""What static checkers read: the samples in `static`, where errors are marked."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ktyping

pytest.importorskip("numpy", reason="the samples annotate arrays of numpy")

SAMPLES = Path(__file__).parent / "static"
SOURCE = Path(ktyping.__file__).parents[1]


def marked(path):
    lines = path.read_text().splitlines()
    return {n for n, line in enumerate(lines, 1) if "# error:" in line}


@pytest.fixture
def sample(tmp_path):
    def copy(name):
        return Path(shutil.copy(SAMPLES / name, tmp_path))

    return copy


def run(tool, *args, cwd):
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed here")
    command = [sys.executable, "-m", tool, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True).stdout


def lines_in(output, pattern):
    return {int(line) for line in re.findall(pattern, output)}


@pytest.mark.slow
@pytest.mark.spec("ktyping-109")
def test_pyrefly_reads_the_long_form(sample):
    path = sample("long_form.py")
    settings = f'project-includes = ["*.py"]\nsearch-path = ["{SOURCE}"]\n'
    (path.parent / "pyrefly.toml").write_text(settings)
    output = run("pyrefly", "check", "--output-format", "min-text", cwd=path.parent)
    assert lines_in(output, r"long_form\.py:(\d+):") == marked(path), output


@pytest.mark.slow
@pytest.mark.spec("ktyping-109")
def test_mypy_reads_the_long_form(sample):
    path = sample("long_form.py")
    # What is installed is found without a path; mypy refuses one to site-packages.
    source = "" if SOURCE.name == "site-packages" else f"mypy_path = {SOURCE}\n"
    settings = f"[mypy]\n{source}follow_imports = silent\ncache_dir = cache\n"
    (path.parent / "mypy.ini").write_text(settings)
    output = run("mypy", path.name, cwd=path.parent)
    assert lines_in(output, r"long_form\.py:(\d+): error") == marked(path), output


@pytest.mark.slow
@pytest.mark.spec("ktyping-109")
@pytest.mark.parametrize("name", ["long_form.py", "short_form.py"])
def test_pyright_reads_both_forms(sample, name):
    path = sample(name)
    settings = {"include": [name], "extraPaths": [str(SOURCE)]}
    (path.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    python = ["--pythonpath", sys.executable]
    output = run("pyright", "--outputjson", *python, cwd=path.parent)
    found = {
        d["range"]["start"]["line"] + 1: d["message"]
        for d in json.loads(output)["generalDiagnostics"]
        if d["severity"] == "error"
    }
    assert found.keys() == marked(path), found
