import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from ktrain import _bind
from ktrain.data import InMemoryPipeline, Pipeline
from ktrain.errors import DataError, TrainerConfigError
from ktrain.spec import ArraySpec


class Counted:
    """A loader that counts its calls."""

    def __init__(self, num_examples=10):
        self.calls = 0
        self.num_examples = num_examples

    def __call__(self):
        self.calls += 1
        return {"x": np.arange(self.num_examples, dtype=np.float32)}


def load_ten():
    return {"x": np.arange(10, dtype=np.float32)}


@dataclasses.dataclass(frozen=True)
class Trainer:
    train_ds: InMemoryPipeline
    seed: int = 0

    def __post_init__(self):
        _bind.bind_fields(self)


@dataclasses.dataclass(frozen=True)
class SeededLoader(_bind.RootBound):
    seed: int = _bind.root("seed")

    def __call__(self):
        return {"x": np.full(4, self.seed, np.int32)}


def test_making_a_pipeline_reads_nothing_and_using_it_reads_once():
    loader = Counted()
    pipeline = InMemoryPipeline(loader=loader, batch_size=4)
    assert loader.calls == 0
    assert pipeline.num_examples == 10 and pipeline.num_batches() is None
    next(pipeline.open()), next(iter(pipeline)), pipeline.fingerprint()
    assert pipeline.element_spec == {"x": ArraySpec((4,), np.dtype("f4"))}
    assert loader.calls == 1


def test_pipelines_of_the_same_callable_share_its_data():
    loader = Counted()
    pipeline = InMemoryPipeline(loader=loader, batch_size=4)
    next(pipeline.open())
    for other in (
        InMemoryPipeline(loader=loader, batch_size=2),
        pipeline.replace(batch_size=5),
        dataclasses.replace(pipeline, shuffle=True),
        copy.copy(pipeline),
    ):
        next(other.open())
    assert loader.calls == 1


def test_the_data_goes_when_the_last_pipeline_goes():
    loader = Counted()
    next(InMemoryPipeline(loader=loader, batch_size=4).open())
    next(InMemoryPipeline(loader=loader, batch_size=4).open())
    assert loader.calls == 2


def test_a_mapping_that_changed_is_read_as_it_is_now():
    data = {"x": np.zeros(4, np.float32)}
    one = InMemoryPipeline(loader=data, batch_size=4)
    assert next(one.open())["x"].sum() == 0
    data["x"] = np.ones(4, np.float32)
    two = InMemoryPipeline(loader=data, batch_size=4)
    assert next(two.open())["x"].sum() == 4


