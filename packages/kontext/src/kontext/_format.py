"""The canonical text of a path: it always parses back to the same parts."""

from __future__ import annotations

from kontext._parts import Part, Parts, Wildcard, is_axes


def format_parts(parts: Parts) -> str:
    """The canonical text of a whole path; the empty path is the empty text."""
    text = ""
    for part in parts:
        if type(part) is str and part.isidentifier():
            text = f"{text}.{part}" if text else part
        elif type(part) is int:
            text = f"{text}[{part}]"
        else:
            text = format_child(text, part)
    return text


def format_child(parent: str, part: Part) -> str:
    """The canonical text of `part` below the path whose text is `parent`."""
    if type(part) is str and part.isidentifier():
        return f"{parent}.{part}" if parent else part
    if type(part) is Wildcard:
        return f"{parent}.{part.value}" if parent else part.value
    if is_axes(part):
        # The parentheses of a tuple of axes are understood, as in `x[..., 0]`.
        return f"{parent}[{format_item(part)[1:-1]}]"
    return f"{parent}[{format_item(part)}]"


def format_item(part: Part) -> str:
    """The text of a part as it stands inside brackets."""
    if type(part) is slice:
        return _format_slice(part)
    if part is Ellipsis:
        return "..."
    if type(part) is tuple:
        comma = "," if len(part) == 1 else ""
        return f"({','.join(map(format_item, part))}{comma})"
    return repr(part)


def _format_slice(part: slice) -> str:
    start, stop, step = (
        "" if bound is None else str(bound)
        for bound in (part.start, part.stop, part.step)
    )
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def describe_part(part: Part) -> str:
    """A part as messages name it: `'x'`, `index 5`, `[1:2]`."""
    if type(part) is int:
        return f"index {part}"
    if type(part) is str:
        return repr(part)
    return format_child("", part)
