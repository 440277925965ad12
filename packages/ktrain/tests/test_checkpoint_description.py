"""The description of checkpoints, and what importing it costs."""

import subprocess
import sys
from pathlib import Path

import pytest

from ktrain import _errors
from ktrain.checkpoint import Checkpointer, CheckpointSession

_WRONG = {
    "save_interval_steps": (0, -1, 2.0, "5", True),
    "max_to_keep": (0, -3, 1.5, False),
    "save_step_zero": (1, "yes", None),
    "verify": ("fast", None, True),
    "on_corrupt": ("ignore", None),
    "workdir": ("", None, 3, "gs://bucket/run"),
}


@pytest.mark.parametrize(
    ("field", "value"), [(f, v) for f, values in _WRONG.items() for v in values]
)
def test_a_field_that_cannot_work_is_named(field, value):
    fields = {"save_interval_steps": 10, "workdir": "runs/a", field: value}
    with pytest.raises(_errors.TrainerConfigError) as error:
        Checkpointer(**fields)
    row = str(error.value).splitlines()[1]
    assert row.split()[0] == field
    assert f"got {value!r}" in row
    assert "expected " in row


def test_all_problems_are_told_at_once():
    with pytest.raises(_errors.TrainerConfigError) as error:
        Checkpointer(save_interval_steps=0, max_to_keep=0, verify="no")
    assert len(str(error.value).splitlines()) == 4


def test_without_a_trainer_the_workdir_must_be_given():
    with pytest.raises(_errors.UnboundRootRefError, match=r"Checkpointer\.workdir"):
        Checkpointer(save_interval_steps=1).open()


def test_a_workdir_from_a_trainer_is_checked_when_it_is_used():
    checkpointer = Checkpointer(save_interval_steps=1)
    object.__setattr__(checkpointer, "workdir", "gs://bucket/run")
    with pytest.raises(_errors.TrainerConfigError, match="local disk, got 'gs://"):
        checkpointer.open()


def test_paths_and_texts_are_workdirs(tmp_path):
    for workdir in (tmp_path, str(tmp_path)):
        session = Checkpointer(save_interval_steps=1, workdir=workdir).open()
        assert isinstance(session, CheckpointSession)
        assert session.root == tmp_path / "checkpoints"


def test_a_relative_workdir_is_fixed_when_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = Checkpointer(save_interval_steps=1, workdir="run").open()
    monkeypatch.chdir("/")
    assert session.root == tmp_path / "run" / "checkpoints"


def test_replace_keeps_following_the_trainer():
    changed = Checkpointer(save_interval_steps=1).replace(max_to_keep=None)
    assert changed.max_to_keep is None
    with pytest.raises(_errors.UnboundRootRefError):
        changed.open()


_IMPORT = """
import sys
import ktrain
before = set(sys.modules)
import ktrain.checkpoint
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted({"jax", "jaxlib", "orbax", "tensorstore", "etils"} & new))
"""


@pytest.mark.slow
def test_importing_checkpoint_loads_neither_jax_nor_orbax():
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_one_module_alone_knows_orbax():
    import ktrain.checkpoint

    folder = Path(ktrain.checkpoint.__file__).parent
    knowing = [p.name for p in folder.glob("*.py") if "import orbax" in p.read_text()]
    assert knowing == ["_store.py"]
