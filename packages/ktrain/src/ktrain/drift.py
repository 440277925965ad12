"""Is the run in the workdir a run of this config?"""

from __future__ import annotations

import json
import logging
from typing import Any

import konfig
from ktrain import _errors

_log = logging.getLogger("ktrain")

# What changes no number of the run: where it writes, how often it looks, when it
# stops. num_train_steps is among them only when it grows.
_FREE = (
    "workdir",
    "writer",
    "progress",
    "log_metrics_every",
    "stop_after_steps",
    "resume",
    "on_config_drift",
    "on_preempt",
    "health",
    "checkpointer",
    "evals",
    "aux",
)


def check_drift(workdir: Any, raw_cfg: Any, *, policy: str) -> list[str]:
    """Compares the config with the one in the workdir.

    Args:
      workdir: Folder of the run; without `config.json` nothing is compared.
      raw_cfg: The config of the trainer; None when it was not made from one.
      policy: `"error"`, `"warn"` or `"accept"`.

    Returns:
      The differences that were accepted, one line each.

    Raises:
      ConfigDriftError: There are differences and the policy is `"error"`.
    """
    before = _read(workdir)
    if before is None or raw_cfg is None:
        return []
    lines = [
        _line(entry)
        for entry in konfig.diff(before, raw_cfg, ignore=_FREE)
        if not _steps_grew(entry)
    ]
    if not lines:
        return []
    message = (
        f"{workdir} holds a run of another config ({len(lines)} differences):\n"
        + "\n".join(f"  {line}" for line in lines[:12])
        + (f"\n  … and {len(lines) - 12} more" if len(lines) > 12 else "")
        + "\n  Use another workdir for the new config; to go on with the old state"
        " regardless, use on_config_drift='accept'."
    )
    if policy == "error":
        raise _errors.ConfigDriftError(message)
    if policy == "warn":
        _log.warning("%s", message)
    return lines


def _read(workdir: Any) -> Any:
    path = workdir / "config.json"
    if not path.exists():
        return None
    text = path.read_text()
    if json.loads(text).get("exact") is False:
        return None
    # Only compared, never resolved.
    return konfig.from_json(text)


def _line(entry: Any) -> str:
    return f"{entry.path}: {entry.old!r} -> {entry.new!r}"


def _steps_grew(entry: Any) -> bool:
    path = str(entry.path).removeprefix("cfg.")
    if path != "num_train_steps":
        return False
    return (
        isinstance(entry.old, int)
        and isinstance(entry.new, int)
        and (entry.new > entry.old)
    )
