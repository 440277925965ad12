"""The etils shim on real releases: each pair in an environment of its own."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ktyping

SCRIPT = """
import json, sys
out = {"plain": None, "installed": None, "patched": None, "shim": None}

def call():
    import jax, jax.numpy as jnp
    from etils import enp
    try:
        return [
            repr(enp.ArraySpec.from_array(jnp.zeros((2, 3)))),
            repr(enp.ArraySpec((2,), jnp.dtype("float32"))),
        ]
    except AttributeError as error:
        return f"AttributeError: {error}"

if sys.argv[1] == "plain":
    out["plain"] = call()
else:
    from ktyping.compat import etils as shim
    out["installed"] = shim.install().state
    assert not {"jax", "etils"} & set(sys.modules), "the shim imported something"
    out["shim"] = call()
    out["status"] = shim.status().state
    from etils.enp import array_spec
    function = getattr(array_spec, "_is_jax_random_dtype", None)
    source = array_spec.__file__
    out["own"] = function is None or function.__code__.co_filename == source
    from etils import enp
    import jax
    try:
        enp.ArraySpec((2,), object())
    except TypeError as error:
        out["object"] = "TypeError"
    else:
        out["object"] = "accepted"
    if out["status"] == "patched":
        out["key"] = repr(enp.ArraySpec.from_array(jax.random.key(0)))
print(json.dumps(out))
"""


@functools.cache
def uv() -> list[str]:
    found = shutil.which("uv")
    if found and _works([found]):
        return [found]
    module = [sys.executable, "-m", "uv"]
    if _works(module):
        return module
    pytest.skip("needs uv to make environments with other releases of etils and jax")


def _works(command: list[str]) -> bool:
    run = subprocess.run([*command, "--version"], capture_output=True, check=False)
    return run.returncode == 0


def interpreter(version: str) -> str:
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    named = os.environ.get("PYTHON" + version.replace(".", ""))
    if named:
        return named
    home = Path.home() / ".pyenv" / "versions"
    made = sorted(
        home.glob(f"{version}.*/bin/python"),
        key=lambda p: int(p.parts[-3].rsplit(".", 1)[-1]),
    )
    if not made:
        pytest.skip(f"no Python {version}: set PYTHON{version.replace('.', '')}")
    return str(made[-1])


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """Returns a function that gives the interpreter of an environment for a jax."""
    made: dict[tuple[str, str], str] = {}
    command = uv()

    def get(python: str, jax: str) -> str:
        if (python, jax) not in made:
            folder = tmp_path_factory.mktemp("env")
            _run(*command, "venv", "-q", "-p", interpreter(python), str(folder / "v"))
            made[python, jax] = str(folder / "v" / "bin" / "python")
            _install(command, made[python, jax], f"jax=={jax}", f"jaxlib=={jax}")
        return made[python, jax]

    return get


def _run(*command: str) -> str:
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    environment.pop("KTYPING_ETILS_SHIM", None)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def _install(command: list[str], python: str, *what: str) -> None:
    _run(*command, "pip", "install", "-q", "--link-mode=symlink", "-p", python, *what)


@pytest.fixture
def ask(environments, tmp_path):
    """Returns a function that runs the script in an environment."""
    command = uv()

    def run(python: str, jax: str, etils: str, how: str) -> dict:
        made = environments(python, jax)
        _install(command, made, f"etils[enp]=={etils}")
        script = tmp_path / "ask.py"
        source = str(Path(ktyping.__file__).parents[1])
        script.write_text(f"import sys; sys.path.insert(0, {source!r})\n" + SCRIPT)
        return json.loads(_run(made, str(script), how))

    return run


BROKEN = {("1.14.0", "0.10.2"), ("1.14.0", "0.12.0.1")}
CELLS = [
    pytest.param(python, jax, etils, id=f"py{python}-jax{jax}-etils{etils}")
    for python, jax in [("3.11", "0.10.1"), ("3.11", "0.10.2"), ("3.12", "0.12.0.1")]
    for etils in ["1.13.0", "1.14.0", "1.15.0"]
]


@pytest.mark.slow
@pytest.mark.spec("ktyping-102", "ktyping-104", "ktyping-106")
@pytest.mark.parametrize(("python", "jax", "etils"), CELLS)
def test_every_pair_of_etils_and_jax_works_with_the_shim(ask, python, jax, etils):
    broken = (etils, jax) in BROKEN

    with_shim = ask(python, jax, etils, "shim")

    assert with_shim["installed"] == "pending"
    assert with_shim["status"] == ("patched" if broken else "healthy")
    assert with_shim["own"] is not broken
    assert with_shim["shim"] == ["f32[2 3]", "f32[2]"]
    assert with_shim["object"] == "TypeError"
    # On a healthy pair nothing was changed, so that a plain call is the same call.
    if broken:
        plain = ask(python, jax, etils, "plain")["plain"]
        assert plain.startswith("AttributeError")
        assert "prng" in plain
        assert with_shim["key"] == "ui32[]"
