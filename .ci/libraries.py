"""Runs the tests beside libraries that no package needs and the workspace lacks.

    python .ci/libraries.py [ENVIRONMENT ...]

Every environment is made anew, with the packages of this repository and the libraries
it names. A test that is skipped there is a failure: what the environment is for did
not run. A library that cannot be had (some are gigabytes) is said and passed over.
(torch and tensorflow cannot be loaded by one process.)
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEST_TOOLS = ("pytest", "hypothesis")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Environment:
    """What is installed, and which tests run there.

    Attributes:
      packages: Packages of this repository.
      libraries: What else is installed.
      tests: Arguments of pytest that select the tests, by folder or file.
    """

    packages: tuple[str, ...]
    libraries: tuple[str, ...]
    tests: tuple[str, ...]


LIBRARIES = "packages/ktyping/tests/test_libraries.py"
ENVIRONMENTS = {
    "torch": Environment(
        packages=("ktyping",),
        libraries=("torch==2.13.0", "numpy"),
        tests=(LIBRARIES, "-k", "torch"),
    ),
    "tensorflow": Environment(
        packages=("ktyping",),
        libraries=("tensorflow-cpu",),
        tests=(LIBRARIES, "-k", "tensorflow"),
    ),
    "arrays": Environment(
        packages=("ktyping",),
        libraries=("xarray", "jax", "jaxtyping", "attrs", "cloudpickle", "beartype"),
        tests=(
            LIBRARIES,
            "packages/ktyping/tests/test_jaxtyping.py",
            "packages/ktyping/tests/test_classes.py",
            "packages/ktyping/tests/test_wrapper.py",
            "-k",
            "not torch and not tensorflow",
        ),
    ),
    "checkers": Environment(
        packages=("ktyping", "konfig"),
        libraries=("mypy", "pyright", "pyrefly", "numpy", "jax", "flax", "optax"),
        tests=(
            "packages/ktyping/tests/test_static.py",
            "packages/konfig/tests/test_static.py",
        ),
    ),
    "configs": Environment(
        packages=("konfig[yaml,absl]", "kontext"),
        libraries=("ml_collections", "omegaconf", "immutabledict"),
        tests=(
            "packages/konfig/tests/test_formats.py",
            "packages/konfig/tests/test_absl_flags.py",
            "packages/kontext/tests/test_integrations_ml_collections.py",
        ),
    ),
}


def main(names: list[str]) -> None:
    for name in names or ENVIRONMENTS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"libraries-{name}-") as folder:
            outcome = check(ENVIRONMENTS[name], pathlib.Path(folder))
        seconds = time.monotonic() - began
        print(f"-- {name}: {outcome}, {seconds:.0f} s", flush=True)


def check(environment: Environment, place: pathlib.Path) -> str:
    """Makes the environment, runs its tests and tells what came of it."""
    python = place / "venv" / "bin" / "python"
    run("uv", "venv", "-q", "--python", sys.executable, place / "venv")
    install = ("uv", "pip", "install", "-q", "--python", python)
    sources = [ROOT / "packages" / name for name in environment.packages]
    run(*install, *sources, *TEST_TOOLS)
    try:
        run(*install, *environment.libraries)
    except Failed as failure:
        return f"SKIPPED, its libraries cannot be had: {failure}"
    report = place / "report.xml"
    output = run(
        python,
        *("-m", "pytest", "-q", "-rs", "--noconftest", "-p", "no:cacheprovider"),
        *("-o", "addopts=--import-mode=importlib", f"--junitxml={report}"),
        *environment.tests,
    )
    (suite,) = ElementTree.parse(report).getroot()
    if int(suite.attrib["skipped"]) or not int(suite.attrib["tests"]):
        raise Failed(f"{output}\nskipped, though this environment is for them")
    return f"{suite.attrib['tests']} tests"


class Failed(Exception):
    """A command failed; the text is its output."""


def run(*words: object) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        shown = " ".join(command)
        raise Failed(f"{done.stdout}\nfailed ({done.returncode}): {shown}")
    return done.stdout


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failure:
        sys.exit(f"{failure}")
