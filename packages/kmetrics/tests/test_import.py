import ast
import json
import pathlib
import subprocess
import sys

import pytest

import kmetrics

SCRIPT = """
import json, sys
import jax, jax.numpy
before, calls = set(sys.modules), 0
def tally(frame, event, arg):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(tally)
import kmetrics
kmetrics.Accuracy, kmetrics.Mean, kmetrics.Collection, kmetrics.losses
sys.setprofile(None)
families = [name for name in kmetrics._MODULES if f"kmetrics.{name}" in sys.modules]
for name in kmetrics.__all__:
    getattr(kmetrics, name)
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"calls": calls, "tops": sorted(tops), "families": families}))
"""

BARE = """
import sys
import kmetrics
print("jax" in sys.modules, "numpy" in sys.modules)
"""


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.spec("kmetrics-82")
def test_kmetrics_costs_little_more_than_jax_and_loads_no_stranger():
    found = json.loads(run(SCRIPT))
    strangers = set(found["tops"]) - set(sys.stdlib_module_names)
    assert strangers <= {"kmetrics", "kontext", "ktyping"}
    # 59,000 calls take 0.1 s of CPU time, the budget; `import jax` makes 665,000.
    assert found["calls"] < 75_000
    assert set(found["families"]) == {"classification", "losses", "statistics"}


@pytest.mark.slow
def test_the_bare_import_loads_nothing():
    assert run(BARE).split() == ["False", "False"]


def test_every_public_name_is_there_and_listed():
    assert set(kmetrics.__all__) <= set(dir(kmetrics))
    assert all(getattr(kmetrics, name) is not None for name in kmetrics.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Acuracy'"):
        kmetrics.Acuracy  # noqa: B018


def test_a_type_checker_sees_the_names_that_there_are():
    stub = pathlib.Path(kmetrics.__file__).with_suffix(".pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    found = {
        target.id: ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    assert ast.literal_eval(found.pop("__all__")) == sorted(kmetrics.__all__)
    assert found == kmetrics._FAMILIAR


def test_the_names_of_papers_are_served():
    assert kmetrics.RMSE is kmetrics.RootMeanSquaredError
    assert kmetrics.MCC is kmetrics.MatthewsCorrelation
