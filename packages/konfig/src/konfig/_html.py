"""A config as a tree that folds, for notebooks: HTML and CSS, no script."""

from __future__ import annotations

from html import escape
from typing import Any

from konfig._const import Const
from konfig._errors import KonfigError, short
from konfig._paths import Parts, format_path
from konfig._placeholder import Placeholder
from konfig._ref import Lazy
from konfig._ref_eval import reader
from konfig._repr import code_of, name_of
from konfig._tree import TARGET, Node, path_key, stored_items, where

_MOST_ROWS = 2000
_OPEN_DEPTH = 2

# Text takes the color of its surroundings, so that it is read on every theme; what has
# a color of its own has one for light and one for dark surroundings.
_STYLE = """<style>
.konfig{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;color:inherit;
--konfig-call:#0550ae;--konfig-text:#0a6847;--konfig-ref:#8250df;--konfig-miss:#b35900}
@media(prefers-color-scheme:dark){.konfig{
--konfig-call:#79c0ff;--konfig-text:#7ee0a8;--konfig-ref:#d2a8ff;--konfig-miss:#ffb86b}}
[data-jp-theme-light=false] .konfig,[data-theme=dark] .konfig,.vscode-dark .konfig{
--konfig-call:#79c0ff;--konfig-text:#7ee0a8;--konfig-ref:#d2a8ff;--konfig-miss:#ffb86b}
[data-jp-theme-light=true] .konfig,[data-theme=light] .konfig,.vscode-light .konfig{
--konfig-call:#0550ae;--konfig-text:#0a6847;--konfig-ref:#8250df;--konfig-miss:#b35900}
.konfig ul{list-style:none;margin:0;padding-left:1.4em;border-left:1px solid #8884}
.konfig li>details{display:inline-block;vertical-align:top}
.konfig summary{cursor:pointer}.konfig li>span.konfig-key{opacity:.75}
.konfig .konfig-call{color:var(--konfig-call);font-weight:600}
.konfig .konfig-text{color:var(--konfig-text)}
.konfig .konfig-ref{color:var(--konfig-ref)}
.konfig .konfig-miss{color:var(--konfig-miss)}.konfig .konfig-note{opacity:.6}
</style>"""


def html_of(value: Any) -> str:
    """The HTML of a config value; never raises.

    Nodes and lists are `<details>`, the first levels open; the tooltip of a field says
    where it was written.
    """
    try:
        body = _Writer().tree(value, (), 0)
    except RecursionError:
        body = f"<pre>{escape(code_of(value))}</pre>"
    return f'<div class="konfig">{_STYLE}{body}</div>'


class _Writer:
    def __init__(self) -> None:
        self._first: dict[int, Parts] = {}
        self._rows = 0
        self._read = reader()

    def tree(self, value: Any, parts: Parts, depth: int) -> str:
        """What stands behind a key: a tree, or a scalar in its color."""
        if isinstance(value, Node) or (isinstance(value, (list, tuple)) and value):
            return self._container(value, parts, depth)
        return self._leaf(value)

    def _container(self, value: Any, parts: Parts, depth: int) -> str:
        if isinstance(value, Node):
            first = self._first.get(id(value))
            if first is not None:
                return _span("ref", f"= {format_path(first, 'cfg')}")
            self._first[id(value)] = parts
        items = [pair for pair in stored_items(value) if pair[0] != TARGET]
        rows = []
        for index, (key, item) in enumerate(items):
            if self._rows >= _MOST_ROWS:
                more = f"… {len(items) - index} more"
                rows.append(f"<li>{_span('note', more)}</li>")
                break
            self._rows += 1
            rows.append(self._row(value, key, item, parts, depth))
        head = self._head(value, len(items))
        if not rows:
            return head
        shown = " open" if depth < _OPEN_DEPTH else ""
        body = "".join(rows)
        return f"<details{shown}><summary>{head}</summary><ul>{body}</ul></details>"

    def _row(self, owner: Any, key: Any, item: Any, parts: Parts, depth: int) -> str:
        origin = where(owner, key) if isinstance(owner, Node) else None
        title = f' title="{escape(origin)}"' if origin else ""
        name = key if isinstance(key, str) else repr(key)
        label = f'<span class="konfig-key"{title}>{escape(name)}:</span>'
        below = (*parts, path_key(owner, key))
        return f"<li>{label} {self.tree(item, below, depth + 1)}</li>"

    def _head(self, value: Any, count: int) -> str:
        if not isinstance(value, Node):
            kind = "list" if isinstance(value, list) else "tuple"
            return _span("note", f"{kind} of {count}")
        target = value._konfig_fields.get(TARGET)
        if target is not None:
            return _span("call", f"{name_of(target)}(…)" if count else name_of(target))
        return _span("note", f"{type(value).__name__} of {count}")

    def _leaf(self, value: Any) -> str:
        if isinstance(value, Lazy):
            return self._reference(value)
        if isinstance(value, Placeholder):
            kind = "miss" if value.is_missing else "ref"
            return _span(kind, short(value, 200))
        if isinstance(value, Const):
            return _span("call", name_of(value.__const__))
        if isinstance(value, str):
            return _span("text", short(value, 200))
        return escape(short(value, 200))

    def _reference(self, lazy: Lazy) -> str:
        try:
            note = _span("note", f"= {short(self._read(lazy), 60)}")
        except KonfigError:
            note = _span("miss", "leads nowhere")
        except Exception as error:
            note = _span("miss", type(error).__name__)
        return f"{_span('ref', short(lazy, 200))} {note}"


def _span(kind: str, text: str) -> str:
    return f'<span class="konfig-{kind}">{escape(text)}</span>'
