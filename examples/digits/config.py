"""Handwritten digits: 1,797 real 8×8 images, a small net, 99 % in half a minute.

uv run ktrain run examples/digits/config.py
"""

import konfig

with konfig.imports():
    import optax

    import kmetrics
    import ktrain
    from examples.digits import model


def get_config():
    """Gives the trainer, as plain data."""
    cfg = ktrain.Trainer(
        seed=0,
        num_train_steps=600,
        train_ds=ktrain.data.InMemoryPipeline(
            loader=ktrain.datasets.Digits(split="train"),
            batch_size=64,
            shuffle=True,
        ),
        eval_ds=ktrain.data.InMemoryPipeline(
            loader=ktrain.datasets.Digits(split="test"),
            batch_size=64,
        ),
        model=model.ConvNet(image="batch.image", features=32, hidden=64),
        train_losses={
            "xent": kmetrics.losses.SoftmaxCrossEntropyWithIntLabels(
                logits="preds", labels="batch.label"
            ),
        },
        train_metrics={
            "accuracy": kmetrics.Accuracy(logits="preds", labels="batch.label"),
        },
        schedules={},
        log_metrics_every=50,
        evals={
            "test": ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(200)),
        },
        checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=100),
    )
    cfg.schedules["learning_rate"] = optax.cosine_decay_schedule(
        init_value=3e-3, decay_steps=cfg.ref.num_train_steps
    )
    cfg.optimizer = optax.adam(learning_rate=cfg.ref.schedules["learning_rate"])
    return cfg
