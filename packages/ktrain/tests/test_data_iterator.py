import numpy as np
import pytest

from ktrain.data import DataIterator, InMemoryPipeline
from ktrain.errors import DataError


def pipeline(num_examples=10, **fields) -> InMemoryPipeline:
    ids = np.arange(1, num_examples + 1, dtype=np.int32)
    data = {"id": ids, "obs": {"x": np.stack([ids, -ids], 1).astype(np.float32)}}
    return InMemoryPipeline(loader=data, **{"batch_size": 4, **fields})


def real_ids(batch) -> list[int]:
    mask = batch.get("_mask", np.ones(len(batch["id"]), bool))
    return batch["id"][mask].tolist()


def same(one, other) -> bool:
    flat = [(one[key], other[key]) for key in one if key != "obs"]
    flat.append((one["obs"]["x"], other["obs"]["x"]))
    return one.keys() == other.keys() and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in flat
    )


def joined(parts):
    """The global batch of the local batches of all processes."""
    batch = {
        key: np.concatenate([p[key] for p in parts]) for key in parts[0] if key != "obs"
    }
    return {**batch, "obs": {"x": np.concatenate([p["obs"]["x"] for p in parts])}}


BATCH_SIZES = [1, 7, 64, 70, 71]
"""For 70 examples: one, odd, less, all, and one more than all."""


