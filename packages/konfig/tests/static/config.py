"""A config file, as a type checker sees it."""

import dataclasses

import konfig

with konfig.imports():
    import flax.linen as nn
    import jax.numpy as jnp
    import optax


@dataclasses.dataclass(frozen=True)
class Args:
    size: str = "S"
    steps: int = 1_000


def get_config(args: Args = Args()) -> konfig.ConfigDict:
    cfg = konfig.ConfigDict(num_train_steps=args.steps, seed=0)
    cfg.aux = args
    cfg.model = nn.Dense(features=64, dtype=jnp.bfloat16)
    cfg.schedule = optax.cosine_decay_schedule(
        init_value=1e-3, decay_steps=cfg.ref.num_train_steps
    )
    cfg.optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(learning_rate=cfg.ref.schedule)
    )
    cfg.workdir = konfig.required(str, "where to write")
    cfg.warmup = konfig.placeholder(int, default=10)
    cfg.name = konfig.fstr("mlp-{}", cfg.ref.seed)
    cfg.model.features = 128
    return cfg


def sweep() -> konfig.sweep.Sweep:
    return konfig.sweep.grid({"model.features": [64, 128]}, seed=[0, 1])
