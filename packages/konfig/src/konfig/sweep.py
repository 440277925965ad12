"""Many runs from one config: grids, zips, chains and samples of overrides.

from konfig import sweep

points = sweep.grid(lr=[1e-3, 1e-4]) * sweep.zip_(
{"model.hidden": [4, 128], "model.layers": [1, 3]}
)
for point, cfg in sweep.configs("configs/vit.py", points):
...
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from konfig._copy import deepcopy
from konfig._errors import (
    ConfigFileError,
    ConfigTypeError,
    ConfigValueError,
    OverrideError,
    did_you_mean,
    joined,
    listed,
    short,
)
from konfig._fingerprint import fingerprint
from konfig._flag import given_value
from konfig._loader import ConfigSource, namespace_of
from konfig._node import ConfigDict
from konfig._overrides import apply_overrides
from konfig._paths import Parts, format_path, parse
from konfig._tree import Node

__all__ = [
    "Sweep",
    "SweepPoint",
    "chain",
    "configs",
    "grid",
    "load",
    "points",
    "zip_",
]

_META = "__args__"
_SAFE = re.compile(r"[\w.+\-]{1,24}", re.ASCII)


class SweepPoint:
    """One run of a sweep.

    Attributes:
      index: Its position, from 0.
      name: Short, and fit for a file name: `"hidden=128,lr=0.001"`. What is long or
        holds other characters is named by a fingerprint.
      overrides: The values by path.
    """

    __slots__ = ("index", "name", "overrides")

    def __init__(self, index: int, name: str, overrides: Mapping[str, Any]):
        self.index = index
        self.name = name
        self.overrides = dict(overrides)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, SweepPoint):
            return NotImplemented
        mine, others = (self.index, self.name), (other.index, other.name)
        return mine == others and self.overrides == other.overrides

    def __repr__(self) -> str:
        return f"SweepPoint({self.index}, {self.name!r})"


class Sweep:
    """A sequence of points; `a * b` is their product, `a + b` one after the other.

    Args:
      points: The values by path of each point. Paths may begin with `cfg.`, hold `*`
        and `**`, and name arguments of the config function: `__args__.size`.

    Raises:
      ConfigValueError: When a path is malformed or stands twice in a point.
    """

    __slots__ = ("_points",)

    def __init__(self, points: Iterable[Mapping[str, Any]] = ()):
        self._points = [_normalised(point) for point in points]

    def __len__(self) -> int:
        return len(self._points)

    def __iter__(self) -> Iterator[SweepPoint]:
        short_names = _short_names(self._points)
        taken: dict[str, int] = {}
        for index, point in enumerate(self._points):
            name = _name(point, short_names)
            count = taken[name] = taken.get(name, 0) + 1
            yield SweepPoint(index, f"{name}-{count}" if count > 1 else name, point)

    def __getitem__(self, index: int) -> SweepPoint:
        return list(self)[index]

    def __mul__(self, other: Any) -> Sweep:
        if not isinstance(other, Sweep):
            return NotImplemented
        for key in _keys(self._points):
            if key in _keys(other._points):
                raise ConfigValueError(
                    f"conflicting key in a product of sweeps: {key!r} is set by both",
                    hint="use chain (or +) for one sweep after the other",
                )
        return Sweep({**a, **b} for a in self._points for b in other._points)

    def __add__(self, other: Any) -> Sweep:
        if not isinstance(other, Sweep):
            return NotImplemented
        return Sweep([*self._points, *other._points])

    def filter(self, keep: Callable[[dict[str, Any]], bool]) -> Sweep:
        """The points whose values by path a function accepts."""
        return Sweep(point for point in self._points if keep(dict(point)))

    def sample(self, n: int, seed: int = 0) -> Sweep:
        """`n` points, the same for the same seed, in their order.

        Raises:
          ConfigValueError: When there are fewer.
        """
        if not 0 <= n <= len(self):
            raise ConfigValueError(f"cannot take {n} of {len(self)} points")
        chosen = sorted(random.Random(seed).sample(range(len(self)), n))
        return Sweep(self._points[index] for index in chosen)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} points>"


def grid(axes: Mapping[str, Iterable[Any]] | None = None, /, **more: Any) -> Sweep:
    """Every combination of values; the last axis changes fastest.

    Args:
      axes: The values of each path: `{"model.hidden": [4, 128]}`.
      **more: The same for paths that are names: `lr=[1e-3, 1e-4]`.
    """
    made = Sweep([{}])
    for key, values in {**(axes or {}), **more}.items():
        made = made * Sweep({key: value} for value in _values(key, values))
    return made


def zip_(axes: Mapping[str, Iterable[Any]] | None = None, /, **more: Any) -> Sweep:
    """The first values together, then the second ones, and so on.

    Args:
      axes: The values of each path: `{"model.hidden": [4, 128]}`.
      **more: The same for paths that are names.

    Raises:
      ConfigValueError: When the axes differ in length.
    """
    columns = {k: _values(k, v) for k, v in {**(axes or {}), **more}.items()}
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{key}: {len(values)}" for key, values in columns.items())
        raise ConfigValueError(f"the axes of zip_ differ in length: {lengths}")
    rows = zip(*columns.values(), strict=True)
    return Sweep(dict(zip(columns, row, strict=True)) for row in rows)


def chain(*sweeps: Sweep) -> Sweep:
    """One sweep after the other."""
    return Sweep(point for sweep in sweeps for point in sweep._points)


def points(given: Iterable[Mapping[str, Any]]) -> Sweep:
    """A sweep of the points that are given, each as values by path."""
    return Sweep(given)


def configs(source: Any, sweep: Sweep) -> Iterator[tuple[SweepPoint, Any]]:
    """The config of every point, as copies that share nothing.

    Every point is applied once before the first is given, so that a misspelt path in
    the last one does not stop a sweep half-way.

    Args:
      source: A config, a `ConfigSource`, or what `load_config` takes.
      sweep: The points.

    Raises:
      OverrideError: When a point does not fit the config; it is named in the message.

    Warns:
      UserWarning: When two points give the same config.
    """
    if not isinstance(source, (Node, ConfigSource)):
        source = ConfigSource(source)
    found: dict[str, SweepPoint] = {}
    for point in sweep:
        digest = fingerprint(_config(source, point), length=64)
        first = found.setdefault(digest, point)
        if first is not point:
            warnings.warn(
                f"points {first.index} and {point.index} of the sweep give the same "
                f"config: {point.name}",
                stacklevel=2,
            )
    return ((point, _config(source, point)) for point in sweep)


def load(source: Any, *names: str) -> Sweep:
    """The sweep that a config file defines; of several names, the product.

    A config file defines `sweep()`, called for no name, and `sweep_NAME()`. They return
    a `Sweep`, or yield the values by path of each point.

    Args:
      source: A config file, as for `load_config`, or a `ConfigSource`.
      *names: Which sweeps.

    Raises:
      ConfigFileError: When the file defines no such sweep.
    """
    path = source.path if isinstance(source, ConfigSource) else source
    namespace = namespace_of(path)
    made = Sweep([{}])
    for name in names or ("",):
        function = namespace.get(f"sweep_{name}" if name else "sweep")
        if not callable(function):
            known = [
                key.removeprefix("sweep_")
                for key, value in namespace.items()
                if key.startswith("sweep_") and callable(value)
            ]
            raise ConfigFileError(
                f"{path} has no sweep {name!r}" if name else f"{path} has no sweep()",
                hint=joined(
                    did_you_mean(name, known),
                    f"sweeps: {listed(known)}" if known else "",
                    "a sweep is a function sweep() or sweep_NAME() of the file, which "
                    "yields {path: value} for each point",
                ),
            )
        given = function()
        if not isinstance(given, Iterable):
            raise ConfigTypeError(
                f"{function.__name__}() of {path} gives {short(given)}, no sweep",
                hint="return konfig.sweep.grid(…), or yield {path: value}",
            )
        made = made * (given if isinstance(given, Sweep) else Sweep(given))
    return made


def _config(source: Any, point: SweepPoint) -> Any:
    """The config of one point."""
    meta, rest = {}, []
    for key, value in point.overrides.items():
        parts = parse(key, glob=True)
        if parts[0] == _META:
            if len(parts) != 2 or isinstance(source, Node):
                raise OverrideError(
                    f"the sweep sets {key!r}, which is no argument of a config file"
                )
            meta[parts[1]] = value
        else:
            rest.append(given_value(f"sweep: {key}={short(value)}", parts, value))
    if isinstance(source, Node):
        cfg = deepcopy(source)
    elif meta:
        args = {**(source.args or {}), **meta}
        cfg = ConfigSource(source.path, args, source.overrides).build()
    else:
        cfg = deepcopy(source.build())
    try:
        apply_overrides(cfg, rest)
    except OverrideError as error:
        error.add_note(f"konfig: in point {point.index} of the sweep: {point.name}")
        raise
    return cfg


def _values(key: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ConfigTypeError(
            f"the values of {key!r} are a list, not {short(values)}",
            hint=f"for one value write {key}=[…]",
        )
    return list(values)


def _normalised(point: Any) -> dict[str, Any]:
    if isinstance(point, SweepPoint):
        return point.overrides
    if not isinstance(point, Mapping):
        raise ConfigTypeError(f"a point is a mapping of values, not {short(point)}")
    made: dict[str, Any] = {}
    for key, value in point.items():
        parts = parse(key, glob=True)
        if len(parts) > 1 and parts[0] == "cfg":
            parts = parts[1:]
        text = format_path(parts)
        if text in made:
            raise ConfigValueError(f"conflicting key in a point: {text!r} stands twice")
        # What cannot stand in a config is refused here, not in the middle of a sweep.
        made[text] = ConfigDict({text: value})._konfig_fields[text]
    return made


def _keys(points: Iterable[Mapping[str, Any]]) -> dict[str, None]:
    return {key: None for point in points for key in point}


def _short_names(points: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The last words of the paths that tell them apart."""
    paths: dict[str, Parts] = {key: parse(key, glob=True) for key in _keys(points)}
    found = {}
    for key, parts in paths.items():
        others = [other for k, other in paths.items() if k != key]
        tail = parts
        for length in range(len(parts), 0, -1):
            if any(other[-length:] == parts[-length:] for other in others):
                break
            if isinstance(parts[-length], str):
                tail = parts[-length:]
        found[key] = re.sub(r"[^\w.]+", "_", format_path(tail)).strip("_")
    return found


def _name(point: Mapping[str, Any], names: Mapping[str, str]) -> str:
    words = [f"{names[key]}={_text(value)}" for key, value in point.items()]
    return ",".join(words) or "base"


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if _SAFE.fullmatch(text) else fingerprint(value, length=8)