@pytest.mark.spec("io-1")
@pytest.mark.parametrize("remainder", ["drop", "keep", "pad"])
def test_two_iterations_give_the_same_bytes(remainder):
    batches = pipeline(shuffle=True, num_epochs=3, remainder=remainder)
    first, second = list(batches), list(batches)
    assert len(first) == len(second) == batches.num_batches() > 0
    assert all(map(same, first, second))
    ids = [real_ids(batch) for batch in first]
    assert ids[: len(ids) // 3] != ids[len(ids) // 3 : len(ids) // 3 * 2]


@pytest.mark.spec("io-8")
def test_kept_remainders_end_every_epoch():
    batches = list(pipeline(remainder="keep", num_epochs=2))
    assert [len(batch["id"]) for batch in batches] == [4, 4, 2, 4, 4, 2]
    assert "_mask" not in batches[0]
    assert batches[2]["obs"]["x"].tolist() == [[9, -9], [10, -10]]


@pytest.mark.spec("io-9")
@pytest.mark.parametrize("remainder", ["drop", "keep", "pad"])
def test_batches_that_span_epochs_are_full(remainder):
    batches = list(pipeline(remainder=remainder, num_epochs=2, span_epochs=True))
    assert [len(batch["id"]) for batch in batches] == [4, 4, 4, 4, 4]
    assert batches[2]["id"].tolist() == [9, 10, 1, 2]


def test_dropped_remainders_are_left_out_of_every_epoch():
    ids = [batch["id"].tolist() for batch in pipeline(num_epochs=2)]
    assert ids == [[1, 2, 3, 4], [5, 6, 7, 8]] * 2


def test_a_batch_may_span_several_short_epochs():
    first = next(pipeline(3, batch_size=8, span_epochs=True).open())
    assert first["id"].tolist() == [1, 2, 3, 1, 2, 3, 1, 2]


@pytest.mark.spec("io-7")
def test_three_examples_in_a_batch_of_four_are_padded_and_masked():
    (batch,) = pipeline(3, remainder="pad", num_epochs=1)
    assert batch["_mask"].dtype == np.bool_
    assert batch["_mask"].tolist() == [True, True, True, False]
    assert batch["id"].tolist() == [1, 2, 3, 0]
    assert batch["obs"]["x"][3].tolist() == [0, 0]


@pytest.mark.case("P7", "071")
@pytest.mark.parametrize("batch_size", BATCH_SIZES)
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("num_examples", [1, 17, 70])
def test_evaluation_counts_each_example_once(batch_size, shuffle, num_examples):
    batches = pipeline(num_examples, batch_size=batch_size, shuffle=shuffle)
    iterator = batches.open(purpose="eval")
    given_out = list(iterator)
    assert len(given_out) == iterator.num_batches == -(-num_examples // batch_size)
    assert {len(batch["id"]) for batch in given_out} == {batch_size}
    ids = sorted(i for batch in given_out for i in real_ids(batch))
    assert ids == list(range(1, num_examples + 1))


def test_evaluation_takes_one_epoch_in_order_whatever_training_takes():
    batches = pipeline(num_epochs=5, span_epochs=True)
    ids = [real_ids(batch) for batch in batches.open(purpose="eval")]
    assert ids == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    dropping = pipeline(remainder="drop").open(purpose="eval")
    assert dropping.num_batches == 2 and "_mask" not in next(dropping)


@pytest.mark.spec("io-2")
@pytest.mark.parametrize("process_count", [1, 2, 4])
@pytest.mark.parametrize(
    "fields",
    [
        {"shuffle": True},
        {"shuffle": True, "remainder": "pad"},
        {"shuffle": False, "remainder": "pad"},
        {"shuffle": True, "span_epochs": True},
        {"shuffle": True, "span_epochs": True, "remainder": "pad"},
        {"num_examples": 12, "remainder": "keep"},
    ],
)
def test_global_batches_do_not_depend_on_the_process_count(process_count, fields):
    batches = pipeline(
        **{"num_examples": 13, "batch_size": 8, "num_epochs": 3, "seed": 1, **fields}
    )
    parts = [
        list(batches.open(process_index=i, process_count=process_count))
        for i in range(process_count)
    ]
    whole = list(batches)
    assert {len(part) for part in parts} == {len(whole)}
    for local, batch in zip(zip(*parts, strict=True), whole, strict=True):
        assert {len(part["id"]) for part in local} == {
            len(batch["id"]) // process_count
        }
        assert same(joined(local), batch)


def test_a_process_without_examples_of_its_own_gives_a_masked_batch():
    batches = pipeline(5, batch_size=8)
    last = batches.open(purpose="eval", process_index=3, process_count=4)
    (batch,) = last
    assert batch["_mask"].tolist() == [False, False] and batch["id"].tolist() == [0, 0]


@pytest.mark.spec("io-4")
def test_a_batch_that_does_not_divide_by_the_processes_names_valid_sizes():
    with pytest.raises(DataError) as caught:
        pipeline(100, batch_size=66).open(process_count=4)
    message = str(caught.value)
    assert "66" in message and "4 processes" in message
    assert "batch_size=64 or batch_size=68" in message
    with pytest.raises(DataError, match=r"Use batch_size=4\."):
        pipeline(100, batch_size=3).open(process_count=4)


def test_a_kept_remainder_that_processes_cannot_share_is_refused():
    with pytest.raises(DataError, match=r"2 examples.*4 processes"):
        pipeline(remainder="keep").open(process_count=4)
    assert pipeline(remainder="keep").open(process_count=2).num_batches is None
    endless = pipeline(11, remainder="keep", span_epochs=True)
    assert len(next(endless.open(process_count=4))["id"]) == 1


def test_an_exhausted_iterator_stays_exhausted_until_it_is_moved_back():
    iterator = pipeline(num_epochs=1).open()
    start = iterator.state()
    assert [len(list(iterator)), len(list(iterator))] == [2, 0]
    iterator.restore(start)
    assert len(list(iterator)) == 2


def test_batches_are_writable_and_never_share_memory_with_the_data():
    data = {"x": np.arange(20, dtype=np.float32).reshape(10, 2)}
    for shuffle in (False, True):
        batches = InMemoryPipeline(
            loader=data, batch_size=4, shuffle=shuffle, remainder="pad", num_epochs=1
        )
        for batch in batches:
            assert not np.shares_memory(batch["x"], data["x"])
            batch["x"][:] = -1
            batch["_mask"][:] = False
        assert [batch["_mask"].sum() for batch in batches] == [4, 4, 2]
    assert data["x"].min() == 0


def test_a_closed_iterator_gives_no_batches():
    with pipeline().open() as iterator:
        state = iterator.state()
        assert isinstance(iterator, DataIterator) and iter(iterator) is iterator
        next(iterator)
    with pytest.raises(DataError, match="closed"):
        next(iterator)
    with pytest.raises(DataError, match="closed"):
        iterator.restore(state)
    iterator.close()
