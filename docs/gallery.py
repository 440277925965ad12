"""Draws the pictures of pages: `python docs/gallery.py`, and each build of the docs.

The pictures are made by the code that stands on the page. A page that shows some ends
up with a dict `gallery` of name to `Image` or `Video`; each becomes
`_gallery/<name>.png` beside the page, which git ignores.
"""

from __future__ import annotations

import pathlib
import re

HERE = pathlib.Path(__file__).parent
PAGES = ("kmetrics/summaries.md",)

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def draw(page: pathlib.Path) -> list[pathlib.Path]:
    """Runs the code of a page, and writes its pictures."""
    text = page.read_text()
    namespace: dict = {}
    for block in _BLOCK.finditer(text):
        # Empty lines in front, so that an error names the line of the page.
        lines = "\n" * text[: block.start(1)].count("\n")
        exec(compile(lines + block.group(1), page, "exec"), namespace)
    folder = page.parent / "_gallery"
    folder.mkdir(exist_ok=True)
    written = []
    for name, media in namespace["gallery"].items():
        path = folder / f"{name}.png"
        path.write_bytes(media.to_png())
        written.append(path)
    return written


def setup(app) -> dict:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: [draw(HERE / page) for page in PAGES])
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    for page in PAGES:
        for path in draw(HERE / page):
            print(path)