def test_threads_that_need_the_data_at_once_load_it_once():
    loader = Counted()

    def slow():
        time.sleep(0.02)
        return loader()

    pipeline = InMemoryPipeline(loader=slow, batch_size=4)
    threads = [threading.Thread(target=pipeline.fingerprint) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loader.calls == 1


def test_pickles_and_deep_copies_give_the_same_batches():
    pipeline = InMemoryPipeline(loader=Counted(), batch_size=4, shuffle=True, seed=3)
    first = next(pipeline.open())["x"]
    for other in (
        pickle.loads(pickle.dumps(pipeline)),
        copy.deepcopy(pipeline),
    ):
        assert other.loader is not pipeline.loader
        np.testing.assert_array_equal(next(other.open())["x"], first)
        assert other.loader.calls == 2


def test_a_pickle_holds_the_loader_and_not_the_loaded_data():
    pipeline = InMemoryPipeline(loader=Counted(100_000), batch_size=4)
    next(pipeline.open())
    assert len(pickle.dumps(pipeline)) < 1000


@pytest.mark.spec("io-34")
def test_a_pipeline_without_a_trainer_has_seed_zero():
    alone = InMemoryPipeline(loader=load_ten, batch_size=5, shuffle=True)
    zero = alone.replace(seed=0)
    assert alone.open().state()["seed"] == 0
    for _ in range(2):
        for one, other in zip(
            alone.open(purpose="eval"), zero.open(purpose="eval"), strict=True
        ):
            np.testing.assert_array_equal(one["x"], other["x"])
    assert next(zero.open())["x"].tolist() == [4, 0, 6, 9, 7]


def test_the_seed_is_the_trainers_unless_it_is_given():
    loader = Counted()
    follows = InMemoryPipeline(loader=loader, batch_size=4, shuffle=True)
    next(follows.open())
    trainer = Trainer(follows, seed=5)
    assert trainer.train_ds.open().state()["seed"] == 5
    again = dataclasses.replace(trainer, seed=6)
    assert again.train_ds.open().state()["seed"] == 6
    smaller = Trainer(again.train_ds.replace(batch_size=2), seed=7)
    assert smaller.train_ds.open().state()["seed"] == 7
    explicit = Trainer(follows.replace(seed=1), seed=5)
    assert explicit.train_ds.open().state()["seed"] == 1
    assert loader.calls == 1


def test_a_loader_that_follows_the_trainer_loads_what_the_trainer_says():
    pipeline = InMemoryPipeline(loader=SeededLoader(), batch_size=4)
    trainer = Trainer(pipeline, seed=5)
    assert next(trainer.train_ds.open())["x"].tolist() == [5] * 4
    other = dataclasses.replace(trainer, seed=6)
    assert next(other.train_ds.open())["x"].tolist() == [6] * 4
    assert next(trainer.train_ds.open())["x"].tolist() == [5] * 4


def test_specs_are_those_of_a_global_batch_without_the_mask():
    data = {
        "image": np.zeros((10, 8, 8, 1), np.uint8),
        "meta": {"id": np.arange(10, dtype=np.int32)},
    }
    pipeline = InMemoryPipeline(loader=data, batch_size=4, remainder="pad")
    assert repr(pipeline.element_spec) == (
        "{'image': u8[4 8 8 1], 'meta': {'id': i32[4]}}"
    )
    batch = next(pipeline.open())
    assert set(batch) == {*pipeline.element_spec, "_mask"}
    assert batch["image"].shape == pipeline.element_spec["image"].shape
    local = next(pipeline.open(process_index=1, process_count=2))
    assert local["image"].shape == (2, 8, 8, 1) and local["_mask"].shape == (2,)


@pytest.mark.parametrize(
    ("fields", "train", "evaluation"),
    [
        ({}, None, 3),
        ({"num_epochs": 3}, 6, 3),
        ({"num_epochs": 3, "remainder": "keep"}, 9, 3),
        ({"num_epochs": 3, "remainder": "drop"}, 6, 2),
        ({"num_epochs": 3, "span_epochs": True}, 7, 3),
        ({"num_epochs": 3, "span_epochs": True, "remainder": "pad"}, 8, 3),
    ],
)
def test_the_number_of_batches_is_known_before_the_first(fields, train, evaluation):
    pipeline = InMemoryPipeline(loader=load_ten, batch_size=4, **fields)
    assert pipeline.num_batches() == pipeline.open().num_batches == train
    iterator = pipeline.open(purpose="eval")
    assert pipeline.num_batches("eval") == iterator.num_batches == evaluation
    assert len(list(iterator)) == evaluation
    if train:
        assert len(list(pipeline)) == train


@pytest.mark.spec("io-6")
def test_fewer_examples_than_a_batch_are_refused_when_the_rest_is_dropped():
    small = InMemoryPipeline(loader=Counted(3), batch_size=4)
    for use in (small.open, small.num_batches):
        with pytest.raises(DataError) as caught:
            use()
        message = str(caught.value)
        assert "3 examples" in message and "gives 0 batches" in message
        assert "batch_size <= 3" in message and "remainder='pad'" in message
    assert small.num_batches("eval") == 1
    assert small.replace(span_epochs=True).num_batches() is None
    with pytest.raises(DataError, match="0 batches"):
        small.replace(span_epochs=True, num_epochs=1).open()


def test_all_fields_that_cannot_work_are_named_at_once():
    with pytest.raises(TrainerConfigError) as caught:
        InMemoryPipeline(
            loader="digits",
            batch_size=0,
            shuffle=1,
            num_epochs=0,
            remainder="dorp",
            seed="random",
            span_epochs=None,
        )
    message = str(caught.value)
    for name in (
        "loader",
        "batch_size",
        "shuffle",
        "num_epochs",
        "seed",
        "span_epochs",
    ):
        assert f"\n  {name} " in message
    assert "got 'dorp'" in message and "did you mean 'drop'?" in message
    assert message.count("\n") < 12


@pytest.mark.parametrize("batch_size", [2.0, True, None, "4", -1])
def test_a_batch_size_is_a_positive_integer(batch_size):
    with pytest.raises(TrainerConfigError, match="batch_size"):
        InMemoryPipeline(loader=load_ten, batch_size=batch_size)


def test_integers_of_numpy_are_integers():
    pipeline = InMemoryPipeline(
        loader=load_ten,
        batch_size=np.int64(5),
        num_epochs=np.int32(2),
        seed=np.int64(1),
    )
    state = pipeline.open().state()
    assert type(state["seed"]) is int and type(pipeline.num_batches()) is int
    assert type(state["pipeline"]["batch_size"]) is int


def test_a_pipeline_prints_its_fields_and_not_its_arrays():
    pipeline = InMemoryPipeline(loader={"x": np.zeros(5000)}, batch_size=4, seed=1)
    assert repr(pipeline) == (
        "InMemoryPipeline(loader=<a mapping with the keys 'x'>, batch_size=4,"
        " shuffle=False, num_epochs=None, seed=1, remainder=None, span_epochs=False)"
    )
    named = repr(pipeline.replace(loader=load_ten))
    assert "loader=<" in named and "load_ten>" in named


def test_an_unknown_purpose_or_process_is_refused():
    pipeline = InMemoryPipeline(loader=load_ten, batch_size=4)
    with pytest.raises(ValueError, match="'test'"):
        pipeline.open(purpose="test")
    for index, count in [(1, 1), (-1, 2), (0, 0)]:
        with pytest.raises(ValueError, match="process_index"):
            pipeline.open(process_index=index, process_count=count)


def test_an_error_of_the_loader_keeps_its_type_and_names_the_loader():
    def missing():
        raise FileNotFoundError("no such file: data.npz")

    pipeline = InMemoryPipeline(loader=missing, batch_size=4)
    for _ in range(2):
        with pytest.raises(FileNotFoundError) as caught:
            pipeline.open()
        assert "missing" in caught.value.__notes__[0]


def test_a_failed_load_is_tried_again():
    outcomes = [OSError("disk not mounted"), load_ten()]

    def flaky():
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    pipeline = InMemoryPipeline(loader=flaky, batch_size=5)
    with pytest.raises(OSError, match="not mounted"):
        pipeline.open()
    assert next(pipeline.open())["x"].tolist() == [0, 1, 2, 3, 4]


def test_a_pipeline_of_a_user_needs_no_base_class():
    class Mine:
        batch_size = 4
        element_spec = None

        def num_batches(self, purpose="train"):
            return 0

        def open(self, *, purpose="train", process_index=0, process_count=1):
            return None

    assert isinstance(Mine(), Pipeline)
    assert isinstance(InMemoryPipeline(loader=load_ten, batch_size=4), Pipeline)
    assert not isinstance([1], Pipeline)


@pytest.mark.slow
def test_arrays_of_jax_are_accepted():
    jnp = pytest.importorskip("jax.numpy", reason="the arrays under test are jax's")
    pipeline = InMemoryPipeline(loader={"x": jnp.arange(4)}, batch_size=2)
    batch = next(pipeline.open())
    assert type(batch["x"]) is np.ndarray and batch["x"].tolist() == [0, 1]


@pytest.mark.slow
def test_importing_the_data_layer_imports_neither_jax_nor_scikit_learn():
    code = (
        "import sys, ktrain.data, ktrain.datasets;"
        "print(*sorted({'jax', 'sklearn', 'flax', 'orbax', 'tensorflow'}"
        " & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
