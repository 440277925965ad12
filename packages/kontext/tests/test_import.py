"""What `import kontext` costs, and that it needs nothing but Python."""

import json
import subprocess
import sys

import pytest

import kontext


def run(code: str) -> dict:
    """Runs code in a fresh interpreter and reads the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


MEASURED = """
import json, sys
before, calls = set(sys.modules), 0
def tally(frame, event, arg):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(tally)
import kontext
{more}
sys.setprofile(None)
new = sorted(set(sys.modules) - before)
print(json.dumps({{"calls": calls, "new": new}}))
"""
EVERY_NAME = "for name in kontext.__all__: getattr(kontext, name)"


@pytest.mark.slow
def test_import_loads_nothing_else_and_costs_little():
    found = run(MEASURED.format(more=""))
    assert found["new"] == ["kontext"]
    # `import dataclasses`, a small module of Python, makes 18,000 calls.
    assert found["calls"] < 600


@pytest.mark.slow
def test_all_names_load_the_standard_library_only():
    new = run(MEASURED.format(more=EVERY_NAME))["new"]
    roots = {name.partition(".")[0] for name in new}
    assert roots - {"kontext"} <= sys.stdlib_module_names
    assert not {"inspect", "dataclasses", "difflib", "asyncio"} & roots


@pytest.mark.slow
@pytest.mark.spec("kontext-64")
def test_import_and_use_with_jax_and_numpy_blocked():
    code = """
import json, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("jax", "jaxlib", "numpy", "flax"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
import kontext
for name in kontext.__all__:
    getattr(kontext, name)
class Thing:
    x = 1
tree = {"a": [Thing(), {"b": 2}]}
flat = kontext.flatten(tree)
print(json.dumps({"paths": list(flat), "b": kontext.get(tree, "a[1].b")}))
"""
    assert run(code) == {"paths": ["a[0]", "a[1].b"], "b": 2}


def test_every_public_name_is_there_and_listed():
    assert len(set(kontext.__all__)) == len(kontext.__all__)
    for name in kontext.__all__:
        assert getattr(kontext, name) is not None
        assert name in dir(kontext)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = kontext.nothing


def test_short_names_are_those_of_the_long_ones():
    assert kontext.get is kontext.get_by_path
    assert kontext.set is kontext.set_by_path
    assert kontext.filter is kontext.filter_by_path
    assert kontext.flatten is kontext.flatten_with_path
