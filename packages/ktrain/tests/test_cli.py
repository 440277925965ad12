import json
import subprocess
import sys
import textwrap

import pytest
from click.testing import CliRunner

from ktrain import errors
from ktrain.cli import main
from ktrain.cli._errors_shown import describe

CONFIG = textwrap.dedent(
    """
    import konfig

    with konfig.imports():
        import flax.linen as nn
        import kmetrics
        import ktrain
        import optax
        import cli_parts

    def get_config():
        return ktrain.Trainer(
            num_train_steps=6,
            train_ds=ktrain.data.InMemoryPipeline(
                loader=cli_parts.Line(n=32), batch_size=8
            ),
            model=cli_parts.Mlp(hidden=8),
            train_losses={"l2": kmetrics.losses.L2(preds="preds.y", targets="batch.y")},
            optimizer=optax.sgd(0.1),
            log_metrics_every=2,
            checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=3),
        )
    """
)


@pytest.fixture
def project(parts, tmp_path, monkeypatch):
    """A folder with a config and the module that it names."""
    (tmp_path / "config.py").write_text(CONFIG)
    module = type(sys)("cli_parts")
    for part in (parts.Mlp, parts.Line):
        monkeypatch.setattr(part, "__module__", "cli_parts")
        setattr(module, part.__name__, part)
    monkeypatch.setitem(sys.modules, "cli_parts", module)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words):
    result = CliRunner().invoke(main, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_run_trains_and_says_where_and_how_to_go_on(project):
    result = call("run", "config.py")
    assert result.exit_code == 0
    (workdir,) = (project / "runs").iterdir()
    assert workdir.name.startswith(project.name + "-")
    assert "done: 6 steps" in result.output
    assert f"workdir: runs/{workdir.name}" in result.output
    assert f"ktrain run config.py --workdir=runs/{workdir.name}" in result.output
    for name in ("config.json", "run.json", "train_complete.json", "metrics", "tb"):
        assert (workdir / name).exists(), name
    config = json.loads((workdir / "config.json").read_text())
    assert config["num_train_steps"] == 6


@pytest.mark.spec("io-90")
def test_run_again_is_complete_and_computes_nothing(project):
    call("run", "config.py")
    again = call("run", "config.py")
    assert again.exit_code == 0
    assert "already complete: 6 steps" in again.output


@pytest.mark.spec("core-93")
@pytest.mark.parametrize(
    "words",
    [
        ["config.py", "num_train_steps=2", "model.hidden=4"],
        ["model.hidden=4", "config.py", "--cfg.num_train_steps=2"],
        ["--cfg.num_train_steps=2", "--cfg.model.hidden=4", "--cfg=config.py"],
        ["--cfg=config.py", "--workdir=here", "num_train_steps=2", "model.hidden=4"],
    ],
)
def test_words_may_stand_in_any_order(project, words):
    result = call(
        "run", *words, *([] if "--workdir=here" in words else ["--workdir", "here"])
    )
    assert result.exit_code == 0, result.output
    assert "done: 2 steps" in result.output
    params = json.loads((project / "here" / "params.json").read_text())
    assert params["enc.kernel"]["shape"] == [4, 4]


@pytest.mark.case("133")
@pytest.mark.spec("io-98")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["config.py", "model.hiden=4"], 3, "did you mean 'hidden'"),
        (["config.py", "modle.hidden=4"], 3, "model"),
        (["config.py", "num_train_steps=abc"], 3, "num_train_steps"),
        (["config.py", "num_train_steps=-1"], 3, "num_train_steps"),
        (["config.py", "model.hidden=[1,2]"], 3, "hidden"),
        (["confg.py"], 3, "config.py"),
        ([], 2, "CONFIG"),
        (["config.py", "another.py"], 2, "another.py"),
    ],
)
def test_a_mistake_is_one_screen_with_its_exit_code_and_writes_nothing(
    project, words, code, said
):
    result = call("run", *words)
    assert result.exit_code == code, result.output
    assert said in result.output
    assert "Traceback" not in result.output
    assert len(result.output.splitlines()) <= 40
    assert files(project) == ["config.py"]


def test_errors_of_several_evaluators_are_told_one_by_one_on_one_screen():
    inner = [OSError("no luck"), errors.EvaluatorError("its data gave no batch")]
    inner[0].add_note("ktrain: evaluator 'a' at step 2")
    assert describe(ExceptionGroup("evaluators that failed: 'a', 'b'", inner)) == (
        "ExceptionGroup: evaluators that failed: 'a', 'b'\n"
        "  OSError: no luck\n"
        "  ktrain: evaluator 'a' at step 2\n"
        "  EvaluatorError: its data gave no batch\n"
        "(--traceback shows all of it)"
    )


def test_data_errors_have_their_own_exit_code(project):
    result = call("run", "config.py", "train_ds.batch_size=64")
    assert result.exit_code == 4
    assert "0 batches" in result.output
    assert files(project) == ["config.py"]


@pytest.mark.spec("core-38")
def test_another_config_in_the_workdir_is_refused_with_the_difference(project):
    call("run", "config.py", "--workdir=w", "num_train_steps=3")
    result = call("run", "config.py", "--workdir=w", "seed=7", "num_train_steps=6")
    assert result.exit_code == 3
    assert "another config (1 difference)" in result.output
    assert "seed: 0 -> 7" in result.output


def test_a_default_that_is_written_out_is_no_difference(project):
    call("run", "config.py", "--workdir=w", "num_train_steps=3")
    assert call("run", "config.py", "--workdir=w", "seed=0").exit_code == 0


