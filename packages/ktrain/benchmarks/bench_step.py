"""What the Trainer costs per warm step, beside the same step in a hand-written loop.

    uv run python packages/ktrain/benchmarks/bench_step.py [--steps 300] [--rounds 7]

Both sides call the same jitted function on batches of the same iterator; rounds are
interleaved, so that other work on the machine meets both alike. Printed: the median
of the per-round ratios, and the medians themselves.
"""

from __future__ import annotations

import argparse
import statistics
import time

import jax

import konfig
from examples.digits import config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()

    trainer = make_trainer(args.steps)
    compiled = trainer.compile_step()
    ratios, ours, byhand = [], [], []
    with trainer.train_ds.open() as batches:
        run_by_hand(compiled, trainer.init_state(), batches, 20)
        run_loop(trainer, compiled, batches, 20)
        for _ in range(args.rounds):
            hand = run_by_hand(compiled, trainer.init_state(), batches, args.steps)
            loop = run_loop(trainer, compiled, batches, args.steps)
            ratios.append(loop / hand)
            byhand.append(hand / args.steps)
            ours.append(loop / args.steps)
    print(f"hand-written loop  {statistics.median(byhand) * 1e6:10.1f} µs per step")
    print(f"Trainer            {statistics.median(ours) * 1e6:10.1f} µs per step")
    print(f"ratio              {statistics.median(ratios):10.3f}   (goal ≤ 1.15)")
    print("rounds            ", " ".join(f"{ratio:.3f}" for ratio in ratios))


def make_trainer(steps: int):
    cfg = config.get_config()
    cfg.num_train_steps = steps
    cfg.checkpointer = None
    cfg.evals = {}
    cfg.progress = None
    cfg.log_metrics_every = None
    return konfig.resolve(cfg)


def run_by_hand(compiled, state, batches, steps: int) -> float:
    jax.block_until_ready(state)
    began = time.perf_counter()
    for _ in range(steps):
        state = compiled.quiet(state, next(batches))
    jax.block_until_ready(state)
    return time.perf_counter() - began


def run_loop(trainer, compiled, batches, steps: int) -> float:
    loop = trainer.make_loop(compiled, batches, steps=steps)
    jax.block_until_ready(loop.state)
    began = time.perf_counter()
    loop.run()
    jax.block_until_ready(loop.state)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
