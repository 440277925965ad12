"""The files that tell what a run is: config, environment, shapes, result."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import platform
import sys
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

import konfig
from ktrain import spec
from ktrain.run import write_json

_VERSIONS = (
    "kd-ktrain",
    "kd-konfig",
    "kd-kontext",
    "kd-ktyping",
    "kd-kmetrics",
    "jax",
    "jaxlib",
    "flax",
    "optax",
    "orbax-checkpoint",
    "etils",
    "numpy",
)


def write_config(workdir: Any, raw_cfg: Any, trainer: Any) -> None:
    """Writes `config.json`; the one of an earlier attempt is kept as `config.N.json`.

    A trainer that was not made from a config is written as its `repr` and marked
    `"exact": false`: it cannot be built again from the file.
    """
    if raw_cfg is None:
        value = {"exact": False, "repr": repr(trainer)}
    else:
        value = json.loads(konfig.to_json(raw_cfg))
    path = workdir / "config.json"
    if path.exists():
        before = json.loads(path.read_text())
        if before == value:
            return
        number = sum(1 for _ in workdir.glob("config.*.json")) + 1
        write_json(workdir / f"config.{number}.json", before)
    write_json(path, value)


def config_digest(raw_cfg: Any) -> str | None:
    """Gives the fingerprint of a config without its workdir; None without a config."""
    if raw_cfg is None:
        return None
    return konfig.fingerprint(raw_cfg, exclude=("workdir",))


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Gives the values that are single numbers or text, fit for JSON."""
    return {
        name: float(value) if isinstance(value, (float, np.floating)) else value
        for name, value in values.items()
        if isinstance(value, (bool, int, float, str, np.floating))
    }


def environment() -> dict[str, Any]:
    """Gives versions, devices and flags of this process."""
    devices = jax.devices()
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: _version(name) for name in _VERSIONS},
        "device_kind": devices[0].device_kind,
        "devices": len(devices),
        "processes": jax.process_count(),
        "enable_x64": _flag("jax_enable_x64"),
        "debug_nans": _flag("jax_debug_nans"),
    }


def _flag(name: str) -> bool:
    return bool(getattr(jax.config, name))


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def now() -> str:
    """Gives the present time in UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def start_record(*, seed: int, start_step: int, drift: list[str]) -> dict[str, Any]:
    """Gives what `run.json` says about the start of a run."""
    return {
        "started": now(),
        "command": sys.argv,
        "seed": seed,
        "start_step": start_step,
        "accepted_config_drift": drift,
        **environment(),
    }


def append_attempt(workdir: Any, attempt: Mapping[str, Any]) -> None:
    """Adds an attempt (start or resume) to `run.json`."""
    attempts = [*read_attempts(workdir), dict(attempt)]
    write_json(workdir / "run.json", {"version": 1, "attempts": attempts})


def finish_attempt(workdir: Any, **result: Any) -> None:
    """Adds the result to the newest attempt in `run.json`."""
    attempts = read_attempts(workdir)
    attempts[-1] |= {"ended": now(), **result}
    write_json(workdir / "run.json", {"version": 1, "attempts": attempts})


def read_attempts(workdir: Any) -> list[dict[str, Any]]:
    """Gives the attempts that `run.json` tells of; none when there is no file."""
    path = workdir / "run.json"
    if not path.exists():
        return []
    return json.loads(path.read_text())["attempts"]


def write_shapes(workdir: Any, *, batch_spec: Any, params: Any, context: Any) -> None:
    """Writes `element_spec.json`, `params.json` and `context.md`.

    The last lists every path that a key can point to, with its shape.
    """
    write_json(
        workdir / "element_spec.json",
        {
            path: {"shape": list(leaf.shape), "dtype": leaf.dtype.name}
            for path, leaf in flat_leaves(batch_spec)
        },
    )
    write_json(
        workdir / "params.json",
        {
            path: {
                "shape": list(leaf.shape),
                "dtype": leaf.dtype.name,
                "count": math.prod(leaf.shape),
            }
            for path, leaf in flat_leaves(params)
        },
    )
    lines = ["| path | array |", "|---|---|"]
    lines += [f"| `{path}` | {leaf} |" for path, leaf in flat_leaves(context)]
    (workdir / "context.md").write_text("\n".join(lines) + "\n")


def flat_leaves(tree: Any) -> list[tuple[str, Any]]:
    """Gives (path text, leaf) for every leaf of a tree of arrays or specs."""
    flat, _ = jax.tree_util.tree_flatten_with_path(
        tree, is_leaf=lambda node: isinstance(node, spec.ArraySpec)
    )
    return [(spec.path_text(path), leaf) for path, leaf in flat]