def test_a_value_behind_a_reference_is_compared(project):
    text = CONFIG.replace("return ktrain.Trainer(", "cfg = ktrain.Trainer(").rstrip()
    text += '\n    cfg.aux = {"rate": 0.1}\n'
    text += '    cfg.optimizer = optax.sgd(cfg.ref.aux["rate"])\n    return cfg\n'
    (project / "config.py").write_text(text)
    first = call("run", "config.py", "--workdir=w", "num_train_steps=3")
    assert first.exit_code == 0, first.output
    result = call("run", "config.py", "--workdir=w", "aux.rate=5.0")
    assert result.exit_code == 3
    assert "0.1 -> 5.0" in result.output


def test_a_corrected_mistake_may_use_the_same_workdir(project):
    wrong = call("run", "config.py", "--workdir=w", "train_losses.l2.preds=preds.z")
    assert wrong.exit_code == 1
    assert "'y'" in wrong.output
    assert files(project) == ["config.py"]
    assert call("run", "config.py", "--workdir=w").exit_code == 0


def test_the_default_workdir_is_that_of_the_numbers(project):
    call("run", "config.py", "stop_after_steps=2")
    again = call("run", "config.py", "log_metrics_every=3")
    assert again.exit_code == 0, again.output
    assert "resumed from step 2" in again.output
    assert len(files(project / "runs")) == 1


def test_a_workdir_that_is_a_file_is_named(project):
    (project / "taken").write_text("")
    result = call("run", "config.py", "--workdir=taken")
    assert result.exit_code == 3
    assert "workdir = 'taken' cannot be used" in result.output


@pytest.mark.spec("core-38")
def test_a_difference_that_is_accepted_is_recorded(project):
    call("run", "config.py", "--workdir=w", "num_train_steps=3")
    change = "optimizer.learning_rate=0.2"
    assert call("run", "config.py", "--workdir=w", change).exit_code == 3
    words = ["run", "config.py", "--workdir=w", change, "on_config_drift=accept"]
    result = call(*words)
    assert result.exit_code == 0, result.output
    run = json.loads((project / "w" / "run.json").read_text())
    (line,) = run["attempts"][-1]["accepted_config_drift"]
    assert "optimizer" in line
    assert "0.1 -> 0.2" in line


def test_a_checkpoint_that_does_not_fit_has_its_own_exit_code(project):
    call("run", "config.py", "--workdir=w", "num_train_steps=3")
    result = call(
        "run", "config.py", "--workdir=w", "model.hidden=4", "on_config_drift=accept"
    )
    assert result.exit_code == 5
    assert "params.enc.kernel" in result.output


def test_an_error_of_the_users_code_shows_its_own_line(project):
    (project / "config.py").write_text("def get_config():\n    return 1 / 0\n")
    result = call("run", "config.py")
    assert result.exit_code == 3
    assert "ZeroDivisionError" in result.output
    assert "config.py:2" in result.output
    assert "--traceback" in result.output


def test_config_show_prints_the_overridden_config_and_writes_nothing(project):
    shown = call("config", "show", "config.py", "model.hidden=4")
    assert shown.exit_code == 0
    assert "hidden=4" in shown.output
    as_json = call("config", "show", "config.py", "--format=json")
    assert json.loads(as_json.output)["num_train_steps"] == 6
    assert files(project) == ["config.py"]


def test_a_config_that_is_no_trainer_is_refused(project):
    (project / "config.py").write_text(
        "import konfig\ndef get_config():\n    return konfig.ConfigDict(a=1)\n"
    )
    result = call("run", "config.py")
    assert result.exit_code == 3
    assert "not to a ktrain.Trainer" in result.output


@pytest.mark.slow
@pytest.mark.spec("io-97", "core-92")
def test_help_loads_no_jax_and_nothing_else_that_is_heavy():
    script = (
        "import sys\n"
        "from ktrain.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as e: assert not e.code\n"
        "heavy = {'jax', 'flax', 'optax', 'orbax', 'numpy', 'tensorflow', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Exit codes" in done.stdout


@pytest.mark.slow
@pytest.mark.spec("core-92")
def test_importing_ktrain_loads_no_heavy_framework():
    script = (
        "import sys, ktrain; ktrain.Trainer\n"
        "bad = {'tensorflow', 'torch', 'pandas', 'matplotlib', 'xmanager', 'sklearn',"
        " 'tensorboardX'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
@pytest.mark.spec("io-114")
def test_the_console_script_and_the_module_are_the_same_command():
    by_module = subprocess.run(
        [sys.executable, "-m", "ktrain", "--version"], capture_output=True, text=True
    )
    assert by_module.returncode == 0
    assert by_module.stdout.startswith("ktrain, version ")


def test_the_command_to_resume_names_the_workdir_once(project):
    result = call("run", "config.py", "--cfg.workdir=w", "num_train_steps=1")
    assert result.exit_code == 0, result.output
    assert "resume:  ktrain run config.py --cfg.workdir=w num_train_steps=1\n" in (
        result.output
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 75, "the state is saved"),
        (["checkpointer=None"], 1, "nothing is saved without a checkpointer"),
    ],
)
def test_a_signal_gives_75_only_after_a_save(project, monkeypatch, words, code, said):
    from ktrain.interrupts import Interrupts

    monkeypatch.setattr(Interrupts, "agreed", lambda self: "preempted")
    result = call("run", "config.py", *words)
    assert result.exit_code == code, result.output
    assert said in result.output
