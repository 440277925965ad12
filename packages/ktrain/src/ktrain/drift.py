"""Is the run in the workdir a run of this config?"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import konfig
from ktrain import _errors

_log = logging.getLogger("ktrain")

# What changes no number of the run: where it writes, how often it looks, when it
# stops. num_train_steps is among them only when it grows.
FREE = (
    "workdir",
    "writer",
    "progress",
    "log_metrics_every",
    "log_summaries_every",
    "stop_after_steps",
    "resume",
    "on_config_drift",
    "on_preempt",
    "on_eval_error",
    "health",
    "checkpointer",
    "evals",
    "aux",
)


def check_drift(
    workdir: Any, raw_cfg: Any, *, defaults: Mapping[str, Any], policy: str
) -> list[str]:
    """Compares the config with the one in the workdir.

    References are compared by their values, after `num_train_steps` of the earlier
    config has grown to that of the new one: a schedule that is as long as the training
    may grow with it.

    Args:
      workdir: Folder of the run; without `config.json` nothing is compared.
      raw_cfg: The config of the trainer; None when it was not made from one.
      defaults: The trainer's plain defaults, which a config may write out or not.
      policy: `"error"`, `"warn"` or `"accept"`.

    Returns:
      The differences that were accepted, one line each.

    Raises:
      ConfigDriftError: There are differences and the policy is `"error"`.
    """
    before = _read(workdir)
    if before is None or raw_cfg is None:
        return []
    before = _with_values(before, raw_cfg, defaults)
    after = _with_values(raw_cfg, raw_cfg, defaults)
    lines = [
        f"{entry.path}: {entry.old!r} -> {entry.new!r}"
        for entry in konfig.diff(before, after, ignore=FREE)
    ]
    if not lines:
        return []
    count = "1 difference" if len(lines) == 1 else f"{len(lines)} differences"
    message = (
        f"{workdir} holds a run of another config ({count}):\n"
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


def _with_values(cfg: Any, newest: Any, defaults: Mapping[str, Any]) -> Any:
    """Gives a config without references, with the trainer's defaults written out."""
    cfg = konfig.deepcopy(cfg)
    steps = cfg.get("num_train_steps"), newest.get("num_train_steps")
    if all(isinstance(n, int) for n in steps) and steps[0] < steps[1]:
        cfg.num_train_steps = steps[1]
    for name, value in defaults.items():
        if name not in cfg:
            cfg[name] = value
    return konfig.from_json(konfig.to_json(cfg, refs="resolve"))
