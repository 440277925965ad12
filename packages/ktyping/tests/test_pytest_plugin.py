"""`pytest --ktyping=PKG` turns on the checks of packages that left them off."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PACKAGE = """
from ktyping import Shape, typechecked

@typechecked{options}
def f(x: Shape["a a"]):
    return x
"""
TEST = """
import pytest
from ktyping import KTypeCheckError
from {package} import f

def test_it():
    with pytest.raises(KTypeCheckError):
        f((1, 2))
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    for name, options in (("left_off", '(mode="off")'), ("other", "")):
        (tmp_path / f"{name}.py").write_text(PACKAGE.format(options=options))
        test = TEST.format(package=name)
        (tmp_path / f"test_{name}.py").write_text(test)

    def run(*args, **environment):
        plugin = ["-p", "ktyping._pytest_plugin"]
        if is_installed():
            plugin = []
        command = [sys.executable, "-m", "pytest", "-q", *plugin, *args]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        search = os.pathsep.join([str(tmp_path), kept.get("PYTHONPATH", "")])
        return subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**kept, "PYTHONPATH": search, **environment},
        )

    return run


def is_installed():
    """Whether pytest finds the plugin by itself, as it does after an installation."""
    from importlib.metadata import entry_points

    return any(e.name == "ktyping" for e in entry_points(group="pytest11"))


@pytest.mark.slow
def test_packages_that_are_named_are_checked_and_others_are_not(run):
    done = run("--ktyping=left_off, nothing", KTYPING="off")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_other.py::test_it" in done.stdout


@pytest.mark.slow
def test_without_the_option_nothing_changes(run):
    done = run()
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_left_off.py::test_it" in done.stdout


@pytest.mark.slow
def test_a_package_that_was_imported_before_is_named(run):
    done = run("-p", "other", "--ktyping=other", KTYPING="off")
    assert done.returncode != 0
    assert "--ktyping=other: the package was imported before" in done.stderr


FAILING = """
from ktyping import Shape, typechecked

@typechecked
def f(x: Shape["a b"], y: Shape["a"]):
    return x

def test_it():
    f((1, 2), (3,))

def test_another():
    assert 1 == 2
"""


@pytest.mark.slow
def test_a_report_can_be_brief(run, tmp_path):
    (tmp_path / "test_failing.py").write_text(FAILING)
    done = run("test_failing.py", "--ktyping-brief")
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    line = FAILING.splitlines().index("    f((1, 2), (3,))") + 1
    assert f"test_failing.py:{line}: KTypeCheckError\n" in done.stdout
    assert "a is 3, but a = 1 from x axis 0" in done.stdout
    assert "bound by x axis 0" in done.stdout
    for left_out in ("Arguments", "Origin:", "typechecked"):
        assert left_out not in done.stdout
    assert "assert 1 == 2" in done.stdout
    assert "Origin:" in run("test_failing.py").stdout


def test_the_plugin_is_declared():
    project = Path(__file__).parents[1] / "pyproject.toml"
    if not project.exists():
        pytest.skip("the tests run apart from the sources")
    declared = tomllib.loads(project.read_text())["project"]["entry-points"]
    assert declared["pytest11"] == {"ktyping": "ktyping._pytest_plugin"}
