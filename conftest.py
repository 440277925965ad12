"""What all tests share: blocks of Markdown pages, properties, compiled programs."""

import atexit
import os
import shutil
import tempfile

from hypothesis import settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["*.md"],
    excludes=["CHANGELOG.md", "CONTRIBUTING.md"],
).pytest()

# An example may take as long as a busy machine needs. With CI set in the environment
# hypothesis draws the same examples each time: a change fails for what it changed.
settings.register_profile("workspace", settings.default, deadline=None)
settings.load_profile("workspace")


def share_compiled_programs() -> None:
    """Lets JAX keep compiled programs for this run of the tests.

    Many tests compile the same small programs, some in processes of their own. A
    folder that is given from outside (by the gate) is used and left.
    """
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = tempfile.mkdtemp(prefix="xla-programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


share_compiled_programs()
