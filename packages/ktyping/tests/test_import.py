"""What an import costs and brings."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
before, calls = set(sys.modules), 0
def tally(frame, event, arg):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(tally)
{statement}
sys.setprofile(None)
new = sorted(set(sys.modules) - before)
import json
print(json.dumps([new, calls]))
"""


def fresh(statement):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(statement=statement)],
        capture_output=True,
        text=True,
        check=True,
    )
    modules, calls = json.loads(done.stdout)
    return set(modules), calls


@pytest.mark.slow
@pytest.mark.spec("ktyping-101")
@pytest.mark.parametrize(
    ("statement", "most_calls"),
    [
        ("import ktyping", 1_500),
        ("from ktyping import *", 50_000),
        (
            "from ktyping import Float, typechecked, check_type, dim, shape, config",
            35_000,
        ),
    ],
)
def test_an_import_brings_the_standard_library_only(statement, most_calls):
    modules, calls = fresh(statement)
    roots = {name.split(".")[0] for name in modules} - {"ktyping"}
    assert roots <= set(sys.stdlib_module_names)
    # 28,000 calls take 0.04 s of CPU time on a quiet machine.
    assert calls < most_calls


@pytest.mark.slow
def test_importing_the_package_alone_loads_none_of_its_parts():
    modules, _ = fresh("import ktyping")
    assert {m for m in modules if m.startswith("ktyping")} == {"ktyping"}


@pytest.mark.slow
def test_an_annotation_loads_no_library():
    modules, _ = fresh(
        "from ktyping import Float, matches\nassert not matches([1], Float['a'])"
    )
    assert not modules & {"numpy", "jax", "torch", "tensorflow", "etils"}


def test_every_public_name_is_there_and_no_other_is():
    import ktyping

    for name in ktyping.__all__:
        assert getattr(ktyping, name) is not None
    assert set(ktyping.__all__) <= set(dir(ktyping))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = ktyping.no_such_name


def test_the_stub_names_what_the_package_names():
    import ktyping

    stub = ast.parse(Path(ktyping.__file__).with_suffix(".pyi").read_text())
    (names,) = [
        ast.literal_eval(node.value)
        for node in stub.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    ]
    assert sorted(names) == sorted(ktyping.__all__)


@pytest.mark.slow
@pytest.mark.case("065")
def test_a_static_checker_reads_the_long_form(tmp_path):
    if importlib.util.find_spec("pyrefly") is None:
        pytest.skip("pyrefly, the checker of this repository, is not installed")
    import ktyping

    sample = tmp_path / "sample.py"
    sample.write_text(
        "from ktyping import Array, Bool, Float, PyTree, Shape, dim, typechecked\n"
        "@typechecked\n"
        'def f(x: Float[Array, "*b n"], y: Float[Array, "b"] | None = None,\n'
        '      tree: PyTree[Float[Array, "b"]] = None,\n'
        '      sizes: Shape[tuple[int, ...], "*b"] = ()) -> Float[Array, "*b"]:\n'
        '    mask: Bool[Array, "*b n"] = x > 0.5\n'
        '    n: int = dim["n"]\n'
        "    return (x * mask).sum(axis=-1) / n\n"
    )
    source = str(Path(ktyping.__file__).parents[1])
    (tmp_path / "pyrefly.toml").write_text(
        f'project-includes = ["*.py"]\nsearch-path = ["{source}"]\n'
    )

    def check():
        command = [sys.executable, "-m", "pyrefly", "check"]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    done = check()
    assert done.returncode == 0, done.stdout + done.stderr
    sample.write_text(sample.read_text() + "f(1, 2, 3, 4, 5)\n")
    assert "bad-argument-count" in check().stdout
