"""Turns `Float["n"]` into `Float[Array, "n"]` in source files, and back.

Run: python -m ktyping.rewrite --long FILE...

mypy and pyrefly read the long form alone; the two mean the same at run time. Only the
brackets change, and `Array` is added to the import from ktyping where it is missing.
"""

import argparse
import ast
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ktyping._dtypes import FAMILIES

_ARRAYS = frozenset({*FAMILIES, "ArraySpec"}) - {"Array"}
_SIZES = "tuple[int, ...]"


class Edit(NamedTuple):
    """A piece of text to put in place of another; columns count bytes of UTF-8."""

    line: int
    column: int
    stop: int
    text: str


def rewrite(source: str, *, long: bool) -> str:
    """Returns Python source with array types in the long or the short form.

    Args:
      source: The source of a module.
      long: Whether the long form is wanted.

    Raises:
      SyntaxError: When the source is no Python.
    """
    tree = ast.parse(source)
    names = _imported(tree)
    edits = [
        edit
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        for edit in _edits(node, names, long)
    ]
    if any(edit.text == "Array, " for edit in edits) and "Array" not in names.values():
        edits += _add_import(tree)
    return _applied(source, edits)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Returns the names here -> names in ktyping; a module is `ktyping` itself."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "ktyping":
            found.update({a.asname or a.name: a.name for a in node.names})
        elif isinstance(node, ast.Import):
            ours = [a for a in node.names if a.name == "ktyping"]
            found.update({a.asname or a.name: "ktyping" for a in ours})
    return found


def _edits(node: ast.Subscript, names: dict[str, str], long: bool) -> Iterator[Edit]:
    name, prefix = _called(node.value, names)
    first = {"Shape": _SIZES}.get(name, f"{prefix}Array" if name in _ARRAYS else "")
    if not first:
        return
    item = node.slice
    if long and _is_text(item):
        yield Edit(item.lineno, item.col_offset, item.col_offset, f"{first}, ")
    if not long and isinstance(item, ast.Tuple) and len(item.elts) == 2:
        kind, spec = item.elts
        same_line = kind.lineno == spec.lineno
        if _is_text(spec) and same_line and _is_default(kind, first, names):
            yield Edit(kind.lineno, kind.col_offset, spec.col_offset, "")


def _called(node: ast.expr, names: dict[str, str]) -> tuple[str, str]:
    """Returns (name in ktyping, what stands before it here)."""
    if isinstance(node, ast.Name):
        return names.get(node.id, ""), ""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if names.get(node.value.id) == "ktyping":
            return node.attr, f"{node.value.id}."
    return "", ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_default(node: ast.expr, first: str, names: dict[str, str]) -> bool:
    text = ast.unparse(node)
    return text == first or _called(node, names)[0] == "Array"


def _add_import(tree: ast.Module) -> list[Edit]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "ktyping":
            first = node.names[0]
            return [Edit(first.lineno, first.col_offset, first.col_offset, "Array, ")]
    return []


def _applied(source: str, edits: list[Edit]) -> str:
    lines = source.split("\n")
    for line, column, stop, text in sorted(edits, reverse=True):
        data = lines[line - 1].encode()
        lines[line - 1] = (data[:column] + text.encode() + data[stop:]).decode()
    return "\n".join(lines)


def main(args: Sequence[str] | None = None) -> int:
    """Rewrites files in place; returns 0, or 2 if a file is no Python."""
    parser = argparse.ArgumentParser(
        prog="python -m ktyping.rewrite", description=(__doc__ or "").split("\n")[0]
    )
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--long", action="store_true", help='write Float[Array, "n"]')
    form.add_argument("--short", action="store_true", help='write Float["n"]')
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args(args)
    status = 0
    for path in given.files:
        try:
            # Bytes, so that line ends stay as they are.
            old = path.read_bytes().decode()
            new = rewrite(old, long=given.long)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            print(f"{path}: left as it is: {error}", file=sys.stderr)
            status = 2
            continue
        if new != old:
            path.write_bytes(new.encode())
            print(f"{path}: rewritten")
    return status


if __name__ == "__main__":
    sys.exit(main())
