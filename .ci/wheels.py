"""Builds every wheel and tests each alone, with nothing but what it declares.

    python .ci/wheels.py [PACKAGE ...]

Each wheel goes by path into a fresh environment, with its declared dependencies (at
the locked versions) and pytest and hypothesis; its own tests are run there from a
copy, without the slow ones, which the workspace runs, and its console scripts are
called. Packages that need nothing are tested on Python 3.13 too, where there is one.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ("konfig", "kontext", "ktyping", "kmetrics", "ktrain")
TEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis")
# Tests that belong to the workspace: they need the siblings or the examples.
WORKSPACE_TESTS = ("integration",)
PYTEST = ("-q", "-rs", "-n", "2", "--dist=loadfile", "-p", "no:cacheprovider")
FAST = ("-m", "not slow")
IMPORT_MODE = "--import-mode=importlib"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="wheels-") as folder:
        base = pathlib.Path(folder)
        run("uv", "build", "--all-packages", "--wheel", "--no-sources", "-q",
            "--out-dir", base / "dist", cwd=ROOT)  # fmt: skip
        constraints = base / "constraints.txt"
        run("uv", "export", "--frozen", "--all-packages", "--no-hashes", "-q",
            "--no-emit-workspace", "--output-file", constraints, cwd=ROOT)  # fmt: skip
        for name in names or PACKAGES:
            check(name, base, constraints, sys.executable)
            newer = newest_python("3.13")
            if newer and not declared(name).get("dependencies"):
                check(name, base, constraints, newer)


def check(
    name: str, base: pathlib.Path, constraints: pathlib.Path, python: str
) -> None:
    began = time.monotonic()
    place = base / f"{name}-{pathlib.Path(python).resolve().parts[-3]}"
    venv = place / "venv"
    run("uv", "venv", "-q", "--python", python, venv, cwd=base)
    own_python = venv / "bin" / "python"
    (wheel,) = (base / "dist").glob(f"kd_{name}-*.whl")
    install = ("uv", "pip", "install", "-q", "--python", own_python)
    offered = ("--find-links", base / "dist", "--constraint", constraints)
    run(*install, *offered, wheel, *TEST_TOOLS, cwd=base)
    run("uv", "pip", "check", "-q", "--python", own_python, cwd=base)
    for script in declared(name).get("scripts", {}):
        run(venv / "bin" / script, "--help", cwd=place, quiet=True)
        run(own_python, "-m", name, "--help", cwd=place, quiet=True)
    tests = place / "tests"
    shutil.copytree(
        ROOT / "packages" / name / "tests",
        tests,
        ignore=shutil.ignore_patterns(*WORKSPACE_TESTS, "__pycache__"),
    )
    write_pytest_settings(place)
    tested = (own_python, "-I", "-m", "pytest", *PYTEST, *FAST, IMPORT_MODE)
    run(*tested, "tests", cwd=place)
    seconds = time.monotonic() - began
    print(f"-- {wheel.name} alone on {place.name}: {seconds:.0f} s", flush=True)


def write_pytest_settings(place: pathlib.Path) -> None:
    """Marks and warning filters are those of the workspace."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    options = settings["tool"]["pytest"]["ini_options"]
    lines = ["[pytest]"]
    for key in ("markers", "filterwarnings"):
        lines += [f"{key} =", *(f"    {line}" for line in options[key])]
    (place / "pytest.ini").write_text("\n".join(lines) + "\n")


def declared(name: str) -> dict:
    text = (ROOT / "packages" / name / "pyproject.toml").read_text()
    return tomllib.loads(text)["project"]


def newest_python(line: str) -> str | None:
    found = os.environ.get("PYTHON" + line.replace(".", ""))
    if found:
        return found
    versions = pathlib.Path.home() / ".pyenv" / "versions"
    candidates = sorted(versions.glob(f"{line}*/bin/python"))
    return str(candidates[-1]) if candidates else None


def run(*words: object, cwd: pathlib.Path, quiet: bool = False) -> None:
    output = subprocess.PIPE if quiet else None
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        print(done.stdout or "")
        sys.exit(f"failed ({done.returncode}): {' '.join(command)}")


if __name__ == "__main__":
    main(sys.argv[1:])
