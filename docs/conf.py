"""Builds the documentation: `uv run --group docs sphinx-build -W docs docs/_build`.

The pages are plain Markdown, whose code blocks run as tests; what is shown first for a
package is its README. The reference is read from the docstrings.
"""

import pathlib
import sys

project = "konfig · kontext · ktyping · kmetrics · ktrain"
html_title = "konfig · kontext · ktyping · kmetrics · ktrain"
html_theme = "furo"
html_show_copyright = False

# Draws the pictures: a module beside this one.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "gallery"]
# The rows of `spec` are included by the page "behaviour" of their package.
exclude_patterns = ["_build", "spec"]
default_role = "code"

autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_use_ivar = True
napoleon_numpy_docstring = False


def literal_blocks(app, what, name, obj, options, lines):
    """Turns the fenced code of a docstring into what Sphinx takes for code."""
    changed: list[str] = []
    fenced = False
    for line in lines:
        if line.strip().startswith("```"):
            fenced = not fenced
            changed += ["", "::", ""] if fenced else [""]
        else:
            changed.append("    " + line if fenced else line)
    lines[:] = changed


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", literal_blocks, priority=100)
