"""Axes named in a text and put in another order: "b (y x) c -> b y x c"."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

_TOKEN = re.compile(r"[A-Za-z_]\w*|\S")

Groups = tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Both sides of an arrow, each a tuple of axes, each a tuple of names.

    Attributes:
      left: the axes of what comes.
      right: the axes of what goes.
      sizes: the sizes of names that are given.
      text: the pattern, for errors.
      where: who has it, for errors.
    """

    left: Groups
    right: Groups
    sizes: Mapping[str, int]
    text: str
    where: str

    @classmethod
    def parse(cls, text: str, sizes: Mapping[str, int], *, where: str) -> Pattern:
        """Reads a pattern.

        Raises:
          ValueError: it is none, or the two sides name other axes.
        """
        for axis, size in sizes.items():
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise ValueError(
                    f"{where}: the size of {axis} in rearrange_kwargs must be a whole "
                    f"number of 1 or more\n  got {size!r}"
                )
        if not isinstance(text, str):
            _fail(text, where, "expected a text")
        sides, names = [], []
        for side in text.split("->"):
            groups = _groups(side, text, where)
            sides.append(groups)
            names.append([name for group in groups for name in group])
        if len(sides) != 2:
            _fail(text, where, "expected axes, an arrow ->, axes")
        for side in names:
            twice = sorted({name for name in side if side.count(name) > 1})
            if twice:
                _fail(text, where, f"the axis {twice[0]} stands twice on one side")
        odd = sorted(set(names[0]) ^ set(names[1]))
        if odd:
            _fail(text, where, f"the axis {odd[0]} stands on one side only")
        unknown = sorted(set(sizes) - set(names[0]))
        if unknown:
            _fail(text, where, f"a size is given for {unknown[0]}, which is no axis")
        return cls(sides[0], sides[1], sizes, text, where)

    def apply(self, array: Any, *, key: str) -> Any:
        """`array` in the other form.

        Raises:
          ValueError: its shape does not fit.
        """
        shape = array.shape
        if len(shape) != len(self.left):
            self._misfit(key, shape, f"it has {len(shape)} axes")
        known = dict(self.sizes)
        for size, group in zip(shape, self.left, strict=True):
            self._split(key, shape, size, group, known)
        flat = [name for group in self.left for name in group]
        order = [flat.index(name) for group in self.right for name in group]
        split = array.reshape([known[name] for name in flat]).transpose(order)
        return split.reshape(
            [math.prod(known[name] for name in group) for group in self.right]
        )

    def _split(
        self,
        key: str,
        shape: tuple[int, ...],
        size: int,
        group: tuple[str, ...],
        known: dict[str, int],
    ) -> None:
        """Finds the sizes of the names of one axis."""
        open_names = [name for name in group if name not in known]
        rest = math.prod(known[name] for name in group if name in known)
        if len(open_names) > 1:
            names = " and ".join(open_names)
            self._misfit(key, shape, f"give a size for one of {names}")
        if size % rest or (not open_names and size != rest):
            self._misfit(key, shape, f"the axis ({' '.join(group)}) cannot be {size}")
        if open_names:
            known[open_names[0]] = size // rest

    def _misfit(self, key: str, shape: tuple[int, ...], why: str) -> NoReturn:
        raise ValueError(
            f"{self.where}: {key} does not fit rearrange\n"
            f"  {key} {list(shape)}, rearrange {self.text!r}\n  {why}"
        )


def _groups(side: str, text: str, where: str) -> Groups:
    groups: list[tuple[str, ...]] = []
    inside: list[str] | None = None
    for token in _TOKEN.findall(side):
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside is not None:
            groups.append(tuple(inside))
            inside = None
        elif not token.isidentifier():
            hint = "; an axis of size 1 is ()" if token == "1" else ""
            _fail(text, where, f"{token!r} is not expected there{hint}")
        elif inside is None:
            groups.append((token,))
        else:
            inside.append(token)
    if inside is not None:
        _fail(text, where, "a parenthesis is not closed")
    return tuple(groups)


def _fail(text: str, where: str, why: str) -> NoReturn:
    raise ValueError(
        f"{where}: rearrange={text!r} cannot be read\n  {why}\n"
        'write it like "b (y x) c -> b y x c"'
    )
