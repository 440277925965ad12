"""What the Trainer costs per warm step, beside the same step in a hand-written loop.

    uv run python -m packages.ktrain.benchmarks.bench_step [--steps 300] [--rounds 7]

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
from ktrain.interrupts import Interrupts
from ktrain.loop import Loop
from ktrain.reporting import Reporter
from ktrain.run import Progress
from ktrain.timer import Chrono
from ktrain.writers import NoopWriter, open_in_background


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
    cfg.workdir = "unused"
    return konfig.resolve(cfg)


def run_by_hand(compiled, state, batches, steps: int) -> float:
    jax.block_until_ready(state)
    began = time.perf_counter()
    for _ in range(steps):
        state = compiled.quiet(state, next(batches))
    jax.block_until_ready(state)
    return time.perf_counter() - began


def run_loop(trainer, compiled, batches, steps: int) -> float:
    loop = make_loop(trainer, compiled, batches, steps)
    jax.block_until_ready(loop.state)
    began = time.perf_counter()
    loop.run()
    jax.block_until_ready(loop.state)
    return time.perf_counter() - began


def make_loop(trainer, compiled, batches, steps: int) -> Loop:
    """The loop as `Trainer.train` makes it, on a step that is compiled already."""
    chrono = Chrono(batch_size=trainer.train_ds.batch_size)
    chrono.start(0)
    return Loop(
        step=compiled,
        batches=batches,
        place=trainer.sharding.layout().place,
        num_train_steps=steps,
        end=steps,
        log_every=trainer.log_metrics_every,
        evals=[],
        checkpoints=None,
        config_digest=None,
        reporter=Reporter(
            measures=compiled.step.measures,
            health=trainer.health,
            writer=open_in_background(NoopWriter(), workdir=None, start_step=0),
            progress=Progress(mode="off").start(
                total_steps=steps, start_step=0, description="train"
            ),
            chrono=chrono,
            status=None,
            events=None,
            num_train_steps=steps,
        ),
        interrupts=Interrupts(),
        state=trainer.init_state(),
        k=0,
    )


if __name__ == "__main__":
    main()
