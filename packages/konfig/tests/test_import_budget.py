"""What `import konfig` costs."""

import subprocess
import sys

import pytest

CODE = """
import sys
calls = 0
def tally(frame, event, arg):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(tally)
import konfig
sys.setprofile(None)
print(calls, *sorted(sys.modules))
"""
THIRD_PARTY = {"jax", "numpy", "absl", "yaml", "ml_collections", "etils", "lark"}
ON_DEMAND = {"inspect", "difflib", "argparse", "tomllib", "dataclasses", "json", "ast"}
ON_DEMAND |= {"typing", "re", "enum"}


@pytest.mark.slow
@pytest.mark.spec("konfig-137")
def test_import_is_cheap_and_loads_the_standard_library_only():
    calls, *found = subprocess.run(
        [sys.executable, "-I", "-c", CODE], check=True, capture_output=True, text=True
    ).stdout.split()
    names = set(found)
    assert len(names) <= 84
    assert not names & THIRD_PARTY
    assert not names & ON_DEMAND
    roots = {name.partition(".")[0] for name in names} - {"konfig"}
    allowed = sys.stdlib_module_names | {"__main__", "_distutils_hack"}
    assert {r for r in roots if not r.startswith("__editable__")} <= allowed
    # 8,600 to 10,100 calls take 16 ms of CPU time, most of them in modules of Python.
    assert int(calls) < 13_000
