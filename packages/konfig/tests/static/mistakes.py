"""Mistakes in a config file that a type checker finds before it runs."""

import konfig

with konfig.imports():
    import flax.linen as nn
    import optax


def get_config() -> konfig.ConfigDict:
    cfg = konfig.ConfigDict(steps=10)
    cfg.optimizer = optax.adam(learning_rte=1e-3)  # error: no such parameter
    cfg.schedule = optax.constant_schedul(1e-3)  # error: no such function
    cfg.model = nn.Dense(features="wide")  # error: no number
    cfg.workdir = konfig.required(str, "where", "what")  # error: one too many
    konfig.resolve(cfg, freze=False)  # error: no such parameter
    return cfg
