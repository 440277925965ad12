"""Several processes train one model: equal parameters, files by the first only."""

import json
import os
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from ktrain.checkpoint import read_arrays

SCRIPT = textwrap.dedent(
    """
    import sys
    tests, port, index, workdir = sys.argv[1:5]
    import jax
    jax.distributed.initialize(f"localhost:{port}", 2, int(index))
    sys.path.insert(0, tests)
    import conftest, ktrain, numpy as np
    parts = conftest.Parts
    trainer = parts.trainer(
        num_train_steps=20,
        workdir=workdir,
        writer=ktrain.writers.JsonlWriter(),
        model=parts.Mlp(dropout=0.2),
        checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=10),
        evals={"val": ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(20))},
        stop_after_steps=int(sys.argv[5]) if len(sys.argv) > 5 else None,
    )
    result = trainer.train()
    np.savez(
        f"{workdir}-{index}.npz",
        *[np.asarray(x.addressable_data(0)) for x in jax.tree.leaves(result.state)],
    )
    val = result.evals["val"] if result.evals else None
    print(result.stop_reason, result.start_step, int(result.state.step),
          val and val.num_examples, val and val.values["losses/l2"], flush=True)
    """
)


def two_processes(folder, *words):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    script = folder / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
    here = os.path.dirname(__file__)
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, script, here, str(port), str(index)),
                *(folder / "run", *map(str, words)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        for index in range(2)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(outputs)
    return [output.strip().splitlines()[-1] for output in outputs]


@pytest.mark.slow
@pytest.mark.spec("core-71")
def test_two_processes_train_to_equal_parameters_and_resume_exactly(parts, tmp_path):
    straight = tmp_path / "straight"
    straight.mkdir()
    told = two_processes(straight)
    assert told[0] == told[1]
    assert told[0].startswith("done 0 20 21 ")
    first, second = (np.load(f"{straight}/run-{index}.npz") for index in range(2))
    assert first.files == second.files
    for name in first.files:
        assert (first[name] == second[name]).all()

    attempts = json.loads((straight / "run" / "run.json").read_text())["attempts"]
    assert [attempt["processes"] for attempt in attempts] == [2]

    resumed = tmp_path / "resumed"
    resumed.mkdir()
    assert two_processes(resumed, 10)[0].startswith("stop_after_steps 0 10 ")
    assert two_processes(resumed)[0].startswith("done 10 20 ")
    for name, array in read_arrays(
        straight / "run" / "checkpoints" / "step_000000020"
    ).items():
        other = read_arrays(resumed / "run" / "checkpoints" / "step_000000020")[name]
        assert (array == other).all(), name

    # One process computes the same, up to the order of sums.
    alone = parts.trainer(num_train_steps=20, model=parts.Mlp(dropout=0.2)).train()
    kernel = np.asarray(alone.state.params["enc"]["kernel"])
    saved = read_arrays(straight / "run" / "checkpoints" / "step_000000020")
    np.testing.assert_allclose(saved["params.enc.kernel"], kernel, atol=1e-5)
